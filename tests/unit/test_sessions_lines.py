"""Splitting files of JSON lines: every object is found, whatever stands around it."""

from __future__ import annotations

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_intent.sessions import lines
from pi_intent.sessions.lines import Numbered, objects
from pi_intent.sessions.values import Unread


def split(data: bytes) -> list[Numbered | Unread]:
    return list(objects(io.BytesIO(data)))


def test_objects_come_with_their_line_and_with_where_the_next_line_begins() -> None:
    assert split(b'{"a": 1}\n\n{"b": "\xc3\xbc"}\n') == [Numbered(1, {"a": 1}, 9), Numbered(3, {"b": "ü"}, 22)]


def test_a_last_line_without_its_end_is_read() -> None:
    assert split(b'{"a": 1}\n{"b": 2}') == [Numbered(1, {"a": 1}, 9), Numbered(2, {"b": 2}, 17)]


def test_glued_objects_are_parted() -> None:
    assert split(b'{"a": 1}{"b": 2} {"c": 3}\n') == [
        Numbered(1, {"a": 1}, 26),
        Numbered(1, {"b": 2}, 26),
        Numbered(1, {"c": 3}, 26),
    ]


def test_of_a_torn_line_the_whole_objects_are_read_and_the_rest_is_told() -> None:
    assert split(b'{"a": 1}{"b": \n{"c": 3}\n') == [
        Numbered(1, {"a": 1}, 15),
        Unread(line=1, text="line 1 holds something that is not whole JSON"),
        Numbered(2, {"c": 3}, 24),
    ]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (b"[1]", "line 1 holds JSON that is not an object"),
        (b"\xff{}", "line 1 is not UTF-8 text"),
        (b"[" * 200_000, "line 1 holds something that is not whole JSON"),
        (b'{"a": ' + b"9" * 5000 + b"}", "line 1 holds something that is not whole JSON"),
    ],
)
def test_what_is_no_object_is_told_and_the_next_line_is_read(line: bytes, told: str) -> None:
    assert split(line + b'\n{"a": 1}') == [
        Unread(line=1, text=told),
        Numbered(2, {"a": 1}, len(line) + 9),
    ]


def test_a_line_that_is_too_long_is_skipped_and_never_held_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "LINE_LIMIT", 16)
    long = b'{"a": "' + b"x" * 90 + b'"}\n'
    assert split(b'{"a": 1}\n' + long + b'{"b": 2}\n') == [
        Numbered(1, {"a": 1}, 9),
        Unread(line=2, text="line 2 is longer than 16 bytes and was skipped"),
        Numbered(3, {"b": 2}, 9 + len(long) + 9),
    ]


@given(st.lists(st.dictionaries(st.text(), st.integers() | st.text()), max_size=6), st.integers(0, 400))
def test_a_cut_leaves_every_whole_line_before_it(values: list[dict[str, int | str]], cut: int) -> None:
    data = "".join(json.dumps(value) + "\n" for value in values).encode()
    before = data[:cut].count(b"\n")
    read = [item.value for item in split(data[:cut]) if isinstance(item, Numbered)]
    assert read[:before] == values[:before]
    assert len(read) <= before + 1
