"""Find secrets of known shapes that are split: over continued lines, adjacent literals, or within their prefix."""

from __future__ import annotations

import re
import string
from bisect import bisect_left, bisect_right
from collections.abc import Iterator

from pi_intent.redaction.context import contextual_spans
from pi_intent.redaction.shapes import ANCHORS, pem_spans, shape_spans
from pi_intent.redaction.spans import LEADER, Span, after_break

# What continues a line or joins two adjacent string literals.
_JOINT = re.compile(
    r"""(?x) \\\r?\n [\ \t]{0,80}+ (?= \S ) | (?: (?P<mark>["'`]) [\ \t]{0,20}+ [+.\\]? [\ \t]{0,20}+
    (?: \r?\n [\ \t]{0,80}+ )? [+.]? [\ \t]{0,20}+ [bfru]? (?P=mark) ) (?= [A-Za-z0-9+/_.=-] )"""
)
# Begins where a run of backslashes does, or a long one would be read again from each of them.
_LINE_BREAK = re.compile(rf"(?:\r?\n|(?<!\\)\\++(?:r\\++)?n)[ \t]{{0,80}}+(?:{LEADER})?")


def _halves() -> dict[str, list[tuple[str, str]]]:
    """The two parts of every prefix, wherever a line may end in it, by the characters on both sides of the break."""
    prefixes = [*ANCHORS, *(f"xox{letter}-" for letter in string.ascii_lowercase)]
    halves: dict[str, list[tuple[str, str]]] = {}
    for prefix in prefixes:
        for at in range(1, len(prefix)):
            halves.setdefault(prefix[at - 1 : at + 1], []).append((prefix[:at], prefix[at:]))
    return halves


_HALVES = _halves()


def _joints(text: str) -> Iterator[tuple[int, int]]:
    """Where pieces join, in order. A plain line break joins nothing, but for the two parts of a prefix."""
    joints = [joint.span() for joint in _JOINT.finditer(text)]
    for gap in _LINE_BREAK.finditer(text):
        start = gap.start()
        for end in after_break(text, gap.end()):
            if any(
                text.endswith(left, 0, start) and text.startswith(right, end)
                for left, right in _HALVES.get(text[start - 1 : start] + text[end : end + 1], ())
            ):
                joints.append((start, end))
    at = 0
    for start, end in sorted(joints, key=lambda joint: (joint[0], -joint[1])):
        if start >= at:
            yield start, end
            at = end


def joined_spans(text: str) -> Iterator[Span]:
    """Find what only shows when the pieces are put together."""
    pieces: list[str] = []
    sizes, origins = [0], [0]
    continues = [False]  # the line before, as in a shell
    for start, end in _joints(text):
        continues.append(text[start] == "\\" and text[start + 1] in "\r\n")
        pieces.append(text[origins[-1] : start])
        sizes.append(sizes[-1] + len(pieces[-1]))
        origins.append(end)
    if not pieces:
        return
    joined = "".join([*pieces, text[origins[-1] :]])
    for span in (*shape_spans(joined), *pem_spans(joined), *contextual_spans(joined)):
        first, last = bisect_right(sizes, span.start) - 1, bisect_left(sizes, span.end) - 1
        # A piece of its own was seen as it is, but for what stands before it on a line that goes on.
        if first < last or continues[first]:
            start, end = origins[first] + span.start - sizes[first], origins[last] + span.end - sizes[last]
            yield Span(start, end, span.kind, span.secret)
