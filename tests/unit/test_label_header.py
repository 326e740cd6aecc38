"""The header of a group says what it is at, and stays long enough to be read."""

from __future__ import annotations

from itertools import permutations

import pytest
from label_events import board_of, said

from pi_intent.labels.board import HEADER_STAYS_MS, GroupHeader, LabelBoard


def test_the_phases_of_a_header_come_in_order_and_a_summary_wins(calls):
    board = LabelBoard()
    seen = []
    for event in (
        calls.starts("a", None, tool="read"),
        calls.starts("b", None, tool="grep"),
        calls.starts("c", "Look around", tool="read"),
        calls.starts("d", "Run the tests"),
        calls.ends("d"),
        calls.ends("c", tool="read"),
        calls.sums_up("  "),
        calls.sums_up("Explored"),
        calls.starts("e", "Go on"),
        calls.sums_up("Explored and ran"),
    ):
        board.apply(event)
        seen.append(said(board))
    assert seen == [
        ("count", "1 tool"),
        ("count", "2 tools"),
        ("in_flight", "Look around"),
        ("in_flight", "Run the tests"),
        ("in_flight", "Look around"),
        ("settled", "Run the tests"),
        ("settled", "Run the tests"),
        ("summary", "Explored"),
        ("summary", "Explored"),
        ("summary", "Explored and ran"),
    ]
    assert board.header == GroupHeader("s", "g", "summary", "Explored and ran", ("read", "grep", "bash"), 5, 3)


def test_a_header_ends_with_its_distinct_tools_and_says_how_many_calls_it_stands_for(calls):
    board = board_of(calls.starts("a", None, tool="read"), calls.starts("b", None, tool="read"))
    assert board.header is not None
    assert (board.header.text, board.header.tail) == ("2 tools", " · read")
    assert board.header.accessible_text == "2 tools: read"
    board.apply(calls.starts("c", "Check it"))
    assert (board.header.text, board.header.tail) == ("Check it", " · read, bash")
    assert board.header.accessible_text == "Check it · 3 tools: read, bash"
    alone = board_of(calls.sums_up("Nothing to do")).header
    assert alone is not None
    assert (alone.tail, alone.accessible_text) == ("", "Nothing to do · 0 tools")


def test_a_summary_that_comes_late_does_not_replace_a_newer_one(calls):
    older, newer = calls.sums_up("Explored"), calls.sums_up("Explored and ran")
    assert said(board_of(newer, older)) == said(board_of(older, newer)) == ("summary", "Explored and ran")


@pytest.mark.parametrize("order", [*permutations("abcde")], ids="".join)
def test_five_siblings_settle_in_any_order_and_the_header_is_right_at_each_step(calls, order):
    board = board_of(*(calls.starts(name, f"Do {name}") for name in "abcde"))
    in_flight = set("abcde")
    for name in order:
        board.apply(calls.ends(name))
        in_flight.remove(name)
        assert board.header is not None
        assert (board.header.in_flight, board.header.calls) == (len(in_flight), 5)
        if in_flight:
            assert said(board) == ("in_flight", f"Do {max(in_flight)}")
        else:
            assert said(board) == ("settled", "Do e")


def test_a_slow_first_call_that_settles_late_does_not_rewind_the_header(calls):
    board = board_of(calls.starts("slow", "Index it all"), calls.starts("fast", "Read the result"))
    board.apply(calls.ends("fast"))
    board.apply(calls.ends("slow", outcome="Indexed 9,000 files"))
    assert said(board) == ("settled", "Read the result")


def test_the_end_of_an_earlier_group_does_not_bring_its_header_back(calls):
    board = board_of(calls.starts("a", "First", group="1"), calls.starts("b", "Second", group="2"))
    for event in (calls.goes_on("a", True, group="1"), calls.ends("a", group="1"), calls.sums_up("Old", group="1")):
        board.apply(event)
        assert said(board) == ("in_flight", "Second")
    assert [label.status for label in board.labels] == ["ok", None]


def test_a_header_stays_long_enough_to_be_read(calls):
    board = LabelBoard()

    def at(now_ms: int) -> str | None:
        header = board.header_at(now_ms)
        return None if header is None else header.text

    assert (at(0), board.header_due_ms) == (None, None)
    board.apply(calls.starts("a", "First"), 1000)
    assert (at(1000), board.header_due_ms) == ("First", None)
    board.apply(calls.starts("b", "Second"), 1050)
    assert board.header_due_ms == 1000 + HEADER_STAYS_MS
    board.apply(calls.starts("c", "Third"), 1100)
    assert [at(1100), at(1199), at(1200)] == ["First", "First", "Third"]
    board.apply(calls.starts("d", "Fourth"), 1390)
    assert [at(1390), at(1399), at(1400)] == ["Third", "Third", "Fourth"]
    board.apply(calls.starts("e", "Fifth"), 5000)
    assert [at(5000), said(board)] == ["Fifth", ("in_flight", "Fifth")]


def test_a_header_that_grows_or_ends_is_not_held_back(calls):
    board = LabelBoard()
    for now_ms, event in enumerate(
        (calls.writes("a", "Ru"), calls.writes("a", "Run it"), calls.starts("a", "Run it"))
    ):
        board.apply(event, now_ms)
        assert board.header_at(now_ms) == board.header
    board.apply(calls.ends("a", "error"), 3)
    shown = board.header_at(3)
    assert shown is not None
    assert shown.call is not None
    assert (shown.phase, shown.text, shown.call.status) == ("settled", "Run it", "error")


def test_without_a_clock_nothing_is_held_back(calls):
    board = board_of(calls.starts("a", "First"), calls.starts("b", "Second"))
    assert board.header_at(0) == board.header
    board.apply(calls.starts("c", "Third"), 10)
    assert board.header_at(10) == board.header
