"""Reading Claude Code's session files: calls, what came of them, and which texts are intents."""

from __future__ import annotations

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
from pi_intent.sessions.bounded import Recent, Waiting
from pi_intent.sessions.claude_code import is_ours, read
from pi_intent.sessions.fields import identity
from pi_intent.sessions.values import FoundCall, FoundResult, Head

START = 1_767_323_045.0  # 2026-01-02T03:04:05Z


def at(second: int) -> str:
    return f"2026-01-02T03:04:{5 + second:02}.000Z"


def line(kind: str, uuid: str, message: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "type": kind,
        "uuid": uuid,
        "parentUuid": None,
        "isSidechain": False,
        "sessionId": "s-1",
        "cwd": "/project",
        "version": "2.1.0",
        "timestamp": at(0),
        "message": message,
    } | more


def use(call_id: str | None, name: str, arguments: Any, message: str = "msg_1", **more: Any) -> dict[str, Any]:
    block = {"type": "tool_use", "id": call_id, "name": name, "input": arguments}
    return line("assistant", f"a-{call_id}-{message}", {"id": message, "model": "opus", "content": [block]}, **more)


def result(call_id: str | None, content: Any, failed: bool | None = None, **more: Any) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": call_id, "content": content, "is_error": failed}
    return line("user", f"u-{call_id}", {"role": "user", "content": [block]}, **more)


def asks(text: Any, uuid: str = "u-0", **more: Any) -> dict[str, Any]:
    return line("user", uuid, {"role": "user", "content": text}, **more)


def refused(text: str, **more: Any) -> FoundResult:
    return results(told(read, use("t1", "Bash", {}), result("t1", text, True, **more)))[0]


def test_a_call_and_its_result_are_told_with_all_that_the_lines_say() -> None:
    arguments = {"command": "pytest -q", "description": "  See what is broken ", "timeout": 9}
    found = told(
        read,
        asks("Fix the tests"),
        use("t1", "Bash", arguments, timestamp=at(1)),
        result(
            "t1", [{"type": "text", "text": "1 päss"}], False, timestamp=at(3), toolUseResult={"durationMs": 1900}
        ),
    )
    assert heads(found) == [Head(session="s-1", cwd="/project", version="2.1.0", started=START)]
    assert prompts(found) == ["Fix the tests"]
    assert found[2:] == [
        FoundCall(
            key="msg_1:t1",
            tool_call_id="t1",
            tool="Bash",
            group="msg_1",
            turn=1,
            args={"command": "pytest -q", "timeout": 9},
            intent="See what is broken",
            asked=True,
            ts=START + 1,
            model="opus",
        ),
        FoundResult(
            key="msg_1:t1",
            tool_call_id="t1",
            status="ok",
            is_error=False,
            ts=START + 3,
            ms=1900,
            text="1 päss",
            bytes_out=7,
        ),
    ]


def test_only_bash_states_an_intent_in_its_description() -> None:
    task = {"description": "Explore the project", "prompt": "…"}
    mine = {"intent": "mine", "rationale": "too"}
    found = calls(
        told(
            read,
            use("t1", "Task", task),
            use("t2", "mcp__files__search", mine),
            use("t3", "bash", {"description": "lower case"}),
            use("t4", "Bash", {"command": "ls", "description": "\u200b "}),
            use("t5", "Bash", {"command": "ls", "description": 7}),
        )
    )
    assert [(call.intent, call.asked, call.args) for call in found] == [
        (None, False, task),
        (None, False, mine),
        (None, False, {"description": "lower case"}),
        (None, True, {"command": "ls"}),
        (None, True, {"command": "ls"}),
    ]


def test_a_tool_behind_mcp_is_told_with_its_server() -> None:
    found = calls(
        told(read, use("t1", "mcp__my_files__read__file", {}), use("t2", "mcp__", {}), use("t3", "mcp__a", {}))
    )
    assert [(call.tool_source, call.tool) for call in found] == [
        ("my_files", "read__file"),
        (None, "mcp__"),
        (None, "mcp__a"),
    ]


