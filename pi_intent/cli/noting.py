"""Take the quality notes on calls of a ledger that are shown: each needs the session that the call stands in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
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


def notes_in(index: Index, location: LedgerLocation, sessions: Iterable[str]) -> dict[str, tuple[Note, ...]]:
    """Return the notes on all calls of these sessions, and show how far it is where that takes a while."""
    from pi_intent.notes import notes_of  # most questions do without

    lengths = index.lengths(sessions)
    progress = Progress("Taking notes:", 0)
    total, done = sum(lengths.values()), 0
    files = ProjectFiles(location, index.sessions())
    found: dict[str, tuple[Note, ...]] = {}
    try:
        for session, length in lengths.items():
            calls = index.past(Filter(session=session))
            exists = partial(files.may_be_there, session)
            found |= notes_of(progress.across(calls, total, before=done), exists=exists)
            done += length
    finally:
        progress.close()
    return found


def notes_json(notes: Iterable[Note]) -> list[JSONValue]:
    """Return notes as JSON values."""
    return [{"kind": note.kind, "text": note.text} for note in notes]
