"""Reading oh-my-pi's session files."""

from __future__ import annotations

from typing import Any

import pytest
from session_files import assistant, block, calls, found, omp_head, pi_entry, pi_header, result, results, unread, user

from pi_intent.sessions import pi
from pi_intent.sessions.oh_my_pi import is_ours, read
from pi_intent.sessions.values import FoundCall, FoundResult, Head, Prompt

START = 1_780_000_000.0


def started(tool_call_id: str, **data: Any) -> dict[str, Any]:
    return {"type": "custom", "customType": "tool_execution_start", "data": {"toolCallId": tool_call_id, **data}}


def test_a_session_tells_whose_it_is_what_was_asked_and_what_came_of_each_call() -> None:
    failed = {"wallTimeMs": 2.6, "exitCode": 3}
    assert found(
        read,
        *omp_head(),
        pi_entry(1, user("Fix it")),
        pi_entry(2, assistant(block("c", "bash", {"i": " Looking ", "command": "ls"}, intent="Looking"))),
        started("c", intent="Looking", args={"command": "ls"}),
        pi_entry(3, result("c", "bash", "Command exited with code 3", is_error=True, details=failed)),
    ) == [
        Head(session="s-o", cwd="/p", started=START),
        Prompt(text="Fix it"),
        FoundCall(
            key="e2/0", tool_call_id="c", tool="bash", group="e2", turn=1, args={"command": "ls"}, intent="Looking",
            asked=True, ts=START + 2, model="m-1",
        ),
        FoundResult(
            key="e2/0", tool_call_id="c", status="error", is_error=True, ts=START + 3, ms=3,
            error="Command exited with code 3", text="Command exited with code 3", bytes_out=26,
            exit_code=3,
        ),
    ]  # fmt: skip


@pytest.mark.parametrize("field", ["i", "_i", "agent__intent"])
def test_every_name_of_its_field_counts_for_every_tool(field: str) -> None:
    items = found(read, *omp_head(), pi_entry(1, assistant(block("c", "lsp", {field: "Asking", "intent": "own"}))))
    assert [(call.intent, call.args) for call in calls(items)] == [("Asking", {"intent": "own"})]


def test_only_the_oldest_name_is_the_field_of_a_call() -> None:
    items = found(read, *omp_head(), pi_entry(1, assistant(block("c", "mcp", {"_i": "Asking", "i": 3}))))
    assert [(call.intent, call.args) for call in calls(items)] == [("Asking", {"i": 3})]


@pytest.mark.parametrize(("sent", "flags"), [("", ("intent_dropped",)), (7, ("intent_dropped",)), (None, ())])
def test_what_nobody_can_read_is_no_intent(sent: Any, flags: tuple[str, ...]) -> None:
    items = found(read, *omp_head(), pi_entry(1, assistant(block("c", "bash", {"i": sent, "command": "ls"}))))
    assert [(call.intent, call.asked, call.args, call.flags) for call in calls(items)] == [
        (None, True, {"command": "ls"}, flags)
    ]


def test_a_missing_field_means_something_once_the_file_has_shown_one() -> None:
    blocks = [block("a", "bash", {}), block("b", "bash", {"i": "Looking"}), block("c", "bash", {})]
    items = found(read, *omp_head(), pi_entry(1, assistant(*blocks)))
    assert [call.asked for call in calls(items)] == [False, True, True]


def test_a_sentence_that_the_tool_made_is_nobodys_intent() -> None:
    blocks = [block("a", "bash", {"i": "Looking"}), block("b", "todo", {"done": 1}, intent="Updating the list")]
    items = found(read, *omp_head(), pi_entry(1, assistant(*blocks)), started("b", intent="Updating the list"))
    assert [(call.intent, call.asked) for call in calls(items)] == [("Looking", True), (None, False)]


@pytest.mark.parametrize(
    ("text", "details", "status", "codes"),
    [
        (
            'Validation failed for tool "bash":\n  - i: i must be a string (was missing)',
            {},
            "rejected",
            ("intent_missing",),
        ),
        ('Validation failed for tool "bash":\n  - command: command must be a string', {}, "rejected", ()),
        ("Tool bash not found", {"isError": True}, "rejected", ()),
        ("Tool execution was aborted.", {}, "cancelled", ()),
        ("Tool bash not found", {"exitCode": 1}, "error", ()),
        ("input must begin with an anchor", {}, "error", ()),
    ],
)
def test_a_status_is_what_the_file_says(text: str, details: Any, status: str, codes: tuple[str, ...]) -> None:
    items = found(
        read,
        *omp_head(),
        pi_entry(1, assistant(block("c", "bash", {}))),
        pi_entry(2, result("c", "bash", text, is_error=True, details=details)),
    )
    assert [(end.status, end.codes) for end in results(items)] == [(status, codes)]


def test_its_own_kinds_of_entry_are_silent() -> None:
    kinds = [
        "title",
        "title_change",
        "mode_change",
        "session_init",
        "ttsr_injection",
        "credential_pin",
        "model_usage",
    ]
    items = found(read, *omp_head(), *({"type": kind} for kind in kinds), pi_entry(1, {"role": "developer"}))
    assert unread(items) == []


@pytest.mark.parametrize(
    "entry",
    [
        omp_head()[0],
        {"type": "model_change", "id": "a", "parentId": None, "model": "p/m"},
        started("c"),
        pi_entry(1, assistant(block("c", "bash", {"_i": "Looking"}))),
        pi_entry(1, assistant(block("c", "bash", {"agent__intent": "Looking"}))),
        pi_entry(1, assistant(block("c", "bash", {"i": "Looking"}, intent="Looking"))),
    ],
)
def test_it_is_told_from_pi_by_what_only_it_writes(entry: dict[str, Any]) -> None:
    assert is_ours([pi_header(), entry])


def test_pi_is_not_taken_for_it() -> None:
    entries = [
        pi_header(),
        {"type": "model_change", "id": "a", "parentId": None, "provider": "p", "modelId": "m"},
        {"type": "custom", "customType": "mine", "data": {}},
        pi_entry(1, assistant(block("c", "index", {"i": 3}))),
        pi_entry(2, assistant("text", {"type": "toolCall", "arguments": "x"})),
    ]
    assert not is_ours(entries)
    assert pi.is_ours(entries)
    assert not is_ours([pi_header(), started("c"), {"type": "agent_start"}])
