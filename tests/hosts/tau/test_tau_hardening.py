"""A long bad day: rejections, failures, blocks, interrupts, a full disk, a Tau that is not what we know."""

from __future__ import annotations

import asyncio
import random
import subprocess
import sys
import textwrap

from tau_coding.extensions import StderrUiBridge
from tau_desk import CHECKOUT, Desk, calls, says

from pi_intent.ledger.calls import read_ledger

BLOCK_SOME = """
from tau_coding.extensions import ToolCallHookResult
def setup(tau):
    def hook(event, context):
        if event.arguments.get("command") == "blocked":
            return ToolCallHookResult(block=True, reason="not this")
    tau.on("tool_call", hook)
"""


async def test_two_hundred_calls_of_every_kind_have_one_start_one_end_and_two_records(desk: Desk):
    desk.extension("blocker", BLOCK_SOME)
    (desk.project / "a.py").write_text("x = 1\n")
    rng = random.Random(7)
    kinds = {
        "good": ("bash", {"intent": "Be true", "command": "true"}, "ok"),
        "bad": ("bash", {"intent": "Fail", "command": "exit 2"}, "error"),
        "silent": ("bash", {"command": "true"}, "rejected"),
        "garbled": ("bash", {"_raw_arguments": '{"intent": "Cut o'}, "rejected"),
        "blocked": ("bash", {"intent": "Try", "command": "blocked"}, "denied"),
        "missing": ("read", {"intent": "Look", "path": "nowhere"}, "error"),
        "read": ("read", {"intent": "Look", "path": "a.py"}, "ok"),
        "edit": (
            "edit",
            {"intent": "No such text", "path": "a.py", "edits": [{"oldText": "q", "newText": "r"}]},
            "error",
        ),
        "write": ("write", {"intent": "Write", "path": "b/c.txt", "content": "hey"}, "ok"),
    }
    want, turns, made = [], [], 0
    while made < 200:
        names = ["good", *rng.choices(list(kinds), k=rng.randint(1, 5))]  # a stated intent a turn: no budget is spent
        turns.append(calls(*[kinds[name][:2] for name in names]))
        want += [(kinds[name][0], kinds[name][2]) for name in names]
        made += len(names)
    await desk.run(*turns)
    assert desk.statuses == want
    reading = read_ledger(desk.project / ".git" / "pi-intent")
    assert [(call.call.tool, call.done.status) for call in reading.calls] == want
    assert reading.problems == []
    assert [call.id for call in reading.calls] == [start.call_id for start in desk.starts]


async def test_interrupts_in_a_row_leave_no_call_without_an_end(desk: Desk):
    def slow(number: int):
        wait = ("bash", {"intent": "Wait", "command": "touch started; sleep 20"})
        # With ids that repeat, Tau takes the later sibling for answered already and says nothing of it.
        return says("", (f"wait-{number}", *wait), (f"then-{number}", "read", {"intent": "Then", "path": "a"}))

    # A run that is stopped by its signal alone still asks the model once more.
    last = calls(("bash", {"intent": "At last", "command": "true"}))
    session = await desk.session([slow(1), says(), slow(2), slow(3), says(), last, says("ok")])

    async def run() -> None:
        async for _ in session.prompt("go"):
            pass

    for number in range(3):
        task = asyncio.create_task(run())
        for _ in range(1000):
            if (desk.project / "started").exists():
                break
            await asyncio.sleep(0.005)
        (desk.project / "started").unlink()
        session.cancel()
        if number % 2:
            task.cancel()
        await asyncio.wait([task], timeout=10)
        assert task.done()
    await run()
    assert desk.statuses == [*[("bash", "cancelled"), ("read", "cancelled")] * 3, ("bash", "ok")]


def in_a_process(desk: Desk, body: str, *, limit: int | None = None) -> str:
    """Run a session in a process of its own whose files may not grow beyond a limit; return what it printed."""
    script = f"""
import asyncio, resource, signal, sys
from pathlib import Path
sys.path.insert(0, {str(CHECKOUT / "tests")!r})
import pi_intent
from tau_agent.session import InMemorySessionStorage
from tau_coding.extensions import StderrUiBridge
from tau_desk import Desk, calls, says
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
LIMIT = {limit!r}
async def main():
    desk = Desk.__new__(Desk)
    desk.root, desk.sessions, desk.events = Path({str(desk.root)!r}), [], pi_intent.MemorySink()
    desk.project, desk.home = desk.root / "project", desk.root / "tau"
    pi_intent.subscribe(desk.events)
    if LIMIT is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, resource.RLIM_INFINITY))
{textwrap.indent(textwrap.dedent(body), "    ")}
asyncio.run(main())
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


RUN_TEN = """
turns = [calls(("bash", {"intent": f"Step {n}", "command": "true"})) for n in range(10)]
session = await desk.session([*turns, says("done")], storage=InMemorySessionStorage())
session.extension_runtime.set_ui_bridge(StderrUiBridge())
results = [event.is_error async for event in session.prompt("go") if event.type == "tool_execution_end"]
print("errors", sum(results), "of", len(results), [status for _, status in desk.statuses])
"""


async def test_a_full_disk_costs_records_and_no_call_and_is_said_once(desk: Desk):
    said = in_a_process(desk, RUN_TEN, limit=3000)
    assert f"errors 0 of 10 {['ok'] * 10}" in said
    assert said.count("could not be written") == 1
    assert "calls go on, but are not recorded" in said
    reading = read_ledger(desk.project / ".git" / "pi-intent")
    assert 0 < len(reading.calls) < 10
    assert len(reading.problems) <= 1


async def test_under_strict_a_full_disk_vetoes_the_calls_that_it_cannot_record(desk: Desk):
    (desk.project / ".pi-intent.toml").write_text("strict = true\n")
    said = in_a_process(desk, RUN_TEN, limit=3000)
    reading = read_ledger(desk.project / ".git" / "pi-intent")
    ran = len([call for call in reading.calls if call.call is not None])
    assert 0 < ran < 10
    assert f"errors {10 - ran} of 10 {['ok'] * ran + ['denied'] * (10 - ran)}" in said


ONLY_PUBLIC = """
from pi_intent.hosts.tau.setup import setup as set_up
class Public:
    def __init__(self, tau):
        self._tau = tau
    def __getattr__(self, name):
        if name == "_runtime":
            raise AttributeError(name)
        return getattr(self._tau, name)
def setup(tau):
    set_up(Public(tau))
"""


async def test_a_tau_that_hides_its_tools_gets_plain_shadows_and_that_is_said_once(desk: Desk, capsys):
    desk.extension("public", ONLY_PUBLIC)
    turn = calls(("bash", {"command": "touch no"}), ("bash", {"intent": "Say", "command": "echo hi"}))
    session = await desk.session([turn, says("done"), turn, says("done")], intents=False, session_id="one")
    session.extension_runtime.set_ui_bridge(StderrUiBridge())
    await session.emit_pending_session_start()
    for _ in range(2):
        async for _ in session.prompt("go"):
            pass
        await session.reload()
    assert desk.statuses == [("bash", "rejected"), ("bash", "ok")] * 2
    assert not (desk.project / "no").exists()
    err = capsys.readouterr().err
    assert err.count("shadowed plainly") == 1
    assert "intents on · /intent · adaptive · read, write, edit, bash" in err
