"""Group calls of a ledger by session."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pi_intent.ledger.calls import LedgerCall
from pi_intent.ledger.entries import SessionEntry


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionCalls:
    """One session: what it said of itself first, its calls in order, and how many there are besides."""

    session: str
    entry: SessionEntry | None
    calls: tuple[LedgerCall, ...]
    omitted: int = 0


def group_by_session(
    calls: Iterable[LedgerCall], sessions: Iterable[SessionEntry], counts: Mapping[str, int] | None = None
) -> list[SessionCalls]:
    """Return the sessions of calls that come in order, the one with the newest call last.

    `counts` says how many calls there are by session, where these are not all of them.
    """
    entries: dict[str, SessionEntry] = {}
    for entry in sorted(sessions, key=lambda entry: entry.ts):
        entries.setdefault(entry.session, entry)
    kept: dict[str, list[LedgerCall]] = {}
    for call in calls:
        kept.setdefault(call.session, []).append(call)
    groups = [
        SessionCalls(
            session=name,
            entry=entries.get(name),
            calls=tuple(found),
            omitted=0 if counts is None else max(0, counts.get(name, 0) - len(found)),
        )
        for name, found in kept.items()
    ]
    return sorted(groups, key=lambda group: group.calls[-1].ts)
