"""Read what the segments hold into the tables: a batch of lines at a time, each call joined with its end."""

from __future__ import annotations

import json
import os
import sqlite3
from array import array
from collections.abc import Callable, Iterable, Iterator
from itertools import batched

from pi_intent.ledger.entries import (
    CallEntry,
    DecisionEntry,
    DoneEntry,
    OtherEntry,
    SessionEntry,
    repeated,
)
from pi_intent.ledger.index.decisions import INSERT as _DECISION
from pi_intent.ledger.index.decisions import decision_row
from pi_intent.ledger.index.rows import Row, call_row, call_texts, done_row, done_texts, session_row
from pi_intent.ledger.index.schema import CALL_COLUMNS, DONE_COLUMNS
from pi_intent.ledger.index.survey import File, Known, checksum, dated
from pi_intent.ledger.naming import has_writer, writer_of
from pi_intent.ledger.reader import Line, Problem, read_line, settled_lines, split_lines

type Tell = Callable[[int, int], None]
"""Told of every batch: how many bytes of how many are read."""

_BATCH = 2_000
_ASKED_AT_ONCE = 500  # ids; older versions of SQLite take 999 values

_NO_CHECKSUM = -1
"""Of a segment that could not be read to its end: the next one to look reads everything anew."""

_CALL = f"INTO call VALUES ({','.join('?' * CALL_COLUMNS)})"
_DONE = f"INSERT INTO done VALUES ({','.join('?' * DONE_COLUMNS)})"
_ORPHAN = "INSERT INTO call (n, id, ts, seq, session, ended) VALUES (?, ?, ?, 0, '', 1)"
_KNOWN = "SELECT id, n, line IS NOT NULL, ended, segment FROM call WHERE id IN"


class OutOfOrder(Exception):
    """What was read does not count any more, as another record stands before it: all has to be read anew."""


