"""Answer what is asked of a ledger from its index; one that turns out to be broken is made anew on the way."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Self

from pi_intent.ledger.calls import CallState, LedgerCall
from pi_intent.ledger.entries import DecisionEntry, SessionEntry
from pi_intent.ledger.index.decisions import IS_ASKED, entries, past_decisions, standing
from pi_intent.ledger.index.filters import Filter, find
from pi_intent.ledger.index.opening import open_database
from pi_intent.ledger.index.past import COLUMNS, past_call
from pi_intent.ledger.index.place import drop_index
from pi_intent.ledger.index.reading import Tell, owners_of
from pi_intent.ledger.index.rereading import Lines, NotThere
from pi_intent.ledger.index.stretch import Key, Stretch
from pi_intent.ledger.index.survey import known_segments
from pi_intent.ledger.naming import has_writer, writer_of
from pi_intent.ledger.reader import Problem
from pi_intent.past import PastCall

_BROKEN = (sqlite3.Error, NotThere, ValueError, TypeError, LookupError, OverflowError, RecursionError)
"""What a broken index, or a segment that changed under it, can lead to."""

_RENEWALS = 2
_EVERYTHING = Filter()
_ALWAYS = Stretch()
_IN_ORDER = "ts, seq, id"
_PLACES = (
    "call.ts, call.seq, call.id, call.session, call.segment, call.offset, call.length, done.segment, done.offset,"
    f" done.length, {IS_ASKED}"
)
_SESSION_FIELDS = tuple(field.name for field in fields(SessionEntry))


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a record stands in the ledger: its kind, file and line, and the line's own bytes."""

    kind: str
    path: Path
    line: int
    raw: bytes


