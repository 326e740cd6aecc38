"""A session can be imported while pi-intent records it: what it may be about to record is left to a later import."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from importing import BEGAN, CALL, FINE, HEAD, RESULT, UNASKED, assert_holds, take, told
from ledger_events import a_start, an_end
from session_files import as_bytes, small_sessions

from pi_intent.ledger.calls import calls
from pi_intent.ledger.journal import SessionJournal
from pi_intent.ledger.location import LedgerLocation
from pi_intent.ledger.record import SessionInfo
from pi_intent.protocols import CallContext, Settlement
from pi_intent.sessions.front import FIRST, read_session
from pi_intent.sessions.values import Found, FoundCall


class Live:
    """A session that pi-intent records, from the third second on."""

    def __init__(self, location: LedgerLocation, *, host: str = "pi") -> None:
        self.now = BEGAN + 3
        info = SessionInfo(session="s-1", host=host, agent="main", cwd="/home/me/shop", version="0")
        self.journal = SessionJournal(location, info, environ={}, on_problem=pytest.fail, clock=lambda: self.now)
        self.host = host
        self.journal._ready()

    def records(self, found: FoundCall, *, at: float, ended: bool = True) -> None:
        """Record a call, and its end."""
        self.now = at
        start = a_start(
            call_id=found.key.rjust(26, "0"),
            host=self.host,
            tool_call_id=found.tool_call_id,
            args=found.args,
            intent=found.intent,
            tool_name=found.tool,
            seq=1,
        )
        self.journal.opened(start, CallContext(turn=1, policy="require", profile="lean", bytes_in=1))
        if ended:
            self.journal.closed(an_end(call_id=start.call_id, seq=2), Settlement("ok", False))


@pytest.fixture
def live(location: LedgerLocation) -> Iterator[Live]:
    session = Live(location)
    yield session
    session.journal.close()


WAITING = replace(UNASKED, group="g1", ts=BEGAN + 4)


def kept(location: LedgerLocation) -> list[tuple[str, bool]]:
    """The agent's ids of the calls, and whether they were imported."""
    found = [one.call for one in calls(location.root) if one.call is not None]
    return sorted((call.tool_call_id, "imported" in call.flags) for call in found)


def test_a_call_that_waits_for_its_turn_is_left_until_it_is_recorded(location: LedgerLocation, live: Live) -> None:
    first = replace(CALL, ts=BEGAN + 4)
    live.records(first, at=BEGAN + 5, ended=False)
    file: list[Found] = [HEAD, first, WAITING]
    report = take(location, file)
    assert told(report) == {"calls": 2, "intents": 1, "recorded": 1, "still_running": 1}
    live.records(WAITING, at=BEGAN + 6)
    file += [replace(RESULT, ts=BEGAN + 5.5), replace(FINE, ts=BEGAN + 7)]
    assert take(location, file).recorded == 2
    live.journal.close()
    assert take(location, file).recorded == 2
    assert kept(location) == [("call_1", False), ("call_2", False)]
    assert_holds(location)


def test_when_whoever_recorded_it_is_gone_a_later_import_takes_it_in(location: LedgerLocation, live: Live) -> None:
    file: list[Found] = [HEAD, WAITING]
    assert told(take(location, file)) == {"calls": 1, "still_running": 1}
    assert told(take(location, file, dry_run=True)) == {"calls": 1, "still_running": 1}
    live.journal.close()
    assert told(take(location, file, dry_run=True)) == {"calls": 1, "new_calls": 1}
    assert told(take(location, file)) == {"calls": 1, "new_calls": 1}
    assert kept(location) == [("call_2", True)]


def test_what_had_ended_before_it_was_recorded_goes_in_at_once(location: LedgerLocation, live: Live) -> None:
    ended: list[Found] = [HEAD, CALL, replace(RESULT, ts=BEGAN + 2)]
    report = take(location, [*ended, WAITING])
    assert (report.new_calls, report.new_ends, report.still_running) == (1, 1, 1)
    assert kept(location) == [("call_1", True)]
    assert_holds(location)


def test_what_never_reached_pi_intent_is_left_while_it_records_the_session(
    location: LedgerLocation, live: Live
) -> None:
    file: list[Found] = [HEAD, WAITING, replace(FINE, ts=BEGAN + 6)]
    assert told(take(location, file)) == {"calls": 1, "results": 1, "still_running": 1}
    live.journal.close()
    assert told(take(location, file)) == {"calls": 1, "results": 1, "new_calls": 1, "new_ends": 1}


def test_a_call_that_is_opened_while_the_file_is_read_is_recognised(location: LedgerLocation, live: Live) -> None:
    def file() -> Iterator[Found]:
        yield from [HEAD, WAITING]
        live.records(WAITING, at=BEGAN + 5, ended=False)

    assert told(take(location, file())) == {"calls": 1, "recorded": 1}


