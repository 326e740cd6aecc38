"""Every way a call can end in Tau ends it once, and honestly."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import textwrap

import pytest
from tau_desk import CHECKOUT, Desk, Model, calls, says

from pi_intent.ledger.calls import calls as ledger_calls

SLOW = {"intent": "Wait", "command": "touch started; sleep 30"}
LATER = {"intent": "Come after", "command": "touch later"}


async def until(desk: Desk, name: str) -> None:
    with_deadline = asyncio.get_running_loop().time() + 10
    while not (desk.project / name).exists():
        assert asyncio.get_running_loop().time() < with_deadline
        await asyncio.sleep(0.01)


async def test_cancelling_ends_the_running_call_and_its_later_siblings(desk: Desk):
    session = await desk.session([calls(("bash", SLOW), ("bash", LATER)), says("done")])

    async def run() -> None:
        async for _ in session.prompt("go"):
            pass

    task = asyncio.create_task(run())
    await until(desk, "started")
    session.cancel()
    await asyncio.wait_for(task, 10)
    assert desk.statuses == [("bash", "cancelled"), ("bash", "cancelled")]
    assert not (desk.project / "later").exists()


async def test_interrupting_the_task_ends_the_running_call_and_its_later_siblings(desk: Desk):
    session = await desk.session([calls(("bash", SLOW), ("bash", LATER)), says("done")])

    async def run() -> None:
        async for _ in session.prompt("go"):
            pass

    task = asyncio.create_task(run())
    await until(desk, "started")
    session.cancel()  # as the screen does on Esc: the signal, then the worker
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert desk.statuses == [("bash", "cancelled"), ("bash", "cancelled")]
    assert not (desk.project / "later").exists()


async def test_an_interrupt_while_the_model_still_writes_leaves_no_call(desk: Desk):
    asked = asyncio.Event()

    class Writing(Model):
        def stream_response(self, **request):
            async def never():
                asked.set()
                await asyncio.Event().wait()
                yield

            return never()

    session = await desk.session([], provider=Writing([]))

    async def run() -> None:
        async for _ in session.prompt("go"):
            pass

    task = asyncio.create_task(run())
    await asyncio.wait_for(asked.wait(), 10)
    session.cancel()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert list(desk.events) == []


async def test_leaving_the_run_interrupts_the_call_that_was_announced(desk: Desk):
    session = await desk.session([calls(("bash", LATER)), says("done")])
    run = session.prompt("go")
    async for event in run:
        if event.type == "tool_execution_start":
            break
    await run.aclose()
    assert desk.statuses == [("bash", "interrupted")]
    assert [(start.intent, start.args) for start in desk.starts] == [("Come after", {"command": "touch later"})]
    assert not (desk.project / "later").exists()


async def test_closing_the_session_interrupts_what_is_open(desk: Desk):
    session = await desk.session([calls(("bash", LATER)), says("done")])
    async for event in session.prompt("go"):
        if event.type == "tool_execution_start":
            await session.aclose()
            break
    assert desk.statuses == [("bash", "interrupted")]


async def test_a_listener_that_fails_stops_neither_the_call_nor_the_others_and_is_told_once(desk: Desk, capsys):
    from tau_coding.extensions import StderrUiBridge

    import pi_intent

    def broken(event: object) -> None:
        raise RuntimeError("boom")

    stop = pi_intent.subscribe(broken)
    after: list[object] = []
    stop_after = pi_intent.subscribe(after.append)
    try:
        session = await desk.session([calls(("bash", LATER), ("bash", LATER)), says("done")])
        session.extension_runtime.set_ui_bridge(StderrUiBridge())
        async for _ in session.prompt("go"):
            pass
    finally:
        stop()
        stop_after()
    assert desk.statuses == [("bash", "ok")] * 2
    assert len(after) == 4
    assert capsys.readouterr().err.count("boom") == 1


async def test_a_killed_process_leaves_an_honest_open_call_and_everything_acknowledged(desk: Desk):
    script = textwrap.dedent(
        f"""
        import asyncio, sys
        from pathlib import Path
        sys.path.insert(0, {str(CHECKOUT / "tests")!r})
        from tau_desk import Desk, calls, says
        async def main():
            desk = Desk.__new__(Desk)
            desk.root, desk.sessions = Path({str(desk.root)!r}), []
            desk.project, desk.home = desk.root / "project", desk.root / "tau"
            turns = [calls(("bash", {{"intent": f"Step {{n}}", "command": "true"}})) for n in range(5)]
            turns.append(calls(("bash", {{"intent": "Wait", "command": "touch started; sleep 3"}})))
            session = await desk.session([*turns, says("done")])
            async for _ in session.prompt("go"):
                pass
        asyncio.run(main())
        """
    )
    process = subprocess.Popen([sys.executable, "-c", script], start_new_session=True)
    try:
        await until(desk, "started")
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(10)
    kept = ledger_calls(desk.project / ".git" / "pi-intent")
    assert [(call.call.intent, call.state) for call in kept] == [
        *[(f"Step {number}", "settled") for number in range(5)],
        ("Wait", "open"),
    ]
