"""The index answers as reading all of the ledger does, whatever happens to the segments or to the index itself."""

from __future__ import annotations

import json
import os
import random
import sqlite3
import stat
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from indexed_ledger import Ledger, answers

from pi_intent.ledger.calls import in_order, read_ledger
from pi_intent.ledger.entries import CallEntry, DecisionEntry, DoneEntry
from pi_intent.ledger.index import Filter, open_index
from pi_intent.ledger.index.place import NAME, drop_index
from pi_intent.ledger.reader import Record, read_segments
from pi_intent.ledger.reader import Segment as FoundSegment
from pi_intent.ledger.segment import Segment
from pi_intent.past import PastCall, PastDecision


def truth(root: Path) -> dict[str, Any]:
    """The same from reading everything."""
    reading = read_ledger(root)
    # Joined on the way, a decision counts where it stands before the end of its call or where an answer was awaited.
    asked = decisions_in(root)
    found = [replace(call, decisions=in_order(asked.get(call.id, ()))) for call in reading.calls]
    counts: dict[str, int] = {}
    for call in found:
        counts[call.session] = counts.get(call.session, 0) + 1
    return {
        "calls": found,
        "sessions": reading.sessions,
        "problems": [(problem.path, problem.line, problem.text) for problem in reading.problems],
        "others": reading.others,
        "past": [
            past_of(call.call, call.done)._replace(decisions=tuple(map(past_decision, call.decisions)))
            for call in found
            if call.call is not None
        ],
        "counts": counts,
    }


def decisions_in(root: Path) -> dict[str, list[tuple[str, DecisionEntry]]]:
    asked: dict[str, list[tuple[str, DecisionEntry]]] = {}
    for segment in read_segments(root):
        for item in segment.read() if isinstance(segment, FoundSegment) else ():
            if isinstance(item, Record) and isinstance(item.entry, DecisionEntry):
                asked.setdefault(item.entry.id, []).append((segment.path.name, item.entry))
    return asked


def past_decision(entry: DecisionEntry) -> PastDecision:
    return PastDecision(entry.number, entry.ts, entry.reasons, entry.approved, entry.by)


def past_of(call: CallEntry, done: DoneEntry | None) -> PastCall:
    past = PastCall(
        id=call.id,
        session=call.session,
        host=call.host,
        agent=call.agent,
        group=call.group,
        turn=call.turn,
        seq=call.seq,
        ts=call.ts,
        tool=call.tool,
        tool_source=call.tool_source,
        intent=call.intent,
        intent_source=call.intent_source,
        rationale=call.rationale,
        args=call.args,
        policy=call.policy,
        flags=call.flags,
        model=call.model,
    )
    if done is None:
        return past
    return past._replace(
        status=done.status,
        codes=done.codes,
        ms=done.ms,
        outcome=done.outcome,
        facts=done.facts,
        error=done.error,
        files=tuple(file.path for file in done.files),
    )


def check(root: Path) -> None:
    """The index says what the ledger says; once more from the file that it has left, and once more made anew."""
    expected = truth(root)
    assert answers(root) == expected
    assert answers(root) == expected
    drop_index(root)
    assert answers(root) == expected


ODD = [b"torn\n", b"\n", b'{"v":1,"t":"ca', b'{"v":2,"t":"x"}\n', b'{"v":1,"t":"remark"}\n', b"\r\n", b"\xff\n"]


