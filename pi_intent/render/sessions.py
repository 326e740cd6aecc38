"""Group what was read from a ledger by session."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pi_intent.ledger.calls import LedgerCall, Reading
from pi_intent.ledger.entries import SessionEntry

UNKNOWN = ""
"""The session of a call whose beginning is missing, in a segment that does not say whose it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionCalls:
    """One session: what it said of itself first, its calls in order, and how many earlier ones were left out."""

    session: str
    entry: SessionEntry | None
    calls: tuple[LedgerCall, ...]
    omitted: int = 0


def group_by_session(reading: Reading, *, limit: int | None = None) -> list[SessionCalls]:
    """Return the sessions of the last `limit` calls of the whole ledger, the one with the newest call last."""
    owners = _owners(reading)
    entries: dict[str, SessionEntry] = {}
    for entry in sorted(reading.sessions, key=lambda entry: entry.ts):
        entries.setdefault(entry.session, entry)
    hidden = 0 if limit is None else max(0, len(reading.calls) - limit)
    omitted: dict[str, int] = {}
    kept: dict[str, list[LedgerCall]] = {}
    for number, call in enumerate(reading.calls):
        session = _session_of(call, owners)
        if number < hidden:
            omitted[session] = omitted.get(session, 0) + 1
        else:
            kept.setdefault(session, []).append(call)
    groups = [
        SessionCalls(session=name, entry=entries.get(name), calls=tuple(calls), omitted=omitted.get(name, 0))
        for name, calls in kept.items()
    ]
    return sorted(groups, key=lambda group: group.calls[-1].ts)


def session_ids(reading: Reading) -> list[str]:
    """Return the ids of all sessions, the one that began or did something last first."""
    owners = _owners(reading)
    seen = [(entry.ts, entry.session) for entry in reading.sessions]
    seen += [(call.ts, _session_of(call, owners)) for call in reading.calls]
    return [*dict.fromkeys(session for _, session in sorted(seen, reverse=True) if session != UNKNOWN)]


def of_session(reading: Reading, session: str) -> Reading:
    """Return what belongs to one session, with the problems of its segments and those that may be of any."""
    owners = _owners(reading)
    return Reading(
        calls=[call for call in reading.calls if _session_of(call, owners) == session],
        sessions=[entry for entry in reading.sessions if entry.session == session],
        problems=[problem for problem in reading.problems if owners.get(_writer(problem.path), session) == session],
        others=reading.others,
    )


def _owners(reading: Reading) -> dict[str, str]:
    """Whose segment it is, by the writer in its name."""
    return {entry.writer: entry.session for entry in reading.sessions}


def _writer(path: Path) -> str:
    return path.stem.rpartition(".")[2]


def _session_of(call: LedgerCall, owners: dict[str, str]) -> str:
    return call.call.session if call.call is not None else owners.get(_writer(call.path), UNKNOWN)
