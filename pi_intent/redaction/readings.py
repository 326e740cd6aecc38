"""Read a text as whoever gets it may: decoded, as a screen draws it, and without what stands between characters."""

from __future__ import annotations

import html
import re
import string
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Self

from pi_intent.redaction.environment import ASCII_FILLER, NEXT_IN_COMMENT
from pi_intent.redaction.spans import ANY_LEADER

_CONTROLS = bytes(range(0x20)) + b"\x7f"
_FOLDED = bytes.maketrans(string.ascii_uppercase.encode(), string.ascii_lowercase.encode())
_DROPPED = bytes(sorted({*ASCII_FILLER, *_CONTROLS}))
_ASCII = bytes(range(0x80))
_NOT_HEX = bytes(set(range(256)) - set(string.hexdigits.encode()))
_UNSEEN = re.compile(
    r"[\x80-\xa0\xad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200f\u2028-\u202f\u205f-\u206f"
    r"\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffc\U000e0000-\U000e0fff]+"
)
"""Blanks, controls and format characters beyond ASCII."""

# All begin with a set of characters, because only that lets the search skip quickly. A run of backslashes is read
# from its first one, or a long one would be read again from each.
_CODE = re.compile(
    r"""(?x) [\\%&] (?:
    (?<=\\) (?<!\\\\) \\*+ (?:
        u (?P<high>[dD][89ABab][0-9A-Fa-f]{2}) \\++ u (?P<low>[dD][C-Fc-f][0-9A-Fa-f]{2})
        | u (?P<u>[0-9A-Fa-f]{1,4}) | U (?P<wide>[0-9A-Fa-f]{1,8}) | (?P<letter>[nrtfe])
        | x (?P<xs>[89A-Fa-f][0-9A-Fa-f] (?: \\++ x [89A-Fa-f][0-9A-Fa-f] )*+ ) | x (?P<x>[0-9A-Fa-f]{1,2})
        | (?P<octals>[23][0-7]{2} (?: \\++ [23][0-7]{2} )*+ ) | (?P<octal>[0-3][0-7]{0,2}|[4-7][0-7]?) )
    | (?<=%) (?: (?P<byte>[0-7][0-9A-Fa-f]) | (?P<bytes>[89A-Fa-f][0-9A-Fa-f] (?:%[89A-Fa-f][0-9A-Fa-f])*+) )
    | (?<=&) (?: \#(?:[xX][0-9A-Fa-f]{1,7}|[0-9]{1,8});? | [A-Za-z]{2,8}; ) )"""
)
_LEADING_ZERO = re.compile(r"0(?<=\\0)(?=[0-3][0-7]{2})")
"""Of an escape of `echo` and `printf`, which take four digits; in a literal the last is a character of its own."""
_ENTITY = re.compile(r"&(?:#[xX]?[0-9A-Fa-f]|[A-Za-z]{2,8};)")
_LETTERS = {"n": "\n", "r": "\r", "t": "\t", "f": "\f", "e": "\x1b"}
_NO_UTF_8 = {0xDC00 + byte: byte for byte in range(0x80, 0x100)}
"""What `surrogateescape` makes of such a byte, as the character that it is in a literal of characters."""
_MOST_ROUNDS = 2
"""Of decoding: what is escaped within what is escaped."""

# Sequences of a terminal: of a colour or a movement, of a title or a link, and the short ones.
_SEQUENCE = re.compile(
    r"""(?x) [\x1b\x9b] (?: (?: (?<=\x9b) | \[ ) [0-?]*+ [\ -/]*+ [@-~]
    | (?<=\x1b) [\]P_^X] [^\x07\x1b\0]*+ (?: \x07 | \x1b\\ ) | (?<=\x1b) [\ -/]*+ [0-~] )"""
)
_STRUCK = re.compile("[^\0\b]\b")
"""A character that is taken back at once, which is most of what is; a NUL is none, as below."""
_BACK = re.compile("\b+")
_ALL_DROPPED = re.compile(f"[{re.escape(_DROPPED.decode())}{_UNSEEN.pattern[1:]}")
_NO_DIGIT = re.compile("[^0-9A-Fa-f]+")
_HEX_MARK = re.compile("0x")
_NEXT_IN_COMMENT = re.compile(rf"\n[ \t]{{0,80}}+{ANY_LEADER}")
"""The same as that of the environment, where a line ends in one way: the search for one character is quick."""
_OFFSET = re.compile(r"\n[ \t]{0,8}+[0-9A-Fa-f]{6,16}+:?[ \t]")
# From the data of one line of a dump to that of the next: of `xxd`, of `hexdump -C` and of `od`.
_BETWEEN_LINES = re.compile(
    r"(?<=[0-9A-Fa-f])[ \t]{2,}+[^\n]{1,64}+\n[ \t]{0,8}+[0-9A-Fa-f]{6,16}+:[ \t]+"
    r"|(?<=[^ \t])[ \t]{2,}+[|>][^\n]{0,64}+\n[ \t]{0,8}+[0-9A-Fa-f]{6,16}+[ \t]+"
    r"|\r?\n[ \t]{0,8}+[0-9A-Fa-f]{6,16}+:?[ \t]+"
)
_NEXT_OFFSET = re.compile(r"\r?\n[ \t]{0,8}+[0-9A-Fa-f]{6,16}+[ \t]+")
"""The same where no text stands beside the data: a `|` or `>` of `od -c` is one character of it."""


