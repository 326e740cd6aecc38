"""One session of a ledger as it is drawn: what it said of itself, and its calls while they are read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pi_intent.ledger.calls import LedgerCall
from pi_intent.ledger.entries import SessionEntry


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionCalls:
    """One session: what it said of itself first, its calls in order, how many are `shown`, and how many are not.

    The calls can be gone through once, and may be many more than fit in memory.
    """

    session: str
    entry: SessionEntry | None
    calls: Iterable[LedgerCall]
    shown: int
    omitted: int = 0


def first_entries(sessions: Iterable[SessionEntry]) -> dict[str, SessionEntry]:
    """Return what each session said of itself first, by its id."""
    entries: dict[str, SessionEntry] = {}
    for entry in sorted(sessions, key=lambda entry: entry.ts):
        entries.setdefault(entry.session, entry)
    return entries
