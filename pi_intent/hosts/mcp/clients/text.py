"""What a config's text says of its servers, with the places in it, and how to change only those places."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

# A number sign begins a comment in TOML only, two slashes in JSON only; neither has the other's between its values.
_COMMENT = r"//[^\r\n]*+|#[^\r\n]*+|/\*.*?\*/"
_TO_COMMA = re.compile(rf"(?:[ \t\r\n]++|{_COMMENT})*+,", re.DOTALL)
_COMMENT_OR_COMMA = re.compile(rf"({_COMMENT})|,", re.DOTALL)


class Malformed(Exception):
    """A config cannot be read; `line` is where, `what` the rest of a sentence that begins with the file."""

    def __init__(self, line: int | None, what: str) -> None:
        super().__init__(what)
        self.line = line
        self.what = what

    @property
    def sentence(self) -> str:
        """The rest of a sentence that begins with the file."""
        return f"{self.what} (line {self.line}): correct it there" if self.line is not None else self.what


class Span(NamedTuple):
    """A stretch of the text."""

    start: int
    end: int


class Edit(NamedTuple):
    """Put `text` in the place of a stretch."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Arguments:
    """The list of arguments of a server, as it stands in the text.

    `removal` is what to cut to take the whole key away, as if it had never been there.
    """

    values: tuple[str, ...]
    items: tuple[Span, ...]
    opening: Span
    removal: tuple[Span, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """One server of a config.

    `fields` are its keys with the values that are texts or booleans, None for anything else, `environ` is what it has
    of the environment. `command` is None where there is none or it is no text; `problem` says why the command line
    cannot be read. A new list of arguments goes to `place`, with `before_arguments` before it.
    """

    name: str
    span: Span | None
    fields: dict[str, str | bool | None]
    environ: dict[str, str] = field(default_factory=dict)
    command: str | None
    command_at: Span
    arguments: Arguments | None
    place: int
    before_arguments: str
    problem: str | None = None

    @property
    def line(self) -> tuple[str, ...]:
        """The command line, () where there is none."""
        if self.command is None or self.problem is not None:
            return ()
        return (self.command, *(self.arguments.values if self.arguments is not None else ()))


def apply(text: str, edits: Iterable[Edit]) -> str:
    """Return the text with all edits made; they do not overlap."""
    pieces: list[str] = []
    position = 0
    for edit in sorted(edits):
        pieces += (text[position : edit.start], edit.text)
        position = edit.end
    return "".join([*pieces, text[position:]])


def line_of(text: str, position: int) -> int:
    """Return the number of the line that a position is in, from 1."""
    return text.count("\n", 0, position) + 1


def comma_after(text: str, position: int) -> Span:
    """Return where the comma after a value is, past space and comments; an empty stretch where there is none."""
    found = _TO_COMMA.match(text, position)
    return Span(position, position) if found is None else Span(found.end() - 1, found.end())


def comments_of(between: str) -> str:
    """Return what stands between two values without its comma if there is a comment in it, else nothing."""
    found = [match[1] for match in _COMMENT_OR_COMMA.finditer(between)]
    return _COMMENT_OR_COMMA.sub(lambda match: match[1] or "", between) if any(found) else ""
