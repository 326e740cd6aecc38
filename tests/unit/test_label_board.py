"""The board says the truth about each call and about the group, whatever comes and in whatever order."""

from __future__ import annotations

import pytest
from label_events import board_of, label, said, texts

from pi_intent.events import OutcomePatch, ToolEvent
from pi_intent.labels.board import GroupHeader, LabelBoard, twin_tails
from pi_intent.labels.lifecycle import State


def states(*events: ToolEvent) -> list[State]:
    board = LabelBoard()
    seen = []
    for event in events:
        board.apply(event)
        (label,) = board.labels
        seen.append(label.state)
    return seen


# One call


def test_a_call_goes_from_its_first_word_to_its_end(calls):
    assert states(
        calls.writes("a", ""),
        calls.writes("a", "Run"),
        calls.writes("a", "Run the tests"),
        calls.writes("a", "Run the tests", True),
        calls.starts("a", "Run the tests"),
        calls.goes_on("a"),
        calls.ends("a"),
    ) == ["pending", "streaming", "streaming", "declared", "running", "running", "settled"]


def test_a_call_that_a_person_must_allow_waits_before_it_runs(calls):
    before = [calls.writes("a", "Clean up", True), calls.starts("a", "Clean up"), calls.asks("a")]
    assert states(*before, calls.decides("a", True), calls.ends("a"))[2:] == ["waiting", "running", "settled"]
    refused = [*before, calls.decides("a", False), calls.ends("a", "denied")]
    assert states(*refused)[2:] == ["waiting", "declared", "settled"]
    assert board_of(*refused).labels == (
        label("a", state="settled", status="denied", text="Clean up", intent_source="model"),
    )


def test_a_decision_that_overtakes_its_question_is_not_undone_by_it(calls):
    start, question, answer = calls.starts("a", "Clean up"), calls.asks("a"), calls.decides("a", True)
    assert states(start, answer, question) == ["running", "running", "running"]


def test_an_end_that_comes_before_what_it_follows_or_after_what_it_precedes_still_settles(calls):
    start, end, update = calls.starts("a", "Look"), calls.ends("a"), calls.goes_on("a")
    assert states(start, update, end) == ["running", "running", "settled"]
    assert states(end, start, update) == ["settled", "settled", "settled"]


def test_a_start_that_an_intent_has_overtaken_still_starts_the_call(calls):
    start, intent = calls.starts("a", "Look"), calls.writes("a", "Look closer", True)
    assert states(intent, start) == ["declared", "running"]


def test_until_it_has_settled_a_text_is_replaced_as_well_as_grown(calls):
    board = board_of(calls.writes("a", "Run"), calls.writes("a", "Look"))
    assert texts(board) == ["Look"]
    board.apply(calls.starts("a", "Look\tfor it", command="src"))
    assert board.labels == (label("a", state="running", text="Look\tfor it", intent_source="model", target="src"),)
    board.apply(calls.goes_on("a", command="tests"))
    assert board.labels[0].target == "tests"


def test_arguments_that_state_no_intent_take_the_streamed_one_away(calls):
    assert texts(board_of(calls.writes("a", "Half a"), calls.starts("a", None))) == [None]


def test_a_hooks_rewritten_intent_is_honoured(calls):
    streamed = calls.writes("a", "Delete everything", True)
    rewritten = calls.starts("a", "Delete the build folder")
    late = calls.writes("a", "Delete build/ only", True)
    assert texts(board_of(streamed, rewritten)) == ["Delete the build folder"]
    assert texts(board_of(streamed, rewritten, late)) == ["Delete build/ only"]
    assert texts(board_of(streamed, late, rewritten)) == ["Delete build/ only"]


def test_a_part_of_an_intent_never_replaces_a_whole_one(calls):
    streamed, start = calls.writes("a", "Run the te"), calls.starts("a", "Run the tests")
    assert texts(board_of(start, streamed)) == ["Run the tests"]
    assert texts(board_of(start, calls.writes("a", "Ru"))) == ["Run the tests"]
    assert texts(board_of(calls.writes("b", "Run it", True), calls.writes("b", "Ru"))) == ["Run it"]


def test_placeholders_in_an_intent_are_not_substituted(calls):
    intent = "Render {{path}} with {0}, %s and ${HOME}"
    board = board_of(calls.starts("a", intent, command="x"))
    assert board.header is not None
    assert (texts(board), board.header.text + board.header.tail) == ([intent], f"{intent} · bash")
    board.apply(calls.ends("a", outcome_patch=OutcomePatch(from_="Render", to="Rendered \\g<0> {1}")))
    assert texts(board) == [intent.replace("Render", "Rendered \\g<0> {1}")]


def test_the_text_of_a_settled_label_is_what_came_of_it_and_stays(calls):
    board = board_of(calls.starts("a", "Count", command="x"), calls.ends("a", outcome="3 found", facts="3 lines"))
    settled = label(
        "a", state="settled", status="ok", text="3 found", intent_source="model", target="x", facts="3 lines"
    )
    assert board.labels == (settled,)
    for event in (
        calls.ends("a", "error", facts="exit 1"),
        calls.starts("a", "Something else", command="y"),
        calls.goes_on("a", True, command="z"),
        calls.writes("a", "Later", True),
        calls.asks("a"),
        calls.decides("a", False),
    ):
        board.apply(event)
        assert board.labels == (settled,)


def test_a_call_that_failed_keeps_its_intent_however_its_tool_words_it(calls):
    board = board_of(calls.starts("a", "Make it pass"), calls.ends("a", "error", outcome="All tests pass"))
    assert board.labels == (label("a", state="settled", status="error", text="Make it pass", intent_source="model"),)


# In the background


