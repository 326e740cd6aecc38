"""Reading Tau's session files."""

from __future__ import annotations

import json
from typing import Any

import pytest
from session_files import MS, assistant, block, calls, found, result, results, tau_entry, tau_head, unread, user

from pi_intent.descriptions import model_texts
from pi_intent.sessions.tau import is_ours, read
from pi_intent.sessions.values import FoundCall, FoundResult, Head, Prompt

DETAILS = {"exit_code": 0, "timed_out": False, "cancelled": False, "duration_seconds": 0.0042}


def test_a_session_tells_whose_it_is_what_was_asked_and_what_came_of_each_call() -> None:
    bash = block("c-1", "bash", {"command": "ls", "intent": " Survey ", "rationale": "names"})
    assert found(
        read,
        tau_head(),
        tau_entry(1, user("Fix it")),
        tau_entry(2, assistant(bash, block("c-2", "read", {"path": "a.py"}))),
        tau_entry(3, result("c-1", "bash", "a.py\n", details=DETAILS)),
        tau_entry(4, result("c-2", "read", "File not found: a.py", is_error=True, details={})),
    ) == [
        Head(session=None, cwd="/p", started=MS / 1000),
        Prompt(text="Fix it"),
        FoundCall(
            key="t2/0", tool_call_id="c-1", tool="bash", group="t2", turn=1, args={"command": "ls"}, intent="Survey",
            rationale="names", asked=True, ts=MS / 1000 + 2, model="m-1",
        ),
        FoundCall(
            key="t2/1", tool_call_id="c-2", tool="read", group="t2", turn=1, args={"path": "a.py"}, asked=True,
            ts=MS / 1000 + 2, model="m-1",
        ),
        FoundResult(
            key="t2/0", tool_call_id="c-1", status="ok", is_error=False, ts=MS / 1000 + 3, ms=4, text="a.py\n",
            bytes_out=5, exit_code=0,
        ),
        FoundResult(
            key="t2/1", tool_call_id="c-2", status="error", is_error=True, ts=MS / 1000 + 4,
            error="File not found: a.py", text="File not found: a.py", bytes_out=20,
        ),
    ]  # fmt: skip


def denied(why: str, **said: str) -> str:
    """What the model reads of a call that was not let through."""
    return model_texts().consent[why].format(tool="bash", **said)


@pytest.mark.parametrize(
    ("message", "status", "codes"),
    [
        (result("c", "bash", "", details={**DETAILS, "exit_code": 3}), "error", ()),
        (result("c", "bash", "", details={**DETAILS, "exit_code": None, "timed_out": True}), "timeout", ()),
        (result("c", "bash", "", details={**DETAILS, "exit_code": -15, "cancelled": True}), "cancelled", ()),
        (result("c", "bash", "Operation aborted", is_error=True, details={}), "cancelled", ()),
        (result("c", "bash", "Tool call interrupted by user", is_error=True), "cancelled", ()),
        (result("c", "bash", "Tool call blocked: no"), "denied", ()),
        (result("c", "bash", "Tool call blocked: no", details=DETAILS), "ok", ()),
        (result("c", "bash", "command must be a string", is_error=True, details={}), "error", ()),
        (result("c", "bash", "Tool bash not found", is_error=True, details={}), "rejected", ()),
        (
            result("c", "bash", "Nothing was executed: `intent` is missing. Call bash again", is_error=True),
            "rejected",
            ("intent_missing",),
        ),
        (
            result(
                "c", "bash", "Nothing was executed: `intent` is blank and `rationale` is not text.", is_error=True
            ),
            "rejected",
            ("intent_blank", "rationale_not_text"),
        ),
        (result("c", "bash", denied("denied"), is_error=True), "denied", ()),
        (result("c", "bash", denied("denied with a note", note="no;\nuse git."), is_error=True), "denied", ()),
        (result("c", "bash", denied("nobody", reasons="tier exec (a\nb)"), is_error=True), "denied", ()),
        (result("c", "bash", denied("deferred", reasons="always"), is_error=True), "denied", ()),
        (result("c", "bash", denied("credential", name="deploy"), is_error=True), "denied", ()),
        (result("c", "bash", denied("unredeemed", argument="x", problem="y", live="z"), is_error=True), "denied", ()),
        (result("c", "bash", denied("stopped"), is_error=True), "cancelled", ()),
        (result("c", "bash", denied("denied"), details=DETAILS), "ok", ()),
    ],
)
def test_a_status_is_what_the_file_says(message: dict[str, Any], status: str, codes: tuple[str, ...]) -> None:
    items = found(
        read, tau_head(), tau_entry(1, assistant(block("c", "bash", {"command": "x"}))), tau_entry(2, message)
    )
    assert [(end.status, end.codes) for end in results(items)] == [(status, codes)]


