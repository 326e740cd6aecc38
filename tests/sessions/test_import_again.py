"""What the ledger has already is not taken in again, however it came there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from importing import BEGAN, CALL, HEAD, RESULT, WHOLE, assert_holds, segments, take, the_call, told
from ledger_events import a_start, an_end

from pi_intent.errors import LedgerError
from pi_intent.ledger.calls import calls
from pi_intent.ledger.journal import SessionJournal
from pi_intent.ledger.location import LedgerLocation
from pi_intent.ledger.record import SessionInfo
from pi_intent.protocols import CallContext, Settlement
from pi_intent.sessions.into_ledger import import_target
from pi_intent.sessions.one_file import FileImport
from pi_intent.sessions.values import Found, Head
from pi_intent.settings import Settings


def contents(location: LedgerLocation) -> set[str]:
    """What the calls and ends say, without where they stand in the chain."""
    kept = set()
    for path in segments(location):
        for line in path.read_text().splitlines():
            record = json.loads(line)
            if record["t"] != "session":
                kept.add(json.dumps({name: record[name] for name in record if name not in ("prev", "hash")}))
    return kept


def test_importing_twice_changes_no_byte(location: LedgerLocation) -> None:
    take(location, WHOLE)
    before = {path: path.read_bytes() for path in location.root.rglob("*") if path.is_file()}
    report = take(location, WHOLE)
    assert told(report) == {"calls": 2, "results": 2, "errors": 1, "intents": 1, "already": 2}
    assert {path: path.read_bytes() for path in location.root.rglob("*") if path.is_file()} == before


def test_a_longer_copy_adds_the_new_calls_and_the_ends_of_open_ones(location: LedgerLocation) -> None:
    take(location, WHOLE[:3])
    assert told(take(location, WHOLE)) == {
        "calls": 2,
        "results": 2,
        "errors": 1,
        "intents": 1,
        "new_calls": 1,
        "new_ends": 2,
        "already": 1,
    }
    assert len(segments(location)) == 2
    assert_holds(location)


@pytest.mark.parametrize("length", range(len(WHOLE) + 1))
def test_a_beginning_and_then_the_whole_give_what_the_whole_gives_at_once(
    location: LedgerLocation, tmp_path: Path, length: int
) -> None:
    take(location, WHOLE[:length])
    # The digests of two ledgers can be compared under one key only.
    other = replace(location, root=tmp_path / "other")
    other.root.mkdir(mode=0o700)
    (other.root / "key").write_bytes((location.root / "key").read_bytes())
    take(location, WHOLE)
    take(other, WHOLE)
    assert contents(location) == contents(other)


def test_a_longer_copy_of_a_file_without_times_is_recognised_though_its_own_time_has_changed(
    location: LedgerLocation,
) -> None:
    timeless: list[Found] = [Head(session="s-1"), replace(CALL, ts=None), replace(RESULT, ts=None)]
    take(location, timeless[:2], modified=BEGAN)
    report = take(location, timeless, modified=BEGAN + 500)
    assert (report.already, report.new_calls, report.new_ends) == (1, 0, 1)
    call, done = the_call(location)
    assert done is not None
    assert (call.ts, done.ts, done.ms) == ("2030-01-01T00:00:00.000Z", "2030-01-01T00:08:20.000Z", 0)


def live(location: LedgerLocation, *, at: float = BEGAN + 2, **particular: Any) -> None:
    """Record a call as if it had happened with pi-intent in the agent."""
    info = SessionInfo(session="s-1", host="pi", agent="main", cwd="/home/me/shop", version="0")
    journal = SessionJournal(location, info, environ={}, on_problem=pytest.fail, clock=lambda: at)
    common: dict[str, Any] = {"call_id": "0" * 26, "host": "pi", "tool_call_id": "call_1"}
    start = a_start(**common | {"args": CALL.args, "intent": CALL.intent, "seq": 1} | particular)
    journal.opened(start, CallContext(turn=1, policy="require", profile="lean", bytes_in=1))
    journal.closed(an_end(call_id=start.call_id, seq=2), Settlement("ok", False))
    journal.close()


def test_a_call_that_was_recorded_while_it_happened_is_not_taken_in_again(location: LedgerLocation) -> None:
    live(location)
    report = take(location, WHOLE)
    assert (report.calls, report.recorded, report.new_calls, report.new_ends) == (2, 1, 1, 1)
    assert sorted(call.call.flags for call in calls(location.root) if call.call is not None) == [(), ("imported",)]
    assert take(location, WHOLE).recorded == 1
    assert_holds(location)


def test_of_two_calls_with_the_same_id_and_arguments_one_record_answers_for_one(location: LedgerLocation) -> None:
    live(location)
    again = replace(CALL, key="k9", group="g9", ts=BEGAN + 60)
    report = take(location, [HEAD, CALL, again])
    assert (report.recorded, report.new_calls) == (1, 1)
    report = take(location, [HEAD, CALL, again])
    assert (report.recorded, report.already, report.new_calls) == (1, 1, 0)


def test_a_record_of_arguments_as_they_ran_is_recognised_by_tool_intent_and_time(location: LedgerLocation) -> None:
    live(location, args={"command": "pytest -q"})
    assert told(take(location, [HEAD, CALL, RESULT])) == {
        "calls": 1,
        "results": 1,
        "errors": 1,
        "intents": 1,
        "recorded": 1,
    }


@pytest.mark.parametrize(
    "other",
    [
        {"args": {"command": "ls"}, "intent": "Look"},
        {"args": {"command": "ls"}, "tool_name": "read"},
        {"args": {"command": "ls"}, "at": BEGAN - 60},
        {"args": {"command": "ls"}, "at": BEGAN + 4000},
        {"tool_call_id": "call_7"},
        {"host": "tau"},
    ],
)
def test_a_record_of_another_call_answers_for_none(location: LedgerLocation, other: dict[str, Any]) -> None:
    live(location, **other)
    assert told(take(location, [HEAD, CALL])) == {"calls": 1, "intents": 1, "new_calls": 1}


def test_what_stands_twice_counts_once(location: LedgerLocation) -> None:
    assert told(take(location, [HEAD, CALL, CALL, RESULT, RESULT, CALL])) == {
        "calls": 1,
        "results": 1,
        "errors": 1,
        "intents": 1,
        "new_calls": 1,
        "new_ends": 1,
    }


def test_a_dry_run_tells_the_same_and_makes_nothing(location: LedgerLocation) -> None:
    planned = take(location, WHOLE, dry_run=True)
    assert not location.root.exists()
    assert planned == take(location, WHOLE)
    assert take(location, WHOLE, dry_run=True).already == 2
    assert len(segments(location)) == 1


def test_a_dry_run_counts_once_what_two_files_hold(location: LedgerLocation) -> None:
    reports = []
    with import_target(location, environ={}, dry_run=True) as target:
        for name in ("a.jsonl", "b.jsonl"):
            into = FileImport(
                target, Settings(), path=Path(name), dialect="pi", modified=BEGAN, own_id="pi-abc", echoes=()
            )
            reports.append(into.take_all(WHOLE))
    assert [(report.new_calls, report.new_ends, report.repeated) for report in reports] == [(2, 2, 0), (0, 0, 2)]


def test_one_import_at_a_time(location: LedgerLocation) -> None:
    with (
        import_target(location, environ={}),
        pytest.raises(LedgerError, match=r"another import into .* is under way"),
        import_target(location, environ={}),
    ):
        pass
    take(location, WHOLE)


def test_an_import_that_dies_leaves_a_ledger_that_holds_and_is_completed_by_the_next(
    location: LedgerLocation,
) -> None:
    def breaking() -> Iterator[Found]:
        yield from WHOLE[:3]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        take(location, breaking())
    assert_holds(location)
    take(location, WHOLE)
    assert_holds(location)
    assert len(contents(location)) == 4


def test_a_segment_that_cannot_be_read_is_no_reason_to_take_its_calls_in_again(location: LedgerLocation) -> None:
    take(location, WHOLE)
    (path,) = segments(location)
    path.unlink()
    path.mkdir()
    with pytest.raises(LedgerError, match="is no file of records"):
        take(location, WHOLE)
