"""Reading what OpenHands keeps: the SDK's events, and those of 0.x."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from session_lines import (
    JSON_VALUES,
    calls,
    endings,
    grows_steadily,
    heads,
    is_sound,
    mangled,
    prompts,
    results,
    told,
    unread,
)

from pi_intent.contract.inject import inject_intent
from pi_intent.descriptions import model_texts
from pi_intent.sessions.openhands import is_ours, read
from pi_intent.sessions.values import FoundCall, FoundResult, Head

START = 1_767_323_045.0  # 2026-01-02T03:04:05 UTC
TIME = "2026-01-02T03:04:05"


def event(kind: str, event_id: str, **fields: Any) -> dict[str, Any]:
    return {"id": event_id, "timestamp": TIME, "source": "agent", "kind": kind} | fields


def act(
    call_id: str, tool: str, sent: Any, summary: str | None = None, response: str = "r1", **more: Any
) -> dict[str, Any]:
    arguments = sent if isinstance(sent, str) else json.dumps(sent)
    fields: dict[str, Any] = {
        "tool_name": tool,
        "tool_call_id": call_id,
        "tool_call": {"id": call_id, "name": tool, "arguments": arguments},
        "action": {"kind": "Action"},
        "llm_response_id": response,
        "security_risk": "LOW",
    }
    stated = {} if summary is None else {"summary": summary}
    return event("ActionEvent", f"e-{call_id}", **fields | stated | more)


def refuse(call_id: str, tool: str, sent: Any) -> dict[str, Any]:
    return {key: value for key, value in act(call_id, tool, sent).items() if key != "action"}


def observe(call_id: str, text: str, **observation: Any) -> dict[str, Any]:
    seen = {"content": [{"type": "text", "text": text}], "is_error": False} | observation
    return event("ObservationEvent", f"o-{call_id}", tool_call_id=call_id, action_id=f"e-{call_id}", observation=seen)


def fails(call_id: str, text: str) -> dict[str, Any]:
    return event("AgentErrorEvent", f"x-{call_id}", tool_call_id=call_id, error=text)


def test_a_call_and_its_observation_are_told_with_all_that_the_events_say() -> None:
    sent = {"summary": "List the files", "security_risk": "LOW", "command": "ls"}
    found = told(
        read,
        event("MessageEvent", "m", source="user", llm_message={"content": [{"type": "text", "text": "Go"}]}),
        event("MessageEvent", "n", llm_message={"content": [{"type": "text", "text": "Gladly"}]}),
        act("c1", "terminal", sent, "List the files"),
        observe("c1", "ä", exit_code=0, metadata={"exit_code": 0, "working_dir": "/project"}),
    )
    call = FoundCall(
        key="e-c1",
        tool_call_id="c1",
        tool="terminal",
        group="r1",
        turn=1,
        args={"command": "ls"},
        intent="List the files",
        asked=True,
        ts=START,
    )
    ok = FoundResult(
        key="e-c1",
        tool_call_id="c1",
        status="ok",
        is_error=False,
        ts=START,
        text="ä",
        bytes_out=2,
        exit_code=0,
    )
    assert prompts(found) == ["Go"]
    assert [item for item in found if isinstance(item, FoundCall | FoundResult)] == [call, ok]
    assert heads(found) == [Head(session=None, started=START), Head(session=None, cwd="/project", started=START)]


def test_a_summary_that_the_sdk_wrote_itself_is_no_intent() -> None:
    synthesised = 'terminal: {"command": "ls"}'
    found = calls(
        told(
            read,
            act("c1", "terminal", {"command": "ls"}, synthesised),
            act("c2", "terminal", {"command": "ls", "summary": "  "}, synthesised),
            act("c3", "terminal", {"command": "ls", "summary": 7}, synthesised),
            act("c4", "terminal", "not JSON", synthesised, action={"kind": "T", "command": "ls"}),
            act("c5", "terminal", "not JSON", "Look", action={"kind": "T", "command": "ls"}),
            act("c6", "terminal", {"command": "ls"}),
        )
    )
    assert [(one.intent, one.asked, one.args) for one in found] == [
        (None, True, {"command": "ls"}),
        (None, True, {"command": "ls"}),
        (None, True, {"command": "ls"}),
        (None, True, {"command": "ls"}),
        ("Look", True, {"command": "ls"}),
        (None, False, {"command": "ls"}),
    ]


@pytest.mark.parametrize(
    "action", [{"kind": "A", "summary": "Login broken"}, {"kind": "MCPToolAction", "data": {"summary": "x"}}]
)
def test_a_summary_that_is_the_tools_own_argument_is_payload(action: dict[str, Any]) -> None:
    sent = {"summary": "Login broken", "security_risk": "LOW"}
    (found,) = calls(told(read, act("c1", "create_ticket", sent, "Login broken", action=action)))
    assert (found.intent, found.asked, found.args) == (None, False, {"summary": "Login broken"})


def test_a_refused_call_is_rejected_and_its_summary_stays_unread_as_the_sdk_left_it() -> None:
    malformed = {"_openhands_malformed_tool_call": True, "error": "Unterminated string"}
    found = told(
        read,
        refuse("c1", "terminal", {"summary": "Forgot the command", "security_risk": "LOW"}),
        fails("c1", "Error validating tool 'terminal': 1 validation error"),
        refuse("c2", "nope", {"a": 1}),
        fails("c2", "Tool 'nope' not found. Available: []"),
        refuse("c3", "terminal", malformed),
        fails("c3", "Error validating tool 'terminal': Unterminated string"),
        fails("c9", "Error validating tool 'gone'"),
    )
    assert [(one.intent, one.asked, one.args) for one in calls(found)] == [
        (None, False, {}),
        (None, False, {"a": 1}),
        (None, False, {}),
    ]
    assert [(one.key, one.status, one.is_error, one.codes) for one in results(found)] == [
        ("e-c1", "rejected", True, ()),
        ("e-c2", "rejected", True, ()),
        ("e-c3", "rejected", True, ("arguments_not_json",)),
        (None, "rejected", True, ()),
    ]


def test_the_exit_code_of_a_command_is_read_off_its_observation_or_the_metadata_in_it() -> None:
    stated: list[dict[str, Any]] = [
        {"exit_code": 3}, {"metadata": {"exit_code": 4}}, {"exit_code": -1}, {"exit_code": "5"}, {},
    ]  # fmt: skip
    for said, expected in zip(stated, [3, 4, None, None, None], strict=True):
        (result,) = results(told(read, act("c1", "terminal", {}), observe("c1", "x", **said)))
        assert result.exit_code == expected
    for said, expected in zip([stated[1], {"exit_code": 0}, stated[2]], [4, 0, None], strict=True):
        seen = early(2, cause=1, observation="run", content="x", extras=said)
        (result,) = results(told(read, early(1, action="run", args={"command": "x"}), seen))
        assert result.exit_code == expected


def test_what_a_terminal_puts_around_an_output_is_no_part_of_it() -> None:
    (result,) = results(told(read, act("c1", "terminal", {}), observe("c1", "\x1b[?2004l1 passed\n\x1b[?2004h")))
    assert (result.text, result.bytes_out) == ("1 passed\n", 25)


@pytest.mark.parametrize(
    ("answer", "status", "failed"),
    [
        (observe("c1", "x", exit_code=3), "error", False),
        (observe("c1", "x", metadata={"exit_code": 3}), "error", False),
        (observe("c1", "x", exit_code=None, metadata={"exit_code": -1}), "ok", False),
        (observe("c1", "x", exit_code=-1, timeout=True), "timeout", False),
        (observe("c1", "x", is_error=True), "error", True),
        (observe("c1", "", error="old style"), "error", True),
        (fails("c1", "Executor broke"), "error", True),
        (fails("c1", "A restart occurred while this tool was in progress."), "interrupted", True),
        (event("UserRejectObservation", "u", tool_call_id="c1", rejection_reason="No"), "denied", True),
    ],
)
def test_how_a_call_ended_is_read_off_the_event_that_answers_it(answer: Any, status: str, failed: bool) -> None:
    found = told(read, act("c1", "terminal", {}), answer)
    assert [(one.key, one.status, one.is_error) for one in results(found)] == [("e-c1", status, failed)]


def test_parallel_calls_of_one_response_are_one_group_and_repeated_events_are_told_once() -> None:
    lines = [
        act("c1", "terminal", {}),
        act("c2", "terminal", {}),
        observe("c2", "b"),
        observe("c1", "a"),
        act("c3", "terminal", {}, response="r2"),
        observe("c8", "whose?"),
    ]
    found = told(read, *lines, *lines)
    assert [(one.group, one.turn) for one in calls(found)] == [("r1", 1), ("r1", 1), ("r2", 2)]
    assert endings(found) == [("e-c2", "ok"), ("e-c1", "ok"), (None, "ok")]


def test_the_state_of_a_conversation_names_it_and_its_model() -> None:
    value = {"id": "conv-1", "workspace": {"working_dir": "/project"}, "agent": {"llm": {"model": "mini"}}}
    found = told(
        read,
        event("ConversationStateUpdateEvent", "s", key="full_state", value=value),
        event("ConversationStateUpdateEvent", "t", key="stats", value={"id": "no"}),
        act("c1", "terminal", {}),
    )
    assert heads(found) == [Head(session="conv-1", cwd="/project", started=START)]
    assert calls(found)[0].model == "mini"


def test_our_fields_win_over_the_summary_where_the_tools_schema_shows_them() -> None:
    schema = inject_intent({"type": "object", "properties": {"q": {"type": "string"}}}, texts=model_texts())
    tools = [{"mcp_tool": {"name": "search", "inputSchema": schema}}, {"kind": "TerminalTool"}, 7]
    sent = {"intent": "Find it", "rationale": "a.py:3", "q": "x", "summary": "Search"}
    (found,) = calls(told(read, event("SystemPromptEvent", "p", tools=tools), act("c1", "search", sent, "Search")))
    assert (found.intent, found.rationale, found.args) == ("Find it", "a.py:3", {"q": "x"})


def test_a_call_of_another_agent_behind_openhands_is_told_once_it_is_over() -> None:
    def acp(event_id: str, call_id: str, **fields: Any) -> dict[str, Any]:
        return event("ACPToolCallEvent", event_id, tool_call_id=call_id, tool_kind="execute", **fields)

    found = told(
        read,
        acp("1", "c1", status="pending"),
        acp("2", "c1", status="in_progress", raw_input={"command": "ls"}),
        acp("3", "c1", status="failed", raw_input={"command": "ls"}, raw_output="no", is_error=True),
        acp("4", "c1", status="completed"),
        acp("5", "c2", status="in_progress", raw_input={"command": "x"}),
    )
    assert [(one.key, one.tool, one.args) for one in calls(found)] == [
        ("acp:c1", "execute", {"command": "ls"}),
        ("acp:c2", "execute", {"command": "x"}),
    ]
    assert endings(found) == [("acp:c1", "error")]


def test_unknown_kinds_are_told_once_and_known_ones_not_at_all() -> None:
    found = told(read, event("PauseEvent", "1"), event("WidgetEvent", "2"), event("WidgetEvent", "3"))
    assert unread(found) == ["2 records of an unknown kind (“WidgetEvent”), the first on line 2"]


def early(event_id: int, **fields: Any) -> dict[str, Any]:
    return {"id": event_id, "timestamp": TIME, "source": "agent", "message": ""} | fields


def test_events_of_0x_are_paired_by_their_cause_and_the_thought_is_the_intent() -> None:
    about = {"function_name": "execute_bash", "tool_call_id": "t1", "model_response": {"id": "r1", "model": "mini"}}
    args = {"command": "ls", "thought": " Let me look. ", "hidden": False, "timeout": 3, "confirmation_state": "x"}
    found = told(
        read,
        early(0, source="user", action="message", args={"content": "Go"}),
        early(1, action="recall", args={"query": "Go"}),
        early(2, action="run", args=args, tool_call_metadata=about),
        early(3, action="think", args={"thought": "Hm"}),
        early(4, source="environment", observation="agent_state_changed", content="", extras={}),
        early(5, cause=3, observation="think", content="Noted", extras={}),
        early(6, cause=2, observation="run", content="a", extras={"metadata": {"exit_code": 1}}, success=False),
        early(7, source="user", action="run", args={"command": "whoami"}),
        early(8, action="call_tool_mcp", args={"name": "fetch", "arguments": {"url": "x"}, "thought": ""}),
    )
    assert heads(found) == [Head(session=None, started=START)]
    assert prompts(found) == ["Go"]
    assert calls(found) == [
        FoundCall(
            key="2",
            tool_call_id="t1",
            tool="execute_bash",
            group="r1",
            turn=1,
            args={"command": "ls", "timeout": 3},
            intent="Let me look.",
            asked=True,
            ts=START,
            model="mini",
        ),
        FoundCall(key="3", tool_call_id="3", tool="think", group="3", turn=2, args={"thought": "Hm"}, ts=START),
        FoundCall(key="8", tool_call_id="8", tool="fetch", group="8", turn=3, args={"url": "x"}, ts=START),
    ]
    assert [(one.key, one.status, one.is_error) for one in results(found)] == [
        ("3", "ok", False),
        ("2", "error", True),
    ]


@pytest.mark.parametrize(
    ("observation", "status"),
    [
        ({"observation": "error", "content": "x"}, "error"),
        ({"observation": "user_rejected", "content": "No"}, "denied"),
        ({"observation": "run", "content": "x", "extras": {"metadata": {"exit_code": -1}}}, "timeout"),
        ({"observation": "run", "content": "x", "extras": {"exit_code": 0}}, "ok"),
    ],
)
def test_how_a_call_of_0x_ended_is_read_off_its_observation(observation: dict[str, Any], status: str) -> None:
    found = told(read, early(1, action="run", args={"command": "x"}), early(2, cause=1, **observation))
    assert endings(found) == [("1", status)]


def test_each_run_of_an_older_file_is_a_session_and_an_observation_belongs_to_the_action_before_it() -> None:
    def run(number: int) -> dict[str, Any]:
        history = [
            {"action": "message", "content": f"Fix {number}"},
            {"action": "run", "command": "ls", "thought": "Look", "keep_prompt": True},
            {"observation": "run", "content": "a", "exit_code": 0},
            {"action": "message", "content": "Which one?"},
            {"action": "finish", "outputs": {}, "thought": "Done"},
        ]
        return {"issue": {"owner": "me", "repo": "it", "number": number}, "history": history}

    assert [one.key for one in calls(told(read, run(1), run(1)))] == [
        "me/it/1:event-2",
        "me/it/1:event-5",
        "me/it/1#2:event-2",
        "me/it/1#2:event-5",
    ]
    found = told(read, run(1), run(2), {"instance_id": "i-3", "history": [{"action": "run", "command": "x"}, 7]})
    assert [head.session for head in heads(found)] == ["me/it/1", "me/it/2", "i-3"]
    assert prompts(found) == ["Fix 1", "Fix 2"]
    assert [(one.key, one.intent, one.args) for one in calls(found)] == [
        ("me/it/1:event-2", "Look", {"command": "ls"}),
        ("me/it/1:event-5", None, {"outputs": {}, "thought": "Done"}),
        ("me/it/2:event-2", "Look", {"command": "ls"}),
        ("me/it/2:event-5", None, {"outputs": {}, "thought": "Done"}),
        ("i-3:event-1", None, {"command": "x"}),
    ]
    assert endings(found) == [("me/it/1:event-2", "ok"), ("me/it/2:event-2", "ok")]


def test_a_file_is_known_by_its_first_events() -> None:
    assert is_ours([{}, event("PauseEvent", "1")])
    assert is_ours([early(1, action="run", args={})])
    assert is_ours([{"history": [{"action": "message", "content": "x"}]}])
    assert not is_ours([])
    assert not is_ours([{"kind": "PauseEvent"}, {"kind": ["PauseEvent"], "id": "1", "source": "agent"}])
    assert not is_ours([{"action": "ls", "observation": "a", "thought": "x", "source": "y"}])
    assert not is_ours([{"history": [{"role": "user", "action": "x", "observation": "y"}]}])
    assert not is_ours([{}] * 32 + [event("PauseEvent", "1")])


WHOLE = [
    event("SystemPromptEvent", "p", tools=[{"mcp_tool": {"name": "search", "inputSchema": {"properties": {}}}}]),
    event("MessageEvent", "m", source="user", llm_message={"content": [{"type": "text", "text": "Go"}]}),
    act("c1", "terminal", {"summary": "Look", "command": "ls"}, "Look"),
    observe("c1", "a", exit_code=1, metadata={"exit_code": 1, "working_dir": "/project"}),
    refuse("c2", "terminal", {"_openhands_malformed_tool_call": True}),
    fails("c2", "Error validating tool 'terminal'"),
    act("c3", "create", {"summary": "x"}, "x", "r2", action={"data": {"summary": "x"}}),
    event("UserRejectObservation", "u", tool_call_id="c3", action_id="e-c3", rejection_reason="No"),
    event("ACPToolCallEvent", "acp", tool_call_id="c4", status="completed", raw_input={}, raw_output="x"),
    early(1, action="run", args={"command": "ls", "thought": "Look"}, tool_call_metadata={"model_response": {}}),
    early(2, cause=1, observation="run", content="a", extras={"metadata": {"exit_code": 0}}),
    {
        "issue": {"owner": "me"},
        "history": [{"action": "run", "thought": "x"}, {"observation": "run", "content": "y"}],
    },
]


def test_calls_stay_the_same_when_a_file_grows() -> None:
    assert grows_steadily(read, *WHOLE)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(mangled(WHOLE))
def test_whatever_stands_in_a_file_is_told_soundly(lines: list[object]) -> None:
    assert is_sound(told(read, *lines))
    assert is_ours([one for one in lines if isinstance(one, dict)]) in (True, False)


@settings(max_examples=100, deadline=None)
@given(JSON_VALUES)
def test_events_with_anything_in_them_are_read(value: Any) -> None:
    inside = act("c1", "t", {}, action=value, summary=value) | {"tool_call": {"arguments": value}}
    seen = event("ObservationEvent", "o", action_id=value, tool_call_id="c1", observation=value)
    assert is_sound(told(read, inside, seen, early(1, action="run", args=value), {"history": [value]}))