def test_our_fields_are_taken_from_an_mcp_tool_once_the_file_shows_our_refusal() -> None:
    text = rejection_text("search", ["intent_missing"], ["query"], texts=model_texts())
    found = told(
        read,
        use("t1", "mcp__files__search", {}),
        result("t1", text, True),
        use("t2", "mcp__files__search", {"intent": "Find the caller", "rationale": "a.py:3", "query": "x"}, "msg_2"),
        use("t3", "mcp__files__other", {"intent": "its own"}, "msg_3"),
    )
    assert [(one.status, one.codes) for one in results(found)] == [("rejected", ("intent_missing",))]
    assert [(call.intent, call.rationale, call.args, call.asked) for call in calls(found)] == [
        (None, None, {}, False),
        ("Find the caller", "a.py:3", {"query": "x"}, True),
        (None, None, {"intent": "its own"}, False),
    ]


def test_our_fields_are_taken_from_an_mcp_tool_once_the_file_shows_its_schema_with_our_mark() -> None:
    import json

    plain = {"type": "object", "properties": {"intent": {"type": "string"}}}
    wrapped = inject_intent({"type": "object", "properties": {"query": {"type": "string"}}}, texts=model_texts())
    shown = "\n".join(
        f"<function>{json.dumps({'name': name, 'parameters': schema})}</function>"
        for name, schema in (("mcp__files__search", wrapped), ("mcp__files__other", plain))
    )
    found = calls(
        told(
            read,
            use("t0", "ToolSearch", {"query": "files"}),
            result("t0", f"<functions>\n{shown}\n<function>{{</function></functions>"),
            use("t1", "mcp__files__search", {"intent": "Find the caller", "query": "x"}),
            use("t2", "mcp__files__other", {"intent": "its own"}),
        )
    )
    assert [(call.intent, call.args) for call in found[1:]] == [
        ("Find the caller", {"query": "x"}),
        (None, {"intent": "its own"}),
    ]


def test_a_refusal_in_our_words_from_a_tool_that_is_not_behind_mcp_proves_nothing() -> None:
    text = rejection_text("Read", ["intent_missing"], [], texts=model_texts())
    found = told(read, use("t1", "Read", {}), result("t1", text, True), use("t2", "Read", {"intent": "x"}))
    assert endings(found) == [("msg_1:t1", "error")]
    assert calls(found)[1].intent is None


@pytest.mark.parametrize(
    ("text", "more", "status"),
    [
        ("<tool_use_error>InputValidationError: Grep failed due to the following issue:", {}, "rejected"),
        ("<tool_use_error>Error: No such tool available: Frob</tool_use_error>", {}, "rejected"),
        ("<tool_use_error>File has not been read yet.</tool_use_error>", {}, "error"),
        ("The user doesn't want to proceed with this tool use. The tool use was rejected", {}, "denied"),
        ("Claude requested permissions to write to a.py, but you haven't granted it yet.", {}, "denied"),
        ("Permission to use Bash with command rm has been denied.", {}, "denied"),
        ("not like this, please", {"toolDenialKind": "user-rejected"}, "denied"),
        ("[Request interrupted by user for tool use]", {}, "cancelled"),
        ("<tool_use_error>Sibling tool call errored</tool_use_error>", {}, "cancelled"),
        ("half", {"toolUseResult": {"interrupted": True}}, "interrupted"),
        ("Exit code 143\nCommand timed out after 2m 0.0s\nmore", {}, "timeout"),
        ("Exit code 1\nThe user doesn't want to proceed with this tool use", {}, "error"),
        ("Exit code 2", {"toolUseResult": "Error: Exit code 2"}, "error"),
    ],
)
def test_how_a_failed_call_ended_is_read_off_its_text(text: str, more: dict[str, Any], status: str) -> None:
    found = refused(text, **more)
    assert (found.status, found.is_error, found.error) == (status, True, text)


def test_a_command_that_was_interrupted_is_no_success_although_it_carries_no_flag() -> None:
    found = told(read, use("t1", "Bash", {}), result("t1", "half", False, toolUseResult={"interrupted": True}))
    assert [(one.status, one.is_error) for one in results(found)] == [("interrupted", False)]


def test_blocks_of_one_message_on_many_lines_are_one_group_also_with_results_between_them() -> None:
    found = told(
        read,
        use("t1", "Read", {}, "msg_a"),
        result("t1", "a"),
        use("t2", "Read", {}, "msg_a"),
        use("t3", "Read", {}, "msg_b"),
        result("t3", "c"),
        result("t2", "b"),
        use("t4", "Read", {}, "msg_a"),
    )
    assert [(call.group, call.turn) for call in calls(found)] == [
        ("msg_a", 1),
        ("msg_a", 1),
        ("msg_b", 2),
        ("msg_a", 1),
    ]
    assert endings(found) == [("msg_a:t1", "ok"), ("msg_b:t3", "ok"), ("msg_a:t2", "ok")]


