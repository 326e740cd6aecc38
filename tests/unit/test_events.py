"""Every event survives the wire, and what is not one of ours is refused in one sentence."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from dataclasses import FrozenInstanceError, replace
from typing import Any, get_args

import pytest

from pi_intent.errors import EventError
from pi_intent.events import (
    CheckInDecision,
    CheckInRequest,
    FileChange,
    GroupSummary,
    OutcomePatch,
    ToolEvent,
    ToolExecutionEnd,
    ToolExecutionStart,
    ToolExecutionUpdate,
    ToolIntentUpdate,
    event_to_json,
    parse_event,
)

PLACE: dict[str, Any] = {"session_id": "s", "agent_id": "main", "group_id": "g", "seq": 7, "host": "tau"}
CALL: dict[str, Any] = {**PLACE, "call_id": "c", "tool_call_id": "t", "tool_name": "bash"}
PLACE_JSON = {"sessionId": "s", "agentId": "main", "groupId": "g", "seq": 7, "host": "tau"}
CALL_JSON = {"callId": "c", "toolCallId": "t", **PLACE_JSON, "toolName": "bash"}

WHOLE: list[tuple[ToolEvent, dict[str, Any]]] = [
    (
        ToolIntentUpdate(**CALL, intent="Find the", complete=False),
        {"type": "tool_intent_update", **CALL_JSON, "intent": "Find the", "complete": False},
    ),
    (
        ToolExecutionStart(
            **CALL,
            args={"command": "ls", "deep": [{"a": None}, 1.5]},
            intent_source="model",
            intent="Find the “tests”",
            rationale="asked",
            tool_source="server",
            parent_tool_call_id="p",
            model="m",
            flags=("copied", "truncated"),
        ),
        {
            "type": "tool_execution_start",
            **CALL_JSON,
            "args": {"command": "ls", "deep": [{"a": None}, 1.5]},
            "intentSource": "model",
            "intent": "Find the “tests”",
            "rationale": "asked",
            "toolSource": "server",
            "parentToolCallId": "p",
            "model": "m",
            "flags": ["copied", "truncated"],
        },
    ),
    (
        ToolExecutionUpdate(**CALL, args={"command": "ls"}, partial_result={"text": "a"}, backgrounded=True),
        {
            "type": "tool_execution_update",
            **CALL_JSON,
            "args": {"command": "ls"},
            "partialResult": {"text": "a"},
            "backgrounded": True,
        },
    ),
    (
        ToolExecutionEnd(
            **CALL,
            status="ok",
            is_error=False,
            duration_ms=12,
            outcome="Found 3",
            outcome_patch=OutcomePatch(from_="Find", to="Found"),
            facts="exit 0",
            codes=("intent_blank",),
            files=(FileChange(path="a.py", op="create", post="hmac:1"),),
        ),
        {
            "type": "tool_execution_end",
            **CALL_JSON,
            "status": "ok",
            "isError": False,
            "durationMs": 12,
            "outcome": "Found 3",
            "outcomePatch": {"from": "Find", "to": "Found"},
            "facts": "exit 0",
            "codes": ["intent_blank"],
            "files": [{"path": "a.py", "op": "create", "post": "hmac:1"}],
        },
    ),
    (
        CheckInRequest(**CALL, request="rm -rf build"),
        {"type": "check_in_request", **CALL_JSON, "request": "rm -rf build"},
    ),
    (
        CheckInDecision(**CALL, approved=False, by="person", note="not on a Friday"),
        {"type": "check_in_decision", **CALL_JSON, "approved": False, "by": "person", "note": "not on a Friday"},
    ),
    (
        GroupSummary(**PLACE, text="Looked around"),
        {"type": "group_summary", **PLACE_JSON, "text": "Looked around"},
    ),
]

BARE: list[tuple[ToolEvent, dict[str, Any]]] = [
    (
        ToolExecutionStart(**CALL, args={}, intent_source="absent"),
        {"type": "tool_execution_start", **CALL_JSON, "args": {}, "intentSource": "absent"},
    ),
    (ToolExecutionUpdate(**CALL, args={}), {"type": "tool_execution_update", **CALL_JSON, "args": {}}),
    (
        ToolExecutionEnd(**CALL, status="error", is_error=True, duration_ms=0),
        {"type": "tool_execution_end", **CALL_JSON, "status": "error", "isError": True, "durationMs": 0},
    ),
    (
        CheckInDecision(**CALL, approved=True, by="policy"),
        {"type": "check_in_decision", **CALL_JSON, "approved": True, "by": "policy"},
    ),
]

EVERY = [*WHOLE, *BARE]


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


def test_no_kind_of_event_is_left_out_here():
    assert {type(event) for event, _ in WHOLE} == set(get_args(ToolEvent))


@pytest.mark.parametrize(("event", "written"), EVERY)
def test_an_event_is_one_line_of_ascii_in_camel_case_without_what_is_absent(event, written):
    text = event_to_json(event)
    assert text.isascii()
    assert "\n" not in text
    assert list(json.loads(text).items()) == list(written.items())


@pytest.mark.parametrize("event", [event for event, _ in EVERY])
def test_an_event_comes_back_as_it_was(event):
    assert parse_event(event_to_json(event)) == event
    assert parse_event(event_to_json(event).encode()) == event


@pytest.mark.parametrize("event", [event for event, _ in EVERY])
def test_fields_that_we_do_not_know_are_ignored(event):
    later = {**json.loads(event_to_json(event)), "invented": {"later": [1]}, "call_id": "x"}
    assert parse_event(json.dumps(later)) == event


def test_the_result_stays_in_the_process():
    end = ToolExecutionEnd(**CALL, status="ok", is_error=False, duration_ms=0, result={"secret": 1})
    assert "secret" not in event_to_json(end)
    assert parse_event(event_to_json(end)) == replace(end, result=None)
    wire = {**json.loads(event_to_json(end)), "result": "not ours to believe"}
    assert event_to_json(parse_event(json.dumps(wire))) == event_to_json(end)


@pytest.mark.parametrize(("event", "written"), EVERY)
def test_a_field_that_is_missing_is_named(event, written):
    optional = {"intent", "rationale", "toolSource", "parentToolCallId", "model", "flags", "partialResult"}
    optional |= {"backgrounded", "outcome", "outcomePatch", "facts", "codes", "files", "note"}
    if event.type == "tool_intent_update":
        optional.remove("intent")
    for name in written.keys() - optional - {"type"}:
        with pytest.raises(EventError) as refused:
            parse_event(json.dumps({key: value for key, value in written.items() if key != name}))
        assert str(refused.value) == f"not an event of pi-intent: {event.type}.{name}: Field required"


NOT_OURS = "not an event of pi-intent: it is not an object whose `type` is one of ours"
NOT_JSON = "not an event of pi-intent: the text is not JSON that can be read"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", NOT_JSON),
        ("{", NOT_JSON),
        (b"\xff\xfe{", NOT_JSON),
        ("[" * 200_000, NOT_JSON),
        ('{"type": "group_summary", "seq": ' + "9" * 5000 + "}", NOT_JSON),
        ("null", NOT_OURS),
        ("[]", NOT_OURS),
        ('"\\ud800"', NOT_OURS),
        ("{}", NOT_OURS),
        ('{"type": null}', NOT_OURS),
        ('{"type": []}', NOT_OURS),
        ('{"type": {"type": "group_summary"}}', NOT_OURS),
        ('{"type": "\\u001b]0;owned\\u0007\\n"}', NOT_OURS),
        ('{"type": "\\ud800"}', NOT_OURS),
    ],
)
def test_a_text_that_is_no_event_is_refused_in_one_sentence_that_repeats_nothing_of_it(text, complaint):
    with pytest.raises(EventError) as refused:
        parse_event(text)
    assert str(refused.value) == complaint


@pytest.mark.parametrize(
    "change",
    [
        {"seq": "first"},
        {"seq": 1.5},
        {"seq": None},
        {"sessionId": 5},
        {"host": "\ud800"},
        {"args": []},
        {"args": None},
        {"args": {"evil\x1b\n": nested(400)}},
        {"intent": {"text": "x"}},
        {"intentSource": "guessed"},
        {"flags": "copied"},
        {"flags": ["\x1b]0;owned\x07"]},
    ],
)
def test_a_field_of_the_wrong_kind_is_refused_in_one_line_that_names_it(change):
    (name,) = change
    good = json.loads(event_to_json(ToolExecutionStart(**CALL, args={}, intent_source="model", intent="x")))
    with pytest.raises(EventError) as refused:
        parse_event(json.dumps(good | change))
    said = str(refused.value)
    assert said.startswith(f"not an event of pi-intent: tool_execution_start.{name}: ")
    assert said.isprintable()
    assert "evil" not in said
    assert "owned" not in said


def test_lone_surrogates_come_through():
    start = ToolExecutionStart(**CALL, args={"\ud800": "\udfff"}, intent_source="model", intent="a\ud83d")
    assert event_to_json(start).isascii()
    assert parse_event(event_to_json(start)) == start


@pytest.mark.parametrize("value", [nested(100_000), 10**5000], ids=["deep", "long number"])
def test_arguments_that_cannot_be_written_are_left_out_and_the_rest_goes_on(value):
    start = ToolExecutionStart(**CALL, args={"x": value}, intent_source="model", intent="i", flags=("copied",))
    assert parse_event(event_to_json(start)) == replace(start, args={}, flags=("copied", "unserialisable"))
    update = ToolExecutionUpdate(**CALL, args={"x": 1}, partial_result=value, backgrounded=True)
    assert parse_event(event_to_json(update)) == replace(update, args={}, partial_result=None)


def test_events_are_values():
    for event, _ in EVERY:
        assert pickle.loads(pickle.dumps(event)) == event
        assert replace(event) == event
        assert replace(event, seq=8) != event
        assert event != event_to_json(event)
        assert repr(event).startswith(f"{type(event).__name__}(session_id='s', ")
        assert f"type={event.type!r}" in repr(event)
        assert not hasattr(event, "__dict__")
        with pytest.raises(FrozenInstanceError):
            event.seq = 8
    summary = GroupSummary(**PLACE, text="x")
    assert {summary, replace(summary)} == {summary}
    request, decision = CheckInRequest(**CALL, request="x"), CheckInDecision(**CALL, approved=True, by="x")
    assert request != decision


def test_nothing_heavy_is_loaded_with_the_events_or_the_labels():
    heavy = {"pydantic", "rich", "asyncio"}
    code = f"import sys, pi_intent.events, pi_intent.labels.board; print({heavy} & {{*sys.modules}})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "set()\n"