def test_a_missing_intent_means_something_only_once_one_was_stated() -> None:
    first, second, third = (
        block("a", "bash", {"command": "1"}),
        block("b", "bash", {"command": "2", "intent": "Count"}),
        block("c", "bash", {"command": "3"}),
    )
    items = found(read, tau_head(), tau_entry(1, assistant(first)), tau_entry(2, assistant(second, third)))
    assert [(call.intent, call.asked) for call in calls(items)] == [(None, False), ("Count", True), (None, True)]


@pytest.mark.parametrize("intent", ["", " \n", "\u200b", 7, None, ["x"]])
def test_what_nobody_can_read_is_no_intent(intent: Any) -> None:
    stating = block("a", "read", {"path": "a", "intent": "Look"})
    items = found(
        read, tau_head(), tau_entry(1, assistant(stating, block("b", "bash", {"command": "x", "intent": intent})))
    )
    assert [(call.intent, call.args) for call in calls(items)] == [("Look", {"path": "a"}), (None, {"command": "x"})]


def test_the_intent_of_another_tool_is_its_own_argument() -> None:
    arguments = {"intent": "buy", "sku": 7}
    items = found(
        read,
        tau_head(),
        tau_entry(1, assistant(block("a", "order", arguments))),
        tau_entry(2, result("a", "order", "done", details={})),
    )
    assert [(call.intent, call.asked, call.args) for call in calls(items)] == [(None, False, arguments)]


def test_the_intent_of_a_tool_that_does_not_exist_can_only_be_stated() -> None:
    items = found(
        read,
        tau_head(),
        tau_entry(
            1, assistant(block("a", "nope", {"intent": "Try", "x": 1}), block("b", "order", {"intent": "buy"}))
        ),
        tau_entry(2, result("a", "nope", "Tool nope not found", is_error=True, details={})),
        tau_entry(3, result("b", "order", "done", details={})),
    )
    assert [(call.key, call.intent, call.args) for call in calls(items)] == [
        ("t1/0", "Try", {"x": 1}),
        ("t1/1", None, {"intent": "buy"}),
    ]
    assert [type(item) for item in items] == [Head, FoundCall, FoundCall, FoundResult, FoundResult]


def test_malformed_arguments_are_kept_and_whole_ones_inside_text_are_read() -> None:
    torn, whole = '{"command": "ec', json.dumps({"command": "ls", "intent": "Look"})
    items = found(
        read,
        tau_head(),
        tau_entry(
            1,
            assistant(
                block("a", "bash", {"_raw_arguments": whole}),
                block("b", "bash", {"_raw_arguments": torn}),
                block("c", "bash", 7),
            ),
        ),
    )
    assert [(call.args, call.intent, call.flags) for call in calls(items)] == [
        ({"command": "ls"}, "Look", ("sent_as_text",)),
        ({"_raw_arguments": torn}, None, ()),
        ({"_raw_arguments": 7}, None, ()),
    ]


def test_intents_inside_single_edits_are_counted_and_taken_out() -> None:
    edits = [{"oldText": "a", "newText": "b", "intent": "Fix"}, {"oldText": "c", "newText": "d", "intent": " "}]
    items = found(read, tau_head(), tau_entry(1, assistant(block("a", "edit", {"path": "p", "edits": edits}))))
    assert [(call.args, call.intent, call.per_edit) for call in calls(items)] == [
        ({"path": "p", "edits": [{"oldText": "a", "newText": "b"}, {"oldText": "c", "newText": "d"}]}, None, 1)
    ]


def test_a_session_that_moves_says_so_and_what_else_it_notes_is_silent() -> None:
    base = {"id": "x", "parent_id": "t0", "timestamp": 1.0}
    items = found(
        read,
        tau_head(),
        tau_head(title="named"),
        tau_head(cwd="/q"),
        {**base, "type": "custom", "namespace": "n", "data": {}},
        {**base, "type": "label", "target_id": "t1", "label": "x"},
        {**base, "type": "leaf", "entry_id": "t1"},
    )
    assert items == [
        Head(session=None, cwd="/p", started=MS / 1000),
        Head(session=None, cwd="/q", started=MS / 1000),
    ]
    assert unread(items) == []


def test_it_is_told_by_its_entries() -> None:
    message = tau_entry(1, user("hi"))
    assert is_ours([tau_head()])
    assert is_ours([{"torn": 1}, message])
    assert not is_ours([])
    assert not is_ours([{"type": "session", "id": "s"}, message])
    assert not is_ours([{"type": "message", "id": "a", "parentId": None, "message": {}}])
