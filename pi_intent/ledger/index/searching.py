"""Find the records that a regular expression matches, in the texts of many records at once."""

from __future__ import annotations

import re
import sqlite3
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass

_SPECIAL = frozenset(r".^$*+?{}[]\|()")
# Printable ASCII; no class that leaves characters out, no group with a meaning of its own, no backslash that takes in
# or asks for more than letters, digits and signs.
_STAYS_IN_LINE = re.compile(r"(?:(?!\(\?)[ -Z_-~]|\]|\^|\[(?!\^)|\\[wdb!-/:-@\[-`{-~])*")
_SMALL_CLASSES = re.compile(r"(?:[a-z]-[a-z]|\d-\d|[^A-Z-])*")
_LINES = 3  # of each record in the searched texts
_SELDOM = 16  # one record of so many: where there are more, it is quicker to go through all lines


def hits_of(database: sqlite3.Connection, text: str) -> str:
    """Return the name of a temporary table with the numbers of the calls that an expression finds.

    Raises `re.error`.
    """
    database.execute("CREATE TEMP TABLE IF NOT EXISTS searched_for (text TEXT PRIMARY KEY)")
    ((known,),) = database.execute("SELECT max(rowid) FROM searched_for WHERE text = ?", (text,))
    if known is not None:
        return f"hit_{known}"
    cursor = database.execute("INSERT INTO searched_for VALUES (?)", (text,))
    table = f"hit_{cursor.lastrowid}"
    database.execute(f"CREATE TEMP TABLE {table} (n INTEGER PRIMARY KEY)")
    fill = f"INSERT INTO {table} SELECT n FROM call WHERE n BETWEEN ? AND ?"
    database.executemany(fill, _runs(_found(database, _sought(text))))
    return table


def _found(database: sqlite3.Connection, sought: _Sought) -> bytearray:
    """Return a byte for each number of a call: 1 where one of its records is found."""
    ((last,),) = database.execute("SELECT max(n) FROM call")
    found = bytearray((last or 0) + 1)
    for packed, body in database.execute("SELECT numbers, body FROM searched"):
        numbers = array("q", packed)
        for record in _records(body, len(numbers), sought):
            found[numbers[record]] = 1
    return found


def _runs(found: bytearray) -> Iterator[tuple[int, int]]:
    """Yield the first and the last of numbers that follow one another."""
    return ((run.start(), run.end() - 1) for run in re.finditer(b"\x01+", found))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sought:
    """How to look for it: in one line, and where that means the same, for its next place in many lines at once.

    `words` is what is looked for where it is a text without any sign of its own meaning.
    """

    in_line: Callable[[str], object]
    next_place: Callable[[str, int], int] | None = None
    words: str | None = None


def _sought(text: str) -> _Sought:
    """Return how to look for an expression in lines of small letters. Raises `re.error`.

    One may be looked for in many lines at once where it cannot match a line end and means the same in small letters.
    """
    if _SPECIAL.isdisjoint(text):
        words = text.lower()
        if "\n" in words:  # ends a line in the bodies, and stands in none
            return _Sought(in_line=lambda line: False, next_place=lambda body, start: -1)
        return _Sought(
            in_line=lambda line: words in line, next_place=lambda body, start: body.find(words, start), words=words
        )
    in_line = re.compile(text, re.IGNORECASE).search
    stays = _STAYS_IN_LINE.fullmatch(text) and ("[" not in text or _SMALL_CLASSES.fullmatch(text))
    if not stays or re.search(text, ""):  # what is not there is no text either
        return _Sought(in_line=in_line)
    search = re.compile(text.lower(), re.MULTILINE).search
    return _Sought(
        in_line=search,
        next_place=lambda body, start: -1 if (found := search(body, start)) is None else found.start(),
    )


def _records(body: str, count: int, sought: _Sought) -> list[int]:
    """Return which of `count` records are found in their texts, some of them perhaps more than once."""
    if sought.next_place is not None:
        few = _few_records(body, count // _SELDOM, sought.next_place)
        if few is not None:
            return few
    lines = enumerate(body.split("\n"))
    if words := sought.words:  # in half the time
        return [number // _LINES for number, line in lines if words in line]
    in_line = sought.in_line
    return [number // _LINES for number, line in lines if line and in_line(line)]


def _few_records(body: str, most: int, next_place: Callable[[str, int], int]) -> list[int] | None:
    """Return which records are found, going from place to place; None where they are more than `most`."""
    found: list[int] = []
    line = seen = 0
    at = next_place(body, 0)
    while at >= 0:
        if len(found) > most:
            return None
        line += body.count("\n", seen, at)
        found.append(line // _LINES)
        seen = at
        for _ in range(_LINES - line % _LINES):  # on with the next record
            seen = body.find("\n", seen) + 1
        line += _LINES - line % _LINES
        at = next_place(body, seen) if seen < len(body) else -1
    return found
