"""Reading Codex's rollout files: calls, how they ended without a flag for it, and what counts as an intent."""

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
from pi_intent.contract.rejections import rejection_text
from pi_intent.descriptions import model_texts
from pi_intent.sessions.codex import is_ours, read
from pi_intent.sessions.values import FoundCall, FoundResult, Head

START = 1_767_323_045.0  # 2026-01-02T03:04:05Z


def line(kind: str, payload: Any, second: int = 0) -> dict[str, Any]:
    return {"timestamp": f"2026-01-02T03:04:{5 + second:02}.000Z", "type": kind, "payload": payload}


def item(kind: str, second: int = 0, **fields: Any) -> dict[str, Any]:
    return line("response_item", {"type": kind, **fields}, second)


def event(kind: str, **fields: Any) -> dict[str, Any]:
    return line("event_msg", {"type": kind, **fields})


def call(call_id: str, name: str, arguments: Any, second: int = 0, **more: Any) -> dict[str, Any]:
    sent = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return item("function_call", second, name=name, arguments=sent, call_id=call_id, **more)


def output(call_id: str, text: Any, second: int = 0) -> dict[str, Any]:
    return item("function_call_output", second, call_id=call_id, output=text)


def says(role: str, text: str) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    return item("message", role=role, content=[{"type": kind, "text": text}])


META = line(
    "session_meta", {"id": "th-1", "cwd": "/project", "cli_version": "0.99", "timestamp": "2026-01-02T03:04:05Z"}
)
CONTEXT = line("turn_context", {"cwd": "/project", "model": "gpt"})


def ended(text: Any, name: str = "exec_command", *between: Any) -> FoundResult:
    return results(told(read, META, call("c1", name, {"cmd": "x"}), *between, output("c1", text)))[0]


def test_a_call_and_its_output_are_told_with_all_that_the_lines_say() -> None:
    text = (
        "Chunk ID: 6e6db0\nWall time: 1.5 seconds\nProcess exited with code 0\nOriginal token count: 1\nOutput:\nä\n"
    )
    found = told(
        read,
        META,
        CONTEXT,
        says("user", "Run it"),
        call("c1", "exec_command", {"cmd": "x"}, 1),
        output("c1", text, 3),
    )
    assert heads(found) == [Head(session="th-1", cwd="/project", version="0.99", started=START)]
    assert prompts(found) == ["Run it"]
    assert found[2:] == [
        FoundCall(
            key="c1",
            tool_call_id="c1",
            tool="exec_command",
            group="response-1",
            turn=1,
            args={"cmd": "x"},
            ts=START + 1,
            model="gpt",
        ),
        FoundResult(
            key="c1",
            tool_call_id="c1",
            status="ok",
            is_error=False,
            ts=START + 3,
            ms=1500,
            text=text,
            bytes_out=len(text.encode()),
        ),
    ]


@pytest.mark.parametrize(
    "asking",
    [
        {"sandbox_permissions": "require_escalated"},
        {"sandbox_permissions": "with_additional_permissions"},
        {"with_escalated_permissions": True},
    ],
)
def test_the_justification_of_a_command_that_asks_to_leave_the_sandbox_is_its_intent(asking: dict[str, Any]) -> None:
    sent = {"cmd": "git push", **asking, "justification": " Publish the fix? "}
    (found,) = calls(told(read, META, call("c1", "exec_command", sent)))
    assert (found.intent, found.asked, found.args) == ("Publish the fix?", True, {"cmd": "git push", **asking})


@pytest.mark.parametrize(
    ("name", "sent"),
    [
        ("exec_command", {"cmd": "ls", "justification": "Look"}),
        ("exec_command", {"sandbox_permissions": "use_default", "justification": "Look"}),
        ("shell", {"with_escalated_permissions": False, "justification": "Look"}),
        ("update_plan", {"with_escalated_permissions": True, "justification": "Look", "explanation": "x"}),
        ("mcp__a__b", {"intent": "its own", "sandbox_permissions": "require_escalated"}),
        ("exec_command", {"sandbox_permissions": ["require_escalated"], "justification": "Look"}),
    ],
)
def test_no_other_argument_is_an_intent(name: str, sent: dict[str, Any]) -> None:
    (found,) = calls(told(read, META, call("c1", name, sent)))
    assert (found.intent, found.asked, found.args) == (None, False, sent)


def test_an_escalation_without_a_reason_is_one_that_left_it_out() -> None:
    sent = {"cmd": "ls", "with_escalated_permissions": True, "justification": "\u2800"}
    (found,) = calls(told(read, META, call("c1", "shell", sent)))
    assert (found.intent, found.asked) == (None, True)


