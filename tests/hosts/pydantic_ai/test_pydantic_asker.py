"""Calls that a person must see before they run, in runs that cannot wait: asked within the run, or denied."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from pydantic_ai import Agent, ApprovalRequired, DeferredToolRequests, RunContext
from pydantic_ai.agent.spec import AgentSpec
from pydantic_ai.exceptions import UserError
from pydantic_ai.messages import ModelMessage, ModelRequest, ToolReturnPart
from pydantic_ai.toolsets import FunctionToolset
from pydantic_desk import Desk, Script
from pydantic_gated import CALL, SENT, Person, Store, asked_and_decided, decisions, gated_agent

from pi_intent import Answer, Question, SettingsError
from pi_intent.gates.later import Deferred
from pi_intent.hosts.pydantic_ai import Intents, IntentToolset

pytestmark = pytest.mark.usefixtures("asked")

YES, NO = Answer(True), Answer(False)


def outcomes(messages: list[ModelMessage]) -> list[str]:
    """How pydantic-ai says that the calls of a history ended."""
    requests = (message for message in messages if isinstance(message, ModelRequest))
    return [part.outcome for message in requests for part in message.parts if isinstance(part, ToolReturnPart)]


async def test_who_is_asked_sees_the_call_and_it_runs_when_they_approve(desk: Desk, how: str) -> None:
    store, person = Store(), Person(YES)
    agent = gated_agent(how, Script([CALL], "done"), store.toolset, defers=False, asker=person)
    assert (await agent.run("go")).output == "done"
    (question,) = person.questions
    assert (question.arguments, question.intent, question.rationale, question.number) == (
        {"path": "/tmp/x"},
        "Free some space",
        "df says 99 %",
        1,
    )
    assert store.removed == ["/tmp/x"]
    assert desk.statuses == [("remove", "ok")]
    assert decisions(desk) == [(None, None, 1), (True, "person", 1)]
    assert asked_and_decided(desk) == ["remove /tmp/x", "yes by person"]


@pytest.mark.parametrize(
    ("answer", "told", "by"),
    [
        (NO, "this call of remove was not approved. Do not try it again in other words", "person"),
        (Answer(False, note="Use the bin."), "The answer was: Use the bin.", "person"),
        (OSError("no terminal"), "asking for it failed (the question could not be shown)", "failure"),
        ("yes", "asking for it failed (there was no usable answer)", "failure"),
    ],
)
async def test_a_call_that_is_not_approved_never_runs_and_takes_no_retry(
    desk: Desk, how: str, answer: Any, told: str, by: str
) -> None:
    store, script = Store(), Script([CALL], [("remove", SENT, "call-b")], "done")
    person = Person(answer, answer)
    agent = gated_agent(how, script, store.toolset, defers=False, asker=person)  # of a tool without retries
    result = await agent.run("go")
    assert (result.output, store.removed) == ("done", [])
    assert told in script.told(1)[0]
    assert outcomes(result.all_messages()) == ["denied", "denied"]
    assert desk.statuses == [("remove", "denied"), ("remove", "denied")]
    assert decisions(desk) == [(None, None, 1), (False, by, 1)] * 2


async def test_without_a_way_to_a_person_the_call_is_denied_and_the_model_reads_how_to_go_on(
    desk: Desk, how: str
) -> None:
    store, script = Store(), Script([CALL], [("remove", SENT, "call-b")], "done")
    result = await gated_agent(how, script, store.toolset, defers=False).run("go")
    assert (result.output, store.removed) == ("done", [])
    assert "needs a person's approval (it is gone for good), and nobody can be asked" in script.told(1)[0]
    assert outcomes(result.all_messages()) == ["denied", "denied"]
    assert desk.statuses == [("remove", "denied"), ("remove", "denied")]
    assert decisions(desk) == [(False, "nobody", 1)] * 2


async def test_where_nobody_can_be_asked_a_call_can_be_kept_as_waiting(
    desk: Desk, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PI_INTENT_UNATTENDED", "defer")
    store, script = Store(), Script([CALL], "done")
    await gated_agent(how, script, store.toolset, defers=False).run("go")
    assert store.removed == []
    assert "waits for a person's approval" in script.told(1)[0]
    assert (desk.statuses, decisions(desk)) == ([("remove", "denied")], [(None, None, 1)])


async def test_pydantic_ai_ends_a_run_that_cannot_wait_with_an_error(desk: Desk, how: str) -> None:
    """What it would do if calls were deferred all the same; nothing runs, and nothing waits."""
    store = Store()
    with pytest.raises(UserError, match="DeferredToolRequests"):
        await gated_agent(how, Script([CALL]), store.toolset, defers=False, defer=True).run("go")
    assert (store.removed, desk.statuses) == ([], [("remove", "interrupted")])


async def test_an_asker_is_asked_where_the_run_could_wait_as_well(desk: Desk, how: str) -> None:
    store, person = Store(), Person(YES)
    result = await gated_agent(how, Script([CALL], "done"), store.toolset, asker=person).run("go")
    assert (result.output, store.removed, len(person.questions)) == ("done", ["/tmp/x"], 1)


async def test_an_asker_can_hand_the_question_on(desk: Desk, how: str) -> None:
    store = Store()
    result = await gated_agent(how, Script([CALL]), store.toolset, asker=Person(Deferred())).run("go")
    assert result.output.metadata["call-a"]["pi_intent"]["action"] == "remove /tmp/x"
    assert store.removed == []


async def test_this_exact_call_again_is_not_asked_about(desk: Desk, how: str) -> None:
    store, person = Store(), Person(Answer(True, "session"), NO)
    again = ("remove", {**SENT, "intent": "In other words"}, "call-b")
    other = ("remove", {**SENT, "path": "/tmp/y"}, "call-c")
    agent = gated_agent(how, Script([CALL], [again], [other], "done"), store.toolset, defers=False, asker=person)
    await agent.run("go")
    assert [question.arguments["path"] for question in person.questions] == ["/tmp/x", "/tmp/y"]
    assert store.removed == ["/tmp/x", "/tmp/x"]
    assert (True, "grant", 1) in decisions(desk)


async def test_one_person_is_asked_one_question_at_a_time_and_the_other_calls_run_meanwhile(
    desk: Desk, how: str
) -> None:
    store = Store()
    asking: list[int] = []
    open_now = 0

    class Slow:
        async def ask(self, question: Question) -> Answer:
            nonlocal open_now
            open_now += 1
            asking.append(open_now)
            while not store.listed:  # it runs while somebody is asked
                await asyncio.sleep(0)
            open_now -= 1
            return YES

    calls = [CALL, ("remove", {**SENT, "path": "/tmp/y"}, "call-b"), ("list_all", {"intent": "See"})]
    agent = gated_agent(how, Script(calls, "done"), store.toolset, defers=False, asker=Slow())
    await asyncio.wait_for(agent.run("go"), 20)
    assert (asking, sorted(store.removed), store.listed) == ([1, 1], ["/tmp/x", "/tmp/y"], 1)


async def test_a_tool_that_would_ask_by_itself_sees_that_it_is_approved(desk: Desk, how: str) -> None:
    removed: list[str] = []

    def remove(ctx: RunContext[None], path: str) -> None:
        if not ctx.tool_call_approved:
            raise ApprovalRequired
        removed.append(path)

    person = Person(YES)
    agent = gated_agent(how, Script([CALL], "done"), FunctionToolset([remove]), defers=False, asker=person)
    assert (await agent.run("go")).output == "done"
    assert (removed, len(person.questions)) == (["/tmp/x"], 1)


async def test_a_run_that_is_cancelled_while_somebody_is_asked_runs_nothing(desk: Desk, how: str) -> None:
    store = Store()
    begun = asyncio.Event()

    class Never:
        async def ask(self, question: Question) -> Answer:
            begun.set()
            await asyncio.Event().wait()
            return YES

    agent = gated_agent(how, Script([CALL], "done"), store.toolset, defers=False, asker=Never())
    task = asyncio.ensure_future(agent.run("go"))
    await asyncio.wait_for(begun.wait(), 20)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (store.removed, desk.statuses) == ([], [("remove", "cancelled")])
    assert decisions(desk) == [(None, None, 1), (False, "cancelled", 1)]


async def test_a_streamed_run_asks_as_well(desk: Desk, how: str) -> None:
    store = Store()
    agent = gated_agent(how, Script([CALL], "done"), store.toolset, defers=False, asker=Person(YES))
    async with agent.run_stream("go") as stream:
        assert await stream.get_output() == "done"
    assert (store.removed, desk.statuses) == (["/tmp/x"], [("remove", "ok")])


async def test_an_agent_that_a_tool_runs_asks_the_same_person_in_turn(desk: Desk, how: str) -> None:
    store = Store()
    open_now, most = 0, 0

    class Slow:
        async def ask(self, question: Question) -> Answer:
            nonlocal open_now, most
            open_now += 1
            most = max(most, open_now)
            await asyncio.sleep(0.01)
            open_now -= 1
            return YES

    async def delegate(path: str) -> str:
        call = ("remove", {**SENT, "path": path}, "call-a")
        inner = gated_agent(how, Script([call], "removed"), store.toolset, defers=False, asker=Slow())
        return str((await inner.run("go")).output)

    calls = [("delegate", {"intent": f"Have {path} removed", "path": path}) for path in ("/a", "/b", "/c")]
    outer = gated_agent(how, Script(calls, "done"), FunctionToolset([delegate]), defers=False, asker=Slow())
    assert (await outer.run("go")).output == "done"
    assert (sorted(store.removed), most) == (["/a", "/b", "/c"], 1)
    children = [kept for kept in desk.kept if kept.call is not None and kept.call.tool == "remove"]
    assert len(children) == 3
    assert all(kept.call is not None and kept.call.parent is not None for kept in children)
    assert all([entry.approved for entry in kept.decisions] == [None, True] for kept in children)


async def test_an_agent_within_a_tool_that_has_no_way_to_a_person_is_denied(desk: Desk, how: str) -> None:
    store, inner_script = Store(), Script([CALL], "could not")

    async def delegate() -> str:
        return str((await gated_agent(how, inner_script, store.toolset, defers=False).run("go")).output)

    outer = gated_agent(how, Script([("delegate", {"intent": "Clear"})], "done"), FunctionToolset([delegate]))
    assert (await outer.run("go")).output == "done"
    assert store.removed == []
    assert sorted(desk.statuses) == [("delegate", "ok"), ("remove", "denied")]


async def test_the_toolset_s_own_asker_goes_before_the_agent_s(desk: Desk) -> None:
    store, near, far = Store(), Person(YES), Person(YES)
    toolsets = [IntentToolset(store.toolset, asker=near)]
    agent = Agent(Script([CALL], "done").model, toolsets=toolsets, capabilities=[Intents(asker=far)])
    await agent.run("go")
    assert (len(near.questions), len(far.questions), store.removed) == (1, 0, ["/tmp/x"])


def test_what_cannot_ask_is_refused_when_it_is_handed_in() -> None:
    with pytest.raises(SettingsError, match=r"asker must have a method ask\(question\)"):
        Intents(asker=print)  # type: ignore[arg-type]


type Waits = str | DeferredToolRequests


@pytest.mark.parametrize(
    ("output", "waits"),
    [
        (str, False),
        ([str, int], False),
        ([str, DeferredToolRequests], True),
        ([[str, int], DeferredToolRequests], True),
        (str | DeferredToolRequests, True),
        (Waits, True),
    ],
)
async def test_whether_a_run_can_wait_is_read_off_the_agent_s_output_type(
    desk: Desk, output: Any, waits: bool
) -> None:
    agent: Agent[None, Any] = Agent(
        Script([CALL], "done").model, toolsets=[Store().toolset], capabilities=[Intents()], output_type=output
    )
    result = await agent.run("go")
    assert isinstance(result.output, DeferredToolRequests) is waits


def test_an_agent_s_spec_can_name_the_capability_still() -> None:
    assert AgentSpec.model_json_schema_with_capabilities([Intents])
    spec = {"model": "test", "capabilities": [{"Intents": {"policy": "require"}}]}
    assert Agent.from_spec(spec, custom_capability_types=[Intents])
