"""Tools, guards, hooks and handlers of others that ask, change or decide as well, beside our gates."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic_ai import (
    ApprovalRequired,
    CallDeferred,
    DeferredToolRequests,
    DeferredToolResults,
    RunContext,
    ToolApproved,
)
from pydantic_ai.capabilities import AbstractCapability, HandleDeferredToolCalls
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.toolsets import ExternalToolset, FunctionToolset
from pydantic_desk import Desk, Script
from pydantic_gated import (
    APPROVALS,
    CALL,
    SENT,
    YES,
    Removal,
    Store,
    asked_and_decided,
    decisions,
    gated_agent,
)

from pi_intent import ask_when


@pytest.mark.parametrize("way", APPROVALS)
async def test_a_tool_that_asks_by_itself_is_asked_about_once(desk: Desk, how: str, asked: None, way: str) -> None:
    own = Removal(way)
    agent = gated_agent(how, Script([CALL], "done"), own.toolset)
    first = await agent.run("go")
    assert first.output.metadata["call-a"]["pi_intent"]["reasons"] == ["it is gone for good"]
    done = await agent.run(message_history=first.all_messages(), deferred_tool_results=YES)
    assert (done.output, own.removed) == ("done", ["/tmp/x"])
    assert asked_and_decided(desk) == ["remove /tmp/x", "yes by application"]
    assert decisions(desk) == [(None, None, 1), (True, "application", 1)]


async def test_a_guard_that_asks_as_well_has_one_question_asked(desk: Desk, asked: None) -> None:
    class Guard(AbstractCapability[None]):
        async def before_tool_execute(self, ctx: RunContext[None], *, call: Any, tool_def: Any, args: Any) -> Any:
            if not ctx.tool_call_approved:
                raise ApprovalRequired(metadata={"guard": "me"})
            return args

    store = Store()
    agent = gated_agent("all", Script([CALL], "done"), store.toolset, Guard())
    first = await agent.run("go")
    assert list(first.output.metadata["call-a"]) == ["guard", "pi_intent"]
    done = await agent.run(message_history=first.all_messages(), deferred_tool_results=YES)
    assert (done.output, store.removed) == ("done", ["/tmp/x"])
    assert decisions(desk) == [(None, None, 1), (True, "application", 1)]


async def test_a_hook_that_changes_an_approved_call_has_it_asked_about_again(desk: Desk, asked: None) -> None:
    class Rewrites(AbstractCapability[None]):
        async def before_tool_execute(self, ctx: RunContext[None], *, call: Any, tool_def: Any, args: Any) -> Any:
            return {**args, "path": "/etc"} if ctx.tool_call_approved else args

    store = Store()
    agent = gated_agent("all", Script([CALL], "done"), store.toolset, Rewrites())
    first = await agent.run("go")
    assert first.output.metadata["call-a"]["pi_intent"]["action"] == "remove /tmp/x"
    second = await agent.run(message_history=first.all_messages(), deferred_tool_results=YES)
    assert second.output.metadata["call-a"]["pi_intent"]["action"] == "remove /etc"
    assert store.removed == []
    await agent.run(message_history=second.all_messages(), deferred_tool_results=YES)
    assert store.removed == ["/etc"]
    assert [kept.done.ran_args for kept in desk.kept if kept.done] == [{"path": "/etc"}]


async def test_a_value_that_only_python_takes_for_the_same_is_asked_about(desk: Desk) -> None:
    class Rewrites(AbstractCapability[None]):
        async def before_tool_execute(self, ctx: RunContext[None], *, call: Any, tool_def: Any, args: Any) -> Any:
            return {"count": True} if ctx.tool_call_approved else args

    counted: list[Any] = []

    def remove(count: int) -> None:
        counted.append(count)

    stop = ask_when(lambda arguments, situation: True, tools="remove")
    script = Script([("remove", {"intent": "Remove one", "count": 1}, "call-a")], "done")
    agent = gated_agent("all", script, FunctionToolset([remove]), Rewrites())
    first = await agent.run("go")
    second = await agent.run(message_history=first.all_messages(), deferred_tool_results=YES)
    stop()
    assert second.output.metadata["call-a"]["pi_intent"]["arguments"] == {"count": True}
    assert counted == []


async def test_a_hook_that_changes_what_the_approver_wrote_has_it_asked_about(desk: Desk, asked: None) -> None:
    class Rewrites(AbstractCapability[None]):
        async def before_tool_execute(self, ctx: RunContext[None], *, call: Any, tool_def: Any, args: Any) -> Any:
            return {**args, "path": args["path"] + "/.."} if ctx.tool_call_approved else args

    store = Store()
    agent = gated_agent("all", Script([CALL], "done"), store.toolset, Rewrites())
    first = await agent.run("go")
    other = DeferredToolResults(approvals={"call-a": ToolApproved(override_args={"path": "/tmp/y"})})
    second = await agent.run(message_history=first.all_messages(), deferred_tool_results=other)
    assert second.output.metadata["call-a"]["pi_intent"]["action"] == "remove /tmp/y/.."
    assert store.removed == []


async def test_a_handler_within_the_run_decides(desk: Desk, how: str, asked: None) -> None:
    seen: list[Any] = []

    def decide(ctx: RunContext[None], requests: DeferredToolRequests) -> DeferredToolResults:
        seen.append(requests.metadata)
        approvals = {call.tool_call_id: call.tool_call_id == "call-a" for call in requests.approvals}
        return DeferredToolResults(approvals=approvals)

    store = Store()
    calls = [CALL, ("remove", {**SENT, "path": "/tmp/y"}, "call-b")]
    agent = gated_agent(how, Script(calls, "done"), store.toolset, HandleDeferredToolCalls(decide), defers=False)
    assert (await agent.run("go")).output == "done"
    assert (store.removed, len(seen)) == (["/tmp/x"], 1)
    assert sorted(decisions(desk), key=str) == sorted(
        [(None, None, 1), (None, None, 1), (True, "application", 1), (False, "application", 1)], key=str
    )


async def test_whoever_runs_an_external_call_decides_on_it(desk: Desk, how: str) -> None:
    stop = ask_when(lambda arguments, situation: True, tools="order", reason="it costs")
    schema = {"type": "object", "properties": {"what": {"type": "string"}}, "required": ["what"]}
    outside = ExternalToolset([ToolDefinition(name="order", parameters_json_schema=schema)])
    agent = gated_agent(how, Script([("order", {"intent": "Get it", "what": "x"}, "call-a")], "done"), outside)
    first = await agent.run("go")
    assert first.output.metadata["call-a"]["pi_intent"]["reasons"] == ["it costs"]
    there = DeferredToolResults(calls={"call-a": "there"})
    await agent.run(message_history=first.all_messages(), deferred_tool_results=there)
    stop()
    assert desk.statuses == [("order", "ok")]
    assert decisions(desk) == [(None, None, 1), (True, "application", 1)]


async def test_a_tool_that_defers_its_work_after_it_was_approved_is_asked_about_once(
    desk: Desk, how: str, asked: None
) -> None:
    def remove(path: str) -> None:
        raise CallDeferred(metadata={"job": 7})

    agent = gated_agent(how, Script([CALL], "done"), FunctionToolset([remove]))
    first = await agent.run("go")
    second = await agent.run(message_history=first.all_messages(), deferred_tool_results=YES)
    assert [call.tool_call_id for call in second.output.calls] == ["call-a"]
    assert second.output.metadata["call-a"]["job"] == 7
    gone = DeferredToolResults(calls={"call-a": "gone"})
    await agent.run(message_history=second.all_messages(), deferred_tool_results=gone)
    assert desk.statuses == [("remove", "ok")]
    assert decisions(desk) == [(None, None, 1), (True, "application", 1)]
