"""Follow which calls have only one of their two records, in bounded memory."""

from __future__ import annotations

import hashlib

from pi_intent.ledger.entries import CallEntry, DoneEntry, Entry

FOLLOWED = 65_536
"""Calls with one record that are remembered at a time; an honest ledger has tens."""

_PLAIN_ID = 64


class OpenCalls:
    """The calls of which only the beginning, or only the end, was met so far; their order does not matter."""

    def __init__(self) -> None:
        self.begun: set[str] = set()
        self.ended: set[str] = set()
        self.not_followed = 0
        """Calls that came when there were too many to remember."""

    def take(self, entry: Entry) -> None:
        """Take note of a record."""
        match entry:
            case CallEntry():
                self._join(entry.id, self.ended, self.begun)
            case DoneEntry():
                self._join(entry.id, self.begun, self.ended)
            case _:
                pass

    def add(self, other: OpenCalls) -> None:
        """Take note of what another part of the ledger left over."""
        for call in other.begun:
            self._join(call, self.ended, self.begun)
        for call in other.ended:
            self._join(call, self.begun, self.ended)
        self.not_followed += other.not_followed

    def _join(self, call: str, others: set[str], mine: set[str]) -> None:
        # What was written by others can have any length.
        key = call if len(call) <= _PLAIN_ID else hashlib.sha256(call.encode("utf-8", "surrogatepass")).hexdigest()
        if key in others:
            others.remove(key)
        elif len(mine) < FOLLOWED:
            mine.add(key)
        elif key not in mine:
            self.not_followed += 1