def test_an_earlier_call_with_the_same_id_and_arguments_is_not_taken_for_the_recorded_one(
    location: LedgerLocation, live: Live
) -> None:
    later = replace(CALL, key="k9", group="g9", ts=BEGAN + 60)
    live.records(later, at=BEGAN + 61)
    file: list[Found] = [HEAD, CALL, replace(RESULT, ts=BEGAN + 2), later, replace(RESULT, key="k9", ts=BEGAN + 62)]
    report = take(location, file)
    assert (report.new_calls, report.recorded) == (1, 1)
    assert [(one.call.ts[17:19], one.call.flags) for one in calls(location.root) if one.call] == [
        ("01", ("imported",)),
        ("01", ()),
    ]


@pytest.mark.parametrize("ends_before", [True, False])
def test_a_call_inside_of_a_recorded_one_names_that_one(
    location: LedgerLocation, live: Live, ends_before: bool
) -> None:
    outer, inner = replace(CALL, ts=BEGAN + 4), replace(UNASKED, parent="k1", ts=BEGAN + 6)
    live.records(outer, at=BEGAN + 5)
    live.journal.close()
    end = replace(RESULT, ts=BEGAN + 7)
    file: list[Found] = [HEAD, outer, end, inner] if ends_before else [HEAD, outer, inner, end]
    assert (take(location, file).recorded, kept(location)) == (1, [("call_1", False), ("call_2", True)])
    assert [one.call.parent for one in calls(location.root) if one.call] == [None, "k1".rjust(26, "0")]


@pytest.mark.parametrize("host", ["tau", "mcp"])
def test_another_host_with_a_session_of_that_name_keeps_nothing_back(location: LedgerLocation, host: str) -> None:
    other = Live(location, host=host)
    assert told(take(location, [HEAD, WAITING])) == {"calls": 1, "new_calls": 1}
    other.journal.close()


def test_the_segment_that_an_import_is_writing_keeps_nothing_back(location: LedgerLocation) -> None:
    report = take(location, [HEAD, CALL, RESULT, UNASKED])
    assert (report.new_calls, report.new_ends, report.still_running) == (2, 1, 0)


@pytest.mark.parametrize(("age", "expected"), [(0.5, "still_running"), (60, "new_calls"), (-60, "new_calls")])
def test_a_call_of_the_last_seconds_is_left_because_its_segment_may_be_yet_to_come(
    location: LedgerLocation, age: float, expected: str
) -> None:
    call = replace(UNASKED, ts=BEGAN + 10_000 - age)  # the clock of `take` says 10,000
    assert told(take(location, [HEAD, call])) == {"calls": 1, expected: 1}


def test_what_is_written_while_a_file_is_read_is_left_to_the_next_import(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    head, *messages = small_sessions()["pi"]
    path.write_bytes(as_bytes(head, *[{"type": "label"}] * FIRST))
    _, found = read_session(path)
    with path.open("ab") as file:
        file.write(as_bytes(*messages))
    assert [item for item in found if isinstance(item, FoundCall)] == []
    assert len([item for item in read_session(path)[1] if isinstance(item, FoundCall)]) == 2


def test_the_end_of_a_call_whose_recorder_was_killed_is_taken_in_once(location: LedgerLocation, live: Live) -> None:
    call = replace(CALL, ts=BEGAN + 4)
    live.records(call, at=BEGAN + 5, ended=False)
    file: list[Found] = [HEAD, call, replace(RESULT, ts=BEGAN + 7)]
    assert told(take(location, file)) == {"calls": 1, "intents": 1, "results": 1, "errors": 1, "recorded": 1}
    live.journal.close()  # as the end of its process does; it wrote no end
    again = {"calls": 1, "intents": 1, "results": 1, "errors": 1, "recorded": 1}
    assert told(take(location, file)) == {**again, "new_ends": 1}
    assert told(take(location, file)) == again
    (one,) = calls(location.root)
    assert (one.call is not None, one.done is not None and one.done.status) == (True, "error")
    assert_holds(location)


def test_a_call_that_a_proxy_recorded_is_not_taken_in_again(location: LedgerLocation) -> None:
    proxy = Live(location, host="mcp")
    call = replace(CALL, tool="stock", tool_source="shop", tool_call_id="toolu_01ABCDEF", ts=BEGAN + 4)
    proxy.records(call, at=BEGAN + 5)
    proxy.journal.close()
    other = replace(call, key="k2", tool_call_id="toolu_01ABCDEG", group="g2")
    own = replace(call, key="k3", tool_source=None, group="g3")  # the agent's own tool of that name
    file: list[Found] = [replace(HEAD, session="theirs"), call, replace(RESULT, ts=BEGAN + 6), other, own]
    report = take(location, file)
    assert (report.recorded, report.new_calls, report.new_ends) == (1, 2, 0)
    assert take(location, file).new_calls == 0
    assert [imported for _, imported in kept(location)] == [False, True, True]