@pytest.mark.parametrize(
    ("text", "status", "ms"),
    [
        ("Exit code: 0\nWall time: 2 seconds\nOutput:\nExit code: 3\n", "ok", 2000),
        ("Exit code: 3\nWall time: 0.1 seconds\nOutput:\nno\n", "error", 100),
        ("Chunk ID: a\nWall time: 0.0 seconds\nProcess exited with code -1\nOutput:\n", "error", 0),
        (
            "Wall time: 1.0 seconds\nProcess running with session ID 7\nOutput:\nProcess exited with code 1\n",
            "ok",
            1000,
        ),
        ('{"output":"x","metadata":{"exit_code":0,"duration_seconds":0.2}}', "ok", 200),
        ('{"output":"x","metadata":{"exit_code":101,"duration_seconds":0.2}}', "error", 200),
        ('{"output":"x","exit_code":1,"wall_time_seconds":0.5}', "error", 500),
        ('{"output":"command timed out after 10 milliseconds","metadata":{"exit_code":124}}', "timeout", None),
        ('{"exit_code":1}', "ok", None),
        ("Process exited with code 1 is what it printed", "ok", None),
        ([{"type": "input_text", "text": "Exit code: 1\nOutput:\n"}, {"type": "input_image"}], "error", None),
        ("exec command rejected by user", "denied", None),
        (
            'exec_command failed for `rm`: CreateProcess { message: "Rejected(\\"rejected by user\\")" }',
            "denied",
            None,
        ),
        ("aborted by user after 5.0s", "cancelled", None),
        ("Wall time: 3.0 seconds\naborted by user", "cancelled", 3000),
        ("aborted", "cancelled", None),
        ("abort" + "ed builds: 0", "ok", None),
        ("failed to parse function arguments: missing field `cmd`", "rejected", None),
        ("unsupported call: frobnicate", "rejected", None),
        ("apply_patch verification failed: no such line", "error", None),
        ("Script failed\nWall time 0.1 seconds\nOutput:\n", "error", 100),
        ("Script completed\nWall time 0.1 seconds\nOutput:\nScript failed", "ok", 100),
        ({"content": "bad", "success": False}, "error", None),
        (None, "ok", None),
    ],
)
def test_how_a_call_ended_is_read_off_the_beginning_of_its_output(text: Any, status: str, ms: int | None) -> None:
    found = ended(text)
    assert (found.status, found.ms) == (status, ms)
    assert found.is_error == isinstance(text, dict)


@pytest.mark.parametrize(
    ("what", "status", "failed", "ms"),
    [
        ({"type": "mcp_tool_call_end", "result": {"Err": "x"}}, "error", True, None),
        ({"type": "mcp_tool_call_end", "result": {"Ok": {"isError": True}}}, "error", True, None),
        ({"type": "mcp_tool_call_end", "result": {"Ok": {"isError": False}}}, "ok", False, None),
        ({"type": "patch_apply_end", "success": False, "status": "declined"}, "denied", True, None),
        ({"type": "exec_command_end", "exit_code": 2, "duration": {"secs": 2, "nanos": 5e6}}, "error", False, 2005),
        ({"type": "agent_message", "status": "declined"}, "ok", False, None),
    ],
)  # fmt: skip
def test_an_event_between_a_call_and_its_output_says_how_it_ended(
    what: dict[str, Any], status: str, failed: bool, ms: int | None
) -> None:
    found = ended("text", "anything", line("event_msg", {"call_id": "c1", **what}))
    assert (found.status, found.is_error, found.ms) == (status, failed, ms)


def test_arguments_that_are_no_object_are_kept_as_they_were_sent_and_named_in_the_refusal() -> None:
    found = told(
        read,
        META,
        call("c1", "shell", '{"command": ["l'),
        output("c1", "failed to parse function arguments: EOF"),
        call("c2", "shell", "[1]"),
        output("c2", "failed to parse function arguments: invalid type"),
    )
    assert [one.args for one in calls(found)] == [{"_raw_arguments": '{"command": ["l'}, {"_raw_arguments": "[1]"}]
    assert [(one.status, one.codes) for one in results(found)] == [
        ("rejected", ("arguments_not_json",)),
        ("rejected", ("arguments_not_an_object",)),
    ]


def test_arguments_nested_without_end_are_kept_as_they_were_sent() -> None:
    deep = "[" * 100_000
    (found,) = calls(told(read, META, call("c1", "shell", deep)))
    assert found.args == {"_raw_arguments": deep}


