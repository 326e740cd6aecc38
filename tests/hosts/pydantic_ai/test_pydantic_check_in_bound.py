"""An approval is for what was shown: this call, these arguments, this tool, this directory, once."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel, Field, SecretStr
from pydantic_ai import (
    Agent,
    DeferredToolRequests,
    DeferredToolResults,
    RunContext,
    ToolApproved,
)
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.toolsets import FunctionToolset
from pydantic_desk import Desk, Script
from pydantic_gated import (
    CALL,
    SENT,
    YES,
    Store,
    decisions,
    digest_of,
    gated_agent,
    with_arguments,
)

from pi_intent import Answer, Question
from pi_intent.gates.question import Asker

SESSION = {"call-a": {"pi_intent": {"scope": "session"}}}


async def answered_after_a_change(
    agent: Agent[None, Any], answer: DeferredToolResults = YES, **changes: Any
) -> tuple[Any, Any]:
    """Run up to a question, change the call in the history, and go on with an answer; return what came of both."""
    first = await agent.run("go")
    changed = with_arguments(first.all_messages(), **changes)
    return first, await agent.run(message_history=changed, deferred_tool_results=answer)


async def test_what_whoever_approves_writes_is_what_runs_and_what_the_decision_names(
    desk: Desk, how: str, asked: None
) -> None:
    store = Store()
    agent = gated_agent(how, Script([CALL], "done"), store.toolset)
    first = await agent.run("go")
    other = DeferredToolResults(approvals={"call-a": ToolApproved(override_args={"path": "/tmp/y"})})
    await agent.run(message_history=first.all_messages(), deferred_tool_results=other)
    assert store.removed == ["/tmp/y"]
    (kept,) = desk.kept
    assert kept.call is not None
    assert kept.done is not None
    assert (kept.call.args, kept.done.ran_args, kept.done.status) == ({"path": "/tmp/x"}, {"path": "/tmp/y"}, "ok")
    assert [entry.digest for entry in kept.decisions] == [
        digest_of(desk, {"path": "/tmp/x"}),
        digest_of(desk, {"path": "/tmp/y"}),
    ]


async def test_an_approval_does_not_cover_arguments_that_changed_in_the_history(
    desk: Desk, how: str, asked: None
) -> None:
    store = Store()
    agent = gated_agent(how, Script([CALL], "done"), store.toolset)
    _, second = await answered_after_a_change(agent, path="/etc")
    assert store.removed == []
    said = second.output.metadata["call-a"]["pi_intent"]
    assert (said["action"], said["number"]) == ("remove /etc", 2)

    await agent.run(message_history=second.all_messages(), deferred_tool_results=YES)
    assert store.removed == ["/etc"]
    assert desk.statuses == [("remove", "ok")]
    (kept,) = desk.kept
    one, two = digest_of(desk, {"path": "/tmp/x"}), digest_of(desk, {"path": "/etc"})
    assert [(entry.number, entry.approved, entry.digest) for entry in kept.decisions] == [
        (1, None, one),
        (1, True, one),
        (2, None, two),
        (2, True, two),
    ]
    assert kept.done is not None
    assert kept.done.ran_args == {"path": "/etc"}


async def test_what_ran_in_the_end_is_kept_and_not_what_was_asked_about_meanwhile(
    desk: Desk, how: str, asked: None
) -> None:
    store = Store()
    agent = gated_agent(how, Script([CALL], "done"), store.toolset)
    first, _ = await answered_after_a_change(agent, path="/etc")
    back = await agent.run(message_history=first.all_messages(), deferred_tool_results=YES)
    await agent.run(message_history=back.all_messages(), deferred_tool_results=YES)
    assert store.removed == ["/tmp/x"]
    assert [(kept.done.status, kept.done.ran_args) for kept in desk.kept if kept.done] == [("ok", None)]


async def test_what_is_denied_after_it_changed_is_kept_as_having_run_with_nothing(
    desk: Desk, how: str, asked: None
) -> None:
    agent = gated_agent(how, Script([CALL], "done"), Store().toolset)
    _, second = await answered_after_a_change(agent, path="/etc")
    no = DeferredToolResults(approvals={"call-a": False})
    await agent.run(message_history=second.all_messages(), deferred_tool_results=no)
    assert [(kept.done.status, kept.done.ran_args) for kept in desk.kept if kept.done] == [("denied", None)]


async def test_nobody_is_asked_about_one_call_for_ever(desk: Desk, how: str, asked: None) -> None:
    store, script = Store(), Script([CALL], "done")
    agent = gated_agent(how, script, store.toolset)
    result = await agent.run("go")
    for path in ("/a", "/b", "/c"):
        changed = with_arguments(result.all_messages(), path=path)
        result = await agent.run(message_history=changed, deferred_tool_results=YES)
    assert result.output == "done"
    assert store.removed == []
    assert "changed each time" in script.told(1)[0]
    assert desk.statuses == [("remove", "denied")]


async def test_what_the_approver_writes_counts_for_the_history_that_was_asked_about_alone(
    desk: Desk, how: str, asked: None
) -> None:
    store = Store()
    agent = gated_agent(how, Script([CALL], "done"), store.toolset)
    other = DeferredToolResults(approvals={"call-a": ToolApproved(override_args={"path": "/tmp/y"})})
    _, second = await answered_after_a_change(agent, other, path="/etc")
    assert isinstance(second.output, DeferredToolRequests)
    assert store.removed == []


async def test_an_approval_does_not_cover_another_tool_under_the_same_id(desk: Desk, how: str, asked: None) -> None:
    store = Store()
    wiped: list[str] = []

    def remove_all(path: str) -> None:
        wiped.append(path)

    agent = gated_agent(how, Script([CALL], "done"), FunctionToolset([store.remove, remove_all]))
    _, second = await answered_after_a_change(agent, tool_name="remove_all")
    assert second.output.metadata["call-a"]["pi_intent"]["action"] == "remove_all /tmp/x"
    assert (wiped, store.removed) == ([], [])
    await agent.run(message_history=second.all_messages(), deferred_tool_results=YES)
    assert (wiped, store.removed) == (["/tmp/x"], [])
    assert desk.kept_as == [("remove", "Free some space", "open"), ("remove_all", "Free some space", "ok")]


async def test_an_approval_does_not_cover_another_directory(desk: Desk, how: str, asked: None) -> None:
    store = Store()
    first = await gated_agent(how, Script([CALL]), store.toolset, cwd=desk.project).run("go")
    other = desk.project / "inner"
    other.mkdir()
    agent = gated_agent(how, Script("done"), store.toolset, cwd=other)
    second = await agent.run(message_history=first.all_messages(), deferred_tool_results=YES)
    assert second.output.metadata["call-a"]["pi_intent"]["cwd"] == str(other)
    assert store.removed == []


async def test_an_approval_does_not_cover_the_same_id_in_another_run(desk: Desk, how: str, asked: None) -> None:
    store = Store()
    other = ("remove", {**SENT, "path": "/tmp/y"}, "call-a")
    agent = gated_agent(how, Script([CALL], [other], "done"), store.toolset)
    first = await agent.run("go", conversation_id="talk")
    second = await agent.run("go", conversation_id="talk")
    third = await agent.run(message_history=first.all_messages(), deferred_tool_results=YES)
    assert isinstance(third.output, DeferredToolRequests)
    assert store.removed == []
    assert second.output.metadata["call-a"]["pi_intent"]["action"] == "remove /tmp/y"


async def test_an_approval_counts_once(desk: Desk, how: str, asked: None) -> None:
    store = Store()
    agent = gated_agent(how, Script([CALL], "done", "again"), store.toolset)
    first = await agent.run("go")
    await agent.run(message_history=first.all_messages(), deferred_tool_results=YES)
    again = await agent.run(message_history=first.all_messages(), deferred_tool_results=YES)
    assert isinstance(again.output, DeferredToolRequests)
    assert store.removed == ["/tmp/x"]


async def test_this_exact_call_again_in_the_session_is_not_asked_about(desk: Desk, how: str, asked: None) -> None:
    store = Store()
    again = ("remove", {**SENT, "intent": "In other words"}, "call-b")
    other = ("remove", {**SENT, "path": "/tmp/y"}, "call-c")
    agent = gated_agent(how, Script([CALL], [again], "done", [again], [other]), store.toolset)
    first = await agent.run("go")
    yes = DeferredToolResults(approvals={"call-a": True}, metadata=SESSION)
    done = await agent.run(message_history=first.all_messages(), deferred_tool_results=yes)
    assert (done.output, store.removed) == ("done", ["/tmp/x", "/tmp/x"])
    more = await agent.run("more", message_history=done.all_messages())
    assert list(more.output.metadata) == ["call-c"]
    assert store.removed == ["/tmp/x"] * 3
    assert decisions(desk) == [
        (None, None, 1),
        (True, "application", 1),
        (True, "grant", 1),
        (True, "grant", 1),
        (None, None, 1),
    ]
    elsewhere = await gated_agent(how, Script([again]), store.toolset).run("go")  # another conversation
    assert isinstance(elsewhere.output, DeferredToolRequests)


class Hidden(BaseModel):
    path: str = Field(exclude=True)


class Rewrites(AbstractCapability[None]):
    """Changes what a tool is given, after whoever was asked has answered."""

    def __init__(self, path: Any) -> None:
        self.path = path

    async def before_tool_execute(self, ctx: RunContext[None], *, call: Any, tool_def: Any, args: Any) -> Any:
        return {**args, "path": self.path}


class Careful(Asker):
    """Approves what it can see."""

    async def ask(self, question: Question) -> Answer:
        return Answer(question.arguments["path"] in ("/tmp/x", {"path": "/tmp/x"}, ["/tmp/x", "y", "z"]))


@pytest.mark.parametrize(
    ("kind", "sent", "other", "same"),
    [
        (SecretStr, "/tmp/x", SecretStr("/etc"), SecretStr("/tmp/x")),
        (Hidden, {"path": "/tmp/x"}, Hidden(path="/etc"), Hidden(path="/tmp/x")),
        (set[str], ["/tmp/x", "y", "z"], {"/etc"}, {"z", "y", "/tmp/x"}),
    ],
    ids=["a secret", "a hidden field", "a set"],
)
async def test_what_json_does_not_show_is_asked_about_as_well(
    desk: Desk, how: str, asked: None, kind: Any, sent: Any, other: Any, same: Any
) -> None:
    ran: list[Any] = []

    def remove(path: Any) -> str:
        ran.append(path)
        return "removed"

    remove.__annotations__["path"] = kind
    call = ("remove", {**SENT, "path": sent}, "call-a")
    for rewritten in (same, other):
        script = Script([call], "done")
        agent = gated_agent(how, script, FunctionToolset([remove]), Rewrites(rewritten), asker=Careful())
        await agent.run("go")
    assert ran == [same]
    assert desk.statuses == [("remove", "ok"), ("remove", "denied")]
