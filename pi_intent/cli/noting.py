"""Take the quality notes on calls of a ledger that are shown: each needs the session that the call stands in."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from pi_intent.cli.progress import Progress
from pi_intent.cli.project_files import ProjectFiles
from pi_intent.ledger.index import Filter, Index
from pi_intent.ledger.location import LedgerLocation
from pi_intent.types import JSONValue

if TYPE_CHECKING:
    from pi_intent.notes import Note

type Notes = Mapping[str, Sequence[Note]]
"""The notes by the id of the call; a call without any is left out."""

AT_ONCE = 500
"""Calls of history that nobody waits for: they take less than a tenth of a second."""

FOR_ONE = 5_000
"""Calls of history that somebody waits for who asks about one call: they take less than half a second."""


def left_out(index: Index, sessions: Iterable[str], wanted: bool | None, *, most: int) -> int:
    """Return how many calls of history notes are too many for, 0 where notes are taken or nobody wants them.

    `wanted` is None where nobody said so.
    """
    history = sum(index.lengths(sessions).values()) if wanted is None else 0
    return history if history > most else 0


class PackedNotes(Mapping[str, "tuple[Note, ...]"]):
    """Notes by the id of the call, in a fifth of the memory: there may be several on each of many calls."""

    def __init__(self) -> None:
        self._packed: dict[str, bytes] = {}

    def __getitem__(self, call_id: str) -> tuple[Note, ...]:
        from pi_intent.notes import Note

        return tuple(Note(*note) for note in json.loads(self._packed[call_id]))

    def __iter__(self) -> Iterator[str]:
        return iter(self._packed)

    def __len__(self) -> int:
        return len(self._packed)

    def add(self, call_id: str, notes: Sequence[Note]) -> None:
        """Keep more notes on a call, the gravest first."""
        from pi_intent.notes import in_order

        if notes:
            whole = in_order((*self.get(call_id, ()), *notes))
            self._packed[call_id] = json.dumps(whole, ensure_ascii=False).encode("utf-8", "surrogatepass")


def notes_in(index: Index, location: LedgerLocation, sessions: Iterable[str]) -> Notes:
    """Return the notes on all calls of these sessions, and show how far it is where that takes a while."""
    from pi_intent.notes import SessionNotes  # most questions do without

    lengths = index.lengths(sessions)
    progress = Progress("Taking notes:", 0)
    total, done = sum(lengths.values()), 0
    files = ProjectFiles(location, index.sessions())
    found = PackedNotes()
    try:
        for session, length in lengths.items():
            notes = SessionNotes(exists=partial(files.may_be_there, session))
            for call in progress.across(index.past(Filter(session=session)), total, before=done):
                found.add(call.id, notes.take(call))
            for call_id, late in notes.at_the_end().items():
                found.add(call_id, late)
            done += length
    finally:
        progress.close()
    return found


def notes_json(notes: Iterable[Note]) -> list[JSONValue]:
    """Return notes as JSON values."""
    return [{"kind": note.kind, "text": note.text} for note in notes]
