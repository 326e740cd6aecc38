"""What calls are asked for, and how the index finds them."""

from __future__ import annotations

import json
import re
import sqlite3
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from pi_intent.types import Status

type Outcome = Status | Literal["running", "open"]

_SPECIAL = frozenset(r".^$*+?{}[]\|()")
# Printable ASCII; no class that leaves characters out, no group with a meaning of its own, no backslash that takes in
# or asks for more than letters, digits and signs.
_STAYS_IN_LINE = re.compile(r"(?:(?!\(\?)[ -Z_-~]|\]|\^|\[(?!\^)|\\[wdb!-/:-@\[-`{-~])*")
_SMALL_CLASSES = re.compile(r"(?:[a-z]-[a-z]|\d-\d|[^A-Z-])*")
_LINES = 3  # of each record in the searched texts


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Which calls are meant: those that everything that is said here is true of.

    `tool` gets a tool's name and its source. `path` gets each path that a call was aimed at or has changed. `since`
    is a time as the ledger writes it. `grep` is a regular expression, which finds text in any case.
    `live` leaves out what was imported.
    """

    session: str | None = None
    tool: Callable[[str, str | None], bool] | None = None
    path: Callable[[str], bool] | None = None
    outcomes: frozenset[Outcome] = frozenset()
    since: str | None = None
    grep: str | None = None
    live: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether it lets every call through."""
        return self == Filter()


def find(database: sqlite3.Connection, wanted: Filter, state: Callable[[int], str], table: str) -> None:
    """Make a temporary table with the numbers of the calls that are meant.

    `state` says of a segment's number what a call without an end is that was begun there. Raises `re.error`.
    """
    said: list[str] = []
    values: list[str] = []
    if wanted.session is not None:
        said.append("call.session = ?")
        values.append(wanted.session)
    if wanted.since is not None:
        said.append("call.ts >= ?")
        values.append(wanted.since)
    if wanted.tool is not None:
        database.create_function("is_tool", 2, _answering(wanted.tool), deterministic=True)
        said.append("call.line IS NOT NULL AND is_tool(call.tool, call.tool_source)")
    if wanted.path is not None:
        database.create_function("is_path", 2, _touching(wanted.path), deterministic=True)
        said.append("(call.path IS NOT NULL OR done.files IS NOT NULL) AND is_path(call.path, done.files)")
    if wanted.live:
        said.append("coalesce(call.flags, '') NOT LIKE '%\"imported\"%'")
    if wanted.outcomes:
        database.create_function("state", 1, state, deterministic=True)
        said.append(f"coalesce(done.status, state(call.segment)) IN ({','.join('?' * len(wanted.outcomes))})")
        values += sorted(wanted.outcomes)
    database.execute(f"CREATE TEMP TABLE {table} (n INTEGER PRIMARY KEY)")
    if wanted.grep is not None:
        database.execute("CREATE TEMP TABLE hit (n INTEGER PRIMARY KEY)")
        database.executemany("INSERT OR IGNORE INTO hit VALUES (?)", ((n,) for n in _hits(database, wanted.grep)))
        said.append("call.n IN hit")
    where = " AND ".join(said) or "TRUE"
    query = f"INSERT INTO {table} SELECT call.n FROM call LEFT JOIN done USING (n) WHERE {where}"
    database.execute(query, values)
    database.execute("DROP TABLE IF EXISTS temp.hit")


def _answering(tool: Callable[[str, str | None], bool]) -> Callable[[str, str | None], bool]:
    known: dict[tuple[str, str | None], bool] = {}  # a few tools, and a hundred thousand calls

    def is_tool(name: str, source: str | None) -> bool:
        key = (name, source)
        if key not in known:
            known[key] = tool(name, source)
        return known[key]

    return is_tool


def _touching(path: Callable[[str], bool]) -> Callable[[str | None, str | None], bool]:
    def is_path(aim: str | None, files: str | None) -> bool:
        return (aim is not None and path(aim)) or (files is not None and any(map(path, json.loads(files) or ())))

    return is_path


def _hits(database: sqlite3.Connection, text: str) -> Iterator[int]:
    """Yield the numbers of the records that a text stands in; a record may come more than once."""
    bodies = database.execute("SELECT numbers, body FROM searched")
    whole = _in_whole_bodies(text)
    if whole is None:
        yield from _line_by_line(bodies, re.compile(text, re.IGNORECASE))
        return
    for packed, body in bodies:
        at = whole(body, 0)
        if at < 0:
            continue
        numbers = array("q", packed)
        line = seen = 0
        while at >= 0:
            line += body.count("\n", seen, at)
            yield numbers[line // _LINES]
            seen = at
            for _ in range(_LINES - line % _LINES):  # on with the next record
                seen = body.find("\n", seen) + 1
            line += _LINES - line % _LINES
            at = whole(body, seen) if seen < len(body) else -1


def _in_whole_bodies(text: str) -> Callable[[str, int], int] | None:
    """Return what finds the next place of a text in many lines of small letters at once; None where it must not.

    An expression may be looked for so where it cannot match a line end and means the same in small letters.
    """
    if _SPECIAL.isdisjoint(text):
        if "\n" in text:  # ends a line in the bodies, and stands in none
            return lambda body, start: -1
        sought = text.lower()
        return lambda body, start: body.find(sought, start)
    if not _STAYS_IN_LINE.fullmatch(text) or ("[" in text and not _SMALL_CLASSES.fullmatch(text)):
        return None
    if re.search(text, ""):  # what is not there is no text either
        return None
    search = re.compile(text.lower(), re.MULTILINE).search
    return lambda body, start: -1 if (found := search(body, start)) is None else found.start()


def _line_by_line(bodies: sqlite3.Cursor, expression: re.Pattern[str]) -> Iterator[int]:
    for packed, body in bodies:
        numbers = array("q", packed)
        for line, shown in enumerate(body.split("\n")):
            if shown and expression.search(shown):
                yield numbers[line // _LINES]
