"""Read one line of JSON-RPC strictly, and cut into its text without writing the rest of it anew.

A proxy that reads a line differently than the server behind it lets calls pass that it has not seen. So whatever two
readers could take differently is refused or made the same for both: keys that stand twice in the envelope, and
characters that are a line's end for some.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from pi_intent.types import JSONValue

# White space of JSON outside strings, and text inside them, which readers of lines may split at.
_LINE_ENDS = (
    (b"\r", b" "),
    ("\u2028".encode(), b"\\u2028"),
    ("\u2029".encode(), b"\\u2029"),
    (b"\xc2\x85", b"\\u0085"),
)
_FLOAT_DIGITS = 15
_INTEGER_DIGITS = 4000
_ID = rb'"id"\s*:\s*("[^"\\]{0,200}"|-?\d{1,15})\s*'
_VERSION = rb'"jsonrpc"\s*:\s*"2\.0"\s*'
_ID_FIRST = re.compile(rb"\s*\{\s*(?:" + _VERSION + rb",\s*)?" + _ID + rb',\s*"(?:result|error)"')
_ID_LAST = re.compile(
    rb"\s*\{\s*(?:" + _VERSION + rb',\s*)?"(?:result|error)".*' + _ID + rb"(?:,\s*" + _VERSION + rb")?\}\s*",
    re.DOTALL,
)
_SPACE = " \t\n\r"


class Unreadable(ValueError):
    """A line is not JSON that every reader takes alike; `str()` says why."""


class Repeated(dict[str, Any]):
    """An object in which a key stands twice: of which the last is kept, as most readers do."""


class Cut(NamedTuple):
    """Replace the text from `start` to `end`."""

    start: int
    end: int
    text: str


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    return found if len(found) == len(pairs) else Repeated(found)


def _integer(digits: str) -> int | str:
    """Read a number; as a text where Python would not read so many digits."""
    return int(digits) if len(digits) <= _INTEGER_DIGITS else digits


def _same_float(text: str) -> float:
    """Read a number of so few digits that a float keeps them all."""
    value = float(text)
    if len(text) > _FLOAT_DIGITS or value in (float("inf"), float("-inf")):
        raise Unreadable(f"{text[:40]} is no number of a float")
    return value


def _no_constant(name: str) -> Any:
    raise Unreadable(f"{name} is not JSON")


_decoder = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_no_constant)
_any_length = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_no_constant, parse_int=_integer)
_lenient = json.JSONDecoder(object_pairs_hook=_object)
_exact = json.JSONDecoder(object_pairs_hook=_object, parse_float=_same_float)
_KEY = re.compile(r'"([^"\\]*+(?:\\.[^"\\]*+)*+)"[ \t\n\r]*+:[ \t\n\r]*+', re.DOTALL)
_COMMA = re.compile(r"[ \t\n\r]*+,?[ \t\n\r]*+")
_scan = json.JSONDecoder(parse_int=str, parse_float=str).raw_decode
"""Reads the value that starts somewhere, and says where it ends."""


def one_line(line: bytes) -> bytes:
    """Return a line whose meaning as JSON is the same and in which nobody sees a second end of a line."""
    end = len(line) - (2 if line.endswith(b"\r\n") else 1 if line.endswith(b"\n") else 0)
    for found, instead in _LINE_ENDS:
        if line.find(found, 0, end) >= 0:
            line = line[:end].replace(found, instead) + line[end:]
            end = len(line) - (2 if line.endswith(b"\r\n") else 1 if line.endswith(b"\n") else 0)
    return line


def read_line(line: bytes, *, lenient: bool = False) -> tuple[str, Any]:
    """Return the text of a line and what it says. Raises `Unreadable`.

    `lenient` takes NaN and Infinity for numbers, as some servers write them; for lines that only we have to read.
    """
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Unreadable("the text is not UTF-8") from error
    try:
        return text, (_lenient if lenient else _decoder).decode(text)
    except RecursionError as error:
        raise Unreadable("the text is nested too deeply") from error
    except Unreadable:
        raise
    except ValueError as error:
        if isinstance(error, json.JSONDecodeError):
            raise Unreadable("the text is not JSON") from error
    try:  # a number of thousands of digits
        return text, _any_length.decode(text)
    except ValueError as error:
        raise Unreadable("the text is not JSON") from error


def read_exactly(text: str) -> Any:
    """Read a value that is to be written again. Raises `Unreadable` where a number would come out as another one."""
    try:
        return _exact.decode(text)
    except (ValueError, RecursionError) as error:
        raise Unreadable("it holds a number that cannot be written again as it was") from error


def members(text: str, start: int) -> Iterator[tuple[str, int, int, int]]:
    """Walk the object that opens at `start`: each key, where it starts, and where its value starts and ends.

    The text has been read by `read_line`.
    """
    for key, at, value in _keys(text, start):
        yield key, at, value, _end(text, value)


def object_text(text: str) -> str:
    """Return the object that stands in JSON text which was sent as a text itself, in one line.

    The text has been read. Between the parts of JSON a line may end; within its texts it may not.
    """
    at = opening(text)
    if text[at] == '"':
        return object_text(_scan(text, at)[0])
    return text[at:].rstrip().replace("\n", " ").replace("\r", " ")


def id_of_unreadable(line: bytes) -> Any:
    """Return the id of an answer that cannot be read whole: from its beginning or its end, where it mostly stands.

    Raises `Unreadable` where it is at neither.
    """
    found = _ID_FIRST.match(line) or _ID_LAST.fullmatch(line)
    if found is None:
        raise Unreadable("its id is not where it mostly stands")
    return json.loads(found[1])


def _keys(text: str, start: int) -> Iterator[tuple[str, int, int]]:
    """Walk the object that opens at `start`, and pass over a value only when the next key is asked for."""
    at = _skip(text, start + 1)
    while found := _KEY.match(text, at):
        key, value = found[1], found.end()
        yield key if "\\" not in key else json.loads(f'"{key}"'), at, value
        after = _COMMA.match(text, _end(text, value))
        at = value if after is None else after.end()


def items(text: str, start: int) -> Iterator[tuple[int, int]]:
    """Walk the array that opens at `start`: where each item starts and ends."""
    at = _skip(text, start + 1)
    while text[at] != "]":
        end = _end(text, at)
        yield at, end
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)


def parts(text: str, message: object) -> list[tuple[int, Any]]:
    """Return the messages of a line, one or a batch, with where each starts."""
    start = opening(text)
    if not isinstance(message, list):
        return [(start, message)]
    return [(begin, part) for (begin, _), part in zip(items(text, start), message, strict=True)]


def value_at(text: str, start: int, *path: str) -> int | None:
    """Return where the value starts to which the keys lead from the object at `start`; None where there is none."""
    at: int | None = start
    for name in path:
        if at is None or text[at] != "{":
            return None
        at = next((value for key, _, value in _keys(text, at) if key == name), None)
    return at


def opening(text: str) -> int:
    """Return where the value of a line starts."""
    return _skip(text, 0)


def span(text: str, start: int) -> tuple[int, int]:
    """Return where the value that starts at `start` starts and ends."""
    return start, _end(text, start)


def raw_member(text: str, start: int, name: str) -> str | None:
    """Return a member of the object at `start` as it is spelt, the last of that name; None where there is none."""
    found = [text[value:end] for key, _, value, end in members(text, start) if key == name]
    return found[-1] if found else None


def without(text: str, start: int, names: tuple[str, ...]) -> list[Cut]:
    """Return the cuts that take members out of the object at `start`, with the commas that they leave."""
    found = list(members(text, start))
    kept = [member for member in found if member[0] not in names]
    if len(kept) == len(found):
        return []
    if not kept:
        return [Cut(start, found[-1][3], "{")]
    cuts: list[Cut] = []
    previous_end = None  # of the last member that stays
    for index, (key, at, _, end) in enumerate(found):
        if key not in names:
            previous_end = end
        elif previous_end is not None:
            cuts.append(Cut(found[index - 1][3], end, ""))
        else:
            cuts.append(Cut(at, found[index + 1][1], ""))
    return cuts


def applied(text: str, cuts: list[Cut]) -> str:
    """Return the text with all cuts made; they do not overlap and are in order."""
    parts: list[str] = []
    at = 0
    for cut in cuts:
        parts += (text[at : cut.start], cut.text)
        at = cut.end
    return "".join((*parts, text[at:]))


def piece(text: str, begin: int, end: int, cuts: list[Cut]) -> str:
    """Return the text from `begin` to `end` with those of the cuts made that lie in it."""
    inside = [Cut(cut.start - begin, cut.end - begin, cut.text) for cut in cuts if begin <= cut.start < end]
    return applied(text[begin:end], inside)


def rest_of_array(text: str, cuts: list[Cut], left_out: list[int]) -> str:
    """Return the line of an array with all cuts made and without the items of these indices."""
    pieces = [
        piece(text, begin, end, cuts)
        for index, (begin, end) in enumerate(items(text, opening(text)))
        if index not in left_out
    ]
    return f"[{','.join(pieces)}]\n"


def holds_repeated(value: Any) -> bool:
    """Whether a key stands twice in an object, or in anything inside it."""
    left = [value]
    while left:
        one = left.pop()
        if isinstance(one, Repeated):
            return True
        left += one.values() if isinstance(one, dict) else one if isinstance(one, list) else ()
    return False


def same_json(one: Any, other: Any) -> bool:
    """Whether two values are one as JSON, in whatever order their keys stand: 1, 1.0 and true are three."""
    try:
        return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
    except (RecursionError, ValueError):  # nobody can tell
        return False


def _skip(text: str, at: int) -> int:
    while text[at] in _SPACE:
        at += 1
    return at


def _end(text: str, at: int) -> int:
    try:
        return _scan(text, at)[1]
    except RecursionError as error:  # a little less deep than what could just be read
        raise Unreadable("the text is nested too deeply") from error


def dumped(value: Mapping[str, Any] | JSONValue) -> str:
    """Write a value as ASCII JSON in one line. Raises `ValueError` or `RecursionError`."""
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