def test_the_files_of_a_patch_are_named_beside_its_text() -> None:
    one = "*** Begin Patch\n*** Update File: src/pay.py\n*** Move to: src/paid.py\n@@\n-5\n+3\n*** End Patch"
    two = "*** Begin Patch\r\n*** Add File: a b.py\r\n+*** Delete File: no\r\n*** Delete File: c.py\r\n*** End Patch"
    found = told(
        read,
        META,
        item("custom_tool_call", name="apply_patch", input=one, call_id="c1"),
        call("c2", "apply_patch", {"patch": two, "workdir": "/w"}),
        item("custom_tool_call", name="apply_patch", input={"a": 1}, call_id="c3"),
        item("custom_tool_call", name="exec", input="text('*** Add File: a')", call_id="c4"),
        item("custom_tool_call", name="apply_patch", input="*** Add File: x\n" * 100_000, call_id="c5"),
    )
    assert [one.args for one in calls(found)] == [
        {"path": "src/pay.py", "paths": ["src/pay.py", "src/paid.py"], "patch": one},
        {"path": "a b.py", "paths": ["a b.py", "c.py"], "workdir": "/w", "patch": two},
        {"input": {"a": 1}},
        {"input": "text('*** Add File: a')"},
        {"path": "x", "patch": "*** Add File: x\n" * 100_000},
    ]


def test_patches_local_shells_and_tools_behind_mcp_are_calls() -> None:
    found = told(
        read,
        META,
        item("custom_tool_call", name="apply_patch", input="*** Begin Patch", call_id="c1"),
        item("custom_tool_call_output", call_id="c1", output="Success"),
        item("local_shell_call", call_id="c2", action={"type": "exec", "command": ["ls"]}),
        output("c2", "a"),
        call("c3", "mcp__files__read_file", {}),
        call("c4", "search", {}, namespace="mcp__files__"),
        call("c5", "spawn", {}, namespace="agents"),
    )
    assert [(one.tool, one.tool_source, one.args) for one in calls(found)] == [
        ("apply_patch", None, {"patch": "*** Begin Patch"}),
        ("local_shell", None, {"command": ["ls"]}),
        ("read_file", "files", {}),
        ("search", "files", {}),
        ("spawn", None, {}),
    ]
    assert endings(found) == [("c1", "ok"), ("c2", "ok")]


def test_what_the_provider_runs_by_itself_is_no_call() -> None:
    found = told(
        read,
        META,
        item("web_search_call", status="completed", action={"query": "x"}),
        item("tool_search_call", call_id="c1", arguments={}),
        item("tool_search_output", call_id="c1", tools=[]),
        item("image_generation_call", id="i", result="AAAA"),
        event("web_search_end", call_id="c2"),
    )
    assert found == heads(found)


def test_calls_of_one_response_are_one_group() -> None:
    found = told(
        read,
        META,
        says("user", "Go"),
        item("reasoning", summary=[]),
        call("c1", "a", {}),
        call("c2", "a", {}),
        event("token_count"),
        output("c2", ""),
        output("c1", ""),
        says("assistant", "And now"),
        call("c3", "a", {}),
        output("c3", ""),
        says("assistant", "Done"),
        says("user", "Again"),
        call("c4", "a", {}),
    )
    assert [(one.group, one.turn) for one in calls(found)] == [
        ("response-1", 1),
        ("response-1", 1),
        ("response-2", 2),
        ("response-4", 4),
    ]
    assert endings(found) == [("c2", "ok"), ("c1", "ok"), ("c3", "ok")]


def test_an_id_that_is_used_again_after_its_output_is_another_call() -> None:
    found = told(
        read,
        META,
        output("c1", "nobody's"),
        call("c1", "a", {"n": 1}),
        call("c1", "a", {"n": 1}),
        output("c1", "first"),
        output("c1", "once more"),
        call("c1", "a", {"n": 2}),
        output("c1", "second"),
    )
    assert [one.key for one in calls(found)] == ["c1", "c1#2"]
    assert [(one.key, one.text) for one in results(found)] == [
        (None, "nobody's"),
        ("c1", "first"),
        ("c1#2", "second"),
    ]


def test_a_prompt_that_stands_as_an_event_and_as_an_item_is_one_and_codex_own_texts_are_none() -> None:
    found = told(
        read,
        META,
        says("user", "<environment_context><cwd>/x</cwd></environment_context>"),
        says("user", "# AGENTS.md instructions for /x"),
        says("developer", "Be brief"),
        event("user_message", message="List the files"),
        says("user", "List the files"),
        event("user_message", message="<b>Bold</b>"),
        event("user_message", message=7),
    )
    assert prompts(found) == ["List the files", "<b>Bold</b>"]


