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
_LINES = 3  # of each record in the searched texts


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Which calls are meant: those that everything that is said here is true of.

    `tool` gets a tool's name and its source. `path` gets each path that a call was aimed at or has changed. `since`
    is a time as the ledger writes it. `grep` is a regular expression, which finds text in any case.
    """

    session: str | None = None
    tool: Callable[[str, str | None], bool] | None = None
    path: Callable[[str], bool] | None = None
    outcomes: frozenset[Outcome] = frozenset()
    since: str | None = None
    grep: str | None = None

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
    search = _search_plain if _SPECIAL.isdisjoint(text) else _search_expression
    return search(database, text)


def _search_plain(database: sqlite3.Connection, text: str) -> Iterator[int]:
    sought = text.casefold()
    for packed, body in database.execute("SELECT numbers, body FROM searched"):
        folded = body.casefold()
        at = folded.find(sought)
        if at < 0:
            continue
        numbers = array("q", packed)
        line, seen = 0, 0
        while at >= 0:
            line += folded.count("\n", seen, at)
            yield numbers[line // _LINES]
            # On with the next record.
            rest = _LINES - line % _LINES
            seen = at
            for _ in range(rest):
                seen = folded.find("\n", seen) + 1
            line += rest
            at = folded.find(sought, seen) if seen < len(folded) else -1


def _search_expression(database: sqlite3.Connection, text: str) -> Iterator[int]:
    search = re.compile(text, re.IGNORECASE).search
    for packed, body in database.execute("SELECT numbers, body FROM searched"):
        numbers = array("q", packed)
        for line, shown in enumerate(body.split("\n")):
            if shown and search(shown):
                yield numbers[line // _LINES]
