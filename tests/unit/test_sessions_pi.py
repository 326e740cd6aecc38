"""Reading pi's session files, of its first and of its third version."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from session_files import (
    as_bytes,
    assistant,
    block,
    calls,
    found,
    found_in,
    old_entry,
    pi_entry,
    pi_header,
    pi_tools,
    result,
    results,
    unread,
    user,
)

from pi_intent.sessions import pairing
from pi_intent.sessions.lines import Numbered
from pi_intent.sessions.pi import is_ours, read
from pi_intent.sessions.values import FoundCall, FoundResult, Head, Prompt

START = 1_780_000_000.0
TEXT = {"type": "string"}
TIMED = {"durationMs": 5}


def test_a_session_tells_whose_it_is_what_was_asked_and_what_came_of_each_call() -> None:
    assert found(
        read,
        pi_header(parentSession="/s/before.jsonl"),
        {"type": "model_change", "id": "m", "parentId": None, "provider": "p", "modelId": "m-0"},
        pi_entry(1, pi_tools(bash={"command": TEXT, "intent": TEXT})),
        pi_entry(2, user("Fix it")),
        pi_entry(3, assistant({"type": "text", "text": "Now."}, block("c", "bash", {"intent": "Look"}), model=1)),
        pi_entry(4, result("c", "bash", "no\n\nCommand exited with code 3", is_error=True, **TIMED)),
    ) == [
        Head(session="s-3", cwd="/p", started=START, parent="/s/before.jsonl"),
        Prompt(text="Fix it"),
        FoundCall(
            key="e3/1", tool_call_id="c", tool="bash", group="e3", turn=1, args={}, intent="Look", asked=True,
            ts=START + 3, model="m-0",
        ),
        FoundResult(
            key="e3/1", tool_call_id="c", status="error", is_error=True, ts=START + 4, ms=5,
            error="no\n\nCommand exited with code 3", text="no\n\nCommand exited with code 3", bytes_out=30,
        ),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("tools", "tool", "arguments", "intent", "asked"),
    [
        ({"bash": {"intent": TEXT}}, "bash", {"intent": "Look"}, "Look", True),
        ({"bash": {"intent": TEXT}}, "bash", {}, None, True),
        ({"bash": {"command": TEXT}}, "bash", {"intent": "Look"}, "Look", True),
        ({"bash": {"command": TEXT}}, "bash", {}, None, False),
        ({"bash": {}}, "nope", {"intent": "Look"}, "Look", True),
        ({"bash": {}}, "nope", {}, None, False),
        ({"order": {"intent": TEXT}}, "order", {"intent": "buy"}, None, False),
        ({"order": {"sku": TEXT}}, "order", {"intent": "buy"}, None, False),
        ({"order": {"intent": {"description": "Mandatory goal"}}}, "order", {"intent": "Buy"}, "Buy", True),
        ({}, "bash", {"intent": "Look"}, "Look", True),
        ({}, "order", {"intent": "buy"}, None, False),
    ],
)
def test_an_intent_counts_where_the_tool_is_known_to_carry_one(
    tools: dict[str, Any], tool: str, arguments: dict[str, Any], intent: str | None, asked: bool
) -> None:
    items = found(
        read, pi_header(), pi_entry(1, pi_tools(**tools)), pi_entry(2, assistant(block("c", tool, arguments)))
    )
    assert [(call.intent, call.asked, call.args) for call in calls(items)] == [
        (intent, asked, {} if intent is not None else arguments)
    ]


INVALID = 'Validation failed for tool "bash":\n  - {}\n\nReceived arguments:\n{{"intent": "intent: missing"}}'


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        (INVALID.format("intent: missing\n  - rationale: missing"), ("intent_missing",)),
        (INVALID.format("intent: must have required properties intent"), ("intent_missing",)),
        (INVALID.format("intent: expected at least 1 characters"), ("intent_blank",)),
        (INVALID.format("intent: must not have fewer than 1 characters"), ("intent_blank",)),
        (INVALID.format("rationale: must not have fewer than 1 characters"), ("rationale_blank",)),
        (INVALID.format("intent: expected string, got array"), ("intent_not_text",)),
        (INVALID.format("edits.0.intent: missing"), ()),
        (INVALID.format("path: missing"), ()),
        ('Invalid arguments for tool "bash": Unterminated string', ("arguments_not_json",)),
        (
            'Invalid arguments for tool "bash": x\n\nReceived arguments:\n{"a\nintent: missing',
            ("arguments_not_json",),
        ),
        ("Tool bash not found", ()),
        ("an extension says no", ()),
    ],
)
def test_an_error_without_a_duration_is_a_rejection_and_its_text_says_why(text: str, codes: tuple[str, ...]) -> None:
    items = found(
        read,
        pi_header(),
        pi_entry(1, {**assistant(block("c", "bash", {})), **TIMED}),
        pi_entry(2, result("c", "bash", text, is_error=True)),
    )
    assert [(end.status, end.codes) for end in results(items)] == [("rejected", codes)]


@pytest.mark.parametrize(
    ("message", "status"),
    [
        (result("c", "bash", "Command exited with code 1", is_error=True), "error"),
        (result("c", "bash", "out\n\nCommand aborted", is_error=True, **TIMED), "cancelled"),
        (result("c", "bash", "out\n\nCommand timed out after 5 seconds", is_error=True, **TIMED), "timeout"),
        (result("c", "read", "Operation aborted", is_error=True), "cancelled"),
        (result("c", "read", "Skipped due to queued user message.", is_error=True), "cancelled"),
        (result("c", "read", "Tool execution was blocked", is_error=True), "denied"),
        (result("c", "read", "Tool call blocked: in a file"), "ok"),
        (result("c", "read", "ENOENT", is_error=True), "error"),
        (result("c", "read", INVALID, is_error=True), "rejected"),
        (result("c", "read", INVALID, is_error=True, **TIMED), "error"),
        (result("c", "read", INVALID), "ok"),
        (result("c", "read", "fine", is_error="true"), "ok"),
    ],
)
def test_a_status_is_what_the_file_says(message: dict[str, Any], status: str) -> None:
    items = found(read, pi_header(), pi_entry(1, assistant(block("c", "bash", {}))), pi_entry(2, message))
    assert [end.status for end in results(items)] == [status]


def test_calls_of_every_branch_happened_and_those_without_an_answer_have_no_result() -> None:
    items = found(
        read,
        pi_header(),
        pi_entry(1, assistant(block("a", "bash", {"command": "1"}), block("b", "bash", {"command": "2"}))),
        pi_entry(2, result("a", "bash", "1", **TIMED)),
        pi_entry(3, assistant(block("c", "edit", {"path": "x"}), stopReason="aborted"), parentId="e1"),
        pi_entry(4, assistant(block("d", "bash", {"command": "3"})), parentId="e1"),
        pi_entry(5, result("d", "bash", "3", **TIMED)),
    )
    assert [(call.key, call.turn) for call in calls(items)] == [("e1/0", 1), ("e1/1", 1), ("e3/0", 2), ("e4/0", 3)]
    assert [end.key for end in results(items)] == ["e1/0", "e4/0"]


def test_the_first_version_has_no_ids_and_keys_its_calls_all_the_same() -> None:
    header = {"type": "session", "id": "s-1", "timestamp": "2025-11-20T23:33:50.000Z", "cwd": "/p", "modelId": "m"}
    edit = {"path": "a", "oldText": "x", "newText": "y"}
    lines = [
        header,
        old_entry(1, assistant(block("a", "edit", edit), block("a", "bash", {"command": "ls"}))),
        old_entry(2, result("a", "edit", "Replaced")),
        old_entry(3, result("a", "bash", "Command aborted", is_error=True)),
        old_entry(4, assistant(block("a", "edit", edit))),
    ]
    items = found(read, *lines)
    first, second = "2025-11-20T23:33:51.000Z/a//a/a", "2025-11-20T23:33:54.000Z/a//a"
    assert [(call.key, call.tool, call.args) for call in calls(items)] == [
        (f"{first}/0", "edit", edit),
        (f"{first}/1", "bash", {"command": "ls"}),
        (f"{second}/0", "edit", edit),
    ]
    assert [(end.key, end.status) for end in results(items)] == [(f"{first}/0", "ok"), (f"{first}/1", "cancelled")]
    assert found(read, *lines[:4]) == items[:-1]


@pytest.mark.parametrize("entry", [pi_entry, old_entry])
def test_lines_that_stand_in_the_file_twice_are_read_once(entry: Any) -> None:
    lines = [
        entry(1, user("Go")),
        entry(2, assistant(block("a", "bash", {"command": "ls"}))),
        entry(3, result("a", "bash", "out")),
        entry(4, assistant(block("a", "bash", {"command": "ls"}))),
    ]
    assert found(read, pi_header(), *lines, pi_header(), *lines) == found(read, pi_header(), *lines)


def test_an_id_that_two_entries_have_loses_neither() -> None:
    items = found(
        read,
        pi_header(),
        pi_entry(1, assistant(block("a", "bash", {}))),
        pi_entry(1, result("a", "bash", "out")),
        pi_entry(1, assistant(block("b", "bash", {}))),
        pi_entry(1, assistant(block("b", "bash", {}))),
    )
    assert [call.key for call in calls(items)] == ["e1/0", "e1+2026-05-28T20:26:41.000Z/a//b/0"]
    assert [end.key for end in results(items)] == ["e1/0"]


def test_a_result_may_stand_before_its_call() -> None:
    items = found(
        read, pi_header(), pi_entry(1, result("a", "bash", "out")), pi_entry(2, assistant(block("a", "bash", {})))
    )
    assert [type(item) for item in items] == [Head, FoundCall, FoundResult]
    assert results(items)[0].key == "e2/0"


def test_results_without_a_call_have_no_key() -> None:
    items = found(
        read,
        pi_header(),
        pi_entry(1, assistant(block("a", "bash", {}))),
        pi_entry(2, result("a", "bash", "1")),
        pi_entry(3, result("a", "bash", "one too many")),
        pi_entry(4, result("b", "bash", "of a call before the file began")),
        pi_entry(5, assistant(block("a", "bash", {}))),
        pi_entry(6, result("a", "bash", "2")),
    )
    assert [(end.text, end.key) for end in results(items)] == [
        ("1", "e1/0"),
        ("one too many", None),
        ("2", "e5/0"),
        ("of a call before the file began", None),
    ]


def test_an_id_that_comes_again_belongs_to_the_latest_message() -> None:
    items = found(
        read,
        pi_header(),
        pi_entry(1, assistant(block("a", "bash", {}))),
        pi_entry(2, assistant(block("a", "bash", {}), block("a", "read", {}))),
        pi_entry(3, result("a", "bash", "1")),
        pi_entry(4, result("a", "read", "2")),
    )
    assert [(end.text, end.key) for end in results(items)] == [("1", "e2/0"), ("2", "e2/1")]


def test_what_waits_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairing, "MOST_OPEN", 2)
    monkeypatch.setattr(pairing, "MOST_EARLY", 1)
    items = found(
        read,
        pi_header(),
        pi_entry(1, assistant(*(block(name, "bash", {}) for name in "abc"))),
        pi_entry(2, result("a", "bash", "given up")),
        pi_entry(3, result("c", "bash", "waited for")),
        pi_entry(4, result("x", "bash", "first")),
        pi_entry(5, result("y", "bash", "second")),
        pi_entry(6, user("next")),
    )
    assert [item.key for item in results(items)] == [None, "e1/2", None, None]
    assert [type(item) for item in items][-3:] == [FoundResult, Prompt, FoundResult]


def test_the_text_that_waits_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairing, "MOST_EARLY_BYTES", 5)
    items = found(
        read,
        pi_header(),
        pi_entry(1, result("x", "bash", "123")),
        pi_entry(2, result("y", "bash", "456")),
        pi_entry(3, user("next")),
    )
    assert [type(item) for item in items] == [Head, FoundResult, Prompt, FoundResult]
    assert [end.text for end in results(items)] == ["123", "456"]


def test_a_call_in_doubt_holds_up_no_more_than_its_own_message() -> None:
    doubtful = pi_entry(1, assistant(block("a", "order", {"intent": "buy"})))
    read_so_far: list[int] = []

    def lines(*entries: Any) -> Iterator[Numbered]:
        for number, entry in enumerate(entries, 1):
            read_so_far.append(number)
            yield Numbered(number, entry, 0)

    answered = read(lines(doubtful, pi_entry(2, result("a", "order", "done")), user("x")))
    assert isinstance(next(answered), FoundCall)
    assert read_so_far.pop() == 2

    unanswered = read(lines(doubtful, pi_entry(2, assistant()), user("x")))
    assert isinstance(next(unanswered), FoundCall)
    assert read_so_far.pop() == 2

    crowded = read(lines(doubtful, *(pi_entry(number, user("x")) for number in range(2, 1000))))
    assert isinstance(next(crowded), FoundCall)
    assert read_so_far.pop() < 300


def test_a_call_from_inside_another_names_it() -> None:
    items = found(
        read,
        pi_header(),
        pi_entry(1, assistant(block("", "bash", {}), block("outer", "codemode", {}))),
        pi_entry(2, assistant(block("inner", "bash", {}, parentToolCallId="outer"), block("own", "bash", {}))),
    )
    assert [call.parent for call in calls(items)] == [None, None, "e1/1", None]


def test_a_long_id_makes_a_short_key() -> None:
    items = found(read, pi_header(), {**pi_entry(1, assistant(block("a", "bash", {}))), "id": "x" * 10_000})
    assert [len(call.key) < 100 for call in calls(items)] == [True]


def test_kinds_without_end_are_told_as_one() -> None:
    told = unread(found(read, pi_header(), *({"type": f"kind {number}"} for number in range(40))))
    assert len(told) == 33
    assert told[-1] == "8 records of an unknown kind (other names), the first on line 34"


def test_unknown_kinds_are_counted_and_known_ones_are_silent() -> None:
    assert unread(
        found(
            read,
            pi_header(),
            {"type": "compaction", "id": "c"},
            {"type": "hologram\x1b[2J", "id": "d"},
            {"type": "hologram\x1b[2J", "id": "e"},
            {"type": ["x"]},
            {},
            {"type": "message", "message": "text"},
            pi_entry(1, {"role": "oracle", "content": []}),
            pi_entry(2, {"role": "bashExecution", "command": "ls"}),
            pi_entry(3, assistant(block("a", None, {}))),
        )
    ) == [
        "2 records of an unknown kind (“hologram”), the first on line 3",
        "2 records of an unknown kind (no name), the first on line 5",
        "1 record of an unknown kind (“message”), on line 7",
        "1 record of an unknown kind (“oracle”), on line 8",
        "1 record of an unknown kind (“toolCall”), on line 10",
    ]


@pytest.mark.parametrize(
    ("written", "ts"),
    [
        ("2026-05-28T20:26:40.5Z", START + 0.5),
        ("2026-05-28T22:26:40+02:00", START),
        ("2026-05-28T20:26:40", START),
        (int(START) * 1000, START),
        (START, START),
        (float("nan"), -1.0),
        (float("inf"), -1.0),
        (-1, -1.0),
        (10**400, -1.0),
        (True, -1.0),
        ("yesterday", -1.0),
        ([], -1.0),
        ({}, -1.0),
        (None, None),
    ],
)
def test_a_moment_is_read_however_it_is_written(written: Any, ts: float | None) -> None:
    items = found(read, pi_header(), {**pi_entry(1, assistant(block("a", "bash", {}))), "timestamp": written})
    assert [call.ts for call in calls(items)] == [ts]


def test_wrong_types_are_passed_over() -> None:
    items = found(
        read,
        {**pi_header(), "id": 7, "cwd": [], "timestamp": {}, "parentSession": 1},
        pi_entry(1, {"role": "user", "content": "plain"}),
        pi_entry(2, {"role": "assistant", "content": "text"}),
        pi_entry(
            3, {"role": "assistant", "content": [None, 7, "x", [], block(7, "bash", None), block({}, "bash", [])]}
        ),
        pi_entry(4, {"role": "toolResult", "toolCallId": 7, "content": {"a": 1}, "isError": 1, "durationMs": "5"}),
        pi_entry(
            5, {"role": "toolResult", "toolCallId": "", "content": [{"type": "text", "text": 5}], "details": []}
        ),
        {**pi_entry(6, user("again")), "id": {"a": 1}, "parentId": 3.5},
    )
    key = "e3/4"
    assert items == [
        Head(session=None),
        Prompt(text="plain"),
        FoundCall(
            key=key, tool_call_id="7", tool="bash", group="e3", turn=2, args={}, ts=START + 3, model=None
        ),
        FoundCall(
            key="e3/5", tool_call_id="", tool="bash", group="e3", turn=2, args={"_raw_arguments": []}, ts=START + 3
        ),
        FoundResult(key=key, tool_call_id="7", status="ok", is_error=False, ts=START + 4, text=""),
        FoundResult(key="e3/5", tool_call_id="", status="ok", is_error=False, ts=START + 5, text=""),
        Prompt(text="again"),
    ]  # fmt: skip


def test_torn_and_glued_lines_lose_nothing_else() -> None:
    one, two = pi_entry(1, assistant(block("a", "bash", {}))), pi_entry(2, result("a", "bash", "1"))
    glued = as_bytes(pi_header(), one).replace(b"}\n{", b"}{") + as_bytes(two)[:40] + b"\n" + as_bytes(two)
    items = found_in(read, glued)
    assert [call.key for call in calls(items)] == ["e1/0"]
    assert [end.key for end in results(items)] == ["e1/0"]
    assert unread(items) == ["line 2 holds something that is not whole JSON"]


def test_it_is_told_by_its_header_or_its_messages_and_an_event_stream_is_not_one() -> None:
    assert is_ours([pi_header()])
    assert is_ours([{"torn": 1}, old_entry(1, user("hi"))])
    assert not is_ours([])
    assert not is_ours([{"type": "message", "message": "hi"}])
    assert not is_ours([pi_header(), {"type": "agent_start"}])
