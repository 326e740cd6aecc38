"""Real processes on one ledger: killed, forked, and with children of their own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from pi_intent.ledger.calls import calls, read_ledger

WRITER = """
import os, subprocess, sys
from dataclasses import replace
from pathlib import Path
from pi_intent.events import ToolExecutionEnd, ToolExecutionStart
from pi_intent.ledger.journal import SessionJournal
from pi_intent.ledger.location import LedgerLocation
from pi_intent.ledger.record import SessionInfo
from pi_intent.protocols import CallContext, Settlement

def journal(root):
    info = SessionInfo(session="s-1", host="tau", agent="main", cwd="/", version="0")
    location = LedgerLocation(root=Path(root), project=None)
    return SessionJournal(location, info, environ={}, on_problem=sys.exit)

SAME = dict(tool_call_id="c", session_id="s-1", agent_id="main", group_id="g", host="tau", tool_name="bash")
CONTEXT = CallContext(turn=1, policy="require", profile="lean", bytes_in=1)
SETTLEMENT = Settlement(status="ok", is_error=False)

def begin(journal, call_id, seq=0):
    journal.opened(ToolExecutionStart(call_id=call_id, seq=seq, args={"command": "x" * 1500}, intent="go on " * 100,
        intent_source="model", **SAME), CONTEXT)

def end(journal, call_id, seq=1):
    journal.closed(ToolExecutionEnd(call_id=call_id, seq=seq, status="ok", is_error=False, duration_ms=1, **SAME),
        SETTLEMENT)
"""


class Writers:
    """Starts writers, and ends those that are left."""

    def __init__(self) -> None:
        self._started: list[subprocess.Popen[str]] = []
        self._others: list[int] = []

    def start(self, script: str, *arguments: str) -> subprocess.Popen[str]:
        command = (sys.executable, "-B", "-c", WRITER + script, *arguments)
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._started.append(process)
        return process

    def adopt(self, pid: int) -> None:
        """End this process, too: the child of one of ours."""
        self._others.append(pid)

    def end(self) -> None:
        for pid in self._others:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for process in self._started:
            process.kill()
            process.communicate(timeout=60)


@pytest.fixture
def writers() -> Iterator[Writers]:
    started = Writers()
    yield started
    started.end()


def line_of(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def test_a_call_is_running_while_its_process_lives_and_open_when_it_died_under_it(
    tmp_path: Path, writers: Writers
) -> None:
    script = """
mine = journal(sys.argv[1])
begin(mine, "a")
waiting = (sys.executable, "-c", "import sys; sys.stdin.read()")
child = subprocess.Popen(waiting, stdin=subprocess.PIPE, close_fds=False)
print(child.pid, flush=True)
sys.stdin.read()
"""
    process = writers.start(script, str(tmp_path))
    child = int(line_of(process))
    writers.adopt(child)
    assert [call.state for call in calls(tmp_path)] == ["running"]
    assert [call.state for call in calls(tmp_path)] == ["running"]
    os.kill(child, signal.SIGSTOP)  # so that it outlives its parent, whose end it would notice
    process.kill()
    process.wait(timeout=60)
    assert [call.state for call in calls(tmp_path)] == ["open"]


def test_a_forked_child_writes_into_a_segment_of_its_own_and_keeps_no_lock(tmp_path: Path, writers: Writers) -> None:
    script = """
mine = journal(sys.argv[1])
begin(mine, "parent")
out, into = os.pipe()
child = os.fork()
if child == 0:
    begin(mine, "child", seq=5)
    os.write(into, b"x")
    sys.stdin.read()
    end(mine, "child")
    os._exit(0)
os.read(out, 1)
ready, started = os.pipe()
silent = os.fork()
if silent == 0:
    os.write(started, b"x")
    os.read(out, 1)  # for ever: this one writes nothing and holds what it inherited
    os._exit(0)
os.read(ready, 1)
end(mine, "parent")
begin(mine, "left")
print(silent, child, flush=True)
os.kill(os.getpid(), 9)
"""
    process = writers.start(script, str(tmp_path))
    silent, child = map(int, line_of(process).split())
    writers.adopt(silent)
    writers.adopt(child)
    process.wait(timeout=60)
    assert [(call.id, call.state) for call in sorted(calls(tmp_path), key=lambda call: call.id)] == [
        ("child", "running"),
        ("left", "open"),
        ("parent", "settled"),
    ]
    reading = read_ledger(tmp_path)
    assert len(reading.sessions) == 2
    assert reading.problems == []
    assert {session.pid for session in reading.sessions} == {process.pid, child}
    for path in (tmp_path / "ledger").iterdir():
        first = json.loads(path.read_bytes().splitlines()[0])
        assert (first["t"], first["prev"]) == ("session", "")