class Reading:
    """A text in one of its readings."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    def put(self, pattern: re.Pattern[str], instead: str | Callable[[re.Match[str]], str]) -> Self:
        """Return the reading with something else in place of what a pattern finds."""
        return type(self)(pattern.sub(instead, self.text))

    def only(self, kept: Iterable[tuple[int, int]]) -> Self:
        """Return what lies between these places."""
        return type(self)(_joined(self.text, kept))

    def squeezed(self) -> Self:
        """Return the reading in small letters, and without what changes nothing for a shell, a program or an eye."""
        text = self.text
        if not text.isascii() and _UNSEEN.search(_translated(text, None, _ASCII)):
            text = _UNSEEN.sub("", text)
        return type(self)(_translated(text, _FOLDED, _DROPPED))

    def digits(self) -> Self:
        """Return the hexadecimal digits of a reading that is squeezed."""
        return type(self)(_translated(self.text, None, _NOT_HEX))


def _joined(text: str, places: Iterable[tuple[int, int]]) -> str:
    return "".join([text[start:end] for start, end in places])


def _translated(text: str, table: bytes | None, dropped: bytes) -> str:
    return text.encode("utf-8", "surrogatepass").translate(table, dropped).decode("utf-8", "surrogatepass")


class Traced(Reading):
    """A reading that knows of each of its characters where that stands in the text itself."""

    __slots__ = ("ends", "starts")

    def __init__(self, text: str, starts: Sequence[int] | None = None, ends: Sequence[int] | None = None) -> None:
        super().__init__(text)
        self.starts: Sequence[int] = range(len(text)) if starts is None else starts
        self.ends: Sequence[int] = range(1, len(text) + 1) if ends is None else ends

    def put(self, pattern: re.Pattern[str], instead: str | Callable[[re.Match[str]], str]) -> Self:
        pieces: list[str] = []
        starts: list[int] = []
        ends: list[int] = []
        at = 0
        for match in pattern.finditer(self.text):
            begin, end = match.span()
            said = instead if isinstance(instead, str) else instead(match)
            pieces += (self.text[at:begin], said)
            starts += [*self.starts[at:begin], *[self.starts[begin]] * len(said)]
            ends += [*self.ends[at:begin], *[self.ends[end - 1]] * len(said)]
            at = end
        return type(self)("".join((*pieces, self.text[at:])), [*starts, *self.starts[at:]], [*ends, *self.ends[at:]])

    def only(self, kept: Iterable[tuple[int, int]]) -> Self:
        starts: list[int] = []
        ends: list[int] = []
        for start, end in (places := tuple(kept)):
            starts += self.starts[start:end]
            ends += self.ends[start:end]
        return type(self)(_joined(self.text, places), starts, ends)

    def squeezed(self) -> Self:
        left = self.put(_ALL_DROPPED, "")
        return type(self)(_translated(left.text, _FOLDED, b""), left.starts, left.ends)

    def digits(self) -> Self:
        return self.put(_NO_DIGIT, "")


def readings[R: Reading](text: R) -> Iterator[tuple[R, bool]]:
    """Read a text in each way that it may be read, squeezed; and say of each whether it is only digits of bytes."""
    yield from _readings(text)
    if "\\0" in text.text and _LEADING_ZERO.search(text.text):
        yield from _readings(text.put(_LEADING_ZERO, ""))
    if "\x1b\\" in text.text:  # the end of a link is no beginning of an escape
        yield from _readings(text.put(_SEQUENCE, ""))


def _readings[R: Reading](text: R) -> Iterator[tuple[R, bool]]:
    squeezed = text.squeezed()
    yield squeezed, False
    plain = text
    for plain in _decodings(text):
        squeezed = plain.squeezed()
        yield squeezed, False
    yield from _in_digits(squeezed)
    yield from _over_lines(plain)
    if "\x1b" in plain.text or "\x9b" in plain.text or "\b" in plain.text:
        drawn = _drawn(plain)
        squeezed = drawn.squeezed()
        yield squeezed, False
        yield from _in_digits(squeezed)
        yield from _over_lines(drawn)


def _over_lines[R: Reading](text: R) -> Iterator[tuple[R, bool]]:
    """Read the lines of a comment and those of a dump one after the other, without what each begins with."""
    if "\n" not in text.text:
        return
    next_line = NEXT_IN_COMMENT if "\r" in text.text else _NEXT_IN_COMMENT
    if next_line.search(text.text):
        yield text.put(next_line, "").squeezed(), False
    if _OFFSET.search(text.text):
        squeezed = text.put(_BETWEEN_LINES, "").squeezed()
        yield squeezed, False
        yield from _in_digits(squeezed)
        if "|" in text.text or ">" in text.text:
            yield text.put(_NEXT_OFFSET, "").squeezed(), False


def _in_digits[R: Reading](squeezed: R) -> Iterator[tuple[R, bool]]:
    yield squeezed.digits(), True
    if "0x" in squeezed.text:
        yield squeezed.put(_HEX_MARK, "").digits(), True


def decoded[R: Reading](text: R) -> R:
    """Return what a text says to whoever decodes it; the very same where nothing is escaped."""
    for decoding in _decodings(text):
        text = decoding
    return text


def _decodings[R: Reading](text: R) -> Iterator[R]:
    """Decode a text, and then what that says: a literal of the first may read as an escape in the second."""
    for _ in range(_MOST_ROUNDS):
        if not _is_coded(text.text):
            return
        text = text.put(_CODE, _meant)
        yield text


def _is_coded(text: str) -> bool:
    """Tell whether anything is escaped; of a shell's commands most hold an `&` that escapes nothing."""
    if "\\" in text or "%" in text:
        return _CODE.search(text) is not None
    return "&" in text and _ENTITY.search(text) is not None