class Index:
    """The calls of a ledger, as they were when it was opened. A context manager; of one thread."""

    def __init__(self, root: Path, *, tell: Tell | None = None) -> None:
        self.root = root
        self._tell = tell
        self._tables: dict[Filter, str] = {}
        self._states: dict[int, CallState] = {}
        self._open(anew=False)

    def _open(self, *, anew: bool) -> None:
        self._database, self._unreadable = open_database(self.root, anew=anew, tell=self._tell)
        self._lines: Lines | None = None
        self._tables.clear()
        self._states.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the files."""
        if self._lines is not None:
            self._lines.close()
        with suppress(sqlite3.Error):
            self._database.close()

    def past(self, wanted: Filter = _EVERYTHING) -> Iterator[PastCall]:
        """Yield calls in the order in which they began, from the index alone.

        Calls whose beginning is missing are left out: nothing is known of them that could be asked.
        """
        return self._stream(COLUMNS, wanted, _ALWAYS, self._past, "call.line IS NOT NULL")

    def calls(self, wanted: Filter = _EVERYTHING, *, within: Stretch = _ALWAYS) -> Iterator[LedgerCall]:
        """Yield calls in the order in which they began, from the ledger's own lines."""
        return self._stream(_PLACES, wanted, within, self._ledger_call)

    def last(self, wanted: Filter, limit: int, *, within: Stretch = _ALWAYS) -> Stretch:
        """Return the stretch of the last `limit` calls; `limit` is at least 1."""
        order = "ts DESC, seq DESC, id DESC"

        def ask(database: sqlite3.Connection) -> Stretch:
            where, values = self._where(wanted, within)
            query = f"SELECT ts, seq, id FROM call WHERE {where} ORDER BY {order} LIMIT 1 OFFSET ?"
            start = database.execute(query, (*values, limit - 1)).fetchone()
            return within if start is None else replace(within, start=start)

        return self._ask(ask)

    def counts(self, wanted: Filter = _EVERYTHING, *, within: Stretch = _ALWAYS) -> dict[str, int]:
        """Return how many calls there are by session, the session with the newest of them last."""

        def ask(database: sqlite3.Connection) -> dict[str, int]:
            where, values = self._where(wanted, within)
            query = f"SELECT session, count(*) FROM call WHERE {where} GROUP BY session ORDER BY max(ts), min(ts)"
            return dict(database.execute(query, values))

        return self._ask(ask)

    def span(self, wanted: Filter = _EVERYTHING) -> tuple[str, str] | None:
        """Return when the first of these calls began, and the last one; None where there are none."""

        def ask(database: sqlite3.Connection) -> tuple[str, str] | None:
            where, values = self._where(wanted, _ALWAYS)
            first, last = database.execute(f"SELECT min(ts), max(ts) FROM call WHERE {where}", values).fetchone()
            return None if first is None else (first, last)

        return self._ask(ask)

    def paths(self, wanted: Filter = _EVERYTHING) -> list[Path]:
        """Return the segments in which a record of these calls stands, by name."""

        def ask(database: sqlite3.Connection) -> list[Path]:
            where, values = self._where(wanted, _ALWAYS)
            found = f"""
                WITH wanted AS (SELECT call.n, call.id, call.segment FROM call WHERE {where})
                SELECT name FROM segment WHERE n IN (
                    SELECT segment FROM wanted
                    UNION SELECT done.segment FROM wanted JOIN done ON done.n = wanted.n
                    UNION SELECT decision.segment FROM wanted JOIN decision ON decision.id = wanted.id
                ) ORDER BY name
            """
            return [self._folder / os.fsdecode(name) for (name,) in database.execute(found, values)]

        return self._ask(ask)

    def lengths(self, sessions: Iterable[str]) -> dict[str, int]:
        """Return how many calls each of these sessions has in all."""
        query = "SELECT count(*) FROM call WHERE session = ?"
        wanted = dict.fromkeys(sessions)
        return self._ask(
            lambda database: {name: int(database.execute(query, (name,)).fetchone()[0]) for name in wanted}
        )

    def sessions(self) -> list[SessionEntry]:
        """Return what the segments say of their sessions, in the order of the segments."""

        def ask(database: sqlite3.Connection) -> list[SessionEntry]:
            rows = database.execute("SELECT name, line, record FROM session JOIN segment ON n = segment")
            ordered = sorted((os.fsdecode(name), line, record) for name, line, record in rows)
            return [_session(json.loads(record)) for _, _, record in ordered]

        return self._ask(ask)

    def session_ids(self) -> list[str]:
        """Return the ids of all sessions, the one that began or did something last first."""
        query = """
            SELECT session FROM (
                SELECT session, max(ts) AS ts FROM call GROUP BY session
                UNION ALL SELECT session, max(ts) FROM session GROUP BY session
            ) WHERE session != '' GROUP BY session ORDER BY max(ts) DESC, session DESC
        """
        return self._ask(lambda database: [session for (session,) in database.execute(query)])

    def problems(self, *, session: str | None = None) -> list[Problem]:
        """Return what could not be read, in the order of the ledger; of one session, or where it may be of any."""

        def ask(database: sqlite3.Connection) -> list[Problem]:
            found = [(problem.path.name, _LAST, problem.text) for problem in self._unreadable]
            for raw, line, why in database.execute("SELECT name, line, why FROM problem JOIN segment ON n = segment"):
                name = os.fsdecode(raw)
                found.append((name, line, f"{name}, line {line}, {why}"))
            owners = {} if session is None else owners_of(database)
            paths = {problem.path.name: problem.path for problem in self._unreadable}
            return [
                Problem(path=paths.get(name, self._folder / name), line=None if line == _LAST else line, text=text)
                for name, line, text in sorted(found, key=lambda item: item[:2])
                if owners.get(writer_of(name), session) == session
            ]

        return self._ask(ask)

    def others(self) -> dict[tuple[int, str], int]:
        """Return how many records were skipped, by version and kind."""
        query = "SELECT v, t, count FROM other ORDER BY rowid"
        return self._ask(lambda database: {(int(v), json.loads(t)): count for v, t, count in database.execute(query)})

    def named(self, name: str) -> list[str]:
        """Return the ids of the calls that may be meant, of the best kind that there is.

        That is: this id, one that begins or ends so in any case, or the host's id of the call.
        """
        return self._ask(lambda database: _named(database, name))

    def latest_ids(self, limit: int) -> list[str]:
        """Return the ids of the last calls, the latest first."""
        query = "SELECT id FROM call ORDER BY ts DESC, seq DESC, id DESC LIMIT ?"
        return self._ask(lambda database: [call for (call,) in database.execute(query, (limit,))])

    def latest_time(self) -> str:
        """Return when the last call began, '' where there is none."""
        query = "SELECT ts FROM call ORDER BY ts DESC LIMIT 1"
        return next(iter(self._ask(lambda database: [ts for (ts,) in database.execute(query)])), "")

    def tools(self) -> list[tuple[str, str | None]]:
        """Return the tools that were called, with who supplied them, the most used first."""
        query = """
            SELECT tool, tool_source FROM call WHERE line IS NOT NULL
            GROUP BY tool, tool_source ORDER BY count(*) DESC, tool, tool_source
        """
        return self._ask(lambda database: [*database.execute(query)])

    def of_message(self, session: str, message: str) -> list[str]:
        """Return the ids of the calls of one assistant message, in order."""
        query = f"SELECT id FROM call WHERE session = ? AND message = ? ORDER BY {_IN_ORDER}"
        return self._ask(lambda database: [call for (call,) in database.execute(query, (session, message))])

    def one(self, call_id: str) -> tuple[LedgerCall, tuple[Place, ...]] | None:
        """Return a call from the ledger's own lines, and where its records stand; None where there is none."""
        query = f"SELECT {_PLACES}, call.line, done.line FROM call LEFT JOIN done USING (n) WHERE call.id = ?"

        def ask(database: sqlite3.Connection) -> tuple[LedgerCall, tuple[Place, ...]] | None:
            for row in database.execute(query, (call_id,)):
                call = self._ledger_call(row)
                asked = [("decision", place[:3], place[3]) for place in standing(database, call_id)]
                records = (("call", row[4:7], row[11]), *asked, ("done", row[7:10], row[12]))
                return call, tuple(self._place(kind, where, line) for kind, where, line in records if line)
            return None

        return self._ask(ask)

    @property
    def _folder(self) -> Path:
        return self.root / "ledger"

    def _ask[T](self, ask: Callable[[sqlite3.Connection], T]) -> T:
        for _ in range(_RENEWALS):
            try:
                return ask(self._database)
            except _BROKEN:
                self._renew()
        return ask(self._database)

    def _renew(self) -> None:
        self.close()
        drop_index(self.root)
        self._open(anew=True)

    def _stream[T](
        self, columns: str, wanted: Filter, within: Stretch, make: Callable[[Any], T], more: str = "TRUE"
    ) -> Iterator[T]:
        last: Key | None = None
        turn = 0
        while True:
            try:
                where, values = self._where(wanted, within, after=last)
                query = f"SELECT {columns} FROM call LEFT JOIN done USING (n) WHERE {where} AND {more}"
                for row in self._database.execute(f"{query} ORDER BY call.ts, call.seq, call.id", values):
                    made = make(row)
                    last = row[:3]
                    yield made
                return
            except _BROKEN:
                if turn == _RENEWALS:
                    raise
                self._renew()
                turn += 1

    def _where(self, wanted: Filter, within: Stretch, *, after: Key | None = None) -> tuple[str, list[str | int]]:
        """Return the condition on the rows of `call`, with its values; rows are found in their order by it."""
        said, values = within.conditions(after=after)
        if wanted.session is not None and wanted == Filter(session=wanted.session):
            said.append("call.session = ?")
            values.append(wanted.session)
        elif not wanted.is_empty:
            # Without the plus the rows that are wanted would all be read, and then put in order in memory.
            said.append(f"+call.n IN {self._table(wanted)}")
        return " AND ".join(said) or "TRUE", values

    def _table(self, wanted: Filter) -> str:
        if wanted not in self._tables:
            self._tables[wanted] = find(self._database, wanted, self._state, f"found_{len(self._tables)}")
        return self._tables[wanted]

    def _ledger_call(self, row: Any) -> LedgerCall:
        _, _, call_id, session, *places, is_asked = row[:11]
        begun, ended = places[:3], places[3:]
        lines = self._readable_lines()
        call = None if begun[0] is None else lines.call(*begun)
        done = None if ended[0] is None else lines.done(*ended)
        if any(entry is not None and entry.id != call_id for entry in (call, done)):
            raise NotThere
        state: CallState = "settled" if done is not None else self._state(begun[0])
        path = self._path(begun[0] if call is not None else ended[0])
        return LedgerCall(
            id=call_id,
            state=state,
            path=path,
            session=session,
            call=call,
            done=done,
            decisions=self._decisions(call_id) if is_asked else (),
        )

    def _decisions(self, call_id: str) -> tuple[DecisionEntry, ...]:
        lines = self._readable_lines()
        found = entries(standing(self._database, call_id), lines, self._segments)
        if any(entry.id != call_id for entry in found):
            raise NotThere
        return found

    def _past(self, row: Any) -> PastCall:
        *values, is_asked = row
        past = past_call(values)
        return past._replace(decisions=past_decisions(self._database, past.id)) if is_asked else past

    def _readable_lines(self) -> Lines:
        if self._lines is None:
            self._segments = {known.n: known for known in known_segments(self._database).values()}
            self._lines = Lines(self._folder, self._segments)
        return self._lines

    def _path(self, segment: int) -> Path:
        self._readable_lines()
        return self._folder / self._segments[segment].name

    def _place(self, kind: str, where: tuple[int, int, int], line: int) -> Place:
        segment, offset, length = where
        raw = self._readable_lines().raw(segment, offset, length)
        return Place(kind=kind, path=self._path(segment), line=line, raw=raw)

    def _state(self, segment: int) -> CallState:
        """What a call without an end is that was begun in this segment."""
        if segment not in self._states:
            path = self._path(segment)
            try:
                # One that has ended since it was read has written something since: then it ran.
                running = has_writer(path) or path.stat().st_size > self._segments[segment].offset
            except OSError:
                running = False
            self._states[segment] = "running" if running else "open"
        return self._states[segment]


def open_index(root: Path, *, progress: Tell | None = None) -> Index:
    """Open the index of the ledger in `root`, up to date; `progress` is told of bytes read, and of how many.

    It is made where there is none. Never fails for what the index or the ledger holds.
    """
    return Index(root, tell=progress)


_LAST = 1 << 62


def _session(values: list[Any]) -> SessionEntry:
    return SessionEntry(**dict(zip(_SESSION_FIELDS, values, strict=True)))


def _named(database: sqlite3.Connection, name: str) -> list[str]:
    for query, value in (
        ("SELECT id FROM call WHERE id = ?", name),
        ("SELECT id FROM call WHERE id LIKE ? || '%' ESCAPE '\\' OR id LIKE '%' || ? ESCAPE '\\'", None),
        ("SELECT id FROM call WHERE tool_call_id = ? ORDER BY ts", name),
    ):
        escaped = name.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
        values = (escaped, escaped) if value is None else (value,)
        if found := [call for (call,) in database.execute(query, values)]:
            return found
    return []
