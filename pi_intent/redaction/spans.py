"""A stretch of text that is a secret, and the few words that all the rules share."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from typing import Literal

LEAST_ENVIRONMENT = 8
JUDGED = 128
"""How much of a value is looked at to decide whether it is a secret."""

LEADER = (
    r"(?:[#]{1,4}|/?\*{1,2}|//[/!]?|--|;{1,3}|%{1,2}|(?:>[ \t]?){1,4}|[+|]|[0-9]{1,6}[ ]?[:|\t\u2192]|(?i:rem)[ ])"
    r"[ \t]{0,80}+"
)
"""What a line of a comment, a quotation, a diff, a table or a listing begins with, as a pattern, verbose or not."""

ANY_LEADER = rf"(?:{LEADER}|-[ \t]{{0,80}}+)"
"""The same with the `-` of a diff, which may as well be the next character of a key."""

LINE_BREAK = re.compile(rf"(?:(?:[ \t]{{0,20}}+\|[ \t]{{0,20}}+)?\r?\n|\\+r\\+n|\\+n)[ \t]*+(?:{LEADER})?")

Strength = Literal["password", "strong", "weak"]
"""How much a name says about its value: a password may be a word, a `weak` one has to look random."""


@dataclass(frozen=True, slots=True)
class Span:
    start: int
    end: int
    kind: str
    secret: str


_REMOVED = re.compile(r"-[ \t]{0,80}+")


def after_break(text: str, end: int) -> tuple[int, ...]:
    """Where a key may go on after a line break and leader that end at `end`: any hyphen there may belong to it."""
    if text.startswith("-", end):
        return (end, match_end(_REMOVED, text, end))
    return (end, end - 1) if text[end - 1] == "-" else (end,)


def match_end(pattern: re.Pattern[str], text: str, start: int, limit: int = sys.maxsize) -> int:
    match = pattern.match(text, start, limit)
    return match.end() if match else start
