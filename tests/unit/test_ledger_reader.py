"""Reading the ledger: whole records, whatever stands around them."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ledger_events import a_start, an_end

from pi_intent.ledger.calls import calls, read_ledger
from pi_intent.ledger.entries import CallEntry, DoneEntry, OtherEntry
from pi_intent.ledger.journal import SessionJournal
from pi_intent.ledger.location import LedgerLocation
from pi_intent.ledger.reader import LINE_LIMIT, Problem, Record, Segment, SegmentTail, read_segments
from pi_intent.ledger.record import SessionInfo
from pi_intent.protocols import CallContext, Settlement

START = a_start(
    call_id="a",
    seq=1,
    intent="Verify no regressions in ünïcode",
)
END = an_end(
    call_id="a",
    seq=2,
    status="error",
    facts="exit 1",
)
CONTEXT = CallContext(turn=4, policy="require", profile="lean", bytes_in=812)
SETTLEMENT = Settlement(status="error", is_error=False, bytes_out=96)


def write_segment(root: Path, *ids: str, session: str = "s-1", now: float = 1_900_000_000.0) -> Path:
    location = LedgerLocation(root=root, project=None)
    info = SessionInfo(session=session, host="tau", agent="main", cwd="/", version="0")
    journal = SessionJournal(location, info, environ={}, on_problem=pytest.fail, clock=lambda: now)
    for number, call_id in enumerate(ids):
        journal.opened(replace(START, call_id=call_id, seq=2 * number), CONTEXT)
        journal.closed(replace(END, call_id=call_id, seq=2 * number + 1), SETTLEMENT)
    path = journal.path
    journal.close()
    assert path is not None
    return path


@pytest.fixture(scope="module")
def lines(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    """The five lines of a segment with two calls."""
    return write_segment(tmp_path_factory.mktemp("ledger"), "a", "b").read_bytes().splitlines(keepends=True)


def read(path: Path, *, running: bool = False) -> tuple[list[bytes], list[Problem]]:
    items = list(Segment(path=path, running=running).read())
    return (
        [item.raw for item in items if isinstance(item, Record)],
        [item for item in items if isinstance(item, Problem)],
    )


def bare(lines: list[bytes]) -> list[bytes]:
    return [line.rstrip(b"\n") for line in lines]


def test_every_truncation_leaves_all_whole_records_and_at_most_one_problem(
    tmp_path: Path, lines: list[bytes]
) -> None:
    content = b"".join(lines)
    ends = [len(b"".join(lines[: count + 1])) for count in range(len(lines))]
    path = tmp_path / "s.w.jsonl"
    for size in range(len(content) + 1):
        path.write_bytes(content[:size])
        records, problems = read(path)
        whole = sum(end - 1 <= size for end in ends)  # a record is whole without its line feed, too
        rest = size not in (0, *ends, *(end - 1 for end in ends))
        assert records == bare(lines[:whole])
        assert [(problem.line, problem.text) for problem in problems] == (
            [(whole + 1, f"s.w.jsonl, line {whole + 1}, was cut off while it was written")] if rest else []
        )


def test_an_unfinished_line_of_a_running_writer_is_no_problem(tmp_path: Path, lines: list[bytes]) -> None:
    path = tmp_path / "s.w.jsonl"
    path.write_bytes(b"".join(lines)[:-20])
    assert read(path, running=True) == (bare(lines[:-1]), [])


def test_a_torn_line_costs_no_record_behind_it(tmp_path: Path, lines: list[bytes]) -> None:
    path = tmp_path / "s.w.jsonl"
    path.write_bytes(lines[0] + lines[1][:50] + b"\n" + lines[2] + b"\n\n" + lines[3][:30] + lines[3] + lines[4])
    records, problems = read(path)
    assert records == bare([lines[0], lines[2], lines[4]])
    assert [(problem.line, problem.text) for problem in problems] == [
        (2, "s.w.jsonl, line 2, is not a record"),
        (6, "s.w.jsonl, line 6, is not a record"),
    ]


FOREIGN = [
    b"hello",
    b"{}",
    b"[]",
    b"null",
    b"17",
    b'"text"',
    b'{"v":1}',
    b'{"t":"call"}',
    b'{"v":1,"t":"call"}',
    b'{"v":"1","t":"call"}',
    b'{"v":0,"t":"x"}',
    b'{"v":1,"t":["call"]}',
    b"\0" * 600,
    b"\xff\xfe\xfd",
    b"{" * 5000,
    b"[" * 100_000,
    b'{"v":1,"t":"done","ms":' + b"9" * 6000 + b"}",
    b"x" * (LINE_LIMIT + 1),
    b"x" * (3 * LINE_LIMIT),
    "ünïcode".encode("utf-16"),
]


@pytest.mark.parametrize("foreign", FOREIGN, ids=range(len(FOREIGN)))
def test_a_foreign_line_is_one_problem_in_its_place(tmp_path: Path, lines: list[bytes], foreign: bytes) -> None:
    path = tmp_path / "s.w.jsonl"
    path.write_bytes(lines[0] + foreign.replace(b"\n", b"") + b"\n" + lines[1] + foreign.replace(b"\n", b""))
    records, problems = read(path)
    assert records == bare(lines[:2])
    assert [problem.line for problem in problems] == [2, 4]
    assert all(problem.text.startswith(f"s.w.jsonl, line {problem.line}, ") for problem in problems)
    assert all(len(problem.text) < 200 for problem in problems)


def test_a_record_with_a_wrong_or_missing_field_says_which(tmp_path: Path, lines: list[bytes]) -> None:
    path = tmp_path / "s.w.jsonl"
    path.write_bytes(lines[1].replace(b'"seq":0', b'"seq":"x"') + lines[2].replace(b'"status":"error",', b""))
    assert [problem.text for problem in read(path)[1]] == [
        "s.w.jsonl, line 1, is not a whole record: seq: input should be a valid integer, unable to parse string "
        "as an integer",
        "s.w.jsonl, line 2, is not a whole record: status: field required",
    ]


def test_unknown_kinds_and_newer_versions_are_kept_as_they_stand_and_counted(
    tmp_path: Path, lines: list[bytes]
) -> None:
    others: list[Any] = [
        {"v": 1, "t": "remark", "id": "d"},
        {"v": 2, "t": "call", "new": [1]},
        {"v": 2, "t": "call"},
    ]
    path = tmp_path / "ledger" / "s.w.jsonl"
    path.parent.mkdir()
    path.write_bytes(b"".join([*lines, *(json.dumps(other).encode() + b"\n" for other in others)]))
    entries = [item.entry for item in Segment(path=path, running=False).read() if isinstance(item, Record)]
    assert entries[5:] == [OtherEntry(v=other["v"], t=other["t"], data=other) for other in others]
    reading = read_ledger(tmp_path)
    assert reading.others == {(1, "remark"): 1, (2, "call"): 2}
    assert (len(reading.calls), reading.problems) == (2, [])


def test_fields_added_later_are_ignored(tmp_path: Path, lines: list[bytes]) -> None:
    path = tmp_path / "s.w.jsonl"
    path.write_bytes(lines[1].replace(b'{"v":1,', b'{"v":1,"later":{"x":[]},'))
    assert len(read(path)[0]) == 1


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_records_survive_any_bytes_between_them(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], data: st.DataObject
) -> None:
    noise = st.binary(max_size=40).map(lambda junk: junk.replace(b"\n", b""))
    pieces = [data.draw(noise) + b"\n" + line for line in lines]
    path = tmp_path_factory.getbasetemp() / "noise.w.jsonl"
    path.write_bytes(b"".join(pieces) + data.draw(noise))
    assert read(path)[0] == bare(lines)


def test_files_that_cannot_be_read_are_problems_and_the_others_are_read(tmp_path: Path, lines: list[bytes]) -> None:
    write_segment(tmp_path, "a")
    folder = tmp_path / "ledger"
    (folder / "folder.0.jsonl").mkdir()
    (folder / "gone.0.jsonl").symlink_to(tmp_path / "nowhere")
    (folder / "round.0.jsonl").symlink_to(folder / "round.0.jsonl")
    os.mkfifo(folder / "pipe.0.jsonl")
    (folder / "notes.txt").write_text("x")
    reading = read_ledger(tmp_path)
    assert [call.id for call in reading.calls] == ["a"]
    assert sorted(problem.text.partition(" ")[0].rpartition("/")[2] for problem in reading.problems) == [
        "folder.0.jsonl",
        "gone.0.jsonl",
        "pipe.0.jsonl",
        "round.0.jsonl",
    ]


def test_a_file_that_vanishes_after_it_was_found_is_a_problem(tmp_path: Path) -> None:
    path = write_segment(tmp_path, "a")
    (found,) = read_segments(tmp_path)
    assert isinstance(found, Segment)
    path.unlink()
    assert list(found.read()) == [Problem(path=path, line=None, text=f"{path} was deleted meanwhile")]


def test_no_ledger_is_an_empty_one_and_a_file_in_its_place_is_a_problem(tmp_path: Path) -> None:
    assert list(read_segments(tmp_path)) == []
    (tmp_path / "ledger").write_text("")
    assert [item.text for item in read_segments(tmp_path) if isinstance(item, Problem)] == [
        f"{tmp_path / 'ledger'} cannot be read (Not a directory)"
    ]


def test_calls_are_joined_and_stand_in_the_order_in_which_they_began(tmp_path: Path) -> None:
    write_segment(tmp_path, "c", "b", session="later", now=1_900_000_009.0)
    write_segment(tmp_path, "z", "y", session="sooner", now=1_900_000_001.0)
    found = calls(tmp_path)
    assert [call.id for call in found] == ["z", "y", "c", "b"]
    assert {call.state for call in found} == {"settled"}
    assert isinstance(found[0].call, CallEntry)
    assert isinstance(found[0].done, DoneEntry)
    assert (found[0].call.intent, found[0].done.facts) == ("Verify no regressions in ünïcode", "exit 1")
    assert [call.id for call in calls(tmp_path, session="later")] == ["c", "b"]


def test_half_a_call_is_half_a_call(tmp_path: Path, lines: list[bytes]) -> None:
    folder = tmp_path / "ledger"
    folder.mkdir()
    (folder / "s.0.jsonl").write_bytes(lines[1] + lines[4])
    found = {call.id: call for call in calls(tmp_path)}
    assert {call_id: (call.state, call.call is None, call.done is None) for call_id, call in found.items()} == {
        "a": ("open", False, True),
        "b": ("settled", True, False),
    }


def test_a_call_is_joined_across_segments_and_its_first_records_count(tmp_path: Path, lines: list[bytes]) -> None:
    folder = tmp_path / "ledger"
    folder.mkdir()
    (folder / "s.0.jsonl").write_bytes(lines[1])
    (folder / "s.1.jsonl").write_bytes(lines[2] + lines[2].replace(b"exit 1", b"exit 0") + lines[1])
    reading = read_ledger(tmp_path)
    (call,) = reading.calls
    assert call.done is not None
    assert (call.state, call.path.name, call.done.facts) == ("settled", "s.0.jsonl", "exit 1")
    assert [problem.text for problem in reading.problems] == [
        "s.1.jsonl, line 2, is another done record of a and was skipped",
        "s.1.jsonl, line 3, is another call record of a and was skipped",
    ]


def test_a_tail_gives_each_record_once_however_the_file_grows(tmp_path: Path, lines: list[bytes]) -> None:
    content = lines[0] + b"torn\n" + b"\n" + b"".join(lines[1:])
    path = tmp_path / "s.w.jsonl"
    for step in (1, 7, 200, len(content)):
        path.unlink(missing_ok=True)
        tail = SegmentTail(path)
        assert tail.read_new() == []
        seen: list[Record] = []
        with path.open("ab", buffering=0) as file:
            for start in range(0, len(content), step):
                file.write(content[start : start + step])
                seen += tail.read_new()
        assert [record.raw for record in seen] == bare(lines)
        assert [record.line for record in seen] == [1, 4, 5, 6, 7]
        assert [problem.text for problem in tail.problems] == ["s.w.jsonl, line 2, is not a record"]
        path.unlink()
        assert tail.read_new() == []


def test_a_tail_skips_a_line_over_the_limit(tmp_path: Path, lines: list[bytes]) -> None:
    path = tmp_path / "s.w.jsonl"
    path.write_bytes(b"x" * (2 * LINE_LIMIT))
    tail = SegmentTail(path)
    assert tail.read_new() == []
    with path.open("ab") as file:
        file.write(b"\n" + lines[1])
    assert [record.raw for record in tail.read_new()] == bare(lines[1:2])
    assert [problem.line for problem in tail.problems] == [1]


def test_a_tail_of_what_is_no_file_has_one_problem(tmp_path: Path) -> None:
    tail = SegmentTail(tmp_path)
    assert (tail.read_new(), tail.read_new()) == ([], [])
    assert [problem.text for problem in tail.problems] == [f"{tmp_path} cannot be read (Is a directory)"]