def test_lines_that_a_resumed_session_repeats_are_told_once() -> None:
    lines = [asks("Go"), use("t1", "Read", {}), result("t1", "a"), asks("Changed", uuid="u-0")]
    assert told(read, *lines, *lines) == told(read, *lines)
    assert prompts(told(read, *lines)) == ["Go"]


def test_an_id_that_another_message_uses_again_is_another_call() -> None:
    found = told(
        read,
        use("t1", "Read", {"n": 1}, "msg_a"),
        result("t1", "a"),
        use("t1", "Read", {"n": 2}, "msg_b"),
        result("t1", "b"),
    )
    assert [call.key for call in calls(found)] == ["msg_a:t1", "msg_b:t1"]
    assert [(one.key, one.text) for one in results(found)] == [("msg_a:t1", "a"), ("msg_b:t1", "b")]


def test_a_result_before_its_call_waits_for_it_and_one_without_a_call_is_told_at_the_end() -> None:
    found = told(read, result("t1", "early"), result("ghost", "boo"), use("t1", "Read", {}), use("t2", "Read", {}))
    assert [type(item).__name__ for item in found] == ["Head", "FoundCall", "FoundResult", "FoundCall", "FoundResult"]
    assert endings(found) == [("msg_1:t1", "ok"), (None, "ok")]


def test_a_result_without_an_id_belongs_to_the_one_call_of_the_line_that_it_names() -> None:
    two = [{"type": "tool_use", "name": "Read", "input": {}}] * 2
    found = told(
        read,
        use(None, "Read", {}),
        result(None, "a", sourceToolAssistantUUID="a-None-msg_1"),
        result(None, "again", True, sourceToolAssistantUUID="a-None-msg_1"),
        line("assistant", "a-2", {"id": "msg_2", "content": two}),
        result(None, "whose?", sourceToolAssistantUUID="a-2"),
        result(None, "nobody's"),
    )
    assert [call.key for call in calls(found)] == [
        "msg_1:of a-None-msg_1",
        "msg_2:0 of a-2",
        "msg_2:1 of a-2",
    ]
    assert [(one.key, one.text) for one in results(found)] == [
        ("msg_1:of a-None-msg_1", "a"),
        (None, "nobody's"),
        (None, "whose?"),
    ]


def test_a_subagent_is_named_and_a_sidechain_belongs_to_the_task_that_started_it() -> None:
    side = {"isSidechain": True}
    found = told(
        read,
        use("t1", "Task", {"prompt": "Look around"}),
        asks("Look around", uuid="s-1", **side),
        use("t2", "Read", {}, "msg_s", **side, parentUuid="s-1"),
        use("t3", "Read", {}, "msg_t", **side, parentUuid="a-t2-msg_s"),
        use("t4", "Read", {}, "msg_u", **side, parentUuid="elsewhere"),
        use("t5", "Read", {}, "msg_v", agentId="af12"),
        use("t6", "Read", {}, "msg_w", parent_tool_use_id="t1"),
    )
    assert prompts(found) == []
    assert [(call.agent, call.parent) for call in calls(found)] == [
        ("main", None),
        ("sidechain", "msg_1:t1"),
        ("sidechain", "msg_1:t1"),
        ("sidechain", None),
        ("af12", None),
        ("main", "msg_1:t1"),
    ]


@pytest.mark.parametrize(
    ("content", "more"),
    [
        ("[Request interrupted by user for tool use]", {}),
        ("<command-name>/clear</command-name>", {}),
        ("<local-command-stdout>ok</local-command-stdout>", {}),
        ("Caveat", {"isMeta": True}),
        ("What was said before", {"isCompactSummary": True}),
        ("Do your part", {"agentId": "af12"}),
        ([{"type": "image", "source": {}}], {}),
    ],
)
def test_what_no_person_typed_is_no_prompt(content: Any, more: dict[str, Any]) -> None:
    assert prompts(told(read, asks(content, **more))) == []


