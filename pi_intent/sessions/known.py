"""What a ledger has of one session already, so that nothing is taken in a second time."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from pi_intent.errors import LedgerError
from pi_intent.ids import ulid
from pi_intent.ledger.entries import CallEntry, DoneEntry, SessionEntry
from pi_intent.ledger.owners import session_of
from pi_intent.ledger.reader import Problem, Record, Segment, read_segments
from pi_intent.sessions.values import Dialect

_TIME_CHARACTERS = 10
"""Of an id; the rest of it says which call it is."""

_EARLIER, _LATER = -2.0, 3600.0
"""Seconds from the message that made a call to its record: it waits for a person, and for the calls before it."""

_AFTER_ITS_END = 5.0
"""Seconds from the result of a call to its record, at most: what an agent ends itself is recorded after it."""


_LEAST_OF_AN_ID = 8


@dataclass(frozen=True, slots=True)
class _Recorded:
    """What tells a call that was recorded while it happened from others."""

    id: str
    args_digest: str | None
    tool: str
    intent: str | None
    ts: str


@dataclass(slots=True)
class Known:
    """The calls of one session that were taken in, and those that were recorded while they happened.

    `begun` has the whole id by the part that says which call it is: the time of a call can be that of its file, and
    that of a file changes. `recorded` has them by the agent's own id, which some agents use again and again;
    `answered` are the ids of those by which a call was recognised: each answers for one. `live_since` is when the
    first of those who record the session now began, in Unix seconds; None where nobody does.
    """

    begun: dict[str, str] = field(default_factory=dict)
    ended: set[str] = field(default_factory=set)
    recorded: dict[str, list[_Recorded]] = field(default_factory=dict)
    answered: set[str] = field(default_factory=set)
    live_since: float | None = None

    def recorded_as(self, record: str, ended: float | None) -> str | None:
        """Return the id under which the call of a record was recorded while it happened, if none of `answered` it is.

        It is the same call when the arguments are; else, because an agent's file has them as they were sent and the
        ledger as they ran, when tool, intent and time are. What was recorded after the call had `ended` is another.
        """
        if not self.recorded:
            return None
        # Read off the record, because names and texts are redacted and cut there.
        call = json.loads(record)
        found = [
            one
            for one in self.recorded.get(call["toolCallId"], [])
            if one.id not in self.answered and (ended is None or _seconds(one.ts) <= ended + _AFTER_ITS_END)
        ]
        same = next((one for one in found if one.args_digest == call["argsDigest"] is not None), None) or next(
            (
                one
                for one in found
                if (one.tool, one.intent) == (call["tool"], call["intent"])
                and _EARLIER <= _seconds(one.ts) - _seconds(call["ts"]) <= _LATER
            ),
            None,
        )
        return None if same is None else same.id


def _seconds(ts: str) -> float:
    try:
        return datetime.fromisoformat(ts).timestamp()
    except (ValueError, OverflowError):  # others can write into a ledger, too
        return 0.0


def call_identity(dialect: Dialect, session: str, key: str) -> bytes:
    """Return ten bytes that say which call of which session it is."""
    text = "\0".join((dialect, session, key))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:10]


def id_at(milliseconds: int, identity: bytes) -> str:
    """Return the id of a call that began at a time; the same call at the same time always has the same."""
    return ulid(milliseconds, identity)


def which(of: str) -> str:
    """Return the part of an id that says which call it is."""
    return of[_TIME_CHARACTERS:]


def known_of(root: Path, session: str, dialect: Dialect) -> Known:
    """Read what a ledger has of a session, from that session's own segments; `session` as their names have it.

    Raises `LedgerError` where one of them cannot be read: what stands in it would be taken in once more.
    """
    known = Known()
    for segment in read_segments(root, session=session):
        if not isinstance(segment, Segment):
            raise LedgerError(segment.text)
        began: SessionEntry | None = None
        for item in segment.read():
            match item:
                case Problem(line=None):
                    raise LedgerError(item.text)
                case Record(entry=SessionEntry() as entry):
                    began = began or entry
                case Record(entry=CallEntry() as entry) if "imported" in entry.flags:
                    known.begun.setdefault(which(entry.id), entry.id)
                case Record(entry=CallEntry() as entry) if entry.host == dialect:
                    one = _Recorded(entry.id, entry.args_digest, entry.tool, entry.intent, entry.ts)
                    known.recorded.setdefault(entry.tool_call_id, []).append(one)
                case Record(entry=DoneEntry() as entry):
                    known.ended.add(entry.id)
                case _:
                    pass
        since = _live_since(began, dialect) if segment.running else None
        if since is not None:
            known.live_since = since if known.live_since is None else min(since, known.live_since)
    return known


def proxied_calls(root: Path) -> dict[tuple[str, str], str]:
    """Return the calls that a proxy of MCP has recorded, by the model's own id and the tool, with their ids here.

    Clients tell proxies the id of a call where they can; a number that only counts requests tells no call apart.
    """
    found: dict[tuple[str, str], str] = {}
    for segment in read_segments(root):
        began = session_of(segment) if isinstance(segment, Segment) else None
        if not isinstance(segment, Segment) or began is None or began.host != "mcp":
            continue
        for item in segment.read():
            if isinstance(item, Record) and isinstance(item.entry, CallEntry):
                entry = item.entry
                if len(entry.tool_call_id) >= _LEAST_OF_AN_ID:
                    found.setdefault((entry.tool_call_id, entry.tool), entry.id)
    return found


def _live_since(began: SessionEntry | None, dialect: Dialect) -> float | None:
    """Return when a segment began whose writer runs; None where it is an import, or of another host."""
    if began is None:  # its first record is being written, or was torn
        return 0.0
    return _seconds(began.ts) if began.imported_from is None and began.host == dialect else None
