"""The tree of a text, which is written so that the grammar reads its lines and signs as a shell would."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

_MOST_READINGS = 4
_MISREAD = re.compile(rb"(?P<line>\n)(?=\\)|\\[\n \t]+(?=#)")
"""Where the grammar may read otherwise: behind a line's end, and before a `#`."""
_QUOTED = ("string", "heredoc_body")
_BEFORE_A_WORD = b" \t\r\n;&|()<>`"


def tree_of(parser: Parser, text: bytes) -> Node | None:
    """Return the root of the tree of a text, or None where a few readings do not have it read as by a shell."""
    root = parser.parse(text).root_node
    for _ in range(_MOST_READINGS):
        missing = list(_missing(root, text))
        if not missing:
            return root
        pieces, begin = [], 0
        for at, sign in missing:
            pieces += [text[begin:at], sign]
            begin = at
        text = b"".join([*pieces, text[begin:]])
        root = parser.parse(text).root_node
    return None if any(_missing(root, text)) else root


def _missing(root: Node, text: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the places where one sign more has the grammar read what a shell reads.

    A line that begins with a backslash it takes for more of the line before, and a `#` behind an escaped blank for
    the beginning of a comment.
    """
    for found in _MISREAD.finditer(text):
        at = found.end()
        if found["line"]:
            node = root.descendant_for_byte_range(at - 1, at)
            more = node is not None and (node.type == "word" or (node.child_count and node.type not in _QUOTED))
            if more and not is_escaped(text, at - 1):
                yield at, b" "
        else:
            node = root.descendant_for_byte_range(at, at + 1)
            if node is not None and node.type == "comment" and node.start_byte == at and _is_within_a_word(text, at):
                yield at, b"\\"


def _is_within_a_word(text: bytes, at: int) -> bool:
    while text[at - 1 : at] == b"\n" and is_escaped(text, at - 1):
        at -= 2
    return at > 0 and (text[at - 1] not in _BEFORE_A_WORD or is_escaped(text, at - 1))


def is_escaped(text: bytes, at: int) -> bool:
    """Whether a sign has a backslash before it that has none itself."""
    before = text[:at]
    return (at - len(before.rstrip(b"\\"))) % 2 == 1