def test_a_prompt_may_stand_beside_an_image_and_begin_like_markup() -> None:
    blocks = [{"type": "text", "text": "<task> of the day"}, {"type": "image", "source": {"data": "AAAA"}}]
    assert prompts(told(read, asks(blocks))) == ["<task> of the day"]


def test_a_head_comes_again_where_the_folder_or_the_version_changes() -> None:
    found = heads(told(read, asks("a"), asks("b", "u-2", cwd="/elsewhere"), asks("c", "u-3", cwd=None, version=3)))
    first = Head(session="s-1", cwd="/project", version="2.1.0", started=START)
    assert found == [first, Head(session="s-1", cwd="/elsewhere", version="2.1.0", started=START)]


def test_unknown_kinds_are_told_once_with_their_number_and_known_ones_not_at_all() -> None:
    gadget = line("assistant", "a-1", {"id": "m", "content": [{"type": "gadget"}, {"type": "thinking"}, 7]})
    found = told(read, {"type": "summary"}, {"type": "widget"}, {"type": "progress"}, {"type": "widget"}, {}, gadget)
    assert unread(found) == [
        "2 records of an unknown kind (“widget”), the first on line 2",
        "1 record of an unknown kind (no name), on line 5",
        "1 record of an unknown kind (“block gadget”), on line 6",
        "1 record of an unknown kind (“block”), on line 6",
    ]


def test_a_torn_line_is_told_and_what_follows_is_read() -> None:
    found = told(read, b'{"type":"user","mess', use("t1", "Read", {}))
    assert unread(found) == ["line 1 holds something that is not whole JSON"]
    assert len(calls(found)) == 1


def test_a_file_is_known_by_its_first_lines() -> None:
    snapshot = {"type": "file-history-snapshot", "messageId": "m"}
    assert is_ours([snapshot])
    assert is_ours([{"type": "summary", "leafUuid": "u"}, use("t1", "Read", {})])
    assert not is_ours([])
    assert not is_ours([{"type": "user", "message": {}}, {"type": "message", "id": "1", "parentId": None}])
    assert not is_ours([{"type": ["user"], "sessionId": "s", "message": {}}])
    assert not is_ours([{}] * 32 + [snapshot])


WHOLE = [
    asks("Go"),
    use("t1", "Bash", {"command": "ls", "description": "Look"}),
    result("t1", "ok", toolUseResult={"durationMs": 3}),
    use("t2", "Task", {"prompt": "Look around"}, "msg_2"),
    asks("Look around", uuid="s-1", isSidechain=True),
    use("t3", "mcp__a__b", {}, "msg_3", isSidechain=True, parentUuid="s-1"),
    result("t3", [{"type": "text", "text": "no"}], True, toolUseResult="Error: no"),
    result("t9", "early"),
    use("t9", "Read", {}, "msg_4"),
    use(None, "ToolSearch", {}, "msg_5"),
    result(None, "<function>{}</function>", sourceToolAssistantUUID="a-None-msg_5"),
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
def test_content_of_any_shape_is_read(value: Any) -> None:
    assert is_sound(told(read, use("t1", "Bash", value), result("t1", value, toolUseResult=value), asks(value)))


def test_an_id_is_text_or_a_number_and_never_long() -> None:
    assert [identity(value) for value in ("t1", 7, "", True, 1 << 63, 1.5, None, [], {})] == [
        "t1", "7", None, None, None, None, None, None, None
    ]  # fmt: skip
    long, other = identity("x" * 10_000), identity("x" * 10_001)
    assert long != other
    assert long is not None
    assert len(long) < 200
    assert identity("\ud800" * 300) is not None


def test_what_is_remembered_has_a_bound() -> None:
    recent: Recent[int] = Recent(limit=2)
    for number, key in enumerate("abca"):
        recent.put(key, number)
    assert [recent.get(key) for key in "abc"] == [3, None, 2]
    recent.drop("a")
    assert "a" not in recent

    waiting = Waiting(most=2, most_bytes=100)
    one = FoundResult(key=None, tool_call_id="t", status="ok", is_error=False, bytes_out=40)
    assert list(waiting.add("a", one)) == []
    assert list(waiting.add("b", one)) == []
    assert list(waiting.add("c", one)) == [one]
    assert [name in waiting for name in "abc"] == [False, True, True]
    assert waiting.take("b") == one
    assert list(waiting.rest()) == [one]