def some_lines(ledger: Ledger, session: str, writer: str, calls: list[str], count: int) -> list[bytes]:
    """Lines as they may stand in a segment: calls with and without ends, repeated, torn, and of other kinds."""
    chance, lines = ledger.random, [ledger.session(session, writer)]
    for _ in range(count):
        match chance.randrange(10):
            case 0 | 1 | 2:
                calls.append(ledger.id())
                lines.append(ledger.call(calls[-1], session))
            case 3 | 4 | 5 if calls:
                lines.append(ledger.done(calls[-1] if chance.random() < 0.8 else chance.choice(calls)))
            case 6 if calls:
                lines.append(ledger.call(chance.choice(calls), session))
            case 7 | 8 if calls:
                lines.append(ledger.decision(calls[-1] if chance.random() < 0.8 else chance.choice(calls)))
            case _:
                lines.append(chance.choice(ODD))
    return lines


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 10**6))
def test_it_says_what_the_ledger_says_after_every_change(seed: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    root = tmp_path_factory.mktemp("root")
    ledger = Ledger(root, seed)
    chance = ledger.random
    calls: list[str] = []
    for step in range(8):
        there = sorted((root / "ledger").iterdir())
        change = chance.randrange(7) if there else 0
        path = chance.choice(there) if there else root
        session = chance.choice(["s", "t"])
        if change <= 1:
            writer = f"{chance.getrandbits(32):08x}"
            ledger.path(session, writer).write_bytes(b"".join(some_lines(ledger, session, writer, calls, 12)))
        elif change == 2:
            with path.open("ab") as file:
                file.write(b"".join(some_lines(ledger, session, "w", calls, 6)[1:]))
        elif change == 3:  # rewritten, the same length or another, in the same file
            content = path.read_bytes()
            path.write_bytes(chance.choice([content.replace(b"Stop", b"Halt"), content[: len(content) // 2]]))
        elif change == 4:  # replaced
            other = path.with_suffix(".new")
            other.write_bytes(b"".join(some_lines(ledger, session, "w", calls, 5)))
            other.replace(path)
        elif change == 5:
            path.unlink()
        assert answers(root) == truth(root), step
    check(root)


def a_ledger(root: Path, calls: int = 30) -> Ledger:
    ledger = Ledger(root)
    for session in ("s", "t"):
        lines = [ledger.session(session, f"w{session}")]
        for _ in range(calls):
            call_id = ledger.id()
            lines += [ledger.call(call_id, session), ledger.done(call_id)]
        ledger.path(session, f"w{session}").write_bytes(b"".join(lines))
    return ledger


def test_the_index_is_a_private_file_beside_the_key_and_nothing_else_is_left(tmp_path: Path) -> None:
    a_ledger(tmp_path)
    check(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [NAME, "ledger"]
    assert stat.S_IMODE((tmp_path / NAME).stat().st_mode) == 0o600


def test_asking_where_there_is_no_ledger_creates_nothing(tmp_path: Path) -> None:
    assert answers(tmp_path / "none") == truth(tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_only_what_is_new_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = a_ledger(tmp_path)
    answers(tmp_path)
    path = ledger.path("s", "ws")
    call_id = ledger.id()
    with path.open("ab") as file:
        file.write(ledger.call(call_id, "s", intent="What is new"))
    told: list[tuple[int, int]] = []
    with open_index(tmp_path, progress=lambda done, total: told.append((done, total))) as index:
        assert [call.intent for call in index.past()][-1] == "What is new"
    new = len(path.read_bytes().splitlines(keepends=True)[-1])
    assert told == [(new, new)]
    with path.open("ab") as file:
        file.write(ledger.done(call_id))
    told.clear()
    with open_index(tmp_path, progress=lambda done, total: told.append((done, total))) as index:
        assert [call.state for call in index.calls()][-1] == "settled"
    assert len(told) == 1
    told.clear()
    with open_index(tmp_path, progress=lambda done, total: told.append((done, total))):
        pass
    assert told == []
    check(tmp_path)


def test_a_call_runs_while_its_writer_does_and_a_line_that_is_being_written_waits(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    segment = Segment.create(tmp_path / "ledger", "s")
    call_id = ledger.id()
    os.write(segment.fd, ledger.session("s", segment.writer) + ledger.call(call_id, "s") + b'{"v":1,"t":"do')
    expected = truth(tmp_path)
    assert [call.state for call in expected["calls"]] == ["running"]
    assert answers(tmp_path) == expected
    segment.close()
    expected = truth(tmp_path)
    assert [call.state for call in expected["calls"]] == ["open"]
    assert len(expected["problems"]) == 1
    check(tmp_path)
    assert answers(tmp_path) == expected


def test_a_last_line_without_its_line_feed_may_go_on(tmp_path: Path) -> None:
    ledger = a_ledger(tmp_path)
    path = ledger.path("s", "ws")
    whole = ledger.call(ledger.id(), "s")
    for piece in (whole[:50], whole[50:-1], whole[-1:], whole[:9], b"\n"):
        with path.open("ab") as file:
            file.write(piece)
        assert answers(tmp_path) == truth(tmp_path)


def test_a_second_record_that_comes_to_stand_first_is_the_one_that_counts(tmp_path: Path) -> None:
    ledger = a_ledger(tmp_path)
    call_id = ledger.id()
    ledger.path("s", "x").write_bytes(ledger.call(call_id, "s", intent="Later by name"))
    answers(tmp_path)
    ledger.path("s", "a").write_bytes(ledger.call(call_id, "s", intent="Earlier by name"))
    assert [call.intent for call in truth(tmp_path)["past"] if call.id == call_id] == ["Earlier by name"]
    check(tmp_path)


def test_what_cannot_be_read_is_told(tmp_path: Path) -> None:
    a_ledger(tmp_path)
    folder = tmp_path / "ledger"
    os.mkfifo(folder / "pipe.w.jsonl")
    (folder / "link.w.jsonl").symlink_to("nowhere")
    (folder / "folder.w.jsonl").mkdir()
    check(tmp_path)


def test_odd_lines_are_no_reason_to_fail(tmp_path: Path) -> None:
    ledger = a_ledger(tmp_path, calls=3)
    record = json.loads(ledger.call(ledger.id(), "s"))
    done = json.loads(ledger.done(ledger.id()))
    odd = [
        {**record, "id": "a\0b", "seq": 10**30, "turn": -(10**30), "args": {"n": 10**400, "x": float("nan")}},
        {**record, "id": "", "seq": "7", "session": "", "group": ""},
        {**record, "id": "\U0001f600" * 500, "ts": "", "tool": "\0", "flags": ["\0"]},
        {**record, "id": "deep", "args": {"a": json.loads("[" * 100 + "]" * 100)}},
        {**done, "id": "orphan", "ms": 10**30, "files": [{"path": "x", "op": "create"}, {"more": 2}]},
        {**done, "id": "a\0b", "ms": 1.0, "isError": "true"},
        {"v": 10**40, "t": "\ud800"},
    ]
    content = b"".join(json.dumps(item).encode() + b"\n" for item in odd) + b"x" * (1 << 21) + b"\n" + b"[" * 5000
    ledger.path("t", "odd").write_bytes(content)
    expected, said = truth(tmp_path), answers(tmp_path)
    assert said.pop("past")[-1].tool == expected.pop("past")[-1].tool  # numbers without end are bounded there
    assert said.pop("counts") == expected.pop("counts")
    assert repr(said) == repr(expected)
    assert repr(answers(tmp_path)["calls"]) == repr(expected["calls"])


@pytest.mark.parametrize("seed", range(60))
def test_a_broken_index_never_fails_and_a_cut_one_is_made_anew(seed: int, tmp_path: Path) -> None:
    ledger = a_ledger(tmp_path, calls=40)
    expected = answers(tmp_path)
    index = tmp_path / NAME
    content = bytearray(index.read_bytes())
    chance = random.Random(seed)
    if seed % 3 == 0:
        index.write_bytes(bytes(content[: chance.randrange(len(content))]))
        assert answers(tmp_path) == expected
    elif seed % 3 == 1:
        index.write_bytes(chance.randbytes(chance.randrange(1, 5000)))
        assert answers(tmp_path) == expected
    else:
        for _ in range(chance.choice([1, 5, 200])):
            content[chance.randrange(len(content))] ^= chance.randrange(1, 256)
        index.write_bytes(content)
        answers(tmp_path)  # what a changed letter says cannot be known to be wrong
        with open_index(tmp_path) as opened:
            opened.counts(Filter(grep="stop", outcomes=frozenset({"ok", "open"})))
            opened.named("abc")
            opened.session_ids()
            opened.tools()
    drop_index(tmp_path)
    assert ledger.path("s", "ws").exists()
    assert answers(tmp_path) == expected


def test_an_index_of_another_version_is_made_anew(tmp_path: Path) -> None:
    a_ledger(tmp_path)
    expected = answers(tmp_path)
    with sqlite3.connect(tmp_path / NAME) as database:
        database.execute("PRAGMA user_version = 99")
        database.execute("DELETE FROM call")
    database.close()
    assert answers(tmp_path) == expected
    with sqlite3.connect(tmp_path / NAME) as database:
        assert database.execute("SELECT count(*) FROM call").fetchone() == (60,)
    database.close()


def test_a_line_that_changes_while_it_is_asked_for_is_read_anew(tmp_path: Path) -> None:
    ledger = a_ledger(tmp_path)
    path = ledger.path("s", "ws")
    with open_index(tmp_path) as index:
        calls = index.calls()
        first = next(calls)
        lines = path.read_bytes().splitlines(keepends=True)
        path.write_bytes(b"".join([lines[0], b"\n", *lines[1:]]))
        assert [first, *calls] == read_ledger(tmp_path).calls
    check(tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_to_is_no_reason_to_fail(tmp_path: Path) -> None:
    a_ledger(tmp_path)
    tmp_path.chmod(0o500)
    try:
        assert answers(tmp_path) == truth(tmp_path)
    finally:
        tmp_path.chmod(0o700)


@pytest.mark.parametrize("there_before", [False, True])
def test_where_no_index_can_be_put_the_answers_are_the_same(there_before: bool, tmp_path: Path) -> None:
    ledger = a_ledger(tmp_path)
    if there_before:
        answers(tmp_path)
    with ledger.path("s", "ws").open("ab") as file:
        file.write(ledger.call(ledger.id(), "s"))
    code = """
import resource, sys
from pathlib import Path
from pi_intent.ledger.calls import in_order, read_ledger
from pi_intent.ledger.index import open_index
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))  # as on a full disk, also for who may write everywhere
import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
with open_index(Path(sys.argv[1])) as index:
    assert [*index.calls()] == read_ledger(Path(sys.argv[1])).calls
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(path.name for path in tmp_path.iterdir()) == ([NAME] if there_before else []) + ["ledger"]


def test_processes_that_ask_while_others_write_and_throw_it_away_get_the_truth(tmp_path: Path) -> None:
    ledger = a_ledger(tmp_path, calls=100)
    code = """
import sys
from pathlib import Path
from pi_intent.ledger.index import open_index
from pi_intent.ledger.index.place import drop_index
root, number = Path(sys.argv[1]), int(sys.argv[2])
most = 0
for turn in range(12):
    if number == 0:
        drop_index(root)
    with open_index(root) as index:
        ids = [call.id for call in index.calls()]
    assert len(ids) == len(set(ids)) >= most >= 0, (len(ids), most)
    most = len(ids)
assert most >= 200
"""
    workers = [
        subprocess.Popen([sys.executable, "-c", code, str(tmp_path), str(number)], stderr=subprocess.PIPE)
        for number in range(3)
    ]
    for number in range(40):
        with ledger.path("s", "ws").open("ab") as file:
            call_id = ledger.id()
            file.write(ledger.call(call_id, "s") + (ledger.done(call_id) if number % 2 else b""))
    for worker in workers:
        _, said = worker.communicate(timeout=120)
        assert (worker.returncode, said) == (0, b"")
    check(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [NAME, "ledger"]


def test_what_a_killed_process_left_behind_goes(tmp_path: Path) -> None:
    a_ledger(tmp_path)
    left = tmp_path / f"{NAME}.0123456789ab"
    left.write_bytes(b"half of an index")
    os.utime(left, (1, 1))
    answers(tmp_path)
    assert not left.exists()


def test_what_was_removed_from_the_ledger_does_not_linger_in_the_index(tmp_path: Path) -> None:
    ledger = a_ledger(tmp_path)
    ledger.path("s", "x").write_bytes(ledger.call(ledger.id(), "s", intent="Nobody must know this"))
    answers(tmp_path)
    assert b"Nobody must know this" in (tmp_path / NAME).read_bytes()
    ledger.path("s", "x").unlink()
    answers(tmp_path)
    assert b"obody must know this" not in (tmp_path / NAME).read_bytes()
