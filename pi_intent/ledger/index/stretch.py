"""A stretch of the calls in the order in which they began: from one call on, before another, of one session."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

type Key = tuple[str, int, str]
"""What calls are ordered by: when they began, their number in the session, and their id."""

_KEY = "(call.ts, call.seq, call.id)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """Which part of the calls is meant: from the call with the key `start` on, before `stop`, of one `session`."""

    start: Key | None = None
    stop: Key | None = None
    session: str | None = None

    def conditions(self, *, after: Key | None = None) -> tuple[list[str], list[str | int]]:
        """Return it as conditions on the rows of calls, with their values; `after` leaves out what came before."""
        said: list[str] = []
        values: list[str | int] = []
        for condition, key in self._bounds(after):
            said.append(condition)
            values += key
        if self.session is not None:
            said.append("call.session = ?")
            values.append(self.session)
        return said, values

    def _bounds(self, after: Key | None) -> Iterator[tuple[str, Key]]:
        for sign, key in ((">=", self.start), (">", after), ("<", self.stop)):
            if key is not None:
                yield f"{_KEY} {sign} (?, ?, ?)", key
