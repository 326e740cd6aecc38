"""Whoever watches from another terminal sees what the screen sees, and is never waited for."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import Any

from tau_ai import OpenAICompatibleConfig, OpenAICompatibleProvider
from tau_desk import Desk, calls, says

from pi_intent.channel import connect, live_channels
from pi_intent.cli.demo.model import ScriptedCall, ScriptedModel, Turn

SECONDS = 30
INTENT = "Write the report, section by section"


async def tailing(desk: Desk) -> asyncio.subprocess.Process:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "pi_intent", "tail", "--json"),
        cwd=desk.project,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stderr is not None
    await asyncio.wait_for(process.stderr.readline(), SECONDS)  # it follows now
    return process


async def told(process: asyncio.subprocess.Process, *, ends: int) -> list[dict[str, Any]]:
    """Read what it prints until so many calls have ended; end it."""
    assert process.stdout is not None
    events: list[dict[str, Any]] = []
    try:
        while sum(event["type"] == "tool_execution_end" for event in events) < ends:
            events.append(json.loads(await asyncio.wait_for(process.stdout.readline(), SECONDS)))
    finally:
        process.terminate()
        await process.wait()
    return events


async def test_an_intent_is_seen_from_another_terminal_while_it_is_written(desk: Desk):
    call = ScriptedCall(name="write", arguments={"intent": INTENT, "path": "report.md", "content": "word " * 20})
    script = [Turn(calls=(call,)), Turn(calls=(call,)), Turn(text="done")]
    with ScriptedModel(script, piece=2, pause=0.02) as model:
        session = await desk.session(
            [], provider=OpenAICompatibleProvider(OpenAICompatibleConfig(base_url=model.base_url, api_key="none"))
        )
        process = await tailing(desk)
        async for _ in session.prompt("go"):
            pass
        events = await told(process, ends=2)
    for number in (0, 1):
        call_id = desk.starts[number].call_id
        own = [event for event in events if event["callId"] == call_id]
        types = [event["type"] for event in own]
        assert [types[-2], types[-1]] == ["tool_execution_start", "tool_execution_end"]
        growing = own[:-2]
        assert all(INTENT.startswith(event["intent"]) for event in growing)
        assert {event["type"] for event in growing} == {"tool_intent_update"}
        assert own[-2]["intent"] == INTENT
        args = own[-2]["args"]
        args["content"].pop("digest", None)  # of a start that was read from the ledger
        assert args == {"path": "report.md", "content": {"bytes": 100}}
        assert own[-1]["status"] == "ok"


async def test_somebody_who_connects_and_never_reads_costs_a_call_nothing(desk: Desk):
    many = [calls(*(("bash", {"intent": "x" * 4000, "command": "true"}),) * 8) for _ in range(6)]
    session = await desk.session([*many, says("done")])
    mute = None
    async for _ in session.prompt("go"):
        if mute is None and (found := live_channels(desk.project / ".git" / "pi-intent", os.environ)):
            mute = connect(found[0])
    assert mute is not None
    mute.close()
    assert desk.statuses == [("bash", "ok")] * 48


async def test_the_socket_is_gone_when_the_session_is_over(desk: Desk):
    session = await desk.session([calls(("bash", {"intent": "Be true", "command": "true"})), says("done")])
    async for _ in session.prompt("go"):
        pass
    root = desk.project / ".git" / "pi-intent"
    assert len(live_channels(root, os.environ)) == 1
    await session.aclose()
    assert live_channels(root, os.environ) == []


async def test_what_a_tool_withholds_is_not_told(desk: Desk, monkeypatch):
    monkeypatch.setenv("PI_INTENT_REDACT_ARGS", "1")
    call = ScriptedCall(name="write", arguments={"intent": INTENT, "path": "secret.md", "content": "hidden"})
    with ScriptedModel([Turn(calls=(call,)), Turn(text="done")], piece=10) as model:
        session = await desk.session(
            [], provider=OpenAICompatibleProvider(OpenAICompatibleConfig(base_url=model.base_url, api_key="none"))
        )
        process = await tailing(desk)
        async for _ in session.prompt("go"):
            pass
        events = await told(process, ends=1)
    text = json.dumps(events)
    assert {event["type"] for event in events} == {"tool_execution_start", "tool_execution_end"}
    assert not any(word in text for word in (INTENT, "secret.md", "hidden", "section"))
