"""Removing old segments: whole ones only, and never what somebody still writes or half of a call that stays."""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from clocks import Standing
from ledger_events import a_start, an_end

from pi_intent.ledger.journal import SessionJournal
from pi_intent.ledger.location import LedgerLocation
from pi_intent.ledger.purge import Plan, Removal, Survey, left_open, plan, remove_segment, survey
from pi_intent.ledger.reader import Segment, read_segments
from pi_intent.ledger.record import SessionInfo, seal
from pi_intent.protocols import CallContext, Settlement

OLD, YOUNG = 1_890_000_000.0, 1_896_091_200.0  # 2029-11-22T00:00:00Z and 2030-01-31T12:00:00Z
BEFORE = "2030-01-01T00:00:00.000Z"
CONTEXT = CallContext(turn=1, policy="require", profile="lean", bytes_in=1)
SETTLEMENT = Settlement(status="ok", is_error=False)


def journal_at(root: Path, clock: Callable[[], float], session: str = "s-1") -> SessionJournal:
    info = SessionInfo(session=session, host="tau", agent="main", cwd="/", version="0")
    location = LedgerLocation(root=root, project=None)
    return SessionJournal(location, info, environ={}, on_problem=pytest.fail, clock=clock)


def write(root: Path, *times: float, begun: str = "", ended: str = "", session: str = "s-1") -> Path:
    """Write a segment with a whole call at each time, the first halves of some, and the second of others."""
    clock = Standing(times[0])
    journal = journal_at(root, clock, session)
    for number, now in enumerate(times):
        clock.now = now
        start = a_start(call_id=os.urandom(8).hex(), seq=number)
        journal.opened(start, CONTEXT)
        journal.closed(an_end(call_id=start.call_id, seq=number), SETTLEMENT)
    for call in begun.split():
        journal.opened(a_start(call_id=call, seq=90), CONTEXT)
    for call in ended.split():
        journal.closed(an_end(call_id=call, seq=91), SETTLEMENT)
    path = journal.path
    journal.close()
    assert path is not None
    return path


def surveys(root: Path) -> list[Survey]:
    return [survey(found) for found in read_segments(root) if isinstance(found, Segment)]


def planned(root: Path, before: str = BEFORE) -> tuple[set[Path], dict[Path, str]]:
    decided = plan(surveys(root), before=before)
    return {found.path for found in decided.remove}, {found.path: why for found, why in decided.kept}


def test_what_has_nothing_young_goes_and_the_rest_stays(tmp_path: Path) -> None:
    old = write(tmp_path, OLD, OLD + 60)
    write(tmp_path, OLD, YOUNG)
    write(tmp_path, YOUNG)
    assert planned(tmp_path) == ({old}, {})
    (found,) = plan(surveys(tmp_path), before=BEFORE).remove
    assert found == Survey(
        path=old,
        session="s-1",
        calls=2,
        size=old.stat().st_size,
        first="2029-11-22T00:00:00.000Z",
        last="2029-11-22T00:01:00.000Z",
    )


def test_a_segment_whose_last_record_is_of_that_very_time_stays(tmp_path: Path) -> None:
    path = write(tmp_path, OLD)
    assert planned(tmp_path, "2029-11-22T00:00:00.000Z") == (set(), {})
    assert planned(tmp_path, "2029-11-22T00:00:00.001Z") == ({path}, {})


def test_the_youngest_record_counts_also_where_the_clock_was_set_back_behind_it(tmp_path: Path) -> None:
    write(tmp_path, YOUNG, OLD)
    assert planned(tmp_path) == (set(), {})


def test_a_running_writers_segment_stays_however_old_and_goes_when_it_has_ended(tmp_path: Path) -> None:
    journal = journal_at(tmp_path, Standing(OLD))
    journal.opened(a_start(call_id="a", seq=1), CONTEXT)
    path = journal.path
    assert path is not None
    assert planned(tmp_path) == (set(), {path: "running"})
    journal.close()
    assert planned(tmp_path) == ({path}, {})
    assert left_open(surveys(tmp_path)) == 1


