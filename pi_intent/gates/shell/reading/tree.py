"""The tree of a text, which is written so that the grammar reads its lines and signs as a shell would."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

_MOST_READINGS = 4
_MISREAD = re.compile(rb"\n\\|\\[\n \t]+#")
"""Where it may be that: most texts have none, and their tree is not searched."""
_LINE_ENDS = re.compile(rb"\\.|(?P<end>\n)", re.S)
_BEFORE_A_WORD = b" \t\r\n;&|()<>`"


def tree_of(parser: Parser, text: bytes) -> Node | None:
    """Return the root of the tree of a text, or None where it is not read as a shell would in a few readings."""
    root = parser.parse(text).root_node
    for _ in range(_MOST_READINGS if _MISREAD.search(text) else 0):
        missing = sorted(_missing(root, text))
        if not missing:
            return root
        ends = [at for at, _ in missing[1:]]
        first, _ = missing[0]
        text = text[:first] + b"".join(
            sign + text[at:end] for (at, sign), end in zip(missing, [*ends, len(text)], strict=True)
        )
        root = parser.parse(text).root_node
    return None if _MISREAD.search(text) and any(_missing(root, text)) else root


def _missing(root: Node, text: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the places where one sign more has the grammar read what a shell reads.

    A line that begins with a backslash it takes for a word of the line before, and a `#` behind an escaped blank for
    the beginning of a comment.
    """
    for node in _below(root):
        if node.type == "word" and b"\n" in (node.text or b""):
            for found in _LINE_ENDS.finditer(node.text or b""):
                if found["end"]:
                    yield node.start_byte + found.end(), b" "
        elif node.type == "comment" and _is_within_a_word(text, node.start_byte):
            yield node.start_byte, b"\\"


def _is_within_a_word(text: bytes, at: int) -> bool:
    while text[at - 1 : at] == b"\n" and is_escaped(text, at - 1):
        at -= 2
    return at > 0 and (text[at - 1] not in _BEFORE_A_WORD or is_escaped(text, at - 1))


def is_escaped(text: bytes, at: int) -> bool:
    before = text[:at]
    return (at - len(before.rstrip(b"\\"))) % 2 == 1


def _below(root: Node) -> Iterator[Node]:
    cursor = root.walk()
    while True:
        if cursor.node is not None:
            yield cursor.node
        if cursor.goto_first_child() or cursor.goto_next_sibling():
            continue
        while cursor.goto_parent():
            if cursor.goto_next_sibling():
                break
        else:
            return
