"""Split a file of JSON lines into objects: glued ones are parted, torn and foreign ones told, long ones skipped."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from pi_intent.sessions.values import Unread
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


def objects(file: BinaryIO) -> Iterator[Numbered | Unread]:
    """Yield the objects of a file in order, and a sentence for whatever else stands there.

    `file` is at its beginning. A last line without its end that is no object may still be being written: it is told
    like any other.
    """
    number = end = 0
    while piece := file.readline(LINE_LIMIT):
        number += 1
        end += len(piece)
        too_long = False
        while not piece.endswith(b"\n") and (too_long or len(piece) == LINE_LIMIT):
            too_long = True
            piece = file.readline(LINE_LIMIT)
            end += len(piece)
            if not piece:
                break
        if too_long:
            yield Unread(line=number, text=f"line {number} is longer than {LINE_LIMIT} bytes and was skipped")
        else:
            yield from _of_line(number, piece, end)


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
