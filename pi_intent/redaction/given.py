"""Find credentials that were given to tools. More is done for them than for all that an environment holds."""

from __future__ import annotations

import base64
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress

from pi_intent.redaction.environment import BASE64_DIGITS, Needle, base64_forms, needle_for
from pi_intent.redaction.readings import Reading, Traced, decoded, readings, said_by
from pi_intent.redaction.spans import LEAST_ENVIRONMENT, Span

_MOST_PADDING = 6
"""Of base32."""


def counted(value: str) -> int:
    """Return how many characters of a value count: not blanks, quotes, backslashes, `+` and what nobody sees."""
    return len(Reading(value).squeezed().text)


class Given:
    """The credentials that were given, in every form in which they are recognised."""

    def __init__(self) -> None:
        self._forms: dict[str, Needle] = {}
        self._hexadecimal: dict[str, Needle] = {}
        self._least = sys.maxsize
        """Of the characters of a form: no reading is longer than its text."""

    def learn(self, values: Iterable[str]) -> None:
        """Look for these values as well."""
        for value in values:
            _add(self._forms, value, _forms(value))
            _add(self._hexadecimal, value, _hexadecimal_forms(value.encode("utf-8", "surrogatepass")))
        self._least = min(map(len, (*self._forms, *self._hexadecimal)), default=sys.maxsize)

    def is_in(self, text: str) -> bool:
        """Say whether a text holds one of them."""
        if len(text) < self._least:
            return False
        for read, in_digits in readings(Reading(text)):
            if any(map(read.text.__contains__, self._hexadecimal if in_digits else self._forms)):
                return True
        return False

    def spans(self, text: str) -> Iterator[Span]:
        """Find where a text holds them; what they look like in a dump ends with its line."""
        if not self.is_in(text):
            return
        for read, in_digits in readings(Traced(text)):
            for form, needle in (self._hexadecimal if in_digits else self._forms).items():
                at = read.text.find(form)
                while at >= 0:
                    start, end = read.starts[at], read.ends[at + len(form) - 1]
                    yield _span(text, start, end, needle, in_digits=in_digits)
                    at = read.text.find(form, at + len(form))


_LINE_END = re.compile(r"\n|\\n")


def _span(text: str, start: int, end: int, needle: Needle, *, in_digits: bool) -> Span:
    if in_digits and _LINE_END.search(text, start, end):  # behind the digits stands what they spell
        line_end = _LINE_END.search(text, end)
        end = line_end.start() if line_end else len(text)
    if needle.margin:
        before, after = text[max(0, start - needle.margin) : start], text[end : end + needle.margin]
        start -= len(before) - len(before.rstrip(BASE64_DIGITS))
        end += len(after) - len(after.lstrip(BASE64_DIGITS))
        padding = text[end : end + _MOST_PADDING]
        end += len(padding) - len(padding.lstrip("="))
    return Span(start, end, needle.kind, needle.secret)


def _add(needles: dict[str, Needle], value: str, forms: Iterable[str]) -> None:
    for form in forms:
        squeezed = Reading(form).squeezed().text
        if len(squeezed) >= LEAST_ENVIRONMENT:
            needles.setdefault(squeezed, needle_for(value, margin=0 if form == value else 2))


def _forms(value: str) -> Iterator[str]:
    """Write a value as it is, as it comes out of a text that is decoded, backwards, in base64 and in base32."""
    plain = (value, value.upper(), value.lower(), value[::-1])
    yield from plain
    yield decoded(Reading(value)).text
    if not value.isascii():
        yield from map(_in_cells, plain)
        with suppress(UnicodeEncodeError):
            yield said_by(value.encode("latin-1"))
    raw = value.encode("utf-8", "surrogatepass")
    for form in base64_forms(raw):
        yield form
        yield from base64_forms(form.encode())
    for offset in range(5):
        digits = base64.b32encode(b"\0" * offset + raw).decode()
        yield digits[-(-offset * 8 // 5) : (offset + len(raw)) * 8 // 5]


def _in_cells(value: str) -> str:
    """Write a value as `od -c` and `hexdump -c` do: bytes beyond ASCII in octal digits."""
    return "".join([chr(byte) if byte < 0x80 else f"{byte:o}" for byte in value.encode("utf-8", "surrogatepass")])


def _hexadecimal_forms(raw: bytes) -> Iterator[str]:
    """Write bytes in hexadecimal digits: in order, and in words of two whose second byte comes first."""
    yield raw.hex()
    for words in (raw, raw[1:]):
        even = len(words) // 2 * 2
        yield bytes(words[at ^ 1] for at in range(even)).hex()
