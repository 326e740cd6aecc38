"""Processes that are killed and disks that are full cost what was not written, and nothing else."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from ledger_crash import run

from pi_intent.ledger.calls import read_ledger
from pi_intent.ledger.reader import Segment, read_segments
from pi_intent.ledger.verify import check_lines


def test_many_processes_that_are_killed_lose_nothing_they_acknowledged_and_mix_nothing(
    tmp_path: Path,
) -> None:
    outcome = run(tmp_path, processes=8, calls=60, kills=6, seed=7)
    assert (outcome.kills, outcome.lost) == (6, 0)


def test_processes_that_are_killed_and_run_out_of_room_say_of_each_record_whether_it_was_kept(tmp_path: Path) -> None:
    outcome = run(tmp_path, processes=4, calls=60, kills=3, seed=8, room=20_000)
    assert outcome.kills == 3
    assert outcome.lost > 0
    assert outcome.torn > 0


# The kernel writes as far as the limit and no further; as soon as that is told, the process kills itself.
DIES_AT = """
import os, resource, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from ledger_events import a_start, an_end
from pi_intent.ledger.journal import SessionJournal
from pi_intent.ledger.location import LedgerLocation
from pi_intent.ledger.record import SessionInfo
from pi_intent.protocols import CallContext, Settlement

def die(problem):
    os.kill(os.getpid(), signal.SIGKILL)

def write(name, room=None):
    info = SessionInfo(session=name, host="tau", agent="main", cwd="/", version="0")
    journal = SessionJournal(LedgerLocation(root=Path(sys.argv[1]), project=None), info, environ={}, on_problem=die)
    if room is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
    start = a_start(call_id=name, seq=0, session_id=name, intent="Say why")
    journal.opened(start, CallContext(turn=1, policy="require", profile="lean", bytes_in=1))
    journal.closed(an_end(call_id=name, seq=1, session_id=name), Settlement(status="ok", is_error=False))
    size = journal.path.stat().st_size
    journal.close()
    return size

size = write("whole00")
print(size)
for room in range(int(sys.argv[3]), size, 4):
    child = os.fork()
    if child == 0:
        write(f"at-{room:04d}", room)
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    print(os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0, child)
"""


@pytest.mark.parametrize("first", [0, 3])
def test_a_process_that_dies_within_a_record_leaves_all_before_it(tmp_path: Path, first: int) -> None:
    """Every fourth byte: that each one is read right is for the tests of reading, this is about the processes."""
    command = (sys.executable, "-B", "-c", DIES_AT, str(tmp_path), str(Path(__file__).parents[1]), str(first))
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120)
    size, *told = map(int, done.stdout.split())
    signals, processes = told[::2], told[1::2]
    assert signal.SIGKILL in signals
    assert set(signals) <= {signal.SIGKILL, 0}  # one that lacks nothing but the last line feed ends by itself
    found = [segment for segment in read_segments(tmp_path) if isinstance(segment, Segment)]
    segments = {segment.path.name[:7]: segment for segment in found}
    whole = segments.pop("whole00").path.read_bytes().splitlines(keepends=True)
    ends_of_whole = [len(b"".join(whole[: count + 1])) for count in range(len(whole))]
    pid_of_whole = json.loads(whole[0])["pid"]
    rooms = range(first, size, 4)
    assert sorted(segments) == [f"at-{room:04d}" for room in rooms]
    begun = set()
    for room, process in zip(rooms, processes, strict=True):
        # The first record states the process, whose number may have fewer or more digits.
        shift = len(str(process)) - len(str(pid_of_whole))
        ends = [end + shift for end in ends_of_whole]
        segment = segments[f"at-{room:04d}"]
        assert segment.path.stat().st_size == min(room, ends[-1])
        verdict = check_lines(segment.lines(), running=segment.running)
        records = sum(end - 1 <= room for end in ends)
        torn = room < ends[-1] and room not in (0, *ends)
        begun |= {f"at-{room:04d}"} if room >= ends[1] - 1 else set()
        assert (verdict.first, verdict.records, verdict.torn_lines) == (None, records, torn), room
    reading = read_ledger(tmp_path)
    assert {call.id for call in reading.calls} == {"whole00", *begun}
    assert {call.state for call in reading.calls} == {"open", "settled"}
