"""Read JSON with comments into a tree that knows where each part stands in the text.

Comments and trailing commas are taken as VS Code takes them. Nothing is ever written from the tree: whoever changes
the text cuts and pastes at the places that it names, so everything else stays as it was, byte for byte.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from pi_intent.hosts.mcp.clients.text import Malformed, line_of

MAX_DEPTH = 400
"""Nesting beyond this is refused: no client writes it, and what compares trees would run out of stack."""

Kind = Literal["object", "array", "string", "number", "word"]

_SPACE = re.compile(r"(?:[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
_TOKEN = re.compile(
    r"""(?P<string>"[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*)*")"""
    r"""|(?P<number>-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)"""
    r"""|(?P<word>true|false|null)"""
    r"""|(?P<mark>[{}\[\]:,])"""
)


@dataclass(frozen=True, slots=True)
class Node:
    """A value: its kind and where it stands; `members` of an object, `items` of an array."""

    kind: Kind
    start: int
    end: int
    members: tuple[Member, ...] = ()
    items: tuple[Node, ...] = ()


@dataclass(frozen=True, slots=True)
class Member:
    """One `"key": value` of an object; `start` and `end` are those of the key."""

    key: str
    start: int
    end: int
    value: Node


class _Open:
    """An object or array whose end has not been read yet."""

    __slots__ = ("is_object", "items", "key", "members", "start")

    def __init__(self, start: int, is_object: bool) -> None:
        self.start = start
        self.is_object = is_object
        self.members: list[Member] = []
        self.items: list[Node] = []
        self.key: tuple[str, int, int] | None = None

    def add(self, node: Node) -> None:
        if self.key is None:
            self.items.append(node)
        else:
            self.members.append(Member(*self.key, node))
            self.key = None

    def close(self, end: int) -> Node:
        kind: Kind = "object" if self.is_object else "array"
        return Node(kind, self.start, end, tuple(self.members), tuple(self.items))


@lru_cache(maxsize=4)
def parse(text: str) -> Node | None:
    """Return the document, None where the text holds nothing but space and comments. Raises `Malformed`."""
    opened: list[_Open] = []
    root: Node | None = None
    expected = "value"  # value · value or close · key or close · colon · comma or close · end
    position = 1 if text.startswith("\ufeff") else 0
    length = len(text)
    while True:
        space = _SPACE.match(text, position)
        position = space.end() if space is not None else position
        if position >= length:
            break
        token = _TOKEN.match(text, position)
        if token is None:
            raise _unexpected(text, position)
        start, position, kind = token.start(), token.end(), token.lastgroup
        mark = token[0] if kind == "mark" else ""
        node: Node | None = None
        if mark == ":" and expected == "colon":
            expected = "value"
            continue
        if mark == "," and expected == "comma or close":
            expected = "key or close" if opened[-1].is_object else "value or close"
            continue
        if mark in ("}", "]") and opened and opened[-1].is_object == (mark == "}") and expected.endswith("or close"):
            node = opened.pop().close(position)
        elif kind == "string" and expected == "key or close":
            opened[-1].key = (json.loads(token[0]), start, position)
            expected = "colon"
            continue
        elif expected.startswith("value") and mark in ("{", "["):
            if len(opened) >= MAX_DEPTH:
                raise Malformed(line_of(text, start), f"is nested more than {MAX_DEPTH} deep")
            opened.append(_Open(start, mark == "{"))
            expected = "key or close" if mark == "{" else "value or close"
            continue
        elif expected.startswith("value") and kind in ("string", "number", "word"):
            node = Node("string" if kind == "string" else "number" if kind == "number" else "word", start, position)
        if node is None:
            raise _unexpected(text, start)
        if opened:
            opened[-1].add(node)
            expected = "comma or close"
        else:
            root = node
            expected = "end"
    if opened:
        raise Malformed(line_of(text, length), "ends before what it opened is closed")
    return root


def string(text: str, node: Node) -> str | None:
    """Return what a node says if it is a text."""
    if node.kind != "string":
        return None
    value: str = json.loads(text[node.start : node.end])
    return value


def plain(text: str, node: Node | None) -> object:
    """Return a value to compare with another: objects as lists of pairs, numbers and words as they are written."""
    if node is None:
        return None
    match node.kind:
        case "object":
            return ("object", [(member.key, plain(text, member.value)) for member in node.members])
        case "array":
            return ("array", [plain(text, item) for item in node.items])
        case "string":
            return string(text, node)
        case "number" | "word":
            return ("bare", text[node.start : node.end])


def _unexpected(text: str, position: int) -> Malformed:
    if text.startswith("/*", position):
        return Malformed(line_of(text, position), "has a comment that does not end")
    if text[position] == '"':
        whole = _TOKEN.match(text, position) is not None
        why = "a comma or a colon is missing before a text" if whole else "a text is not closed, or not one for JSON"
    else:  # one character: more of it may be part of a secret
        why = f"{text[position]!r} does not belong there"
    return Malformed(line_of(text, position), f"is not valid JSON: {why}")
