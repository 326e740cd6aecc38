"""Keep account of one session's calls while its file is read: which the ledger has, and which it may be about to get.

While pi-intent records a session, it may be about to record a call: an agent writes the calls of a message down at
once, and they are recorded one by one. What may still come is left to a later import. Of a session that pi-intent
recorded, a call goes in when its result comes, or at the end of the file: then it is known whether it was recorded.
"""

from __future__ import annotations

from typing import NamedTuple

from pi_intent.sessions.as_events import Begun
from pi_intent.sessions.known import Known, known_of, which
from pi_intent.sessions.report import Counts
from pi_intent.sessions.session_writer import SessionWriter, Target
from pi_intent.sessions.values import Dialect, FoundResult

_JUST_NOW = 5.0
"""Seconds in which a session that pi-intent begins to record has its segment: git is asked where it lies."""


class _Call(NamedTuple):
    """A call that has no end yet in the ledger; `record` is None where its beginning stands there.

    `ended` is when its result came, where the result is not taken in now.
    """

    begun: Begun
    record: str | None
    ended: float | None = None


class SessionCalls:
    """The calls of one session in one file.

    `ids` are their ids in the ledger, by their keys; `known` is what the ledger had of the session before. `waiting`
    are results that came before their call.
    """

    def __init__(self, session: str, dialect: Dialect, target: Target, writer: SessionWriter, counts: Counts) -> None:
        self.id = session
        self.writer = writer
        self.ids: dict[str, str] = {}
        self.waiting: dict[str, FoundResult] = {}
        self._dialect: Dialect = dialect
        self._target = target
        self._counts = counts
        self._open: dict[str, _Call] = {}
        self._left: list[_Call] = []
        self.known = self._read_known()

    def begin(self, key: str, begun: Begun, record: str | None) -> None:
        """Take a call that waits for its result, with its record, or None where the ledger has it from an import."""
        call = _Call(begun, record)
        if record is not None and not self.known.recorded and not self._may_be_recorded(call):
            self._write(begun, record)
            call = _Call(begun, None)
        self.ids[key] = begun.call_id
        self._open[key] = call

    def is_open(self, key: str) -> bool:
        """Whether a call waits for its result."""
        return key in self._open

    def id_of(self, key: str) -> str | None:
        """Return a call's id in the ledger; None where the file has not told of it."""
        call = self._open.get(key)
        recorded = None
        if call is not None and call.record is not None:
            recorded = self.known.recorded_as(call.record, None)
        return recorded or self.ids.get(key)

    def end(self, key: str, ended: float | None) -> Begun | None:
        """Take note that a call that was open ended; return its beginning where its end is to be written."""
        call = self._open.pop(key)._replace(ended=ended)
        if call.record is not None:
            recorded = self._recorded_as(call.record, ended)
            if recorded is not None:
                self.ids[key] = recorded
                # While its recorder lives, the end is that one's to write; one that was killed writes none any more.
                is_told = recorded in self.known.ended or self.known.live_since is not None
                return None if is_told else call.begun._replace(call_id=recorded)
            if self._may_be_recorded(call):
                self._left.append(call)
                return None
            self._write(call.begun, call.record)
        return None if call.begun.call_id in self.known.ended else call.begun

    def take_open(self) -> None:
        """Take the calls without a result, after another look at what was recorded while the file was read."""
        calls = [*self._left, *(call for call in self._open.values() if call.record is not None)]
        if not calls:
            return
        answered = self.known.answered
        self.known = self._read_known()
        self.known.answered = answered
        for call in sorted(calls, key=lambda call: call.begun.seq):
            if call.record is None or self._recorded_as(call.record, call.ended) is not None:
                continue
            if call.ended is not None or self._may_be_recorded(call):
                self._counts.still_running += 1
            else:
                self._write(call.begun, call.record)

    def _read_known(self) -> Known:
        return known_of(self._target.location.root, self._target.segment_name(self.id), self._dialect)

    def _recorded_as(self, record: str, ended: float | None) -> str | None:
        recorded = self.known.recorded_as(record, ended)
        if recorded is not None:
            self.known.answered.add(recorded)
            self._counts.recorded += 1
        return recorded

    def _may_be_recorded(self, call: _Call) -> bool:
        """Whether pi-intent may be about to record a call: not one that ended before it began to record."""
        since = self.known.live_since
        if since is not None:
            return call.ended is None or call.ended >= since
        began = call.begun.ts
        return call.ended is None and began is not None and 0 <= self._target.clock() - began < _JUST_NOW

    def _write(self, begun: Begun, record: str) -> None:
        self.writer.append(record)
        self._counts.new_calls += 1
        self._target.planned.add(which(begun.call_id))
