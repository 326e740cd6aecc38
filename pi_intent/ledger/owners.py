"""Say whose each segment is, by its first lines only."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from pi_intent.ledger.entries import SessionEntry, parse_entry
from pi_intent.ledger.naming import file_stem
from pi_intent.ledger.reader import Segment

_LINES = 8
"""It is the first line; a full disk may have torn a few before it."""


def session_of(segment: Segment) -> SessionEntry | None:
    """Return what a segment says of its session at its beginning; None where it does not or cannot be read."""
    try:
        for line in islice(segment.lines(), _LINES):
            entry = parse_entry(line.content)
            if isinstance(entry, SessionEntry):
                return entry
    except OSError:
        pass
    return None


def session_ids(entries: Iterable[SessionEntry | None]) -> list[str]:
    """Return the sessions' ids, each once, the one that began last first."""
    known = sorted(((entry.ts, entry.session) for entry in entries if entry is not None), reverse=True)
    return [*dict.fromkeys(session for _, session in known)]


def belongs_to(segment: Segment, entry: SessionEntry | None, session: str) -> bool:
    """Whether a segment is of a session: it says so itself, or, where its beginning is damaged, its name does."""
    if entry is not None:
        return entry.session == session
    return segment.path.name.startswith(f"{file_stem(session)}.")
