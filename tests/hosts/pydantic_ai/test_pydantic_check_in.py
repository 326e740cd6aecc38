"""Calls that a person must see before they run, held up with pydantic-ai's own deferred approval."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Callable
from typing import Any

import pytest
from pydantic_ai import (
    Agent,
    DeferredToolRequests,
    DeferredToolResults,
    RunContext,
    Tool,
    ToolDenied,
)
from pydantic_ai.messages import FunctionToolResultEvent
from pydantic_ai.toolsets import FunctionToolset
from pydantic_desk import Desk, Script
from pydantic_gated import (
    CALL,
    SENT,
    YES,
    Store,
    as_json,
    asked_and_decided,
    decisions,
    digest_of,
    gated_agent,
)

from pi_intent import Situation, ask_when, declare_tier, event_to_json
from pi_intent.hosts.pydantic_ai import Intents, held
from pi_intent.hosts.pydantic_ai.held import WAITING


async def test_a_call_waits_and_runs_once_when_it_is_approved(desk: Desk, how: str, asked: None) -> None:
    store = Store()
    agent = gated_agent(how, Script([CALL], "done"), store.toolset)
    first = await agent.run("go")
    assert isinstance(first.output, DeferredToolRequests)
    assert [call.tool_call_id for call in first.output.approvals] == ["call-a"]
    assert (store.removed, desk.ends, desk.kept_as) == ([], [], [("remove", "Free some space", "running")])
    assert decisions(desk) == [(None, None, 1)]

    done = await agent.run(message_history=first.all_messages(), deferred_tool_results=YES)
    assert (done.output, store.removed) == ("done", ["/tmp/x"])
    assert desk.statuses == [("remove", "ok")]
    assert desk.kept_as == [("remove", "Free some space", "ok")]
    assert decisions(desk) == [(None, None, 1), (True, "application", 1)]
    assert asked_and_decided(desk) == ["remove /tmp/x", "yes by application"]
    assert {entry.digest for kept in desk.kept for entry in kept.decisions} == {digest_of(desk, {"path": "/tmp/x"})}


async def test_a_guard_of_a_tool_that_a_toolset_lacks_holds_what_may_be_meant(desk: Desk) -> None:
    desk.configure('[tools]\n"store/remov" = { override = true }\n')
    removed: list[str] = []

    def remove(path: str) -> None:
        removed.append(path)

    script = Script([("remove", {"intent": "Free some space", "path": "x"})], "done")
    await Agent(script.model, toolsets=[FunctionToolset([remove], id="store")], capabilities=[Intents()]).run("go")
    assert removed == []
    assert desk.statuses == [("remove", "denied")]


async def test_whoever_decides_finds_the_literal_action_first_and_then_the_words(
    desk: Desk, how: str, asked: None
) -> None:
    script = Script(
        [("list_all", {"intent": "See what is there"})],
        [("remove", {**SENT, "intent": "Fix the issue", "rationale": "README.md says so"}, "call-a")],
    )
    first = await gated_agent(how, script, Store().toolset).run("go")
    (said,) = [metadata["pi_intent"] for metadata in as_json(first.output.metadata).values()]
    assert list(said.items()) == [
        ("action", "remove /tmp/x"),
        ("arguments", {"path": "/tmp/x"}),
        ("tool", "remove"),
        ("cwd", str(desk.project)),
        ("reasons", ["it is gone for good"]),
        ("intent", "Fix the issue"),
        ("rationale", "README.md says so"),
        (
            "evidence",
            {
                "read": [{"path": "/tmp/x", "seen": "not read in this session"}],
                "pointers": [{"place": "README.md", "found": "is not there, not read in this session"}],
                "led": [{"tool": "list_all", "action": "", "status": "ok", "intent": "See what is there"}],
            },
        ),
        ("notes", said["notes"]),
        ("digest", digest_of(desk, {"path": "/tmp/x"})),
    ]
    assert [note for note in said["notes"] if "only general words" in note]


async def test_where_the_person_wants_the_literal_action_alone_no_word_of_the_model_is_there(
    desk: Desk, how: str, asked: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PI_INTENT_CONSENT", "literal")
    script = Script([("list_all", {"intent": "Free some space"})], [CALL])
    first = await gated_agent(how, script, Store().toolset).run("go")
    said = first.output.metadata["call-a"]["pi_intent"]
    assert list(said) == ["action", "arguments", "tool", "cwd", "reasons", "evidence", "digest"]
    assert "Free some space" not in str(first.output.metadata)
    assert "df says" not in str(first.output.metadata)


async def test_a_tool_that_asks_by_itself_does_not_tell_words_that_are_not_wanted(
    desk: Desk, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PI_INTENT_CONSENT", "literal")
    toolset = FunctionToolset([Tool(Store().remove, requires_approval=True)])
    first = await gated_agent(how, Script([CALL]), toolset).run("go")
    assert first.output.metadata == {"call-a": {"pi_intent": {"arguments": {"path": "/tmp/x"}}}}


async def test_a_call_that_is_denied_never_runs_and_the_model_reads_why(desk: Desk, how: str, asked: None) -> None:
    store, script = Store(), Script([CALL], "done")
    agent = gated_agent(how, script, store.toolset)
    first = await agent.run("go")
    no = DeferredToolResults(approvals={"call-a": ToolDenied("not today")})
    await agent.run(message_history=first.all_messages(), deferred_tool_results=no)
    assert (store.removed, script.told(1)) == ([], ["not today"])
    assert desk.statuses == [("remove", "denied")]
    assert decisions(desk) == [(None, None, 1), (False, "application", 1)]
    assert [entry.note for kept in desk.kept for entry in kept.decisions] == [None, "not today"]
    assert [kept.done.ran_args for kept in desk.kept if kept.done] == [None]
    assert asked_and_decided(desk) == ["remove /tmp/x", "no by application"]


async def test_the_other_calls_of_an_answer_run_while_one_waits(desk: Desk, how: str, asked: None) -> None:
    store = Store()
    calls = [("list_all", {"intent": "See"}, "call-l"), CALL, ("remove", {**SENT, "path": "/tmp/y"}, "call-b")]
    agent = gated_agent(how, Script(calls, "done"), store.toolset)
    first = await agent.run("go")
    assert sorted(first.output.metadata) == ["call-a", "call-b"]
    assert (store.listed, store.removed) == (1, [])
    both = DeferredToolResults(approvals={"call-a": True, "call-b": False})
    await agent.run(message_history=first.all_messages(), deferred_tool_results=both)
    assert (store.listed, store.removed) == (1, ["/tmp/x"])
    assert sorted(desk.statuses) == [("list_all", "ok"), ("remove", "denied"), ("remove", "ok")]
    assert len({start.group_id for start in desk.starts}) == 1


async def test_a_streamed_run_waits_as_well(desk: Desk, how: str, asked: None) -> None:
    store = Store()
    agent = gated_agent(how, Script([CALL], "done"), store.toolset)
    async with agent.run_stream_events("go") as events:
        kinds = [event.event_kind async for event in events]
    assert "deferred_tool_requests" in kinds
    assert store.removed == []

    seen: list[str] = []

    async def watch(ctx: RunContext[None], events: Any) -> None:
        seen.extend([event.part.content async for event in events if isinstance(event, FunctionToolResultEvent)])

    messages = (await gated_agent(how, Script([CALL]), store.toolset).run("go")).all_messages()
    await agent.run(message_history=messages, deferred_tool_results=YES, event_stream_handler=watch)
    assert (seen, store.removed) == (["removed /tmp/x"], ["/tmp/x"])


async def test_who_judges_a_call_never_gets_the_words(desk: Desk, how: str) -> None:
    seen: list[Any] = []

    def judge(arguments: dict[str, Any], situation: Situation) -> bool:
        seen.extend([arguments, situation])
        return False

    def tier(arguments: dict[str, Any]) -> Any:
        seen.append(arguments)
        return "read"

    stops: list[Callable[[], None]] = [ask_when(judge), declare_tier("remove", tier)]
    store = Store()
    await gated_agent(how, Script([CALL], "done"), store.toolset).run("go")
    for stop in stops:
        stop()
    assert store.removed == ["/tmp/x"]
    assert [type(value) for value in seen] == [dict, dict, Situation]
    assert "Free some space" not in str(seen)
    assert "df says" not in str(seen)
    assert seen[2].tool_name == "remove"


@pytest.mark.parametrize(
    ("settings", "waits"),
    [
        ({"PI_INTENT_ASK": "exec"}, ["call-a", "call-l"]),
        ({"PI_INTENT_CHECK_IN": "outside"}, ["call-a"]),
        ({"config": '[tools."rem*"]\ntier = "exec"\noverride = true\n'}, ["call-a"]),
        ({"project": '[tools.remove]\ncheck_in = ["always"]\n'}, ["call-a"]),
        ({"PI_INTENT_ASK": "exec", "PI_INTENT": "off"}, []),
    ],
)
async def test_settings_say_which_calls_wait(
    desk: Desk, how: str, settings: dict[str, str], waits: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in settings.items():
        match name:
            case "config":
                desk.configure(value)
            case "project":
                (desk.project / ".pi-intent.toml").write_text(value)
            case _:
                monkeypatch.setenv(name, value)
    sent = SENT if "PI_INTENT" not in settings else {"path": "/tmp/x"}
    calls = [("list_all", {"intent": "See"} if sent is SENT else {}, "call-l"), ("remove", sent, "call-a")]
    result = await gated_agent(how, Script(calls, "done"), Store().toolset).run("go")
    assert sorted(getattr(result.output, "metadata", {})) == waits


async def test_nobody_is_asked_about_a_call_that_its_tool_would_refuse(desk: Desk, how: str, asked: None) -> None:
    wrong = ("remove", {"intent": "Free some space", "path": 7}, "call-a")
    toolset = FunctionToolset([Store().remove], max_retries=1)
    first = await gated_agent(how, Script([wrong], [("remove", SENT, "call-b")]), toolset).run("go")
    assert list(first.output.metadata) == ["call-b"]
    assert decisions(desk) == [(None, None, 1)]


async def test_what_nobody_comes_back_to_stays_open_with_its_question(
    desk: Desk, how: str, asked: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(held, "MOST_WAITING", 1)
    for _ in range(2):
        await gated_agent(how, Script([CALL]), Store().toolset).run("go")
    assert (desk.ends, len(WAITING)) == ([], 1)
    assert [state for _, _, state in desk.kept_as] == ["open", "running"]
    assert decisions(desk) == [(None, None, 1), (None, None, 1)]


async def test_a_run_of_its_own_output_type_waits_where_it_is_told_to(desk: Desk, how: str, asked: None) -> None:
    agent: Agent[None, Any] = gated_agent(how, Script([CALL]), Store().toolset, defers=False, defer=True)
    first = await agent.run("go", output_type=[str, DeferredToolRequests])
    assert isinstance(first.output, DeferredToolRequests)


async def test_what_another_gate_refuses_is_denied_and_nobody_is_asked(desk: Desk, how: str, asked: None) -> None:
    desk.configure('artifacts = true\n[tools.remove]\nwants = { path = "page" }\n')
    store, script = Store(), Script([("remove", {**SENT, "path": "artifact:page:" + 32 * "0"}, "call-a")], "done")
    await gated_agent(how, script, store.toolset).run("go")
    assert store.removed == []
    assert "nothing is stored under it" in script.told(1)[0]
    assert decisions(desk) == []
    assert desk.statuses == [("remove", "denied")]


async def test_a_strict_ledger_that_cannot_keep_the_question_vetoes_the_call(
    desk: Desk, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PI_INTENT_STRICT", "true")

    def breaks(arguments: dict[str, Any], situation: Situation) -> bool:
        ledger = desk.project / ".git" / "pi-intent" / "ledger"
        if ledger.is_dir():
            shutil.rmtree(ledger)
            ledger.write_text("in the way")
        return True

    stop = ask_when(breaks, tools="remove")
    store, script = Store(), Script([CALL], "done")
    result = await gated_agent(how, script, store.toolset).run("go")
    stop()
    assert (result.output, store.removed) == ("done", [])
    assert "could not be written" in script.told(1)[0]
    assert desk.statuses == [("remove", "denied")]


@pytest.mark.parametrize("streamed", [False, True])
async def test_where_nothing_asks_no_gate_is_loaded_and_nothing_is_other_than_without(
    desk: Desk, how: str, streamed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns = [[("list_all", {"intent": "See"}, "call-l")], [("remove", {"path": "/tmp/x"}, "call-x")], [CALL], "done"]

    async def told() -> tuple[str, str, Any]:
        desk.events.events.clear()
        script = Script(*turns)
        agent = gated_agent(how, script, Store().toolset)
        if streamed:
            async with agent.run_stream("go", conversation_id="talk") as stream:
                await stream.get_output()
                messages = stream.all_messages_json().decode()
        else:
            messages = (await agent.run("go", conversation_id="talk")).all_messages_json().decode()
        return still(messages), still("".join(map(event_to_json, desk.events))), script.tools

    with monkeypatch.context() as patch:
        for name in ("gating", "gates.rules", "gates.check_in", "hosts.pydantic_ai.check_in"):
            patch.setitem(sys.modules, f"pi_intent.{name}", None)  # whoever imports it fails
        without = await told()
    stop = ask_when(lambda arguments, situation: True, tools="another")
    idle = await told()
    stop()
    assert idle == without


def still(text: str) -> str:
    """A text without its times and made-up ids."""
    text = re.sub(r"\d{4}-\d\d-\d\dT[0-9:.]+Z", "TIME", text)
    text = re.sub(r'"durationMs": ?\d+', "MS", text)
    return re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}|[0-9A-HJKMNP-TV-Z]{26}", "ID", text)