def test_a_call_is_not_parted_from_its_other_half_over_any_number_of_segments(tmp_path: Path) -> None:
    first = write(tmp_path, OLD, begun="a")
    second = write(tmp_path, OLD, ended="a", begun="b")
    third = write(tmp_path, OLD, ended="b", begun="c")
    alone = write(tmp_path, OLD, begun="x")
    assert planned(tmp_path) == ({first, second, third, alone}, {})
    write(tmp_path, YOUNG, ended="c")
    assert planned(tmp_path) == ({alone}, dict.fromkeys((first, second, third), "tied"))


def test_what_no_record_dates_stays_and_is_told(tmp_path: Path) -> None:
    folder = write(tmp_path, YOUNG).parent
    (folder / "empty.0.jsonl").write_bytes(b"")
    (folder / "foreign.0.jsonl").write_bytes(b"hello\n\xff\n")
    old = write(tmp_path, OLD)
    odd = json.dumps({"v": 2, "t": "call", "ts": "next week"}).encode()
    (folder / "odd.0.jsonl").write_bytes(old.read_bytes() + odd + b"\n")
    assert planned(tmp_path) == (
        {old},
        {folder / f"{name}.0.jsonl": "undated" for name in ("empty", "foreign", "odd")},
    )


def test_a_torn_end_and_records_of_newer_versions_hold_nothing_up(tmp_path: Path) -> None:
    path = write(tmp_path, OLD)
    newer, _ = seal('{"v":2,"t":"call","ts":"2029-12-24T00:00:00.000Z"}', "")
    path.write_bytes(path.read_bytes() + newer + newer[:20])
    assert planned(tmp_path) == ({path}, {})
    assert planned(tmp_path, "2029-12-01T00:00:00.000Z") == (set(), {})


def test_a_link_stays(tmp_path: Path) -> None:
    path = write(tmp_path / "other", OLD)
    link = write(tmp_path, YOUNG).with_name("link.0.jsonl")
    link.symlink_to(path)
    assert planned(tmp_path) == (set(), {link: "link"})
    assert remove_segment(Survey(path=link)) == "changed"
    assert path.exists()


def test_what_changed_since_it_was_surveyed_or_is_in_use_or_gone_is_not_removed(tmp_path: Path) -> None:
    path = write(tmp_path, OLD)
    (found,) = surveys(tmp_path)
    content = path.read_bytes()
    path.write_bytes(content + b"\n")
    assert remove_segment(found) == "changed"
    path.write_bytes(content)
    held = journal_at(tmp_path, Standing(OLD))
    held.opened(a_start(call_id="a", seq=1), CONTEXT)
    assert held.path is not None
    assert remove_segment(Survey(path=held.path, size=held.path.stat().st_size)) == "in use"
    held.close()
    assert remove_segment(found) == "removed"
    assert remove_segment(found) == "gone"
    assert not path.exists()


def test_what_the_system_refuses_to_remove_is_raised(tmp_path: Path) -> None:
    folder = tmp_path / "folder.0.jsonl"
    folder.mkdir()
    with pytest.raises(OSError, match=re.escape(str(folder))):
        remove_segment(Survey(path=folder, size=folder.stat().st_size))


def test_of_two_purges_at_once_one_removes_each_segment(tmp_path: Path) -> None:
    for _ in range(60):
        write(tmp_path, OLD)
    found = surveys(tmp_path)
    said: list[list[Removal]] = [[], []]
    together = threading.Barrier(2)

    def purge(mine: list[Removal]) -> None:
        together.wait(timeout=30)
        mine += [remove_segment(one) for one in found]

    threads = [threading.Thread(target=purge, args=(mine,)) for mine in said]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    assert [sorted(both, key="removed".__ne__)[0] for both in zip(*said, strict=True)] == ["removed"] * 60
    assert all(both.count("removed") == 1 for both in zip(*said, strict=True))
    assert surveys(tmp_path) == []


def test_there_is_nothing_to_plan_without_segments() -> None:
    assert plan([], before=BEFORE) == Plan(remove=(), kept=())
