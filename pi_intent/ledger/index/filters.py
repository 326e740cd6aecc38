"""What calls are asked for, and how the index finds them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from pi_intent.ledger.index.decisions import ids_decided
from pi_intent.ledger.index.searching import hits_of
from pi_intent.past import LastWord
from pi_intent.types import Status

type Outcome = Status | Literal["running", "open"]

_WITHOUT_END: frozenset[Outcome] = frozenset({"running", "open"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Which calls are meant: those that everything that is said here is true of.

    `tool` gets a tool's name and its source. `path` gets each path that a call was aimed at or has changed. `since`
    is a time as the ledger writes it. `grep` is a regular expression, which finds text in any case.
    `live` leaves out what was imported. `asked` are calls that somebody was asked about, or not; `decided` those of
    which one of these is the last word.
    """

    session: str | None = None
    tool: Callable[[str, str | None], bool] | None = None
    path: Callable[[str], bool] | None = None
    outcomes: frozenset[Outcome] = frozenset()
    since: str | None = None
    grep: str | None = None
    live: bool = False
    asked: bool | None = None
    decided: frozenset[LastWord] = frozenset()

    @property
    def is_empty(self) -> bool:
        """Whether it lets every call through."""
        return self == Filter()


def find(database: sqlite3.Connection, wanted: Filter, state: Callable[[int], str], table: str) -> str:
    """Return the name of a temporary table with the numbers of the calls that are meant: `table`, if need be.

    `state` says of a segment's number what a call without an end is that was begun there. What an expression finds
    stays in a table of its own: it may be asked for again, together with something else. Raises `re.error`.
    """
    if wanted.grep is not None and wanted == Filter(grep=wanted.grep):
        return hits_of(database, wanted.grep)
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
    if wanted.asked is not None:
        said.append(f"call.id {'' if wanted.asked else 'NOT '}IN (SELECT id FROM decision)")
    if wanted.decided:
        database.execute("CREATE TEMP TABLE judged (id TEXT PRIMARY KEY)")
        found = [(call_id,) for call_id in ids_decided(database, wanted.decided)]
        database.executemany("INSERT INTO judged VALUES (?)", found)
        said.append("call.id IN judged")
    few = bool(wanted.outcomes) and wanted.outcomes <= _WITHOUT_END
    if few:
        said.append("NOT call.ended")  # there is an index of these
    if wanted.grep is not None:
        # With the plus SQLite does not begin with what is found, which may be all there is.
        said.append(f"{'+' if few else ''}call.n IN {hits_of(database, wanted.grep)}")
    database.execute(f"CREATE TEMP TABLE {table} (n INTEGER PRIMARY KEY)")
    where = " AND ".join(said) or "TRUE"
    query = f"INSERT INTO {table} SELECT call.n FROM call LEFT JOIN done USING (n) WHERE {where}"
    database.execute(query, values)
    database.execute("DROP TABLE IF EXISTS temp.judged")
    return table


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
