"""The record of what was asked about a call and decided: how it is written, joined, found and left alone."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from clocks import Ticking
from indexed_ledger import Ledger, answers
from ledger_events import a_question, a_start, an_end
from ledger_schema import assert_records_fit

from pi_intent.errors import LedgerError
from pi_intent.ledger.absent import NoLedger
from pi_intent.ledger.calls import LedgerCall, calls, read_ledger
from pi_intent.ledger.entries import DecisionEntry
from pi_intent.ledger.index import Filter, open_index
from pi_intent.ledger.journal import SessionJournal
from pi_intent.ledger.location import LedgerLocation
from pi_intent.ledger.open_calls import OpenCalls
from pi_intent.ledger.purge import plan, survey
from pi_intent.ledger.reader import Record, Segment, read_segments
from pi_intent.ledger.record import NAME_LIMIT, REASONS_LIMIT, SessionInfo, seal
from pi_intent.ledger.verify import check_lines
from pi_intent.protocols import CallContext, Decision, Settlement

BEGAN = 1_900_000_000.0
CONTEXT = CallContext(turn=1, policy="require", profile="lean", bytes_in=1)
SETTLEMENT = Settlement(status="ok", is_error=False)
DIGEST = "hmac:" + "0" * 32
ASKED = a_question("a", reasons=("tier exec", "deletes: rm -rf build"), digest=DIGEST)
APPROVED = ASKED._replace(approved=True, by="person", scope="once", shown="bash, in /p\n$ rm -rf build")
DENIED = ASKED._replace(approved=False, by="person", note="Not on a Friday")


def journal_in(root: Path, *, clock: Ticking | None = None, session: str = "s-1", **options: Any) -> SessionJournal:
    info = SessionInfo(session=session, host="tau", agent="main", cwd="/p", version="0")
    location = LedgerLocation(root=root, project=Path("/p"))
    on_problem = options.pop("on_problem", pytest.fail)
    return SessionJournal(location, info, environ={}, on_problem=on_problem, clock=clock or Ticking(BEGAN), **options)


def run(journal: SessionJournal, *decisions: Decision, redact_args: bool = False) -> None:
    """One call with what was asked about it, from its beginning to its end."""
    call_id = decisions[0].call_id
    start = a_start(call_id=call_id, seq=1, args={"command": "rm -rf build"}, intent="Tidy up")
    journal.opened(start, CONTEXT._replace(redact_args=redact_args))
    for decision in decisions:
        journal.decided(decision)
    journal.closed(an_end(call_id=call_id, seq=2), SETTLEMENT)


def records(root: Path) -> list[dict[str, Any]]:
    paths = sorted((root / "ledger").iterdir())
    assert_records_fit(paths)
    return [json.loads(line) for path in paths for line in path.read_bytes().splitlines()]


def words(decisions: tuple[DecisionEntry, ...]) -> list[tuple[int, bool | None, str | None]]:
    return [(entry.number, entry.approved, entry.by) for entry in decisions]


def both(root: Path) -> list[LedgerCall]:
    """The calls of a ledger, from reading all of it and from its index, which say the same."""
    found = calls(root)
    with open_index(root) as index:
        assert [*index.calls()] == found
    return found


def test_a_question_and_its_answer_stand_between_the_call_and_its_end_and_in_the_chain(tmp_path: Path) -> None:
    journal = journal_in(tmp_path)
    run(journal, ASKED, APPROVED)
    journal.close()
    found = records(tmp_path)
    assert [record["t"] for record in found] == ["session", "call", "decision", "decision", "done"]
    assert [record["prev"] for record in found] == ["", *(record["hash"] for record in found[:-1])]
    common = {"v": 1, "t": "decision", "id": "a", "number": 1, "reasons": [*ASKED.reasons], "digest": DIGEST}
    chained = ("ts", "prev", "hash")
    assert [{key: value for key, value in record.items() if key not in chained} for record in found[2:4]] == [
        common | {"approved": None, "by": None, "scope": None, "note": None, "shown": None},
        common | {"approved": True, "by": "person", "scope": "once", "note": None, "shown": APPROVED.shown},
    ]
    (call,) = both(tmp_path)
    assert words(call.decisions) == [(1, None, None), (1, True, "person")]
    assert call.decisions[1].shown == "bash, in /p\n$ rm -rf build"
    assert call.decisions[0].ts < call.decisions[1].ts


def test_reasons_note_and_what_was_shown_are_withheld_with_the_other_texts_of_a_call(tmp_path: Path) -> None:
    journal = journal_in(tmp_path)
    run(journal, ASKED, APPROVED._replace(approved=False, note="No"), redact_args=True)
    journal.decided(replace_id(DENIED, "of-nobody-knows-what"))
    journal.close()
    found = [record for record in records(tmp_path) if record["t"] == "decision"]
    texts = [[record[name] for name in ("reasons", "note", "shown")] for record in found]
    hidden = "[withheld]"
    assert texts == [[[hidden] * 2, None, None], [[hidden] * 2, hidden, hidden], [[hidden] * 2, hidden, None]]
    assert [(record["digest"], record["approved"], record["by"]) for record in found] == [
        (DIGEST, None, None),
        (DIGEST, False, "person"),
        (DIGEST, False, "person"),
    ]


def replace_id(decision: Decision, call_id: str) -> Decision:
    return decision._replace(call_id=call_id)


def test_there_are_so_many_reasons_and_no_more(tmp_path: Path) -> None:
    journal = journal_in(tmp_path)
    run(journal, ASKED._replace(reasons=tuple(f"{number} " + "x" * 2000 for number in range(100))))
    journal.close()
    (reasons,) = [record["reasons"] for record in records(tmp_path) if record["t"] == "decision"]
    assert (len(reasons), max(map(len, reasons))) == (REASONS_LIMIT, NAME_LIMIT)


def test_under_strict_a_decision_that_cannot_be_recorded_vetoes_and_else_it_is_counted(tmp_path: Path) -> None:
    (tmp_path / "root").write_text("in the way")
    told: list[str] = []
    with pytest.raises(LedgerError):
        journal_in(tmp_path / "root", on_problem=told.append, strict=True).decided(ASKED)
    journal = journal_in(tmp_path / "root", on_problem=told.append)
    journal.decided(ASKED)
    assert (journal.lost, len(told)) == (1, 2)
    NoLedger("nothing is recorded", strict=False).decided(ASKED)
    with pytest.raises(LedgerError, match="nothing is recorded"):
        NoLedger("nothing is recorded", strict=True).decided(ASKED)


def test_within_a_file_the_lines_give_the_order_whatever_the_clock_said(tmp_path: Path) -> None:
    clock = Ticking(BEGAN)
    journal = journal_in(tmp_path, clock=clock)
    journal.opened(a_start(call_id="a", seq=1), CONTEXT)
    journal.decided(ASKED)
    clock.now -= 3600
    journal.decided(DENIED)
    journal.closed(an_end(call_id="a", seq=2, status="denied"), SETTLEMENT)
    journal.close()
    (call,) = both(tmp_path)
    assert words(call.decisions) == [(1, None, None), (1, False, "person")]
    with open_index(tmp_path) as index:
        assert [decision.approved for (past,) in [[*index.past()]] for decision in past.decisions] == [None, False]


def test_an_answer_counts_wherever_it_stands(tmp_path: Path) -> None:
    """After the end of the call, and in a later or an earlier file than the call."""
    clock = Ticking(BEGAN)
    journal = journal_in(tmp_path, clock=clock, session="m")
    for call_id in "abc":
        run(journal, replace_id(ASKED, call_id))
    journal.decided(DENIED)
    journal.close()
    for session, call_id in (("z", "b"), ("a", "c")):
        other = journal_in(tmp_path, clock=clock, session=session)
        other.decided(replace_id(DENIED, call_id))
        other.close()
    found = both(tmp_path)
    assert [call.id for call in found] == ["a", "b", "c"]
    for call in found:
        assert words(call.decisions) == [(1, None, None), (1, False, "person")]
    assert {call.state for call in found} == {"settled"}


def test_a_call_that_is_asked_about_when_its_process_ends_is_open(tmp_path: Path) -> None:
    journal = journal_in(tmp_path)
    journal.opened(a_start(call_id="a", seq=1), CONTEXT)
    journal.decided(ASKED)
    (call,) = both(tmp_path)
    assert (call.state, words(call.decisions)) == ("running", [(1, None, None)])
    journal.close()
    (call,) = both(tmp_path)
    assert (call.state, words(call.decisions)) == ("open", [(1, None, None)])


def test_the_end_of_a_call_whose_beginning_is_gone_has_its_decisions(tmp_path: Path) -> None:
    journal = journal_in(tmp_path)
    run(journal, ASKED, APPROVED)
    journal.close()
    (path,) = (tmp_path / "ledger").iterdir()
    path.write_bytes(b"".join(line for line in path.read_bytes().splitlines(True) if b'"t":"call"' not in line))
    (call,) = both(tmp_path)
    assert (call.call, words(call.decisions)) == (None, [(1, None, None), (1, True, "person")])


def test_a_decision_without_a_call_alarms_nobody(tmp_path: Path) -> None:
    journal = journal_in(tmp_path)
    journal.decided(replace_id(APPROVED, "of-a-lost-call"))
    journal.close()
    assert both(tmp_path) == []
    reading = read_ledger(tmp_path)
    assert (reading.problems, reading.others, len(reading.sessions)) == ([], {}, 1)
    (segment,) = (found for found in read_segments(tmp_path) if isinstance(found, Segment))
    verdict = check_lines(segment.lines(), running=False)
    assert (verdict.holds, verdict.records, verdict.newer) == (True, 2, 0)
    assert (verdict.calls.begun, verdict.calls.ended, verdict.calls.not_followed) == (set(), set(), 0)
    found = survey(segment)
    assert (found.stays, found.calls, found.halves.begun, found.halves.ended) == (None, 0, set(), set())
    seen = OpenCalls()
    for item in segment.read():
        assert isinstance(item, Record)
        seen.take(item.entry)
    assert (seen.begun, seen.ended) == (set(), set())


def test_a_decision_that_was_changed_or_taken_out_shows(tmp_path: Path) -> None:
    journal = journal_in(tmp_path)
    run(journal, ASKED, DENIED)
    path = journal.path
    journal.close()
    assert path is not None
    lines = path.read_bytes().splitlines(keepends=True)
    assert told_of(path, lines) is None
    changed = [line.replace(b'"approved":false', b'"approved":true') for line in lines]
    assert told_of(path, changed) == (4, "changed", 1)
    assert told_of(path, lines[:3] + lines[4:]) == (4, "broken", 1)
    forged = json.loads(lines[3]) | {"approved": True}
    sealed, _ = seal(json.dumps({key: forged[key] for key in forged if key not in ("prev", "hash")}), forged["prev"])
    assert told_of(path, [*lines[:3], sealed, *lines[4:]]) == (5, "broken", 1)


def told_of(path: Path, lines: list[bytes]) -> tuple[int, str, int] | None:
    path.write_bytes(b"".join(lines))
    verdict = check_lines(Segment(path=path, running=False).lines(), running=False)
    return None if verdict.first is None else (verdict.first.line, verdict.first.kind, verdict.bad)


def test_a_decision_keeps_its_segment_as_young_as_it_is(tmp_path: Path) -> None:
    clock = Ticking(BEGAN)
    journal = journal_in(tmp_path, clock=clock)
    run(journal, ASKED)
    clock.now += 86_400 * 30
    journal.decided(DENIED)
    journal.close()
    surveys = [survey(found) for found in read_segments(tmp_path) if isinstance(found, Segment)]
    (found,) = surveys
    assert (found.first, found.last) == ("2030-03-17T17:46:41.000Z", "2030-04-16T17:46:45.000Z")
    assert plan(surveys, before="2030-04-01T00:00:00.000Z").remove == ()
    assert plan(surveys, before="2030-05-01T00:00:00.000Z").remove == (found,)


def documented_reader(path: Path, kinds: set[str]) -> tuple[dict[str, list[Any]], dict[str, int]]:
    """What docs/ledger.md says that a reader does which knows these kinds: other ones are skipped, and counted."""
    joined: dict[str, list[Any]] = {}
    skipped: dict[str, int] = {}
    prev = ""
    for line in path.read_bytes().splitlines():
        record = json.loads(line)
        assert record["prev"] == prev
        prev = hashlib.sha256(line[: -len(b',"hash":""}') - 64] + b"}").hexdigest()
        assert record["hash"] == prev
        if record["t"] not in kinds:
            skipped[record["t"]] = skipped.get(record["t"], 0) + 1
        elif record["t"] != "session":
            joined.setdefault(record["id"], []).append({key: record[key] for key in record if key != "prev"})
    return joined, skipped


def test_a_reader_of_before_skips_and_counts_decisions_and_reads_and_checks_all_else(tmp_path: Path) -> None:
    journal = journal_in(tmp_path)
    run(journal, ASKED, APPROVED)
    run(journal, replace_id(ASKED, "b"), replace_id(DENIED, "b"))
    path = journal.path
    journal.close()
    assert path is not None
    before, skipped = documented_reader(path, {"session", "call", "done"})
    assert skipped == {"decision": 4}
    kinds = {call: [record["t"] for record in found] for call, found in before.items()}
    assert kinds == {"a": ["call", "done"], "b": ["call", "done"]}
    now, skipped = documented_reader(path, {"session", "call", "done", "decision"})
    assert skipped == {}
    assert [len(found) for found in now.values()] == [4, 4]


def test_calls_are_found_by_whether_somebody_was_asked_and_by_the_last_word(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    lines = [ledger.session("s", "w")]
    said = {"a": (), "b": (None,), "c": (None, True), "d": (None, False), "e": (None, True, None, False)}
    for call_id, approvals in said.items():
        lines += [ledger.call(call_id, "s"), *(ledger.decision(call_id, approved=word) for word in approvals)]
        lines.append(ledger.done(call_id))
    lines.append(ledger.decision("of-a-lost-call", approved=True))
    ledger.path("s", "w").write_bytes(b"".join(lines))
    with open_index(tmp_path) as index:

        def ids(wanted: Filter) -> str:
            assert sum(index.counts(wanted).values()) == len([*index.past(wanted)])
            return "".join(call.id for call in index.calls(wanted))

        assert ids(Filter(asked=True)) == "bcde"
        assert ids(Filter(asked=False)) == "a"
        assert ids(Filter(decided=frozenset({"waiting"}))) == "b"
        assert ids(Filter(decided=frozenset({"approved"}))) == "c"
        assert ids(Filter(decided=frozenset({"denied"}))) == "de"
        assert ids(Filter(decided=frozenset({"denied", "waiting"}), asked=True, session="s")) == "bde"
        assert ids(Filter(decided=frozenset({"denied"}), session="t")) == ""
        found = index.one("e")
        assert found is not None
        call, places = found
        assert words(call.decisions)[-1][:2] == (1, False)
        kinds = ["call", "decision", "decision", "decision", "decision", "done"]
        assert [place.kind for place in places] == kinds
        first = places[0].line
        assert [place.line for place in places] == [*range(first, first + 6)]
        assert [json.loads(place.raw)["t"] for place in places] == kinds


def test_an_index_that_holds_something_else_of_a_decision_is_made_anew(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    lines = [ledger.session("s", "w"), ledger.call("a", "s"), ledger.decision("a", approved=False), ledger.done("a")]
    path = ledger.path("s", "w")
    path.write_bytes(b"".join(lines))
    with open_index(tmp_path) as index:
        before = path.stat()
        other = lines[2].replace(b'"id":"a"', b'"id":"b"')
        path.write_bytes(b"".join([*lines[:2], other, lines[3]]))
        assert path.stat().st_size == before.st_size
        (call,) = index.calls()
        assert call.decisions == ()
    assert [call.decisions for call in answers(tmp_path)["calls"]] == [()]


def test_nothing_of_a_question_but_rules_is_in_the_index(tmp_path: Path) -> None:
    journal = journal_in(tmp_path)
    run(journal, ASKED, DENIED._replace(shown="what was on the screen"))
    journal.close()
    both(tmp_path)
    content = (tmp_path / "index.sqlite").read_bytes()
    assert b"deletes: rm -rf build" in content
    assert b"what was on the screen" not in content
    assert b"Not on a Friday" not in content


def test_what_is_kept_of_arguments_is_what_their_call_has(tmp_path: Path) -> None:
    journal = journal_in(tmp_path)
    args: dict[str, Any] = {"path": "/p/src/a.py", "content": "x" * 10, "token": "hunt" + "er2-Zq", "n": [1, None]}
    journal.opened(replace(a_start(call_id="a", seq=1), args=args), CONTEXT)
    kept = journal.kept_arguments(args)
    journal.close()
    (call,) = [record for record in records(tmp_path) if record["t"] == "call"]
    assert kept == call["args"]
    assert [*kept] == ["path", "content", "token", "n"]
    assert (kept["path"], kept["content"]["bytes"], kept["token"]) != ("src/a.py", 10, args["token"])
