"""What clocks and file systems do to a ledger: what is written stays readable, what is lost is told, calls go on."""

from __future__ import annotations

import errno
import json
import math
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ledger_events import a_start, an_end
from ledger_schema import assert_records_fit

from pi_intent.ledger.calls import calls, read_ledger
from pi_intent.ledger.journal import SessionJournal
from pi_intent.ledger.location import LedgerLocation, make_private_folder
from pi_intent.ledger.purge import remove_segment, survey
from pi_intent.ledger.reader import Segment, read_segments
from pi_intent.ledger.record import SessionInfo, seal, timestamp
from pi_intent.ledger.verify import check_lines
from pi_intent.protocols import CallContext, Settlement

CONTEXT = CallContext(turn=1, policy="require", profile="lean", bytes_in=1)
SETTLEMENT = Settlement(status="ok", is_error=False)


def journal_in(root: Path, told: list[str], clock: Callable[[], float] = lambda: 1_900_000_000.0) -> SessionJournal:
    info = SessionInfo(session="s-1", host="tau", agent="main", cwd="/", version="0")
    location = LedgerLocation(root=root, project=None)
    return SessionJournal(location, info, environ={}, on_problem=told.append, clock=clock)


def run_call(journal: SessionJournal, call_id: str, seq: int = 0) -> None:
    journal.opened(a_start(call_id=call_id, seq=seq), CONTEXT)
    journal.closed(an_end(call_id=call_id, seq=seq + 1), SETTLEMENT)


def assert_holds(root: Path) -> None:
    """Every segment holds, and what it has is as the schema says."""
    for segment in read_segments(root):
        assert isinstance(segment, Segment)
        verdict = check_lines(segment.lines(), running=segment.running)
        assert (verdict.first, verdict.torn) == (None, None)
    assert_records_fit((root / "ledger").iterdir())


WHENEVER = [1_900_000_000.0, 1_800_000_000.0, 2_500_000_000.5, 0.0, -1.0, -62_135_596_800.0, 253_402_300_799.0]


def test_a_clock_that_jumps_costs_no_record(tmp_path: Path) -> None:
    times = iter(WHENEVER * 3)
    told: list[str] = []
    journal = journal_in(tmp_path, told, lambda: next(times))
    for number in range(10):
        run_call(journal, f"call-{number}", seq=2 * number)
    journal.close()
    assert {call.id for call in calls(tmp_path)} == {f"call-{number}" for number in range(10)}
    assert {call.state for call in calls(tmp_path)} == {"settled"}
    assert_holds(tmp_path)
    assert (journal.lost, told) == (0, [])


def test_a_year_has_four_digits_so_that_times_sort_as_text() -> None:
    assert timestamp(-62_135_596_800.0) == "0001-01-01T00:00:00.000Z"
    assert [timestamp(when) for when in sorted(WHENEVER)] == sorted(map(timestamp, WHENEVER))


@pytest.mark.parametrize("broken", [math.nan, math.inf, -math.inf, 253_402_300_800.0, -1e15, 1e300])
def test_a_time_that_is_none_costs_its_records_and_says_so(tmp_path: Path, broken: float) -> None:
    now = [broken]
    told: list[str] = []
    journal = journal_in(tmp_path, told, lambda: now[0])
    run_call(journal, "before")
    now[0] = 1_900_000_000.0
    run_call(journal, "between")
    now[0] = broken
    run_call(journal, "again")
    now[0] = 1_900_000_001.0
    run_call(journal, "after")
    journal.close()
    assert [(call.id, call.state) for call in calls(tmp_path)] == [("between", "settled"), ("after", "settled")]
    assert_holds(tmp_path)
    assert journal.lost == 4
    assert len(told) == 1
    assert told[0].startswith("a record for the ledger could not be made (")
    assert told[0].endswith("; calls go on, but are not recorded until it works")


# As a user who owns the folder and is not root, whom nothing is forbidden.
READ_ONLY = """
import json, os, sys
from pathlib import Path
from test_ledger_adversity import journal_in, run_call
from pi_intent.ledger.calls import calls
from pi_intent.ledger.entries import parse_entry

parse_entry(b"")  # loads what checks lines, while this process may still read it
folder = Path(sys.argv[1])
if os.geteuid() == 0:
    os.chown(folder, 65534, 65534)
    os.setgroups([]), os.setgid(65534), os.setuid(65534)
root, told = folder / "root", []

def ids():
    order = ("before", "while", "after")
    return sorted((call.id for call in calls(root)), key=order.index)

journal = journal_in(root, told)
run_call(journal, "before")
journal.close()
closed = root if sys.argv[2] == "root" else root / "ledger"
closed.chmod(0o500)
journal = journal_in(root, told)
run_call(journal, "while")
readable = ids()
closed.chmod(0o700)
run_call(journal, "after")
journal.close()
print(json.dumps([readable, ids(), journal.lost, told]))
"""


