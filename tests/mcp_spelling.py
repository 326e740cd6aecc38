"""Where a value stands in a JSON text, and its spelling without the spaces between."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+', re.DOTALL)


def tokens(text: str) -> list[str]:
    """Return the tokens as they are written: two texts with the same tokens differ in white space only."""
    return _TOKEN.findall(text)


def _skip(matches: Iterator[re.Match[str]], first: re.Match[str]) -> int:
    """Return where the value that starts with `first` ends."""
    depth, token = 0, first
    while True:
        if token.group() in "{[":
            depth += 1
        elif token.group() in "}]":
            depth -= 1
        if depth == 0:
            return token.end()
        token = next(matches)


def value_span(text: str, *path: str | int) -> tuple[int, int] | None:
    """Return (start, end) of the value at `path`, or None where there is none; of doubled keys the last counts."""
    found: tuple[int, int] | None = (0, len(text))
    for step in path:
        if found is None:
            return None
        found = children(text, found).get(step)
    return found


def children(text: str, within: tuple[int, int]) -> dict[str | int, tuple[int, int]]:
    """Return where the values inside an object or a list stand, by key or index."""
    matches = _TOKEN.finditer(text, *within)
    opening = next(matches).group()
    found: dict[str | int, tuple[int, int]] = {}
    if opening not in "[{":
        return found
    for match in matches:
        if match.group() in "}]":
            return found
        if match.group() == ",":
            continue
        key: str | int = len(found)
        if opening == "{":
            key = json.loads(match.group(), strict=False)
            next(matches)
            match = next(matches)
        found[key] = (match.start(), _skip(matches, match))
    return found


def ordered(text: str) -> Any:
    """Parse JSON so that order, doubled keys and every digit count when two values are compared."""
    return json.loads(text, object_pairs_hook=_pairs, parse_int=Decimal, parse_float=Decimal)


def _pairs(pairs: list[tuple[str, Any]]) -> tuple[Any, ...]:
    return ("object", *pairs)


def without(text: str, *spans: tuple[int, int]) -> str:
    """Return the text with `…` for what stands in the spans."""
    for start, end in sorted(spans, reverse=True):
        text = text[:start] + "…" + text[end:]
    return text
