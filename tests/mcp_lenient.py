"""Find every call of a tool that any server might read in the bytes it received, however carelessly it reads."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

SMUGGLED = "smuggled"
"""What stands in a call that must not arrive."""

ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "latin-1", "cp1252", "utf-7")
_LINE_ENDS = re.compile("[\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029\x00]+")


def _texts(data: bytes) -> Iterator[str]:
    for encoding in ENCODINGS:
        yield data.decode(encoding, "replace")
        yield data.decode(encoding, "ignore")


def _pieces(text: str) -> Iterator[str]:
    """Cut a text where some reader sees the end of a line, and where another JSON value could start."""
    yield from text.split("\n")
    yield from text.splitlines()
    yield from _LINE_ENDS.split(text)
    yield from text.split("\r")


def _values(piece: str) -> Iterator[Any]:
    """Read every JSON value that starts in a piece, doubled keys and all; what comes before it is skipped."""
    decoder = json.JSONDecoder(object_pairs_hook=lambda pairs: ("object", *pairs), strict=False)
    at = 0
    while at < len(piece):
        found = re.compile(r"[\[{]").search(piece, at)
        if found is None:
            return
        try:
            value, at = decoder.raw_decode(piece, found.start())
        except (ValueError, RecursionError):
            at = found.start() + 1
        else:
            yield value


def _calls(value: Any) -> Iterator[Any]:
    """Yield what could be taken for a call: a message, in a batch or not, one of whose methods names it."""
    match value:
        case ("object", *pairs):
            methods = [text for key, text in pairs if key.strip().casefold() == "method" and isinstance(text, str)]
            if any(text.strip("\x00 \t\r\n\ufeff").casefold().rstrip("/") == "tools/call" for text in methods):
                yield value
        case list():
            for part in value:
                yield from _calls(part)


def smuggled_calls(received: bytes) -> list[Any]:
    """Return the calls with the mark `SMUGGLED` that a careless server would find in what it received."""
    if SMUGGLED.encode() not in received.replace(b"\x00", b""):
        return []
    found = []
    for text in set(_texts(received)):
        if SMUGGLED not in text:
            continue
        for piece in set(_pieces(text)):
            if SMUGGLED in piece:
                found += [call for value in _values(piece) for call in _calls(value) if SMUGGLED in repr(call)]
    return found