@pytest.mark.parametrize("closed", ["root", "ledger"])
def test_a_folder_that_its_owner_made_read_only_is_left_so_and_costs_what_was_not_written(
    open_folder: Path, closed: str
) -> None:
    here = Path(__file__).parent
    command = (sys.executable, "-B", "-c", READ_ONLY, str(open_folder), closed)
    path = os.pathsep.join((str(here), str(here.parent)))
    environ = {"PATH": os.environ["PATH"], "HOME": str(open_folder), "PYTHONPATH": path}
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd="/", timeout=60, env=environ)
    readable, in_the_end, lost, told = json.loads(done.stdout)
    segments = open_folder / "root" / "ledger"
    if closed == "root":  # the key and the folder of the segments are there: all that is needed
        assert (readable, in_the_end, lost, told) == (["before", "while"], ["before", "while", "after"], 0, [])
    else:
        assert (readable, in_the_end, lost) == (["before"], ["before", "after"], 2)
        assert told == [
            f"the ledger {segments} could not be written (Permission denied): free some space, or look at who owns "
            "the folder; calls go on, but are not recorded until it works"
        ]


def refused(error: int) -> Callable[..., None]:
    def refuse(*args: object, **options: object) -> None:
        raise OSError(error, os.strerror(error))

    return refuse


def test_a_file_system_without_locks_has_a_ledger_whose_unfinished_calls_are_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fcntl.flock", refused(errno.ENOLCK))
    told: list[str] = []
    journal, other = journal_in(tmp_path, told), journal_in(tmp_path, told)
    run_call(journal, "a")
    run_call(other, "b")
    journal.opened(a_start(call_id="c", seq=2), CONTEXT)
    assert sorted((call.id, call.state) for call in calls(tmp_path)) == [
        ("a", "settled"),
        ("b", "settled"),
        ("c", "open"),
    ]
    assert_holds(tmp_path)
    journal.closed(an_end(call_id="c", seq=3), SETTLEMENT)
    assert {call.state for call in calls(tmp_path)} == {"settled"}
    assert told == []


def test_a_segment_that_was_purged_where_there_are_no_locks_is_missed_and_begun_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fcntl.flock", refused(errno.ENOLCK))
    told: list[str] = []
    journal = journal_in(tmp_path, told)
    run_call(journal, "a")
    (segment,) = (found for found in read_segments(tmp_path) if isinstance(found, Segment))
    assert remove_segment(survey(segment)) == "removed"
    run_call(journal, "b")
    journal.close()
    assert [call.id for call in calls(tmp_path)] == ["b"]
    assert_holds(tmp_path)
    assert (journal.lost, told) == (0, [])


def test_a_file_system_without_modes_has_a_ledger_whose_writer_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "root"
    (root / "ledger").mkdir(parents=True)
    for name in ("os.fchmod", "os.chmod", "pathlib.Path.chmod"):
        monkeypatch.setattr(name, refused(errno.EPERM))
    told: list[str] = []
    journal = journal_in(root, told)
    journal.opened(a_start(call_id="a", seq=0), CONTEXT)
    assert [(call.id, call.state) for call in calls(root)] == [("a", "running")]
    assert told == []


def test_a_folder_that_was_open_is_closed_to_others_and_no_further(tmp_path: Path) -> None:
    for before, after in ((0o777, 0o700), (0o755, 0o700), (0o555, 0o500), (0o700, 0o700), (0o500, 0o500)):
        folder = tmp_path / f"{before:o}"
        folder.mkdir()
        folder.chmod(before)
        make_private_folder(folder)
        assert stat.S_IMODE(folder.stat().st_mode) == after


@pytest.mark.parametrize("number", [errno.EIO, errno.ESTALE, errno.EDQUOT, errno.EROFS])
def test_a_network_folder_that_goes_away_costs_what_was_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    told: list[str] = []
    journal = journal_in(tmp_path, told)
    run_call(journal, "a")
    with monkeypatch.context() as away:
        for name in ("os.write", "os.fsync"):
            away.setattr(name, refused(number))
        run_call(journal, "b")
        journal.flush()
    run_call(journal, "c")
    journal.close()
    assert sorted(call.id for call in calls(tmp_path)) == ["a", "c"]
    assert_holds(tmp_path)
    assert journal.lost == 2
    assert len(told) == 1
    assert os.strerror(number) in told[0]


def test_a_ledger_of_a_newer_version_is_written_beside_and_read_as_far_as_it_is_known(tmp_path: Path) -> None:
    told: list[str] = []
    run_call(journal_in(tmp_path, told), "a")
    newer: list[dict[str, Any]] = [
        {"v": 2, "t": "session", "writer": {"of": "tomorrow"}},
        {"v": 2, "t": "call", "id": "b", "intent": ["in", "parts"]},
        {"v": 1, "t": "remark", "id": "a", "by": "a person"},
    ]
    content, prev = b"", ""
    for record in newer:
        line, prev = seal(json.dumps(record, separators=(",", ":")), prev)
        content += line
    path = tmp_path / "ledger" / "s-1.tomorrow.jsonl"
    path.write_bytes(content)
    run_call(journal_in(tmp_path, told), "c")
    reading = read_ledger(tmp_path)
    assert sorted((call.id, call.state) for call in reading.calls) == [("a", "settled"), ("c", "settled")]
    assert reading.others == {(2, "session"): 1, (2, "call"): 1, (1, "remark"): 1}
    assert (reading.problems, told) == ([], [])
    assert path.read_bytes() == content
    assert_holds(tmp_path)
