"""Objects written as the lines of a session file, read by one dialect's reader, and mangled ones."""

from __future__ import annotations

import copy
import io
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from hypothesis import strategies as st

from pi_intent.sessions.lines import Numbered, objects
from pi_intent.sessions.values import Found, FoundCall, FoundResult, Head, Prompt, Unread

type Read = Callable[[Iterable[Numbered | Unread]], Iterator[Found]]

TEXTS = st.text(st.characters(codec=None), max_size=12)
NUMBERS = st.integers() | st.floats() | st.sampled_from([10**400, -1, 1e308, 1_700_000_000_000])
ATOMS = st.none() | st.booleans() | NUMBERS | TEXTS
JSON_VALUES: st.SearchStrategy[Any] = st.recursive(
    ATOMS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=5,
)


def told(read: Read, *values: object) -> list[Found]:
    """Return all that a reader tells of a file with a value a line; bytes stand there as they are."""
    lines = [value if isinstance(value, bytes) else json.dumps(value).encode() for value in values]
    return list(read(objects(io.BytesIO(b"\n".join([*lines, b""])))))


def calls(found: Iterable[Found]) -> list[FoundCall]:
    return [item for item in found if isinstance(item, FoundCall)]


def results(found: Iterable[Found]) -> list[FoundResult]:
    return [item for item in found if isinstance(item, FoundResult)]


def heads(found: Iterable[Found]) -> list[Head]:
    return [item for item in found if isinstance(item, Head)]


def prompts(found: Iterable[Found]) -> list[str]:
    return [item.text for item in found if isinstance(item, Prompt)]


def unread(found: Iterable[Found]) -> list[str]:
    return [item.text for item in found if isinstance(item, Unread)]


def endings(found: Iterable[Found]) -> list[tuple[str | None, str]]:
    return [(item.key, item.status) for item in results(found)]


def is_sound(found: Sequence[Found]) -> bool:
    """Whether what is told fits together: keys, pairs, and no intent where none is asked for."""
    open_keys: set[str] = set()
    keys: set[str] = set()
    for item in found:
        if isinstance(item, FoundCall):
            assert item.key not in keys, item.key
            assert item.asked or item.intent is None
            assert item.tool
            assert item.group
            assert item.turn > 0
            keys.add(item.key)
            open_keys.add(item.key)
        elif isinstance(item, FoundResult):
            assert item.key is None or item.key in open_keys, item.key
            assert item.bytes_out >= len(item.text or "")
            assert (item.error is None) == (item.status == "ok")
            open_keys.discard(item.key or "")
    return True


def grows_steadily(read: Read, *values: object) -> bool:
    """Whether the calls of every beginning of a file are those that the whole file begins with."""
    whole = calls(told(read, *values))
    for count in range(len(values)):
        some = calls(told(read, *values[:count]))
        assert some == whole[: len(some)]
    return True


@st.composite
def mangled(draw: st.DrawFn, values: Sequence[Any]) -> list[object]:
    """Draw a file whose lines were cut, repeated, put out of order, or hold something unexpected."""
    lines: list[object] = list(copy.deepcopy(list(values)))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(lines) - 1))
        match draw(st.sampled_from(["value", "value", "value", "cut", "repeat", "swap"])):
            case "value":
                lines[at] = _changed(draw, lines[at])
            case "cut" if not isinstance(lines[at], bytes):
                text = json.dumps(lines[at]).encode()
                lines[at] = text[: draw(st.integers(0, len(text)))]
            case "repeat":
                lines.insert(draw(st.integers(0, len(lines))), copy.deepcopy(lines[at]))
            case _:
                other = draw(st.integers(0, len(lines) - 1))
                lines[at], lines[other] = lines[other], lines[at]
    return lines


def _changed(draw: st.DrawFn, value: Any) -> Any:
    """Put something else in one place of a value."""
    if isinstance(value, dict) and value and draw(st.integers(0, 5)):
        name = draw(st.sampled_from(sorted(value, key=str)))
        if draw(st.integers(0, 9)) == 0:
            return {key: inner for key, inner in value.items() if key != name}
        return value | {name: _changed(draw, value[name])}
    if isinstance(value, list) and value and draw(st.integers(0, 5)):
        at = draw(st.integers(0, len(value) - 1))
        return [*value[:at], _changed(draw, value[at]), *value[at + 1 :]]
    return draw(JSON_VALUES)
