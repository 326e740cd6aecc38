"""Session files of any content: reading never raises, and what is whole is read whatever stands around it."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from session_files import as_bytes, calls, found_in, results, small_sessions

from pi_intent.sessions.front import WAYS
from pi_intent.sessions.places import is_inside
from pi_intent.sessions.values import Dialect, Unread

SESSIONS = small_sessions()
DIALECTS: list[Dialect] = [dialect for dialect in WAYS if dialect in SESSIONS]

_SCALARS: st.SearchStrategy[Any] = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["\ud800", "a", "b"])
)
VALUES = st.recursive(
    _SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
)


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the path to every value inside another."""
    if isinstance(value, dict):
        inner = list(value.items())
    elif isinstance(value, list):
        inner = list(enumerate(value))
    else:
        return [path]
    return [path, *(place for key, item in inner for place in _places(item, (*path, key)))]


def _put(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    value[path[0]] = _put(value[path[0]], path[1:], new)
    return value


@st.composite
def _mutated(draw: st.DrawFn, session: list[dict[str, Any]]) -> bytes:
    """Return a session in which values are replaced, lines repeated, swapped, cut and glued."""
    entries: list[Any] = copy.deepcopy(session)
    for _ in range(draw(st.integers(0, 4))):
        places = [place for place in _places(entries) if place]
        entries = _put(entries, draw(st.sampled_from(places)), draw(VALUES))
    lines = (
        [json.dumps(entry).encode("utf-8") for entry in draw(st.permutations(entries))]
        if draw(st.booleans())
        else [json.dumps(entry).encode("utf-8") for entry in entries]
    )
    lines += draw(st.lists(st.sampled_from(lines), max_size=3))
    cut = draw(st.integers(0, len(lines) - 1))
    lines[cut] = lines[cut][: draw(st.integers(0, len(lines[cut])))]
    return draw(st.sampled_from([b"\n", b"", b"\r\n", b"\n\xff\n"])).join(lines)


@pytest.mark.parametrize("dialect", DIALECTS)
@given(data=st.data())
@settings(max_examples=150)
def test_no_content_makes_reading_raise_and_keys_tell_calls_apart(dialect: Dialect, data: st.DataObject) -> None:
    content = data.draw(_mutated(SESSIONS[dialect]))
    items = found_in(WAYS[dialect].read, content)
    keys = [call.key for call in calls(items)]
    answered = [end.key for end in results(items) if end.key is not None]
    assert len(set(keys)) == len(keys)
    assert len(set(answered)) == len(answered)
    assert set(answered) <= set(keys)
    for call in calls(items):
        assert call.intent is None or call.asked
    for way in WAYS.values():
        way.is_ours([json.loads(line) for line in as_bytes(*SESSIONS[dialect]).splitlines()])


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_session_cut_at_any_byte_tells_what_stands_before_the_cut(dialect: Dialect) -> None:
    content = as_bytes(*SESSIONS[dialect])
    read = WAYS[dialect].read
    prefixes = {0: found_in(read, b"")}
    whole = b""
    for line in content.splitlines(keepends=True):
        whole += line
        prefixes[len(whole)] = found_in(read, whole)
    for cut in range(len(content)):
        end = max(end for end in prefixes if end <= cut)
        items = found_in(read, content[:cut])
        if cut + 1 in prefixes:  # only the line feed is missing
            assert items == prefixes[cut + 1]
        elif cut == end:
            assert items == prefixes[end]
        else:
            assert [item for item in items if not isinstance(item, Unread)] == prefixes[end]
            assert any(isinstance(item, Unread) for item in items)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_longer_copy_tells_the_same_calls_under_the_same_keys(dialect: Dialect) -> None:
    session = SESSIONS[dialect]
    whole = calls(found_in(WAYS[dialect].read, as_bytes(*session)))
    for length in range(len(session)):
        part = calls(found_in(WAYS[dialect].read, as_bytes(*session[:length])))
        assert part == whole[: len(part)]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_file_that_repeats_all_of_its_lines_tells_nothing_more(dialect: Dialect) -> None:
    content = as_bytes(*SESSIONS[dialect])
    read = WAYS[dialect].read
    assert found_in(read, content + content) == found_in(read, content)


@given(st.text(st.characters(codec=None)))
def test_any_text_can_be_asked_whether_it_is_a_folder_inside(text: str) -> None:
    assert not is_inside(text, ("/home/me/shop",))
    assert is_inside(f"/home/me/shop/{text.replace('/', '')}", ("/home/me/shop",)) == (text.replace("/", "") != "..")
