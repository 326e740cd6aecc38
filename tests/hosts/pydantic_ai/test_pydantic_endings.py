"""How calls end: with a result, an exception, a cancellation; and what the agent's user sees of that."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, Iterable
from typing import Any

import anyio
import pytest
from pydantic import BaseModel
from pydantic_ai import Agent, ModelRetry, RunContext, Tool, ToolFailed
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.exceptions import SkipToolExecution, UnexpectedModelBehavior
from pydantic_ai.messages import (
    FunctionToolResultEvent,
    ModelMessage,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.toolsets import FunctionToolset
from pydantic_desk import Desk, Script

from pi_intent.hosts.pydantic_ai import Intents, IntentToolset


def agent_of(how: str, script: Script, *tools: Any, **more: Any) -> Agent[None, Any]:
    if how == "all":
        return Agent(script.model, tools=tools, capabilities=[Intents(), *more.pop("capabilities", ())], **more)
    return Agent(script.model, toolsets=[IntentToolset(FunctionToolset(tools))], **more)


async def test_what_a_tool_raises_comes_out_as_it_is(desk: Desk, how: str) -> None:
    problem = RuntimeError("the disk is on fire")

    def work() -> None:
        raise problem

    with pytest.raises(RuntimeError) as caught:
        await agent_of(how, Script([("work", {"intent": "Do it"})]), work).run("go")
    assert caught.value is problem
    assert desk.statuses == [("work", "error")]
    assert [kept.done and kept.done.error for kept in desk.kept] == ["the disk is on fire"]


async def test_a_tool_that_asks_for_another_call_ended_with_an_error(desk: Desk, how: str) -> None:
    def work(n: int) -> str:
        if n == 1:
            raise ModelRetry("try two")
        return "worked"

    calls = [[("work", {"intent": "Do it", "n": n})] for n in (1, 2)]
    script = Script(*calls, "done")
    await agent_of(how, script, work).run("go")
    assert script.told(1) == ["try two"]
    assert desk.statuses == [("work", "error"), ("work", "ok")]
    assert [kept.done and kept.done.error for kept in desk.kept] == ["try two", None]


async def test_a_tool_that_fails_for_good_ended_with_an_error(desk: Desk, how: str) -> None:
    def work() -> str:
        raise ToolFailed("no such file")

    script = Script([("work", {"intent": "Do it"})], "done")
    await agent_of(how, script, work).run("go")
    assert script.told(1) == ["no such file"]
    assert desk.statuses == [("work", "error")]


async def test_a_tool_that_runs_out_of_its_time_ended_with_a_timeout(desk: Desk, how: str) -> None:
    async def work() -> None:
        await anyio.sleep_forever()

    script = Script([("work", {"intent": "Do it"})], "done")
    await agent_of(how, script, Tool(work, timeout=0.01)).run("go")
    assert desk.statuses == [("work", "timeout")]


async def test_a_run_that_is_cancelled_cancels_its_calls(desk: Desk, how: str) -> None:
    running = asyncio.Event()

    async def work() -> None:
        running.set()
        await anyio.sleep_forever()

    calls = [("work", {"intent": "Wait"}), ("work", {"intent": "Wait, too"})]
    task = asyncio.create_task(agent_of(how, Script(calls), work).run("go"))
    with anyio.fail_after(10):
        await running.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert desk.statuses == [("work", "cancelled")] * 2
    assert desk.kept_as == [("work", "Wait", "cancelled"), ("work", "Wait, too", "cancelled")]


async def test_a_tool_that_ends_after_its_run_was_cancelled_says_itself_how(desk: Desk, how: str) -> None:
    running = asyncio.Event()

    async def work() -> None:
        running.set()
        try:
            await anyio.sleep_forever()
        except asyncio.CancelledError:
            raise RuntimeError("half of it is done") from None

    task = asyncio.create_task(agent_of(how, Script([("work", {"intent": "Do it"})]), work).run("go"))
    with anyio.fail_after(10):
        await running.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert desk.statuses == [("work", "error")]
    assert [kept.done and kept.done.error for kept in desk.kept] == ["half of it is done"]


async def test_a_call_whose_run_breaks_off_before_its_turn_is_interrupted(desk: Desk, how: str) -> None:
    def broken() -> None:
        raise RuntimeError("the disk is on fire")

    def work() -> str:
        return "worked"

    calls = [("broken", {"intent": "Break"}), ("work", {"intent": "Do it"})]
    with pytest.raises(RuntimeError):
        await agent_of(how, Script(calls), Tool(broken, sequential=True), work).run("go")
    assert desk.statuses == [("broken", "error"), ("work", "interrupted")]


async def test_an_agent_inside_a_tool_makes_its_calls_inside_that_call(desk: Desk, how: str) -> None:
    def look() -> str:
        return "seen"

    inner = agent_of(how, Script([("look", {"intent": "Look closer"})], "inner done"), look)

    async def delegate() -> str:
        return str((await inner.run("look")).output)

    await agent_of(how, Script([("delegate", {"intent": "Have it looked at"})], "done"), delegate).run("go")
    by_tool = {start.tool_name: start for start in desk.starts}
    assert by_tool["look"].parent_tool_call_id == by_tool["delegate"].call_id
    assert by_tool["look"].agent_id == "child"
    assert by_tool["look"].session_id != by_tool["delegate"].session_id
    assert [(kept.call.tool, kept.call.parent) for kept in desk.kept if kept.call] == [
        ("delegate", None),
        ("look", by_tool["delegate"].call_id),
    ]


async def test_two_runs_at_once_share_neither_rounds_nor_ids(desk: Desk, how: str) -> None:
    gate = anyio.Event()
    arrived: list[int] = []

    async def work(n: int) -> int:
        arrived.append(n)
        if len(arrived) == 2:
            gate.set()
        await gate.wait()
        return n

    def script(n: int) -> Script:
        silent = [("work", {"n": n}, "call-0")]
        return Script(silent, silent, silent, [("work", {"n": n}, "call-0")], "done")

    tool = FunctionToolset([work])
    agents = [
        Agent(script(n).model, toolsets=[IntentToolset(tool)])
        if how == "one toolset"
        else Agent(script(n).model, toolsets=[tool], capabilities=[Intents()])
        for n in (1, 2)
    ]
    with anyio.fail_after(10):
        await asyncio.gather(*(agent.run("go", conversation_id=f"talk {n}") for n, agent in enumerate(agents)))
    for session in ("talk 0", "talk 1"):
        starts = [start for start in desk.starts if start.session_id == session]
        assert [start.flags for start in starts] == [(), (), (), ("budget_spent",)]
        assert len({start.group_id for start in starts}) == 4
        numbers = [event.seq for event in desk.events if event.session_id == session]
        assert numbers == list(range(1, 9))
    assert len({start.call_id for start in desk.starts}) == 8
    assert sorted(status for _, status in desk.statuses) == ["ok"] * 2 + ["rejected"] * 6


async def test_one_agent_run_twice_at_once_under_one_session_name(desk: Desk) -> None:
    gate = anyio.Event()
    arrived: list[int] = []

    async def work() -> None:
        arrived.append(1)
        if len(arrived) == 2:
            gate.set()
        await gate.wait()

    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        turn = sum(isinstance(message, ModelResponse) for message in messages)
        given = {"intent": "Do it"} if turn else {}
        return ModelResponse(parts=[ToolCallPart("work", given, "c") if turn < 2 else TextPart("done")])

    agent: Agent[None, str] = Agent(FunctionModel(answer), tools=[work], capabilities=[Intents(session_id="shop")])
    with anyio.fail_after(10):
        await asyncio.gather(agent.run("go"), agent.run("go"))
    assert sorted(desk.kept_as, key=str) == [("work", "Do it", "ok")] * 2 + [("work", None, "rejected")] * 2
    assert {start.session_id for start in desk.starts} == {"shop"}


class Page(BaseModel):
    """What can be read once."""

    lines: Iterable[int]


class Guard(AbstractCapability[None]):
    """Another capability, which does one thing to every call."""

    def __init__(self, what: str) -> None:
        self.what = what
        self.got: list[dict[str, Any]] = []

    async def before_tool_execute(self, ctx: RunContext[None], *, call: Any, tool_def: Any, args: Any) -> Any:
        self.got.append(args)
        match self.what:
            case "skips":
                raise SkipToolExecution("from a cache")
            case "refuses":
                raise ModelRetry("not allowed")
            case "rewrites":
                return {**args, "n": 7}
        return args

    async def after_tool_validate(self, ctx: RunContext[None], *, call: Any, tool_def: Any, args: Any) -> Any:
        if self.what == "rejects":
            raise ModelRetry("not like that")
        return args

    async def on_tool_execute_error(
        self, ctx: RunContext[None], *, call: Any, tool_def: Any, args: Any, error: Exception
    ) -> Any:
        if self.what == "recovers":
            return "recovered"
        raise error


@pytest.mark.parametrize(
    ("what", "ran", "status", "told"),
    [
        ("skips", [], "ok", "from a cache"),
        ("refuses", [], "error", "not allowed"),
        ("rejects", [], "error", "not like that"),
        ("rewrites", [7], "ok", "7"),
        ("recovers", [-1], "ok", "recovered"),
    ],
)
async def test_what_another_capability_does_to_a_call_is_what_came_of_it(
    desk: Desk, what: str, ran: list[int], status: str, told: str
) -> None:
    got: list[int] = []

    def work(n: int) -> int:
        got.append(n)
        if n < 0:
            raise RuntimeError("negative")
        return n

    guard = Guard(what)
    script = Script([("work", {"intent": "Do it", "n": -1 if what == "recovers" else 1})], "done")
    await Agent(script.model, tools=[work], capabilities=[guard, Intents()]).run("go")
    assert got == ran
    assert script.told(1) == [told]
    assert desk.statuses == [("work", status)]
    assert all("intent" not in args for args in guard.got)


async def test_a_run_that_pydantic_ai_ends_leaves_no_call_open(desk: Desk, how: str) -> None:
    def work() -> None:
        raise ModelRetry("again")

    calls = [("work", {"intent": "Do it"})]
    with pytest.raises(UnexpectedModelBehavior):
        await agent_of(how, Script(calls, calls, calls), work).run("go")
    assert desk.statuses == [("work", "error"), ("work", "error")]


@pytest.mark.parametrize("streamed", [False, True])
async def test_a_call_that_pydantic_ai_skips_is_told_as_cancelled(desk: Desk, streamed: bool) -> None:
    ran: list[int] = []

    def work() -> None:
        ran.append(1)

    async def drain(ctx: RunContext[None], events: AsyncIterable[Any]) -> None:
        async for _ in events:
            pass

    script = Script([("final_result", {"response": 7}), ("work", {"intent": "Too late"})])
    agent: Agent[None, int] = Agent(
        script.model, tools=[work], capabilities=[Intents()], output_type=int, end_strategy="early"
    )
    first = await agent.run("go", event_stream_handler=drain if streamed else None)
    assert (first.output, ran) == (7, [])
    assert desk.statuses == [("work", "cancelled")]
    assert desk.kept_as == [("work", "Too late", "cancelled")]
    assert {event.call_id for event in desk.updates} <= {desk.starts[0].call_id}

    script.turns.append([("final_result", {"response": 8})])
    await agent.run("more", message_history=first.all_messages())
    assert desk.statuses == [("work", "cancelled")]  # told once


async def test_a_call_that_another_capability_blocks_before_it_is_read_is_told(desk: Desk) -> None:
    class Blocks(AbstractCapability[None]):
        async def before_tool_validate(self, ctx: RunContext[None], *, call: Any, tool_def: Any, args: Any) -> Any:
            raise ToolFailed("not here")

    def work() -> None: ...

    script = Script([("work", {"intent": "Do it"})], "done")
    await Agent(script.model, tools=[work], capabilities=[Blocks(), Intents()]).run("go")
    assert script.told(1) == ["not here"]
    assert desk.kept_as == [("work", "Do it", "error")]


async def test_a_result_that_can_be_read_once_is_left_to_be_read(desk: Desk, how: str) -> None:
    async def read_it(ctx: RunContext[None], events: AsyncIterable[Any]) -> None:
        async for event in events:
            if isinstance(event, FunctionToolResultEvent):
                assert isinstance(event.part, ToolReturnPart)
                read.append(list(event.part.content.lines))

    def work() -> Page:
        return Page(lines=iter([1, 2, 3]))

    read: list[list[int]] = []
    script = Script([("work", {"intent": "Do it"})], "done")
    await agent_of(how, script, work).run("go", event_stream_handler=read_it)
    assert read == [[1, 2, 3]]


async def test_an_exception_that_cannot_be_written_comes_out_all_the_same(desk: Desk, how: str) -> None:
    class Odd(Exception):
        def __str__(self) -> str:
            raise ValueError("no text")

    def work() -> None:
        raise Odd

    with pytest.raises(Odd):
        await agent_of(how, Script([("work", {"intent": "Do it"})]), work).run("go")
    assert desk.statuses == [("work", "error")]
