"""What a reader shows of a call's intent while its arguments arrive, and what it costs."""

from __future__ import annotations

import json
import sys
import tracemalloc
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from pi_intent.labels.reader import SHOWN_WHILE_GROWING, IntentReader, read_arguments

CASES = json.loads((Path(__file__).parent.parent / "cases" / "streamed_labels.json").read_text(encoding="utf-8"))


def updates(*pieces: str) -> list[str]:
    """Return what a reader reports of these pieces."""
    reader = IntentReader()
    return [text for piece in pieces if (text := reader.feed(piece)) is not None]


def ending(text: str) -> tuple[str | None, bool]:
    """Return the intent of a text that came in one piece, and whether it is complete."""
    reader = IntentReader()
    reader.feed(text)
    return reader.intent, reader.complete


@pytest.mark.parametrize("case", CASES["cases"], ids=lambda case: case["id"])
def test_a_known_case_is_reported_as_written_down(case: dict[str, Any]) -> None:
    assert updates(*case["pieces"]) == case["updates"]


@pytest.mark.parametrize(
    ("text", "intent"),
    [
        (r'{"intent":"\ud83d"}', "\ufffd"),
        (r'{"intent":"\ude80\ud83d"}', "\ufffd\ufffd"),
        (r'{"intent":"\ud83d\ud83d\ude80"}', "\ufffd🚀"),
        (r'{"intent":"\ud83d\n\ude80"}', "\ufffd\n\ufffd"),
        (r'{"intent":"\ud83dude80"}', "\ufffdude80"),
        ('{"intent":"\ud83d\ude80"}', "🚀"),  # halves that a host unescaped one by one
        ('{"intent":"\ud83d\\ude80"}', "🚀"),
        (r'{"intent":"\\ud83d"}', r"\ud83d"),
        ('{"intent":"a\nb\tc\x00d"}', "a\nb\tc\x00d"),
        (r'{"intent":"\"\\\/\b\f\n\r\t\u0041"}', '"\\/\b\f\n\r\tA'),
        ('{"intent":"  x "}', "  x "),
        ('{"intent":"x"}}} more', "x"),
        (r'{"\u0069\u006E\u0074\u0065\u006e\u0074":"x"}', "x"),
        ('{"intent":{"intent":"no"},"intent":"yes"}', "yes"),
        ('{"intent":-1.5e+3,"intent":[null,"]"],"intent":true,"intent":"yes"}', "yes"),
        (r'{"a\"":"\"intent\":\"no\"","\\":[{"b":["}]",{}]}],"intent":"yes"}', "yes"),
        ('{"":"","intent":"yes"}', "yes"),
    ],
)
def test_the_intent_is_read_to_its_end(text: str, intent: str) -> None:
    assert ending(text) == (intent, True)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n",
        "{}",
        "null",
        '[{"intent":"x"}]',
        '\ufeff{"intent":"x"}',
        "{'intent':'x'}",
        '{,"intent":"x"}',
        '{"a":1}{"intent":"x"}',
        '{"a":1},{"intent":"x"}',
        '{"a":,"intent":"x"}',
        '{"a","intent":"x"}',
        '{"a":"b""intent":"x"}',
        '{"a":"b" "c","intent":"x"}',
        '{"a":[},"intent":"x"}',
        '{"a":{]},"intent":"x"}',
        '{"a":NaN,"intent":"x"}',
        r'{"a":"\x","intent":"x"}',
        r'{"a\x":1,"intent":"x"}',
        '{"intent"="x"}',
        '{"intent" "x"}',
        '{"intent\u200b":"x"}',
        '{"Intent":"x"}',
        '{"intents":"x"}',
        '{"inten":"x"}',
        r'{"\\u0069ntent":"x"}',
        r'{"intent\u0000":"x"}',
        r'{"\u0069\u006e\u0074\u0065\u006e\u0074\u0073":"x"}',
        '{"intent":null,"path":"intent"}',
    ],
)
def test_nothing_is_shown_where_no_intent_was_stated(text: str) -> None:
    assert ending(text) == (None, False)


@pytest.mark.parametrize(
    "beginning", ["", "{", '{"intent":"', '{"intent":"\\', r'{"intent":"\u00', r'{"intent":"\ud83d\u']
)
def test_there_is_no_intent_before_a_whole_character_of_it_came(beginning: str) -> None:
    assert ending(beginning) == (None, False)


def test_an_empty_intent_is_complete_and_never_reported() -> None:
    reader = IntentReader()
    assert (reader.feed('{"intent":'), reader.intent, reader.complete) == (None, None, False)
    assert (reader.feed('""'), reader.intent, reader.complete) == (None, "", True)


def test_the_end_of_the_intent_alone_changes_no_text() -> None:
    reader = IntentReader()
    assert (reader.feed('{"intent":"x'), reader.complete) == ("x", False)
    assert (reader.feed('"'), reader.complete) == (None, True)