def test_the_first_beginning_of_a_forked_file_is_its_own() -> None:
    source = {"subagent": {"thread_spawn": {"parent_thread_id": "th-0", "agent_nickname": "Ada"}}}
    own = line("session_meta", {"id": "th-2", "cwd": "/project", "source": source})
    found = told(read, own, META, call("c1", "a", {}), line("turn_context", {"cwd": "/elsewhere"}))
    assert heads(found) == [
        Head(session="th-2", cwd="/project", parent="th-0"),
        Head(session="th-2", cwd="/elsewhere", parent="th-0"),
    ]
    assert [one.agent for one in calls(found)] == ["Ada"]


def test_the_bare_items_of_older_files_are_read() -> None:
    bare = [
        {"id": "th-1", "timestamp": "2026-01-02T03:04:05.000Z", "instructions": None, "git": {}},
        {"record_type": "state"},
        says("user", "<environment_context>\n  <cwd>/project</cwd>\n</environment_context>")["payload"],
        says("user", "Go")["payload"],
        call("c1", "shell", {"command": ["ls"]})["payload"],
        output("c1", '{"output":"a","metadata":{"exit_code":1,"duration_seconds":1}}')["payload"],
    ]
    assert is_ours(bare)
    found = told(read, *bare)
    assert heads(found) == [
        Head(session="th-1", started=START),
        Head(session="th-1", cwd="/project", started=START),
    ]
    assert prompts(found) == ["Go"]
    assert endings(found) == [("c1", "error")]
    assert unread(found) == []


def test_our_fields_are_taken_from_an_mcp_tool_once_the_file_shows_them() -> None:
    schema = inject_intent({"type": "object", "properties": {"q": {"type": "string"}}}, texts=model_texts())
    shown = [{"type": "namespace", "name": "mcp__files__", "tools": [{"name": "search", "parameters": schema}]}]
    refusal = rejection_text("copy", ["intent_missing"], [], texts=model_texts())
    found = told(
        read,
        META,
        item("tool_search_output", call_id="s", tools=shown),
        call("c1", "search", {"intent": "Find it", "rationale": "a.py:3", "q": "x"}, namespace="mcp__files__"),
        call("c2", "mcp__files__copy", {"intent": ""}),
        output("c2", f"Wall time: 0.1 seconds\nOutput:\n{refusal}"),
        call("c3", "mcp__files__copy", {"intent": "Keep a copy"}),
        call("c4", "mcp__files__move", {"intent": "its own"}),
    )
    assert [(one.intent, one.rationale, one.args) for one in calls(found)] == [
        ("Find it", "a.py:3", {"q": "x"}),
        (None, None, {"intent": ""}),
        ("Keep a copy", None, {}),
        (None, None, {"intent": "its own"}),
    ]
    assert [(one.status, one.codes) for one in results(found)] == [("rejected", ("intent_missing",))]


def test_unknown_kinds_are_told_once_and_events_never() -> None:
    found = told(
        read, META, line("widget", {}), line("widget", {}), item("gadget"), event("gizmo"), {"type": "compacted"}
    )
    assert unread(found) == [
        "2 records of an unknown kind (“widget”), the first on line 2",
        "1 record of an unknown kind (“gadget”), on line 4",
        "1 record of an unknown kind (“compacted”), on line 6",
    ]


def test_a_file_is_known_by_its_first_lines() -> None:
    assert is_ours([{}, CONTEXT])
    assert is_ours([call("c1", "a", {})["payload"]])
    assert not is_ours([])
    assert not is_ours([{"id": "1", "timestamp": "x", "type": "session"}, {"type": ["session_meta"], "payload": {}}])
    assert not is_ours([{}] * 32 + [META])


WHOLE = [
    META,
    CONTEXT,
    event("user_message", message="Go"),
    item("reasoning", summary=[]),
    call("c1", "exec_command", {"cmd": "x", "sandbox_permissions": "require_escalated", "justification": "Why not"}),
    call("c2", "mcp__a__b", {"intent": "x"}),
    event("mcp_tool_call_end", call_id="c2", result={"Err": "x"}, duration={"secs": 1, "nanos": 2}),
    output("c2", [{"type": "input_text", "text": "no"}]),
    output("c1", '{"output":"x","metadata":{"exit_code":1,"duration_seconds":0.2}}'),
    item("custom_tool_call", name="apply_patch", input="p", call_id="c1"),
    item("custom_tool_call_output", call_id="c1", output="Exit code: 1\nWall time: 1 seconds\nOutput:\n"),
    item("local_shell_call", call_id="c3", action={"type": "exec", "command": ["ls"]}),
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
def test_payloads_of_any_shape_are_read(value: Any) -> None:
    sent = item("function_call", name="shell", arguments=value, call_id="c1")
    lines = [
        line("session_meta", value),
        line("event_msg", value),
        sent,
        output("c1", value),
        line("response_item", value),
    ]
    assert is_sound(told(read, *lines))
