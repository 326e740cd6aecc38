"""Find where each value of a TOML document stands in its text.

For documents that the TOML parser of the standard library has read: this only looks where things are, and what it
finds is compared with what the parser says.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field

from pi_intent.hosts.mcp.clients.text import Malformed, Span, line_of

_BETWEEN = re.compile(r"(?:[ \t\r\n]++|#[^\r\n]*+)*+")
_BLANK = re.compile(r"[ \t]*+")
_REST_OF_LINE = re.compile(r"[^\r\n]*+")
_PART = r"""(?:"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+'|[A-Za-z0-9_-]++)"""
_ONE_PART = re.compile(_PART)
_KEY = re.compile(rf"{_PART}(?:[ \t]*+\.[ \t]*+{_PART})*+")
_HEADER = re.compile(rf"(?P<open>\[\[?)[ \t]*+(?P<key>{_PART}(?:[ \t]*+\.[ \t]*+{_PART})*+)[ \t]*+\]\]?")
_STRING = re.compile(
    r'''"""(?:[^\\]|\\.)*?"""(?:"{1,2})?|\'\'\'.*?\'\'\'(?:'{1,2})?|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+\'''', re.DOTALL
)
_SCALAR = re.compile(r"[^,\]}#\r\n]++")


@dataclass(frozen=True, slots=True)
class Assigned:
    """A `key = value`: the whole path of the key, where key and value stand, and the values of a list.

    `inline` are the assignments beside it where it stands in an inline table, None where it has a line of its own.
    """

    path: tuple[str, ...]
    key: Span
    value: Span
    items: tuple[Span, ...] | None = None
    inline: tuple[Span, ...] | None = None
    inside: tuple[Assigned, ...] = field(default=())


def assignments(text: str) -> list[Assigned]:
    """Return every assignment outside of lists, those of inline tables after the one that holds them.

    Raises `Malformed` where it loses its way.
    """
    found: list[Assigned] = []
    table: tuple[str, ...] = ()
    position = _skip(text, 1 if text.startswith("\ufeff") else 0)
    while position < len(text):
        header = _HEADER.match(text, position)
        if header is not None:
            # A marker that no key path of a plain table has: what lies in a list of tables is never looked for.
            table = (*parts(header["key"]), *([""] if header["open"] == "[[" else []))
            position = header.end()
        else:
            assigned = _assignment(text, position, table)
            position = assigned.value.end
            _gather(assigned, found)
        position = _skip(text, position)
    return found


def parts(key: str) -> tuple[str, ...]:
    """Return the names of a dotted key."""
    return tuple(
        str(tomllib.loads(f"x = {part}")["x"]) if part[0] in "\"'" else part for part in _ONE_PART.findall(key)
    )


def last_part(key: str) -> int:
    """Return where the last name of a dotted key begins in it."""
    return [found.start() for found in _ONE_PART.finditer(key)][-1]


def _gather(assigned: Assigned, found: list[Assigned]) -> None:
    found.append(assigned)
    for inner in assigned.inside:
        _gather(inner, found)


def _skip(text: str, position: int) -> int:
    between = _BETWEEN.match(text, position)
    return between.end() if between is not None else position


def _assignment(text: str, position: int, table: tuple[str, ...]) -> Assigned:
    key = _KEY.match(text, position)
    if key is None:
        raise Malformed(line_of(text, position), "has something where a key should be")
    path = (*table, *parts(key[0]))
    position = _skip(text, key.end())
    if not text.startswith("=", position):
        raise Malformed(line_of(text, position), "has no = after a key")
    position = _skip(text, position + 1)
    at = Span(key.start(), key.end())
    if text.startswith("[", position):
        items, end = _list(text, position)
        return Assigned(path, at, Span(position, end), items=items)
    if text.startswith("{", position):
        inside, end = _inline_table(text, position, path)
        return Assigned(path, at, Span(position, end), inside=inside)
    return Assigned(path, at, Span(position, _value_end(text, position)))


def _value_end(text: str, position: int) -> int:
    if text.startswith("[", position):
        return _list(text, position)[1]
    if text.startswith("{", position):
        return _inline_table(text, position, ("",))[1]
    value = _STRING.match(text, position)
    if value is not None:
        return value.end()
    scalar = _SCALAR.match(text, position)
    if scalar is None:
        raise Malformed(line_of(text, position), "has something where a value should be")
    return position + len(scalar[0].rstrip())


def _list(text: str, position: int) -> tuple[tuple[Span, ...], int]:
    items: list[Span] = []
    position = _skip(text, position + 1)
    while not text.startswith("]", position):
        end = _value_end(text, position)
        items.append(Span(position, end))
        position = _skip(text, end)
        if text.startswith(",", position):
            position = _skip(text, position + 1)
        elif not text.startswith("]", position):
            raise Malformed(line_of(text, position), "has a list that does not end")
    return tuple(items), position + 1


def _inline_table(text: str, position: int, path: tuple[str, ...]) -> tuple[tuple[Assigned, ...], int]:
    members: list[Assigned] = []
    position = _skip(text, position + 1)
    while not text.startswith("}", position):
        member = _assignment(text, position, path)
        members.append(member)
        position = _skip(text, member.value.end)
        if text.startswith(",", position):
            position = _skip(text, position + 1)
        elif not text.startswith("}", position):
            raise Malformed(line_of(text, position), "has an inline table that does not end")
    beside = tuple(Span(member.key.start, member.value.end) for member in members)
    return (
        tuple(
            Assigned(member.path, member.key, member.value, member.items, beside, member.inside) for member in members
        ),
        position + 1,
    )