def test_a_dispatch_to_the_background_does_not_settle_and_the_harvest_does(calls):
    start, dispatch = calls.starts("a", "Serve the docs", command="serve"), calls.goes_on("a", True, command="serve")
    board = board_of(start, dispatch)
    in_background = label(
        "a", state="running", text="Serve the docs", intent_source="model", target="serve", backgrounded=True
    )
    assert board.labels == (in_background,)
    assert board.header == GroupHeader("s", "g", "in_flight", "Serve the docs", ("bash",), 1, 1, in_background)
    assert board.header.tail == " · in background · bash"
    assert board.header.accessible_text == "Serve the docs · in background · 1 tool: bash"
    board.apply(calls.goes_on("a", command="serve"))
    assert board.labels == (in_background,)
    board.apply(calls.ends("a", facts="exit 0"))
    assert board.labels == (in_background._replace(state="settled", status="ok", facts="exit 0", backgrounded=False),)


def test_one_that_nobody_collects_becomes_a_timeout(calls):
    board = board_of(calls.starts("a", "Serve the docs"), calls.goes_on("a", True), calls.ends("a", "timeout"))
    assert board.labels == (
        label("a", state="settled", status="timeout", text="Serve the docs", intent_source="model"),
    )
    board.apply(calls.ends("a"))
    assert board.labels[0].status == "timeout"


def test_a_call_that_is_brought_back_is_in_the_background_no_more(calls):
    board = board_of(calls.starts("a", "Serve"), calls.goes_on("a", True), calls.goes_on("a", False))
    assert not board.labels[0].backgrounded


# Twins


def test_twins_are_told_apart_by_their_targets_and_the_labels_stay(calls):
    board = board_of(
        calls.starts("a", "Look around", tool="read", path="a.py"),
        calls.starts("b", "Look \u200b around", tool="read", path="b.py"),
        calls.starts("c", "Look around", tool="find"),
        calls.starts("d", "Look around more", tool="read", path="d.py"),
        calls.starts("e", None, tool="read", path="e.py"),
        calls.starts("f", None, tool="read", path="f.py"),
        calls.starts("g", "Look around", group="other", command="ls"),
    )
    before = board.labels
    assert twin_tails(board.labels) == {"a": " · a.py", "b": " · b.py", "c": " · find"}
    assert twin_tails(board.labels, width=8).keys() == {"a", "b", "c", "d"}
    assert board.labels == before


# What goes missing


def test_a_restored_session_draws_the_same_labels_and_the_same_header(calls):
    live = [
        calls.writes("a", "Run"),
        calls.writes("a", "Run the tests", True),
        calls.writes("b", "Read", tool="read"),
        calls.starts("a", "Run the tests", command="pytest"),
        calls.starts("b", "Read the log", tool="read", path="log"),
        calls.goes_on("a", command="pytest"),
        calls.ends("b", "error", tool="read"),
        calls.ends("a", facts="3 passed"),
    ]
    kept = [event for event in live if event.type in ("tool_execution_start", "tool_execution_end")]
    restored, watched = board_of(*kept), board_of(*live)
    assert (restored.labels, restored.header) == (watched.labels, watched.header)
    assert said(restored) == ("settled", "Read the log")


def test_an_end_without_a_start_is_a_settled_call_that_says_what_its_tool_says(calls):
    board = board_of(calls.ends("a", outcome="3 found"), calls.ends("b", "interrupted", outcome="3 found"))
    assert board.labels == (
        label("a", state="settled", status="ok", text="3 found"),
        label("b", state="settled", status="interrupted"),
    )
    assert said(board) == ("settled", "3 found")


def test_a_call_whose_writing_was_broken_off_ends_with_what_was_written(calls):
    board = board_of(calls.writes("a", "Rewrite the pa"), calls.ends("a", "interrupted"))
    assert board.labels == (
        label("a", state="settled", status="interrupted", text="Rewrite the pa", intent_source="model"),
    )


def test_a_start_without_an_end_stays_in_flight(calls):
    board = board_of(calls.starts("a", "Run for ever", group="1"), calls.starts("b", "Next", group="2"))
    assert [label.state for label in board.labels] == ["running", "running"]


@pytest.mark.parametrize("make", ["writes", "goes_on", "asks", "decides", "ends", "sums_up"])
def test_an_event_of_a_call_that_nobody_announced_never_raises(calls, make):
    arguments = {"writes": ("?", "x"), "decides": ("?", True)}.get(make, ("?",))
    board = board_of(getattr(calls, make)(*arguments))
    assert board.header is not None


def test_a_long_session_takes_bounded_memory_and_keeps_what_still_runs(calls):
    board = LabelBoard(kept=20)
    board.apply(calls.starts("background", "Serve", group="0"))
    for number in range(1, 200):
        board.apply(calls.starts(f"c{number}", f"Do {number}", group=str(number)))
        board.apply(calls.ends(f"c{number}", group=str(number)))
    assert [label.call_id for label in board.labels] == ["background", *(f"c{n}" for n in range(191, 200))]
    board.apply(calls.ends("c5", "error", group="5"))
    board.apply(calls.sums_up("Old", group="6"))
    assert said(board) == ("settled", "Do 199")
    assert len(board.labels) == 10
    board.apply(calls.ends("background", group="0"))
    assert board.labels[0].status == "ok"


def test_calls_and_groups_that_never_end_are_let_go_of_too(calls):
    board = LabelBoard(kept=20)
    for number in range(5000):
        board.apply(calls.starts(f"c{number}", "Hang", group=str(number)))
        board.apply(calls.sums_up("Nothing", group=f"empty {number}"))
    assert len(board.labels) <= 20
    state = vars(board)
    assert sum(len(kept) for kept in (state["_calls"], state["_groups"], state["_forgotten"])) <= 1020
