"""What a shell puts into the body of a here-document: the grammar sees no `$(…)` that begins an indented line."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import TYPE_CHECKING

from pi_intent.gates.shell.reading.tree import is_escaped

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

_OPENED = re.compile(rb"\\.|\$\$|(?P<opened>\$\()", re.S)
_MOST_UNSEEN = 64


def put_in(parser: Parser, body: Node) -> Iterator[Node | None]:
    """Yield what is put in when it runs, or None for what cannot be read."""
    text, begin = body.text or b"", body.start_byte
    seen = [child for child in body.children if child.is_named and not is_escaped(text, child.start_byte - begin)]
    yield from seen
    yield from _unseen(parser, text, [(child.start_byte - begin, child.end_byte - begin) for child in seen])


def _unseen(parser: Parser, text: bytes, seen: list[tuple[int, int]]) -> Iterator[Node | None]:
    """Yield the substitutions outside these places."""
    starts = [start for start, _ in seen]
    upto = count = 0
    for found in _OPENED.finditer(text):
        at = found.start()
        before = bisect_right(starts, at) - 1
        if not found["opened"] or at < upto or (before >= 0 and at < seen[before][1]):
            continue
        count += 1
        token = parser.parse(text[at:]).root_node.descendant_for_byte_range(0, 1)
        node = token.parent if token is not None else None
        if count > _MOST_UNSEEN or node is None or node.start_byte or node.is_error or node.has_error:
            yield None
            return
        yield node
        upto = at + node.end_byte