def _meant(code: re.Match[str]) -> str:
    match kind := code.lastgroup:
        case "letter":  # first what there is most of
            return _LETTERS[code[kind]]
        case "octal":
            return chr(int(code[kind], 8))
        case "u" | "x" | "byte":
            return chr(int(code[kind], 16))
        case "wide":
            point = int(code[kind], 16)
            return chr(point) if point <= sys.maxunicode else code.group()
        case "low":
            return chr(0x10000 + (int(code["high"], 16) - 0xD800) * 0x400 + int(code[kind], 16) - 0xDC00)
        case "bytes":
            return said_by(bytes.fromhex(code[kind].replace("%", "")))
        case "xs":
            return said_by(bytes.fromhex(code[kind].replace("\\", "").replace("x", "")))
        case "octals":
            return said_by(bytes([int(digits, 8) for digits in code[kind].split("\\") if digits]))
        case _:
            return html.unescape(code.group())


def said_by(raw: bytes) -> str:
    """Return what bytes of a literal say: those of UTF-8 together, each other one the character of its number."""
    return raw.decode("utf-8", "surrogateescape").translate(_NO_UTF_8)


def _drawn[R: Reading](text: R) -> R:
    """Return what a screen shows: without sequences of a terminal, and without what a backspace takes back."""
    shown = text.put(_SEQUENCE, "") if "\x1b" in text.text or "\x9b" in text.text else text
    if "\b" in shown.text:
        shown = shown.put(_STRUCK, "")
    if "\b" not in shown.text:
        return shown
    kept: list[tuple[int, int]] = []
    at = 0
    for back in _BACK.finditer(shown.text):
        kept.append((at, back.start()))
        _take_back(kept, shown.text, back.end() - back.start())
        at = back.end()
    return shown.only([*kept, (at, len(shown.text))])


def _take_back(kept: list[tuple[int, int]], text: str, count: int) -> None:
    """Take the last characters off what is kept, up to a NUL: it parts texts that are looked at together."""
    while count and kept:
        start, end = kept.pop()
        begin = max(text.rfind("\0", start, end) + 1, end - count, start)
        count = 0 if text[begin - 1 : begin] == "\0" and begin > start else count - (end - begin)
        if begin > start:
            kept.append((start, begin))
            return
