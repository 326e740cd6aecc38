"""Lines are read strictly and cut exactly: what is not taken out keeps every byte."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pi_intent.hosts.mcp import wire

OURS = ("intent", "rationale")
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
NAMES = st.sampled_from([*OURS, "path", "int", 'a"b', "é\u2028", ""]) | st.text(max_size=4)
SPACE = st.text(" \t\n\r", max_size=2)


@st.composite
def objects(draw: st.DrawFn) -> str:
    """The text of an object with white space anywhere, escapes, and keys that may stand twice."""
    parts = []
    for name in draw(st.lists(NAMES, max_size=5)):
        key = json.dumps(name, ensure_ascii=draw(st.booleans()))
        if draw(st.booleans()):
            key = key.replace("i", "\\u0069")
        value = json.dumps(draw(VALUES), ensure_ascii=draw(st.booleans()))
        parts.append(f"{draw(SPACE)}{key}{draw(SPACE)}:{draw(SPACE)}{value}{draw(SPACE)}")
    return "{" + (",".join(parts) or draw(SPACE)) + "}"


def pairs(text: str) -> list[tuple[str, Any]]:
    return json.loads(text, object_pairs_hook=lambda found: found)


@settings(deadline=None)
@given(objects())
def test_only_our_members_are_taken_out(text: str):
    left = wire.applied(text, wire.without(text, 0, OURS))
    assert pairs(left) == [(key, value) for key, value in pairs(text) if key not in OURS]
    if not any(key in OURS for key, _ in pairs(text)):
        assert left == text


@settings(deadline=None)
@given(st.lists(objects(), max_size=4), st.sets(st.integers(0, 3)), SPACE)
def test_items_are_left_out_of_a_batch_and_the_others_cut(objects: list[str], left_out: set[int], space: str):
    text = space + "[" + f"{space},{space}".join(objects) + "]\n"
    spans = list(wire.items(text, wire.opening(text)))
    assert [text[begin:end] for begin, end in spans] == objects
    cuts = [cut for begin, _ in spans for cut in wire.without(text, begin, OURS)]
    rest = wire.rest_of_array(text, cuts, [index for index in left_out if index < len(objects)])
    kept = [pairs(item) for index, item in enumerate(objects) if index not in left_out]
    assert json.loads(rest, object_pairs_hook=lambda found: found) == [
        [pair for pair in item if pair[0] not in OURS] for item in kept
    ]


@settings(deadline=None)
@given(objects())
def test_a_path_leads_to_the_first_member_of_its_name(text: str):
    at = wire.value_at(text, 0, "path")
    values = [value for key, value in pairs(text) if key == "path"]
    assert (at is None) == (not values)
    if at is not None:
        begin, end = wire.span(text, at)
        assert json.loads(text[begin:end], object_pairs_hook=lambda found: found) == values[0]


@pytest.mark.parametrize(
    "line",
    [
        b'{"a":1}\r\n',
        b'{"a":1}\n',
        b'{"a":1}',
        '{"a":"x\u2028y\u2029z\u0085"}\n'.encode(),
        b'{"a":\r1}\n',
        b'{"a":\r1}\r\n',
        b"\r\n",
    ],
)
def test_a_line_has_one_end_for_every_reader_and_says_the_same(line: bytes):
    made = wire.one_line(line)
    assert len(made.decode().splitlines()) == 1
    if line.strip():
        assert json.loads(made) == json.loads(line)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b"hello\n", "not JSON"),
        (b'{"a":1}{"b":2}\n', "not JSON"),
        (b'{"a":NaN}\n', "NaN is not JSON"),
        (b'{"a":-Infinity}\n', "-Infinity is not JSON"),
        (b"[" * 100_000 + b"]" * 100_000, "nested too deeply"),
        (b'{"a":"\xff"}\n', "not UTF-8"),
        (b'{"a":"\xc0\x80"}\n', "not UTF-8"),
        (b"\xef\xbb\xbf{}\n", "not JSON"),
        ('{"a":1}'.encode("utf-16"), "not UTF-8"),
        (b'{"a":"\x00"}\n', "not JSON"),
        (b'{"a":\x0c1}\n', "not JSON"),
        (b"", "not JSON"),
    ],
)
def test_what_readers_could_take_differently_is_not_read(line: bytes, why: str):
    with pytest.raises(wire.Unreadable, match=why):
        wire.read_line(line)


def test_numbers_of_any_length_are_read():
    _, value = wire.read_line(b'{"a":' + b"9" * 10_000 + b',"b":1E400}')
    assert value["b"] == float("inf")


def test_a_key_that_stands_twice_shows_on_the_very_object():
    _, value = wire.read_line(b'{"a":{"b":1,"b":2},"c":{}}')
    assert not isinstance(value, wire.Repeated)
    assert isinstance(value["a"], wire.Repeated)
    assert value == {"a": {"b": 2}, "c": {}}
