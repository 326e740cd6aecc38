"""A stretch of text that is a secret, and the few words that all the rules share."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from typing import Literal

LEAST_ENVIRONMENT = 8
JUDGED = 128
"""How much of a value is looked at to decide whether it is a secret."""

LEADER = r"(?:[#]{1,4}|/?\*{1,2}|//[/!]?|--|;{1,3}|%{1,2}|(?:>[ \t]?){1,4})[ \t]{0,80}+"
"""What a line of a comment or of a quotation begins with, as a pattern; the same in verbose ones."""

LINE_BREAK = re.compile(rf"(?:\r?\n|\\+r\\+n|\\+n)[ \t]*+(?:{LEADER})?")

Strength = Literal["password", "strong", "weak"]
"""How much a name says about its value: a password may be a word, a `weak` one has to look random."""


@dataclass(frozen=True, slots=True)
class Span:
    start: int
    end: int
    kind: str
    secret: str


def match_end(pattern: re.Pattern[str], text: str, start: int, limit: int = sys.maxsize) -> int:
    match = pattern.match(text, start, limit)
    return match.end() if match else start
