"""Split a file of JSON lines into objects: glued ones are parted, torn and foreign ones told, long ones skipped."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import BinaryIO, NamedTuple, Protocol

from pi_intent.ledger.reader import split_lines
from pi_intent.sessions.values import Found, Unread
from pi_intent.types import JSONObject

LINE_LIMIT = 64 << 20
"""Bytes of a line that are read: a tool's result can hold a whole file, or an image."""

_DECODER = json.JSONDecoder()
_SPACE = " \t\r"


class Numbered(NamedTuple):
    """An object and the number of the line it stands on, from 1; `end` is where the next line begins, in bytes."""

    line: int
    value: JSONObject
    end: int


class LineReader(Protocol):
    """Reads one file of a dialect.

    - `line` is called with each object, in order, and the number of its line; `rest` once, at the end of the file.
    - Both yield what is told by then, and neither raises on what the file holds.
    """

    def line(self, value: JSONObject, number: int) -> Iterator[Found]: ...

    def rest(self) -> Iterator[Found]: ...


def read_lines(reader: LineReader, items: Iterable[Numbered | Unread]) -> Iterator[Found]:
    """Yield what a reader makes of the objects, and what could not be read at its place."""
    for item in items:
        if isinstance(item, Unread):
            yield item
        else:
            yield from reader.line(item.value, item.line)
    yield from reader.rest()


def objects(file: BinaryIO, *, size: int | None = None) -> Iterator[Numbered | Unread]:
    """Yield the objects of a file in order, and a sentence for whatever else stands there.

    `file` is at its beginning. Of one that grows nothing is read that ends beyond `size` bytes. A last line without
    its end that is no object may still be being written: it is told like any other.
    """
    for line in split_lines(file, limit=LINE_LIMIT):
        if size is not None and line.end > size:
            return
        if line.too_long:
            text = f"line {line.number} is longer than {LINE_LIMIT} bytes and was skipped"
            yield Unread(line=line.number, text=text)
        else:
            yield from _of_line(line.number, line.content, line.end)


def _of_line(number: int, line: bytes, end: int) -> Iterator[Numbered | Unread]:
    try:
        text = line.decode("utf-8").strip().removeprefix("\ufeff")
    except UnicodeDecodeError:
        yield Unread(line=number, text=f"line {number} is not UTF-8 text")
        return
    start = 0
    while start < len(text):
        try:
            value, start = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            yield Unread(line=number, text=f"line {number} holds something that is not whole JSON")
            return
        if isinstance(value, dict):
            yield Numbered(number, value, end)
        else:
            yield Unread(line=number, text=f"line {number} holds JSON that is not an object")
        while start < len(text) and text[start] in _SPACE:
            start += 1
