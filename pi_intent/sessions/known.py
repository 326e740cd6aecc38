"""What a ledger has of one session already, so that nothing is taken in a second time."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from pi_intent.errors import LedgerError
from pi_intent.ids import ulid
from pi_intent.ledger.entries import CallEntry, DoneEntry
from pi_intent.ledger.reader import Problem, Record, Segment, read_segments
from pi_intent.sessions.values import Dialect

_TIME_CHARACTERS = 10
"""Of an id; the rest of it says which call it is."""


@dataclass(slots=True)
class Known:
    """The calls of one session that were taken in, and those that were recorded while they happened.

    `begun` has the whole id by the part that says which call it is: the time of a call can be that of its file, and
    that of a file changes. `recorded` counts calls by the agent's own id and the digest of their arguments, because
    some agents use an id again.
    """

    begun: dict[str, str] = field(default_factory=dict)
    ended: set[str] = field(default_factory=set)
    recorded: Counter[tuple[str, str | None]] = field(default_factory=Counter)

    def is_recorded(self, tool_call_id: str, args_digest: str | None) -> bool:
        """Whether such a call was recorded while it happened; each that was answers once."""
        key = (tool_call_id, args_digest)
        if args_digest is None or not self.recorded[key]:
            return False
        self.recorded[key] -= 1
        return True


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
        for item in segment.read():
            match item:
                case Problem(line=None):
                    raise LedgerError(item.text)
                case Record(entry=CallEntry() as entry) if "imported" in entry.flags:
                    known.begun.setdefault(which(entry.id), entry.id)
                case Record(entry=CallEntry() as entry) if entry.host == dialect:
                    known.recorded[entry.tool_call_id, entry.args_digest] += 1
                case Record(entry=DoneEntry() as entry):
                    known.ended.add(entry.id)
                case _:
                    pass
    return known
