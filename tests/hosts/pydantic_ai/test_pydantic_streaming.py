"""Labels while the model writes: from the pieces of its answer, where the run is streamed."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import AsyncIterable, AsyncIterator
from itertools import pairwise
from typing import Any

import pytest
from pydantic_ai import Agent, RunContext
from pydantic_ai.messages import ModelMessage
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel
from pydantic_ai.toolsets import FunctionToolset
from pydantic_desk import Desk, Script

from pi_intent import LabelBoard, ToolExecutionEnd, ToolIntentUpdate
from pi_intent.channel import connect, live_channels
from pi_intent.hosts.pydantic_ai import Intents, IntentToolset


def write(path: str, content: str) -> str:
    return "written"


SENT = {"intent": "Keep the notes", "path": "notes.md", "content": "x" * 50}


async def drain(ctx: RunContext[None], events: AsyncIterable[Any]) -> None:
    async for _ in events:
        pass


def agent_of(script: Script, **more: Any) -> Agent[None, Any]:
    return Agent(script.model, tools=[write], capabilities=[Intents()], **more)


async def test_the_intent_grows_before_the_call_and_keeps_its_id(desk: Desk) -> None:
    agent = agent_of(Script([("write", SENT)], "done"))
    await agent.run("go", event_stream_handler=drain)
    texts = [update.intent for update in desk.updates]
    assert texts[0] == ""
    assert all(later.startswith(earlier) for earlier, later in pairwise(texts))
    assert len(texts) > 2
    assert (texts[-1], desk.updates[-1].complete) == ("Keep the notes", True)
    assert [update.complete for update in desk.updates].count(True) == 1
    (start,) = desk.starts
    assert {(event.call_id, event.tool_call_id, event.group_id) for event in desk.updates} == {
        (start.call_id, start.tool_call_id, start.group_id)
    }
    assert [event.seq for event in desk.events] == list(range(1, len(desk.events) + 1))
    assert desk.kept_as == [("write", "Keep the notes", "ok")]


async def test_the_label_is_there_before_the_rest_of_the_arguments(desk: Desk) -> None:
    board, seen = LabelBoard(), []

    async def watch(ctx: RunContext[None], events: AsyncIterable[Any]) -> None:
        async for event in events:
            for told in desk.events.events[len(seen) :]:
                board.apply(told)
                seen.append(told)
            if getattr(getattr(event, "delta", None), "args_delta", None) and "x" * 7 in event.delta.args_delta:
                assert [(label.text, label.state) for label in board.labels] == [("Keep the notes", "declared")]

    await agent_of(Script([("write", SENT)], "done")).run("go", event_stream_handler=watch)
    assert len(seen) > 2


async def test_the_pieces_show_however_the_run_is_streamed(desk: Desk) -> None:
    def script() -> Script:
        return Script([("write", SENT)], "done")

    async with agent_of(script()).run_stream_events("go") as events:
        assert [event async for event in events]
    async with agent_of(script()).run_stream("go") as streamed:
        assert await streamed.get_output() == "done"
    agent = agent_of(script())
    async with agent.iter("go") as run:
        async for node in run:
            if Agent.is_model_request_node(node):
                async with node.stream(run.ctx) as stream:
                    async for _ in stream:
                        pass
    assert [update.intent for update in desk.updates if update.complete] == ["Keep the notes"] * 3
    assert desk.statuses == [("write", "ok")] * 3


async def test_a_model_that_cannot_be_streamed_is_not_streamed_because_of_us(desk: Desk) -> None:
    script = Script([("write", SENT)], "done")
    agent: Agent[None, str] = Agent(script.only_whole, tools=[write], capabilities=[Intents()])
    await agent.run("go")
    assert desk.updates == []
    assert desk.statuses == [("write", "ok")]


async def test_calls_written_at_once_each_have_their_own_label(desk: Desk) -> None:
    pair = [("write", {**SENT, "intent": f"Note {n}"}) for n in (1, 2)]
    await agent_of(Script(pair, "done")).run("go", event_stream_handler=drain)
    complete = {update.call_id: update.intent for update in desk.updates if update.complete}
    assert complete == {start.call_id: start.intent for start in desk.starts}
    assert len(complete) == 2
    assert len({event.group_id for event in desk.events}) == 1  # type: ignore[attr-defined]


async def test_a_refused_call_keeps_the_id_of_its_label(desk: Desk) -> None:
    silent = {"path": "notes.md", "content": "x"}
    await agent_of(Script([("write", silent)], [("write", SENT)], "done")).run("go", event_stream_handler=drain)
    refused = desk.ends[0]
    assert refused.status == "rejected"
    assert [(update.intent, update.complete) for update in desk.updates if update.call_id == refused.call_id] == [
        ("", False),
        ("", True),
    ]


async def test_a_tool_s_own_intent_and_a_tool_that_is_not_asked_show_nothing(desk: Desk) -> None:
    def file(intent: str) -> None: ...

    def plain(n: int) -> None: ...

    script = Script([("file", {"intent": "theirs"}), ("plain", {"intent": "stray", "n": 1})], "done")
    agent: Agent[None, Any] = Agent(script.model, tools=[file, plain], capabilities=[Intents(exempt=["plain"])])
    await agent.run("go", event_stream_handler=drain)
    assert desk.updates == []
    assert sorted(desk.statuses) == [("file", "ok"), ("plain", "ok")]  # they run at the same time


async def test_the_capability_twice_does_everything_once(desk: Desk) -> None:
    script = Script([("write", SENT)], "done")
    await agent_of(script).run("go", event_stream_handler=drain, capabilities=[Intents(), Intents()])
    assert list(script.tools[0]["write"]["properties"])[:2] == ["intent", "rationale"]
    assert [update.intent for update in desk.updates if update.complete] == ["Keep the notes"]
    assert desk.statuses == [("write", "ok")]


async def test_labels_go_by_the_names_that_the_model_calls(desk: Desk) -> None:
    def write(intent: str) -> None: ...

    calls = [("n_write", SENT), ("write", {"intent": "a tool's own"})]
    script = Script(calls, "done")
    agent: Agent[None, Any] = Agent(
        script.model,
        tools=[write],
        toolsets=[IntentToolset(FunctionToolset([globals()["write"]])).prefixed("n")],
        capabilities=[Intents()],
    )
    await agent.run("go", event_stream_handler=drain)
    assert {(update.tool_name, update.call_id) for update in desk.updates} == {("n_write", desk.starts[0].call_id)}


@pytest.mark.parametrize("withheld", [False, True])
async def test_whoever_watches_from_elsewhere_sees_what_may_be_seen(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, withheld: bool
) -> None:
    if withheld:
        monkeypatch.setenv("PI_INTENT_REDACT_ARGS", "true")
    watching: list[socket.socket] = []

    def look() -> None:
        (path,) = live_channels(desk.project / ".git" / "pi-intent", os.environ)
        connection = connect(path)
        assert connection is not None
        connection.settimeout(10)
        watching.append(connection)

    script = Script([("look", {"intent": "Watch"})], [("write", SENT)], "done")
    agent: Agent[None, Any] = Agent(script.model, tools=[look, write], capabilities=[Intents()])
    await agent.run("go", event_stream_handler=drain)
    with watching[0] as connection:
        text = b"".join(iter(lambda: connection.recv(65_536), b"")).decode()
    assert '"toolName":"write"' in text
    assert ("Keep the notes" in text) is not withheld
    assert desk.kept_as[1] == ("write", "[withheld]" if withheld else "Keep the notes", "ok")


async def test_live_labels_can_be_switched_off(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PI_INTENT_LIVE", "false")
    await agent_of(Script([("write", SENT)], "done")).run("go", event_stream_handler=drain)
    assert desk.updates == []
    assert desk.statuses == [("write", "ok")]


async def test_a_label_whose_answer_breaks_off_is_ended(desk: Desk) -> None:
    async def breaks(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[dict[int, DeltaToolCall]]:
        yield {0: DeltaToolCall(name="write", json_args="", tool_call_id="call-a")}
        yield {0: DeltaToolCall(json_args=json.dumps(SENT)[:20])}
        raise ConnectionError("gone")

    agent: Agent[None, str] = Agent(FunctionModel(stream_function=breaks), tools=[write], capabilities=[Intents()])
    with pytest.raises(ConnectionError):
        await agent.run("go", event_stream_handler=drain)
    assert desk.starts == []
    assert [(type(event), getattr(event, "status", None)) for event in desk.events][-2:] == [
        (ToolIntentUpdate, None),
        (ToolExecutionEnd, "interrupted"),
    ]
    assert desk.kept == []
