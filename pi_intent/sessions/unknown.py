"""Count the records of a session file that are of no known kind: one sentence a kind, not one a line."""

from __future__ import annotations

from collections.abc import Iterator

from pi_intent.labels.printable import printable
from pi_intent.sessions.values import Unread

MOST_KINDS = 32
"""Kinds that are told apart; whatever comes after them is told as one."""


class UnknownKinds:
    """What a reader met and knows nothing of."""

    def __init__(self) -> None:
        self._met: dict[str, tuple[int, int]] = {}

    def add(self, line: int, kind: object) -> None:
        """Take note of a record that stands on a line."""
        named = f"“{printable(kind, width=40)}”" if isinstance(kind, str) and kind else "no name"
        if named not in self._met and len(self._met) >= MOST_KINDS:
            named = "other names"
        first, count = self._met.get(named, (line, 0))
        self._met[named] = first, count + 1

    def told(self) -> Iterator[Unread]:
        """Yield a sentence for each kind, with the line on which it stood first."""
        for named, (line, count) in self._met.items():
            what, where = ("record", "on") if count == 1 else ("records", "the first on")
            yield Unread(line=line, text=f"{count} {what} of an unknown kind ({named}), {where} line {line}")
