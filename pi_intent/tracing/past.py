"""Make spans of calls that are over, out of the ledger: the same ones each time."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import NamedTuple

from pi_intent.ledger.calls import LedgerCall
from pi_intent.ledger.entries import CallEntry, DoneEntry
from pi_intent.redaction import Redactor
from pi_intent.tracing.attributes import (
    Attributes,
    Begun,
    Ended,
    begun_attributes,
    ended_attributes,
    error_type,
    session_attributes,
    session_span_name,
    span_name,
    trace_attributes,
    withholds,
)
from pi_intent.tracing.early import Early, parent_of
from pi_intent.tracing.ids import call_span_id, session_span_id, trace_id

_LATEST = 2**63 - 1
"""Nanoseconds since 1970: the year 2262. What is later than that is no time of a call."""
_A_MILLISECOND = 1_000_000
_NO_PARENT = 0


class PastSpan(NamedTuple):
    """One span, whole. Times are nanoseconds since 1970; `parent_id` is 0 for the first of its trace.

    `failed` says that the span's status is an error, `message` why, where that may be told.
    """

    name: str
    trace_id: int
    span_id: int
    parent_id: int
    start: int
    end: int
    attributes: Attributes
    failed: bool = False
    message: str | None = None


@dataclass(slots=True)
class _Session:
    """What is known of a session's own span, which lasts from its first call to the end of its last."""

    host: str
    start: int
    end: int
    is_wanted: bool = False


@dataclass(slots=True)
class PastSpans:
    """Makes spans, and counts on the way. `content`: texts may be told; `redactor` takes out what is secret now."""

    content: bool
    redactor: Redactor
    calls: int = 0
    running: int = 0
    undated: int = 0
    """Calls without a time that can be read, and calls of which only the end is there."""
    withheld: int = 0
    _sessions: dict[str, _Session] = field(default_factory=dict)
    _traces: dict[str, int] = field(default_factory=dict)
    """The trace of every call seen so far: a call that another one's tool made belongs to that one's."""

    @property
    def sessions(self) -> int:
        """Number of sessions whose calls were told."""
        return sum(session.is_wanted for session in self._sessions.values())

    def of(self, calls: Iterable[LedgerCall], wanted: Callable[[LedgerCall], bool]) -> Iterator[PastSpan]:
        """Yield the spans of the calls that are wanted, and at the end those of their sessions.

        It must be given all the calls of a ledger: what a call belongs to is the same whatever is wanted.
        """
        early = Early()
        for call in calls:
            parent = parent_of(call)
            ready = [call] if parent is None or parent in self._traces else early.add(parent, call)
            for one in ready:
                yield from self._with_children(one, early, wanted)
        for call in early.left():
            yield from self._with_children(call, early, wanted)
        for name, session in self._sessions.items():
            if session.is_wanted:
                yield self._of_session(name, session)

    def _with_children(
        self, first: LedgerCall, early: Early, wanted: Callable[[LedgerCall], bool]
    ) -> Iterator[PastSpan]:
        """Yield the span of a call, and of the calls that have waited for it."""
        ready = deque([first])
        while ready:
            call = ready.popleft()
            yield from self._of_one(call, wanted)
            ready += early.children(call.id)

    def _of_one(self, past: LedgerCall, wanted: Callable[[LedgerCall], bool]) -> Iterator[PastSpan]:
        call, done = past.call, past.done
        times = None if call is None else _times(call, done)
        if call is None or times is None:
            self.undated += wanted(past)
            return
        begun = self._begun(call)
        trace = self._traces.get(call.parent or "")
        parent = session_span_id(begun.session) if trace is None else call_span_id(call.parent or "")
        own = trace is None
        self._traces[past.id] = trace = trace_id(begun.session) if trace is None else trace
        if past.state == "running":
            self.running += wanted(past)
            return
        if own:
            self._widen(begun, times, wanted(past))
        if not wanted(past):
            return
        content = self.content and not withholds(begun)
        ended = self._ended(done)
        attributes = begun_attributes(begun, content=content) | ended_attributes(ended, content=content)
        if own:
            attributes |= trace_attributes(begun.host)
        self.calls += 1
        self.withheld += withholds(begun)
        failed = error_type(ended) is not None
        message = (ended.error or ended.facts) if failed and content else None
        span_id = call_span_id(past.id)
        yield PastSpan(span_name(begun.tool), trace, span_id, parent, *times, attributes, failed, message)

    def _widen(self, begun: Begun, times: tuple[int, int], is_wanted: bool) -> None:
        session = self._sessions.setdefault(begun.session, _Session(begun.host, *times))
        session.start = min(session.start, times[0])
        session.end = max(session.end, times[1])
        session.is_wanted = session.is_wanted or is_wanted

    def _of_session(self, name: str, session: _Session) -> PastSpan:
        return PastSpan(
            session_span_name(session.host),
            trace_id(name),
            session_span_id(name),
            _NO_PARENT,
            session.start,
            session.end,
            session_attributes(name, session.host),
        )

    def _begun(self, call: CallEntry) -> Begun:
        """Return what is told of a call's beginning, redacted once more: the ledger may be older than a secret."""
        safe = self.redactor.text
        args = self.redactor.value(call.args)
        return Begun(
            id=call.id,
            tool_call_id=safe(call.tool_call_id),
            session=safe(call.session),
            host=safe(call.host),
            agent=safe(call.agent),
            group=safe(call.group),
            seq=call.seq,
            tool=safe(call.tool),
            tool_source=self._text(call.tool_source),
            parent=self._text(call.parent),
            intent=self._text(call.intent),
            intent_source=call.intent_source,
            rationale=self._text(call.rationale),
            args=args if isinstance(args, dict) else {},
            model=self._text(call.model),
            flags=tuple(map(safe, call.flags)),
            policy=call.policy,
            profile=call.profile,
            turn=call.turn,
            head=self._text(call.head),
        )

    def _ended(self, done: DoneEntry | None) -> Ended:
        if done is None:
            return Ended(status="open")
        return Ended(
            status=done.status,
            ms=done.ms,
            codes=tuple(map(self.redactor.text, done.codes)),
            outcome=self._text(done.outcome),
            facts=self._text(done.facts),
            files=tuple(self.redactor.text(file.path) for file in done.files),
            error=self._text(done.error),
            bytes_in=done.bytes_in,
            bytes_out=done.bytes_out,
        )

    def _text(self, text: str | None) -> str | None:
        return None if text is None else self.redactor.text(text)


def _times(call: CallEntry, done: DoneEntry | None) -> tuple[int, int] | None:
    """Return when a call began and ended; its own clock measured how long it took, whatever the wall's did."""
    try:
        began = datetime.fromisoformat(call.ts)
    except ValueError:
        return None
    if began.tzinfo is None:
        began = began.replace(tzinfo=UTC)
    start = round(began.timestamp() * 1000) * _A_MILLISECOND
    if not 0 <= start <= _LATEST:
        return None
    took = 0 if done is None else max(0, done.ms) * _A_MILLISECOND
    return start, min(start + took, _LATEST)
