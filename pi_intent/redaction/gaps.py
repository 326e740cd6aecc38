"""Find secrets of known shapes that are split over continued lines or adjacent string literals."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator

from pi_intent.redaction.context import contextual_spans
from pi_intent.redaction.shapes import pem_spans, shape_spans
from pi_intent.redaction.spans import Span

# What continues a line or joins two adjacent string literals.
_JOINT = re.compile(
    r"""(?x) (?: \\\r?\n [\ \t]{0,80}+ | (?P<mark>["'`]) [\ \t]{0,20}+ [+.\\]? [\ \t]{0,20}+
    (?: \r?\n [\ \t]{0,80}+ )? [+.]? [\ \t]{0,20}+ [bfru]? (?P=mark) ) (?= [A-Za-z0-9+/_.=-] )"""
)


def joined_spans(text: str) -> Iterator[Span]:
    """Find what only shows when continued lines and adjacent string literals are put together."""
    pieces: list[str] = []
    sizes, origins = [0], [0]
    for joint in _JOINT.finditer(text):
        pieces.append(text[origins[-1] : joint.start()])
        sizes.append(sizes[-1] + len(pieces[-1]))
        origins.append(joint.end())
    if not pieces:
        return
    joined = "".join([*pieces, text[origins[-1] :]])
    for span in (*shape_spans(joined), *pem_spans(joined), *contextual_spans(joined)):
        first, last = bisect_right(sizes, span.start) - 1, bisect_left(sizes, span.end) - 1
        if first < last:
            start, end = origins[first] + span.start - sizes[first], origins[last] + span.end - sizes[last]
            yield Span(start, end, span.kind, span.secret)
