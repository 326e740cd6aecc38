"""Calls that wait for a person, or for whoever runs them elsewhere."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic_ai import (
    Agent,
    ApprovalRequired,
    CallDeferred,
    DeferredToolRequests,
    DeferredToolResults,
    ModelRetry,
    RunContext,
    Tool,
    ToolApproved,
    ToolDenied,
)
from pydantic_ai.capabilities import AbstractCapability, HandleDeferredToolCalls
from pydantic_ai.exceptions import UserError
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.toolsets import ExternalToolset, FunctionToolset
from pydantic_desk import Desk, Script
from pydantic_gated import APPROVALS, Removal

from pi_intent import CheckInDecision, CheckInRequest, LabelBoard
from pi_intent.hosts.pydantic_ai import Intents, IntentToolset, held
from pi_intent.hosts.pydantic_ai.held import WAITING

SENT = {"intent": "Free some space", "rationale": "df says 99 %", "path": "/tmp/x"}
SAID = {"intent": "Free some space", "rationale": "df says 99 %", "arguments": {"path": "/tmp/x"}}


@pytest.fixture(params=APPROVALS)
def removal(request: pytest.FixtureRequest) -> Removal:
    return Removal(str(request.param))


def agent_of(how: str, script: Script, toolset: Any, *capabilities: Any) -> Agent[None, Any]:
    output: Any = [str, DeferredToolRequests]
    if how == "all":
        return Agent(script.model, toolsets=[toolset], capabilities=[Intents(), *capabilities], output_type=output)
    return Agent(script.model, toolsets=[IntentToolset(toolset)], capabilities=capabilities, output_type=output)


async def test_a_person_is_told_what_the_call_is_for_and_the_call_is_counted_once(
    desk: Desk, removal: Removal, how: str
) -> None:
    agent = agent_of(how, Script([("remove", SENT, "call-a")], "done"), removal.toolset)
    asked = await agent.run("go")
    assert isinstance(asked.output, DeferredToolRequests)
    own = {} if removal.way in ("declared", "by a toolset") else {"risk": "high"}
    assert asked.output.metadata == {"call-a": {**own, "pi_intent": SAID}}
    assert [call.tool_call_id for call in asked.output.approvals] == ["call-a"]
    assert (removal.removed, desk.ends) == ([], [])
    assert desk.kept_as == [("remove", "Free some space", "running")]
    board = LabelBoard()
    for event in desk.events:
        board.apply(event)
    assert [label.state for label in board.labels] == ["waiting"]

    done = await agent.run(
        message_history=asked.all_messages(), deferred_tool_results=DeferredToolResults(approvals={"call-a": True})
    )
    assert done.output == "done"
    assert removal.removed == ["/tmp/x"]
    assert desk.statuses == [("remove", "ok")]
    assert desk.kept_as == [("remove", "Free some space", "ok")]
    assert [type(event) for event in desk.events if isinstance(event, CheckInRequest | CheckInDecision)] == [
        CheckInRequest,
        CheckInDecision,
    ]
    (request,) = [event for event in desk.events if isinstance(event, CheckInRequest)]
    assert request.request == 'remove {"path": "/tmp/x"}'
    (decision,) = [event for event in desk.events if isinstance(event, CheckInDecision)]
    assert (decision.approved, decision.by) == (True, "pydantic-ai")
    numbers = [event.seq for event in desk.events if event.session_id == desk.starts[0].session_id]
    assert numbers == list(range(1, len(numbers) + 1))


async def test_a_call_that_a_person_denies_is_denied(desk: Desk, removal: Removal, how: str) -> None:
    script = Script([("remove", SENT, "call-a")], "done")
    agent = agent_of(how, script, removal.toolset)
    asked = await agent.run("go")
    answer = DeferredToolResults(approvals={"call-a": ToolDenied("not today")})
    await agent.run(message_history=asked.all_messages(), deferred_tool_results=answer)
    assert removal.removed == []
    assert script.told(1) == ["not today"]
    assert desk.statuses == [("remove", "denied")]
    (decision,) = [event for event in desk.events if isinstance(event, CheckInDecision)]
    assert (decision.approved, decision.note) == (False, "not today")
    assert [kept.done and (kept.done.status, kept.done.error) for kept in desk.kept] == [("denied", "not today")]


async def test_what_a_person_changes_about_a_call_is_what_runs_and_is_kept(
    desk: Desk, removal: Removal, how: str
) -> None:
    agent = agent_of(how, Script([("remove", SENT, "call-a")], "done"), removal.toolset)
    asked = await agent.run("go")
    answer = DeferredToolResults(approvals={"call-a": ToolApproved(override_args={"path": "/tmp/y"})})
    await agent.run(message_history=asked.all_messages(), deferred_tool_results=answer)
    assert removal.removed == ["/tmp/y"]
    assert desk.statuses == [("remove", "ok")]
    (kept,) = desk.kept
    assert kept.call is not None
    assert kept.done is not None
    assert (kept.call.intent, kept.call.args) == ("Free some space", {"path": "/tmp/x"})
    assert kept.done.ran_args == {"path": "/tmp/y"}


async def test_nobody_is_asked_about_a_call_without_an_intent(desk: Desk, removal: Removal, how: str) -> None:
    script = Script([("remove", {"path": "/tmp/x"})], [("remove", SENT)], "done")
    asked = await agent_of(how, script, removal.toolset).run("go")
    assert isinstance(asked.output, DeferredToolRequests)
    assert [call.args for call in asked.output.approvals] == [SENT]
    assert [(end.tool_name, end.status) for end in desk.ends] == [("remove", "rejected")]
    assert len([event for event in desk.events if isinstance(event, CheckInRequest)]) == 1


async def test_approval_within_the_run_is_one_call(desk: Desk, removal: Removal, how: str) -> None:
    seen: list[dict[str, Any]] = []

    def decide(ctx: RunContext[None], requests: DeferredToolRequests) -> DeferredToolResults:
        seen.append(requests.metadata)
        return DeferredToolResults(
            approvals={call.tool_call_id: call.tool_call_id == "yes" for call in requests.approvals}
        )

    calls = [("remove", SENT, "yes"), ("remove", {**SENT, "path": "/tmp/z"}, "no")]
    await agent_of(how, Script(calls, "done"), removal.toolset, HandleDeferredToolCalls(decide)).run("go")
    assert removal.removed == ["/tmp/x"]
    assert seen[0]["yes"]["pi_intent"] == SAID
    assert sorted(desk.statuses) == [("remove", "denied"), ("remove", "ok")]
    assert len({start.group_id for start in desk.starts}) == 1


async def test_a_guard_that_asks_before_a_tool_runs_gets_the_intent_too(desk: Desk) -> None:
    class Guard(AbstractCapability[None]):
        async def before_tool_execute(self, ctx: RunContext[None], *, call: Any, tool_def: Any, args: Any) -> Any:
            if not ctx.tool_call_approved:
                raise ApprovalRequired
            return args

    removal = Removal("plain")
    agent = agent_of("all", Script([("remove", SENT, "call-a")], "done"), FunctionToolset([removal.remove]), Guard())
    asked = await agent.run("go")
    assert asked.output.metadata == {"call-a": {"pi_intent": SAID}}
    await agent.run(
        message_history=asked.all_messages(), deferred_tool_results=DeferredToolResults(approvals={"call-a": True})
    )
    assert desk.statuses == [("remove", "ok")]


@pytest.mark.parametrize(
    ("answer", "status"), [("42", "ok"), (ModelRetry("it broke"), "error"), (ToolDenied("no"), "denied")]
)
async def test_a_call_that_somebody_else_runs_ends_with_theiranswer(
    desk: Desk, how: str, answer: Any, status: str
) -> None:
    schema = {"type": "object", "properties": {"question": {"type": "string"}}, "required": ["question"]}
    outside = ExternalToolset([ToolDefinition(name="ask", parameters_json_schema=schema)])
    script = Script([("ask", {"question": "?"})], [("ask", {"intent": "Know", "question": "?"}, "call-a")], "done")
    agent = agent_of(how, script, outside)
    asked = await agent.run("go")
    assert [call.tool_call_id for call in asked.output.calls] == ["call-a"]
    assert asked.output.metadata["call-a"]["pi_intent"]["intent"] == "Know"
    assert [(end.tool_name, end.status) for end in desk.ends] == [("ask", "rejected")]
    results = (
        DeferredToolResults(approvals={"call-a": answer})
        if isinstance(answer, ToolDenied)
        else DeferredToolResults(calls={"call-a": answer})
    )
    await agent.run(message_history=asked.all_messages(), deferred_tool_results=results)
    assert desk.statuses == [("ask", "rejected"), ("ask", status)]
    assert not [event for event in desk.events if isinstance(event, CheckInRequest)]


async def test_a_tool_that_defers_itself_waits(desk: Desk, how: str) -> None:
    def order(what: str) -> str:
        raise CallDeferred(metadata={"ticket": 7})

    agent = agent_of(
        how, Script([("order", {"intent": "Get it", "what": "x"}, "c")], "done"), FunctionToolset([order])
    )
    asked = await agent.run("go")
    assert asked.output.metadata["c"]["ticket"] == 7
    assert desk.kept_as == [("order", "Get it", "running")]
    await agent.run(
        message_history=asked.all_messages(), deferred_tool_results=DeferredToolResults(calls={"c": "there"})
    )
    assert desk.kept_as == [("order", "Get it", "ok")]


async def test_a_call_that_is_approved_in_another_process_runs_and_is_a_call_of_its_own(
    desk: Desk, removal: Removal, how: str
) -> None:
    agent = agent_of(how, Script([("remove", SENT, "call-a")], "done"), removal.toolset)
    asked = await agent.run("go")
    WAITING.close()  # as when the process ends
    assert desk.statuses == [("remove", "interrupted")]
    answer = DeferredToolResults(approvals={"call-a": ToolApproved(override_args={"path": "/tmp/y"})})
    await agent.run(message_history=asked.all_messages(), deferred_tool_results=answer)
    assert removal.removed == ["/tmp/y"]
    assert desk.statuses == [("remove", "interrupted"), ("remove", "ok")]


async def test_what_nobody_comes_back_to_ends_when_too_much_waits(
    desk: Desk, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(held, "MOST_WAITING", 1)
    for _ in range(2):
        await agent_of(how, Script([("remove", SENT)]), Removal("declared").toolset).run("go")
    assert [(end.tool_name, end.status) for end in desk.ends] == [("remove", "interrupted")]
    assert len(WAITING) == 1


async def test_a_waiting_call_does_not_end_with_the_answer_to_another_one_of_its_id(desk: Desk, how: str) -> None:
    def look() -> str:
        return "seen"

    removal = Removal("declared")
    script = Script([("remove", SENT, "call-a")], [("look", {"intent": "See"}, "call-a")], "done")
    toolset = FunctionToolset([Tool(removal.remove, name="remove", requires_approval=True), look])
    agent = agent_of(how, script, toolset)
    await agent.run("go", conversation_id="talk")
    await agent.run("go", conversation_id="talk")
    assert sorted(desk.statuses) == [("look", "ok"), ("remove", "interrupted")]


async def test_a_run_inside_an_except_block_can_be_resumed(desk: Desk, how: str) -> None:
    try:
        raise KeyError("before the run")
    except KeyError:
        await agent_of(how, Script([("remove", SENT)]), Removal("declared").toolset).run("go")
    assert len(WAITING) == 1


async def test_nothing_waits_after_a_run_that_could_not_be_resumed(desk: Desk, how: str) -> None:
    removal = Removal("declared").toolset
    script = Script([("remove", SENT)])
    agent: Agent[None, str] = (
        Agent(script.model, toolsets=[removal], capabilities=[Intents()])
        if how == "all"
        else Agent(script.model, toolsets=[IntentToolset(removal)])
    )
    with pytest.raises(UserError, match="DeferredToolRequests"):
        await agent.run("go")
    assert desk.statuses == [("remove", "interrupted")]
    assert len(WAITING) == 0
