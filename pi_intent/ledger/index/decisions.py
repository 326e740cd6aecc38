"""What was asked about calls and decided, as the index has it."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Collection, Iterator, Mapping
from itertools import groupby

from pi_intent.ledger.calls import in_order
from pi_intent.ledger.entries import DecisionEntry
from pi_intent.ledger.index.rereading import Lines
from pi_intent.ledger.index.rows import Row
from pi_intent.ledger.index.survey import Known
from pi_intent.past import LastWord, PastDecision, last_word

IS_ASKED = "EXISTS (SELECT 1 FROM decision WHERE decision.id = call.id)"
"""Whether anything was asked about a call: most were not, and nothing has to be looked up for those."""

type Standing = tuple[int, int, int, int]
"""Where a record stands: segment, offset, length and line."""

_ORDERED = "FROM decision JOIN segment ON segment.n = decision.segment"
_PAST = f"SELECT decision.id, name, number, ts, reasons, approved, decided_by {_ORDERED}"
_STANDING = f"SELECT segment, decision.offset, length, line {_ORDERED} WHERE decision.id = ? ORDER BY name, line"
_IN_ORDER = "ORDER BY decision.id, name, line"

INSERT = "INSERT INTO decision VALUES (?,?,?,?,?,?,?,?,?,?)"


def decision_row(entry: DecisionEntry, place: Standing) -> Row:
    """Return the row of a decision."""
    approved = None if entry.approved is None else int(entry.approved)
    reasons = json.dumps(entry.reasons, ensure_ascii=False)
    return (entry.id, *place, entry.ts, min(entry.number, 2**63 - 1), reasons, approved, entry.by)


def past_decisions(database: sqlite3.Connection, call_id: str) -> tuple[PastDecision, ...]:
    """Return what was decided of a call, in order, from the index alone."""
    return in_order(map(_named, database.execute(f"{_PAST} WHERE decision.id = ? {_IN_ORDER}", (call_id,))))


def standing(database: sqlite3.Connection, call_id: str) -> list[Standing]:
    """Return where the decisions on a call stand."""
    return database.execute(_STANDING, (call_id,)).fetchall()


def entries(places: Collection[Standing], lines: Lines, segments: Mapping[int, Known]) -> tuple[DecisionEntry, ...]:
    """Return the decisions that stand in these places, in order. Raises `NotThere`."""
    return in_order(
        (segments[segment].name, lines.decision(segment, offset, length)) for segment, offset, length, _ in places
    )


def ids_decided(database: sqlite3.Connection, wanted: Collection[LastWord]) -> Iterator[str]:
    """Yield the ids of the calls of which this is the last word."""
    rows = database.execute(f"{_PAST} {_IN_ORDER}")
    for call_id, found in groupby(rows, key=lambda row: row[0]):
        if last_word(in_order(map(_named, found))[-1].approved) in wanted:
            yield call_id


def _named(row: tuple[str, bytes, int, str, str, int | None, str | None]) -> tuple[str, PastDecision]:
    _, name, number, ts, reasons, approved, by = row
    return os.fsdecode(name), PastDecision(
        number, ts, tuple(json.loads(reasons)), None if approved is None else bool(approved), by
    )