class Reader:
    """Reads segments into the tables of one database, in the order of their names."""

    def __init__(self, database: sqlite3.Connection, known: dict[str, Known], *, tell: Tell | None = None) -> None:
        self._database = database
        self._names = {segment.n: segment.name for segment in known.values()}
        self._known = known
        self._tell = tell
        ((last,),) = database.execute("SELECT max(n) FROM call")
        self._last = last or 0

    def read(self, files: list[File]) -> list[Problem]:
        """Read what is new in some segments, and return what cannot be read.

        Raises `sqlite3.DatabaseError` and `OutOfOrder`.
        """
        problems: list[Problem] = []
        starts = {file.path: known.offset for file in files if (known := self._known.get(file.path.name))}
        total = sum(file.size - starts.get(file.path, 0) for file in files)
        before = 0
        for file in files:
            start = starts.get(file.path, 0)
            try:
                for end in self._segment(file):
                    if self._tell is not None:
                        self._tell(before + end - start, total)
            except FileNotFoundError:
                problems.append(Problem(path=file.path, line=None, text=f"{file.path} was deleted meanwhile"))
            except OSError as error:
                problems.append(
                    Problem(path=file.path, line=None, text=f"{file.path} cannot be read ({error.strerror})")
                )
            before += file.size - start
        self._name_owners()
        return problems

    def _segment(self, file: File) -> Iterator[int]:
        name = file.path.name
        known = self._known.get(name)
        n = len(self._names) + 1 if known is None else known.n
        self._names[n] = name
        start, lines, crc = (0, 0, 0) if known is None else (known.offset, known.lines, known.crc)
        running = has_writer(file.path)  # before anything is read: the end of a call may be written meanwhile
        end, whole, modified, read_crc = start, True, None, _NO_CHECKSUM
        try:
            with file.path.open("rb") as opened:
                opened.seek(start)
                for batch in batched(settled_lines(split_lines(opened, first=lines + 1), running=running), _BATCH):
                    self._batch(n, batch, end)
                    end, lines, whole = batch[-1].end, batch[-1].number, batch[-1].complete
                    yield end
            read_crc = checksum(file.path, end, start=start, crc=crc)
            # Of a file that has grown meanwhile the time is not known, so it is looked at again.
            modified = dated(file) if end <= file.size else None
        finally:
            row = (n, os.fsencode(name), str(file.device), str(file.inode), modified, end, lines, read_crc, whole)
            self._database.execute("INSERT OR REPLACE INTO segment VALUES (?,?,?,?,?,?,?,?,?)", row)

    def _batch(self, segment: int, lines: Iterable[Line], offset: int) -> None:
        found: list[tuple[CallEntry | DoneEntry, tuple[int, int, int, int]]] = []
        problems: list[Row] = []
        for line in lines:
            match read_line(line):
                case CallEntry() | DoneEntry() as entry:
                    found.append((entry, (segment, line.number, offset, len(line.content))))
                case SessionEntry() as entry:
                    row = session_row(entry, (segment, line.number))
                    self._database.execute("INSERT INTO session VALUES (?,?,?,?,?,?)", row)
                case DecisionEntry() as entry:
                    row = decision_row(entry, (segment, offset, len(line.content), line.number))
                    self._database.execute(_DECISION, row)
                case OtherEntry() as entry:
                    self._count(entry)
                case str(why):
                    problems.append((segment, line.number, why))
                case None:
                    pass
            offset = line.end
        self._join(segment, found, problems)
        self._database.executemany("INSERT INTO problem VALUES (?,?,?)", problems)

    def _join(
        self,
        segment: int,
        found: list[tuple[CallEntry | DoneEntry, tuple[int, int, int, int]]],
        problems: list[Row],
    ) -> None:
        """Give each call its number, and its end the same one. Of two records that are alike the first one counts."""
        states = self._states({entry.id for entry, _ in found})
        begun: list[tuple[CallEntry, int, tuple[int, int, int, int]]] = []
        orphans: list[Row] = []
        ends: list[Row] = []
        late: list[tuple[int]] = []
        numbers = array("q")
        texts: list[str] = []
        first = self._last + 1
        for entry, place in found:
            n, has_begun, has_ended, where = states.get(entry.id, (0, False, False, segment))
            if has_begun if isinstance(entry, CallEntry) else has_ended:
                self._check_order(n, entry, segment)
                problems.append((segment, place[1], repeated(entry)))
                continue
            if not n:
                self._last = n = self._last + 1
            if isinstance(entry, CallEntry):
                states[entry.id] = (n, True, has_ended, segment)
                begun.append((entry, n, place))
                texts.append(call_texts(entry))
            else:
                states[entry.id] = (n, has_begun, True, where)
                ends.append(done_row(entry, n, place))
                texts.append(done_texts(entry))
                if has_begun:
                    late.append((n,))
                else:
                    orphans.append((n, entry.id, entry.ts))
            numbers.append(n)
        database = self._database
        database.executemany(_ORPHAN, orphans)
        rows = [call_row(entry, n, states[entry.id][2], place) for entry, n, place in begun]
        # What begins after its end was read takes the place of what stood for it; it is seldom, and takes longer.
        late_beginnings = any(n < first for _, n, _ in begun) or bool(orphans)
        database.executemany(f"INSERT {'OR REPLACE ' if late_beginnings else ''}{_CALL}", rows)
        here = {n for _, n, _ in begun}
        database.executemany("UPDATE call SET ended = 1 WHERE n = ?", [row for row in late if row[0] not in here])
        database.executemany(_DONE, ends)
        if texts:
            database.execute("INSERT INTO searched VALUES (?, ?)", (numbers.tobytes(), "".join(texts).lower()))

    def _states(self, ids: set[str]) -> dict[str, tuple[int, bool, bool, int]]:
        """Return what is known of calls: number, whether begun, whether ended, and the segment of the beginning."""
        states: dict[str, tuple[int, bool, bool, int]] = {}
        for some in batched(ids, _ASKED_AT_ONCE):
            rows = self._database.execute(f"{_KNOWN} ({','.join('?' * len(some))})", some)
            states |= {call: (n, bool(begun), bool(ended), segment or 0) for call, n, begun, ended, segment in rows}
        return states

    def _check_order(self, n: int, entry: CallEntry | DoneEntry, segment: int) -> None:
        """The order is that of the names; a segment that came later may stand before one that was read."""
        table = "call" if isinstance(entry, CallEntry) else "done"
        for (first,) in self._database.execute(f"SELECT segment FROM {table} WHERE n = ?", (n,)):
            if first and self._names[first] > self._names[segment]:
                raise OutOfOrder

    def _count(self, entry: OtherEntry) -> None:
        self._database.execute(
            "INSERT INTO other VALUES (?, ?, 1) ON CONFLICT DO UPDATE SET count = count + 1",
            (str(entry.v), json.dumps(entry.t)),
        )

    def _name_owners(self) -> None:
        """A call whose beginning is missing is of the session that the segment with its end belongs to."""
        orphans = [
            *self._database.execute("SELECT n, done.segment FROM call JOIN done USING (n) WHERE call.line IS NULL")
        ]
        if not orphans:
            return
        owners = owners_of(self._database)
        named = [(owners.get(writer_of(self._names[segment]), ""), n) for n, segment in orphans]
        self._database.executemany("UPDATE call SET session = ? WHERE n = ?", named)


def owners_of(database: sqlite3.Connection) -> dict[str, str]:
    """Return whose segments there are: the session by the writer in a segment's name."""
    rows = database.execute("SELECT name, line, writer, session.session FROM session JOIN segment ON n = segment")
    ordered = sorted((os.fsdecode(name), line, writer, session) for name, line, writer, session in rows)
    return {writer: session for _, _, writer, session in ordered}