@pytest.mark.parametrize("broken", [r"\q", r"\u00g9", r"\ud83d\u12x4"])
def test_an_escape_that_is_none_keeps_what_was_shown_and_shows_no_more(broken: str) -> None:
    reader = IntentReader()
    assert reader.feed('{"intent":"so far') == "so far"
    assert [reader.feed(piece) for piece in (broken, 'more"}', '{"intent":"x"}')] == [None] * 3
    assert (reader.intent, reader.complete) == ("so far", False)


@pytest.mark.parametrize("value", ["-1", *"0123456789", "true", "false", "null", "[]", "{}"])
@pytest.mark.parametrize("key", ["intention", "intent"])
def test_any_other_value_before_the_intent_is_passed_over(key: str, value: str) -> None:
    assert ending(f'{{"{key}":{value},"intent":"Look"}}') == ("Look", True)


def test_half_a_pair_is_shown_only_when_it_can_have_no_second_half() -> None:
    assert updates('{"intent":"', *r"\ud83d\ude80", '"') == ["🚀"]
    assert updates('{"intent":"', *r"\ud800\udc00\udbff\udfff", '"') == ["\U00010000", "\U00010000\U0010ffff"]
    assert updates('{"intent":"', *r"\ud83d\ud83d", "!", '"') == ["\ufffd", "\ufffd\ufffd!"]
    assert updates('{"intent":"', *r"\ud83d", '"') == ["\ufffd"]
    assert updates('{"intent":"\ud83d', "\ude80", '"') == ["🚀"]


def test_every_way_of_cutting_the_trickiest_end_gives_the_same_text() -> None:
    tricky = r'\\\ud83d\ude80"}'
    for cuts in range(2 ** (len(tricky) - 1)):
        bounds = [0, *(at for at in range(1, len(tricky)) if cuts >> (at - 1) & 1), len(tricky)]
        reader = IntentReader()
        reader.feed('{"intent":"')
        reported = [reader.feed(tricky[start:stop]) for start, stop in pairwise(bounds)]
        assert (reader.intent, reader.complete) == ("\\🚀", True)
        assert set(reported) <= {None, "\\", "\\🚀"}


def test_a_long_intent_is_reported_up_to_a_bound_and_whole_at_its_end() -> None:
    whole = "é" * 10_000
    reader = IntentReader()
    reader.feed('{"intent":"')
    growing = [text for start in range(0, 10_000, 30) if (text := reader.feed(whole[start : start + 30]))]
    assert growing == [whole[:length] for length in range(30, SHOWN_WHILE_GROWING, 30)] + [
        whole[:SHOWN_WHILE_GROWING]
    ]
    assert (reader.intent, reader.complete) == (whole[:SHOWN_WHILE_GROWING], False)
    assert (reader.feed('"}'), reader.intent, reader.complete) == (whole, whole, True)


@pytest.mark.parametrize(
    ("arguments", "intent"),
    [
        ({"path": "a", "intent": " Look "}, " Look "),
        ({"intent": "x\ud83d \ud83d\ude80"}, "x\ufffd 🚀"),
        ({"intent": ""}, ""),
        ({"intent": None}, None),
        ({"intent": ["a"]}, None),
        ({"input": {"intent": "no"}}, None),
        ({}, None),
        (None, None),
        ("intent", None),
        ('{"intent":"x"}', None),
        (["intent"], None),
        (7, None),
    ],
)
def test_complete_arguments_are_read_too(arguments: object, intent: str | None) -> None:
    assert read_arguments(arguments) == intent


def calls_made(work: Callable[[], object]) -> int:
    """Count the calls, of Python and of C, that some work makes."""
    made = 0

    def count(_frame: object, event: str, _argument: object) -> None:
        nonlocal made
        made += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
    return made


BEGINNINGS = ['{"content":"', '{"a":[{"b":"', '{"a":[', '{"a":', '{"intent":"', '{"', '{"intent":"x"', "}"]


@pytest.mark.parametrize("beginning", BEGINNINGS)
def test_a_piece_costs_the_same_however_much_came_before_and_nothing_skipped_is_kept(beginning: str) -> None:
    reader = IntentReader()
    piece = "1" * 20
    reader.feed(beginning)
    for _ in range(300):  # past what is shown of a growing intent
        reader.feed(piece)
    early = calls_made(lambda: reader.feed(piece))
    tracemalloc.start()
    try:
        for _ in range(20_000):
            reader.feed(piece)
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert calls_made(lambda: reader.feed(piece)) == early
    if beginning != '{"intent":"':  # an intent is kept whole, for its end
        assert kept < 20_000


def test_a_finished_reader_does_nothing_more() -> None:
    reader = IntentReader()
    reader.feed('{"intent":"x"')
    assert calls_made(lambda: reader.feed("1" * 20)) == calls_made(lambda: reader.feed("1" * 1_000_000))
    assert reader.feed(',"intent":"y"}') is None
    assert (reader.intent, reader.complete) == ("x", True)


def test_a_value_of_ten_megabytes_before_the_intent_is_passed_over_in_a_few_steps() -> None:
    text = json.dumps({"content": "a line\n" * 1_500_000, "intent": "Look"})
    reader = IntentReader()
    assert calls_made(lambda: reader.feed(text)) < 200
    assert (reader.intent, reader.complete) == ("Look", True)
