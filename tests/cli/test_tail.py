"""`pi-intent tail` shows what other processes do while they do it, live or from the ledger."""

from __future__ import annotations

import io
import json
import os
import queue
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from pi_intent.cli.tailing.drawing import LabelLines
from pi_intent.events import ToolExecutionEnd, ToolExecutionStart, event_to_json, parse_event

SECONDS = 30  # no wait is longer
CANARY = "hunter2-correct-horse"

TAIL = [sys.executable, "-m", "pi_intent", "tail"]

AGENT = """
import os, sys
from pathlib import Path
from pi_intent.channel import Channel
from pi_intent.events import ToolExecutionEnd, ToolExecutionStart, ToolIntentUpdate
from pi_intent.ledger.journal import SessionJournal
from pi_intent.ledger.record import SessionInfo
from pi_intent.protocols import CallContext, Decision, Settlement

session, live, kept = sys.argv[1], "live" in sys.argv, "kept" in sys.argv
info = SessionInfo(session=session, host="tau", agent="main", cwd=os.getcwd(), version="0")
journal = SessionJournal.open(info, environ=os.environ, on_problem=sys.exit)
channel = None
if live:
    channel = Channel.open(journal.location.root, redactor=journal.redactor, environ=os.environ,
        withholds=lambda tool: False)

def same(number):
    return dict(call_id=f"{session:0>20}{number:06}", tool_call_id="c", session_id=session, agent_id="main",
        group_id=f"g{number}", seq=number, host="tau", tool_name="bash")

def tell(event):
    if channel is not None:
        channel.publish(event)

def grow(number, intent):
    tell(ToolIntentUpdate(**same(number), intent=intent, complete=False))

def begin(number, intent):
    start = ToolExecutionStart(**same(number), args={"command": "pytest -q"}, intent=intent, intent_source="model")
    if kept:
        journal.opened(start, CallContext(turn=1, policy="require", profile="lean", bytes_in=1))
    tell(start)

def ask(number, **more):
    journal.decided(Decision(same(number)["call_id"], 1, ("always",), **more))

def end(number, status="ok", **more):
    failed = status != "ok"
    done = ToolExecutionEnd(**same(number), status=status, is_error=failed, duration_ms=1, **more)
    if kept:
        journal.closed(done, Settlement(status=status, is_error=failed))
    tell(done)

print("ready", flush=True)
for line in sys.stdin:
    exec(line)
    print("done", flush=True)
if channel is not None:
    channel.close()
journal.close()
"""


