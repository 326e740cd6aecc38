"""What holds for all arguments, however they are spelled and cut, and for every text that is none."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from pi_intent.labels.reader import IntentReader, read_arguments

SHORT = {'"': '\\"', "\\": "\\\\", "/": "\\/", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def spell(character: str, how: str) -> str:
    """Write a character inside a JSON text: as itself or short where that is allowed, else as \\u escapes."""
    if how == "itself" and character not in '"\\' and character >= " ":
        return character
    if how == "short" and character in SHORT:
        return SHORT[character]
    code_units = character.encode("utf-16-be", "surrogatepass").hex(" ", 2).split()
    return "".join(f"\\u{unit.upper() if how == 'upper' else unit}" for unit in code_units)


def spelled(characters: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.builds(spell, characters, st.sampled_from(["itself", "short", "lower", "upper"]))


@st.composite
def our_keys(draw: st.DrawFn) -> str:
    return "".join(draw(spelled(st.just(character))) for character in "intent")


# Halves of pairs, and what makes escapes and keys look like something else, come often.
CHARACTERS = (
    st.sampled_from('\ud83d\ude80🚀"\\/u\n{}[]:, e') | st.characters(codec=None) | st.characters(codec="ascii")
)
TEXTS = st.lists(spelled(CHARACTERS), max_size=8).map("".join)
QUOTED = (TEXTS | st.sampled_from(["intent", r"\"intent\":\"no\"", r"\\\"intent\\\":"])).map('"{}"'.format)
KEYS = (our_keys() | TEXTS | st.sampled_from(["intents", "Intent", "inten", r"\\u0069ntent"])).map('"{}"'.format)
SPACE = st.text(" \t\n\r", max_size=2)
SCALARS = st.sampled_from(["-1.5e+30", "1E2", "true", "false", "null", "1" * 50]) | st.integers(-9, 9).map(str)


def spaced(text: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.builds("{}{}{}".format, SPACE, text, SPACE)


def objects(values: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    members = st.lists(st.tuples(KEYS, spaced(values)), max_size=5, unique_by=lambda member: json.loads(member[0]))
    gaps = st.lists(st.tuples(SPACE, SPACE), min_size=5, max_size=5)
    return st.builds(
        lambda pairs, spaces: (
            "{"
            + ",".join(f"{a}{key}{b}:{value}" for (key, value), (a, b) in zip(pairs, spaces, strict=False))
            + f"{spaces[-1][0]}}}"
        ),
        members,
        gaps,
    )


def arrays(values: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.lists(spaced(values), max_size=3).map(lambda items: f"[{','.join(items)}]")


VALUES = st.recursive(QUOTED | SCALARS, lambda inner: objects(inner) | arrays(inner), max_leaves=6)
ARGUMENTS = spaced(objects(QUOTED | VALUES))
ORDINARY = st.dictionaries(
    st.sampled_from(["intent", "path", "content", "edits"]),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(st.characters(codec=None)),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["intent", "x"]), inner),
        max_leaves=6,
    ),
)
WRECKS = ARGUMENTS.flatmap(
    lambda text: st.builds(
        lambda at, length, other: text[:at] + other + text[at + length :],
        st.integers(0, len(text)),
        st.integers(0, 9),
        st.text(st.sampled_from('\\"{}[]:,uintent1 '), max_size=3),
    )
)
GARBAGE = st.text(st.characters(codec=None)) | st.text(st.sampled_from('{}[]"\\:,uintent01 \ud83d\ude80')) | WRECKS


def whole(text: Any) -> str | None:
    """Return a text with its surrogates paired and the single ones as U+FFFD; None when it is no text."""
    if not isinstance(text, str):
        return None
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def cut(text: str, at: list[int]) -> list[str]:
    bounds = [0, *sorted(position % (len(text) + 1) for position in at), len(text)]
    return [text[start:stop] for start, stop in pairwise(bounds)]


def read(pieces: list[str]) -> tuple[list[str], str | None, bool]:
    """Feed a new reader; return what it reported, its intent at the end, and whether that is complete."""
    reader = IntentReader()
    reported = [text for piece in pieces if (text := reader.feed(piece)) is not None]
    return reported, reader.intent, reader.complete


CUTS = st.lists(st.integers(0, 10_000), max_size=20)


@given(ARGUMENTS, CUTS)
def test_any_arguments_cut_anywhere_end_with_their_intent(text: str, cuts: list[int]) -> None:
    arguments = json.loads(text)
    expected = whole(arguments.get("intent"))
    reported, intent, complete = read(cut(text, cuts))
    assert (intent, complete) == (expected, expected is not None)
    assert reported[-1:] == ([expected] if expected else [])
    assert read_arguments(arguments) == expected


@given(ARGUMENTS)
def test_one_cut_at_any_place_changes_nothing_at_the_end(text: str) -> None:
    expected = whole(json.loads(text).get("intent"))
    for at in range(len(text) + 1):
        assert read([text[:at], text[at:]])[1:] == (expected, expected is not None)


@given(ORDINARY, st.booleans(), st.sampled_from([None, 1]), CUTS)
def test_arguments_as_python_writes_them_end_with_their_intent(
    arguments: dict[str, Any], ensure_ascii: bool, indent: int | None, cuts: list[int]
) -> None:
    text = json.dumps(arguments, ensure_ascii=ensure_ascii, indent=indent)
    expected = whole(arguments.get("intent"))
    assert read(cut(text, cuts))[1:] == (expected, expected is not None)


@given(ARGUMENTS | GARBAGE)
def test_what_is_shown_depends_on_what_came_and_not_on_how_it_was_cut(text: str) -> None:
    # Fed character by character, a reader passes through every state that any way of cutting can stop in.
    slow = IntentReader()
    for length, character in enumerate(text, 1):
        slow.feed(character)
        assert (slow.intent, slow.complete) == read([text[:length]])[1:]


@given(ARGUMENTS | GARBAGE, CUTS)
def test_each_report_is_new_and_continues_the_one_before(text: str, cuts: list[int]) -> None:
    reported, intent, _ = read(cut(text, cuts))
    for before, after in pairwise(["", *reported]):
        assert after.startswith(before)
        assert after != before
    assert (reported or [intent or ""])[-1] == (intent or "")
    assert not any("\ud800" <= character <= "\udfff" for report in reported for character in report)


@given(st.lists(GARBAGE, max_size=5))
def test_no_text_makes_a_reader_raise(pieces: list[str]) -> None:
    reported, intent, _ = read(pieces)
    assert reported == [] or reported[-1] == intent


@given(spaced(QUOTED), st.lists(GARBAGE | ARGUMENTS, max_size=5))
def test_nothing_changes_after_the_end_of_the_intent(value: str, more: list[str]) -> None:
    expected = whole(json.loads(value))
    reader = IntentReader()
    reader.feed(f'{{"intent":{value}')
    assert (reader.intent, reader.complete) == (expected, True)
    assert [reader.feed(piece) for piece in more] == [None] * len(more)
    assert (reader.intent, reader.complete) == (expected, True)