class Program:
    """A process with its output line by line; every wait for it is bounded."""

    def __init__(self, command: list[str], cwd: Path, **more: str) -> None:
        self.process = subprocess.Popen(
            command,
            cwd=cwd,
            env=os.environ | more,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._out: queue.Queue[str] = queue.Queue()
        self._err: queue.Queue[str] = queue.Queue()
        self._threads = [
            threading.Thread(target=self._read, args=(stream, lines), daemon=True)
            for stream, lines in ((self.process.stdout, self._out), (self.process.stderr, self._err))
        ]
        for thread in self._threads:
            thread.start()

    def _read(self, stream: Any, lines: queue.Queue[str]) -> None:
        for line in stream:
            lines.put(line.rstrip("\n"))
        lines.put("(end)")

    def line(self) -> str:
        return self._out.get(timeout=SECONDS)

    def complaint(self) -> str:
        return self._err.get(timeout=SECONDS)

    def do(self, statement: str) -> None:
        """Have an agent run a statement, and wait until it has."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{statement}\n")
        self.process.stdin.flush()
        assert self.line() == "done"

    def finish(self) -> int:
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(SECONDS)

    def end(self) -> None:
        self.process.kill()
        self.process.wait(SECONDS)
        for thread in self._threads:
            thread.join(SECONDS)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert stream is not None
            stream.close()


class Desk:
    """A project, and the agents and watchers at work in it."""

    def __init__(self, folder: Path) -> None:
        self.project = folder / "shop"
        self.project.mkdir()
        run = folder / "run"
        run.mkdir()
        self.environ = {
            "XDG_RUNTIME_DIR": str(run),
            "XDG_STATE_HOME": str(folder / "state"),
            "GIT_CEILING_DIRECTORIES": str(folder),
            "DEPLOY_PASSWORD": CANARY,
            "PYTHONPATH": "",
        }
        self._programs: list[Program] = []

    def agent(self, session: str = "s-1", *traits: str) -> Program:
        program = self._start([sys.executable, "-c", AGENT, session, *(traits or ("live", "kept"))])
        assert program.line() == "ready"
        return program

    def tail(self, *arguments: str) -> Program:
        return self._start([*TAIL, *arguments])

    def _start(self, command: list[str]) -> Program:
        program = Program(command, self.project, **self.environ)
        self._programs.append(program)
        return program

    def close(self) -> None:
        for program in self._programs:
            program.end()


@pytest.fixture
def desk(short_path: Path) -> Iterator[Desk]:
    made = Desk(short_path)
    yield made
    made.close()


LIVE = "Watching live; Ctrl-C ends it."


def untimed(line: str) -> str:
    assert re.match(r"\d\d:\d\d:\d\d  ", line), line
    return line[10:]


def test_started_after_the_agent_it_shows_what_is_in_flight_and_how_it_ends(desk: Desk) -> None:
    agent = desk.agent()
    agent.do("begin(1, 'Verify that nothing else broke')")
    tail = desk.tail()
    assert tail.complaint() == LIVE
    assert tail.line() == "session s-1"
    assert untimed(tail.line()) == "▸ Verify that nothing else broke  bash $ pytest -q"
    agent.do("end(1, 'error', facts='exit 1')")
    assert untimed(tail.line()) == "✗ Verify that nothing else broke · error · exit 1  bash $ pytest -q"


def test_started_before_the_agent_it_misses_no_call_and_shows_none_twice(desk: Desk) -> None:
    tail = desk.tail("--json")
    assert tail.complaint().startswith("Following the ledger in ")
    agent = desk.agent()
    for number in range(20):
        agent.do(f"begin({number}, 'Look'); end({number})")
    lines = [json.loads(tail.line()) for _ in range(40)]
    agent.do("begin(99, 'Stop')")
    assert json.loads(tail.line())["intent"] == "Stop"
    ids = [f"{'s-1':0>20}{number:06}" for number in range(20)]
    # From the ledger and live, in turn: the order holds within each call.
    told = {call_id: [line["type"] for line in lines if line["callId"] == call_id] for call_id in ids}
    assert told == {call_id: ["tool_execution_start", "tool_execution_end"] for call_id in ids}
    assert tail.complaint() == LIVE


def test_a_start_that_only_the_ledger_has_still_comes_before_its_end(desk: Desk) -> None:
    agent = desk.agent()
    tail = desk.tail("--json")
    assert tail.complaint() == LIVE
    for number in range(5):
        agent.do(f"told, tell = tell, lambda event: None; begin({number}, 'Look'); tell = told; end({number})")
        assert [json.loads(tail.line())["type"] for _ in range(2)] == ["tool_execution_start", "tool_execution_end"]


def test_an_intent_that_comes_after_its_start_is_not_told_again(desk: Desk) -> None:
    agent = desk.agent()
    tail = desk.tail("--json")
    assert tail.complaint() == LIVE
    agent.do("begin(1, 'Run the tests')")
    first = json.loads(tail.line())
    agent.do("grow(1, 'Run the'); end(1)")
    second = json.loads(tail.line())
    assert [first["type"], second["type"]] == ["tool_execution_start", "tool_execution_end"]


@pytest.mark.parametrize("width", [60, 80, 100])
def test_a_long_intent_leaves_room_for_what_the_call_does(width: int) -> None:
    out = io.StringIO()
    lines = LabelLines(Console(file=out, force_terminal=True, width=width, no_color=True, markup=False))
    same = dict.fromkeys(("call_id", "tool_call_id", "session_id", "group_id"), "x") | {"agent_id": "main"}
    same |= {"host": "tau"}
    begun = ToolExecutionStart(
        **same,
        seq=1,
        tool_name="write",
        args={"path": "notes.md", "content": "x"},
        intent="Write the long notes file so that the reader knows what changed",
        intent_source="model",
    )
    done = ToolExecutionEnd(
        **same, seq=2, tool_name="write", status="ok", is_error=False, duration_ms=1, facts="created · 25 lines"
    )
    lines.show(event_to_json(begun))
    lines.show(event_to_json(done))
    lines.close()
    [row] = [line for line in out.getvalue().splitlines() if "created" in line]
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", row)
    assert plain.endswith("· created · 25 lines  write notes.md")
    assert len(plain.strip()) <= width


def test_an_intent_shows_while_it_is_being_written(desk: Desk) -> None:
    agent = desk.agent("s-1", "live")
    agent.do("begin(1, 'Look')")
    tail = desk.tail("--json")
    assert json.loads(tail.line())["intent"] == "Look"
    agent.do("grow(2, 'Find out why the te')")
    update = json.loads(tail.line())
    assert (update["type"], update["intent"], update["complete"]) == ("tool_intent_update", "Find out why the", False)


def test_agents_come_and_go(desk: Desk) -> None:
    tail = desk.tail()
    assert tail.complaint().startswith("Following the ledger in ")
    for session in ("s-1", "s-2"):
        agent = desk.agent(session)
        agent.do("begin(1, 'Look'); end(1)")
        assert tail.line() == f"session {session}"
        assert untimed(tail.line()) == "▸ Look  bash $ pytest -q"
        assert untimed(tail.line()) == "✓ Look  bash $ pytest -q"
        assert agent.finish() == 0


@pytest.mark.parametrize("traits", [("live",), ("kept",), ("live", "kept")])
def test_a_call_whose_process_is_killed_is_told_as_open(desk: Desk, traits: tuple[str, ...]) -> None:
    agent = desk.agent("s-1", *traits)
    agent.do("begin(1, 'Look')")
    tail = desk.tail()
    assert [tail.line(), untimed(tail.line())] == ["session s-1", "▸ Look  bash $ pytest -q"]
    agent.process.kill()
    assert untimed(tail.line()) == "? Look · open: the process ended under it  bash $ pytest -q"


def test_without_a_channel_it_follows_the_ledger_and_old_calls_do_not_show(desk: Desk) -> None:
    agent = desk.agent("s-1", "kept")
    agent.do("begin(1, 'Old'); end(1)")
    agent.do("begin(2, 'Running')")
    tail = desk.tail("--json")
    assert tail.complaint().startswith("Following the ledger in ")
    started = json.loads(tail.line())
    agent.do("end(2, facts='exit 0', outcome='Ran')")
    ended = json.loads(tail.line())
    same = {"agentId": "main", "callId": f"{'s-1':0>20}000002", "groupId": "g2", "host": "tau", "seq": 2}
    same |= {"sessionId": "s-1", "toolCallId": "c", "toolName": "bash"}
    assert started == same | {
        "type": "tool_execution_start",
        "args": {"command": "pytest -q"},
        "intent": "Running",
        "intentSource": "model",
    }
    assert ended == same | {
        "type": "tool_execution_end",
        "durationMs": 1,
        "facts": "exit 0",
        "isError": False,
        "outcome": "Ran",
        "status": "ok",
    }


def test_without_a_channel_it_tells_what_a_person_is_asked_and_decides(desk: Desk) -> None:
    agent = desk.agent("s-1", "kept")
    agent.do("begin(1, 'Look'); ask(1)")
    tail = desk.tail("--json")
    assert json.loads(tail.line())["type"] == "tool_execution_start"
    asked = json.loads(tail.line())
    assert (asked["type"], asked["request"]) == ("check_in_request", "pytest -q")
    agent.do("ask(1, approved=False, by='person', note='Not now'); end(1, 'denied')")
    decided = json.loads(tail.line())
    assert {name: decided[name] for name in ("type", "approved", "by", "note")} == {
        "type": "check_in_decision",
        "approved": False,
        "by": "person",
        "note": "Not now",
    }
    parsed = [parse_event(json.dumps(event)) for event in (asked, decided)]
    assert [event.call_id for event in parsed] == [f"{'s-1':0>20}000001"] * 2  # type: ignore[union-attr]
    assert json.loads(tail.line())["status"] == "denied"


def test_only_the_session_that_is_asked_for_shows(desk: Desk) -> None:
    other, wanted = desk.agent("s-1"), desk.agent("t-1")
    tail = desk.tail("--session", "t", "--json")
    assert tail.complaint() == LIVE
    other.do("begin(1, 'Not this')")
    wanted.do("begin(1, 'This')")
    assert json.loads(tail.line())["intent"] == "This"


def test_hostile_texts_are_made_safe_and_secrets_do_not_come(desk: Desk) -> None:
    agent = desk.agent()
    agent.do(f"begin(1, 'Look\\x1b]0;owned\\x07 [bold]at[/] {CANARY}\\nand \\u202ethat')")
    tail, lines = desk.tail(), desk.tail("--json")
    tail.line()
    shown = untimed(tail.line())
    assert re.fullmatch(r"▸ Look \[bold\]at\[/\] \[redacted:env:\w{8}\] and that  bash \$ pytest -q", shown), shown
    assert CANARY not in lines.line()


def test_ctrl_c_ends_it_with_130(desk: Desk) -> None:
    tail = desk.tail()
    tail.complaint()
    tail.process.send_signal(signal.SIGINT)
    assert tail.process.wait(SECONDS) == 130
    assert "Traceback" not in "".join(iter(tail.complaint, "(end)"))


def test_it_ends_quietly_when_nobody_reads_its_output_any_more(desk: Desk) -> None:
    reading, writing = os.pipe()
    with subprocess.Popen(
        TAIL, cwd=desk.project, env=os.environ | desk.environ, stdout=writing, stderr=subprocess.PIPE, text=True
    ) as process:
        os.close(writing)
        assert process.stderr is not None
        try:
            assert process.stderr.readline().startswith("Following the ledger in ")
            os.close(reading)  # nothing was printed, and nothing will be
            assert process.wait(SECONDS) == 141
        finally:
            process.kill()
        assert process.stderr.read() == ""
