"""Join the records of each call, and say honestly where its beginning or its end is missing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Literal, Protocol

from pi_intent.ledger.entries import CallEntry, DecisionEntry, DoneEntry, OtherEntry, SessionEntry, repeated
from pi_intent.ledger.naming import writer_of
from pi_intent.ledger.reader import Problem, Record, Segment, read_segments

CallState = Literal["running", "open", "settled"]
"""`running`: begun, and its writer lives · `open`: begun, and the process ended under it · `settled`: it ended."""


UNKNOWN = ""
"""The session of a call whose beginning is missing, in a segment that does not say whose it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerCall:
    """One call of the ledger. `call` is None where only its end was found, `done` where only its beginning was.

    `session` is what its beginning says, or else the segment with its end; UNKNOWN where neither does.
    """

    id: str
    state: CallState
    path: Path
    session: str = UNKNOWN
    call: CallEntry | None = None
    done: DoneEntry | None = None
    decisions: tuple[DecisionEntry, ...] = ()
    """What was asked about it and decided, in the order in which that happened."""

    @property
    def ts(self) -> str:
        """When it began, or when it ended where the beginning is missing."""
        return self.call.ts if self.call is not None else self.done.ts if self.done is not None else ""


@dataclass(slots=True, kw_only=True)
class Reading:
    """What reading a ledger gave: the calls in order, the sessions, all problems, and what other kinds there were."""

    calls: list[LedgerCall] = field(default_factory=list)
    sessions: list[SessionEntry] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    others: dict[tuple[int, str], int] = field(default_factory=dict)
    """Number of records that were skipped, by version and kind."""


def calls(root: Path, *, session: str | None = None) -> list[LedgerCall]:
    """Return the calls of a ledger, of one session or of all, in the order in which they began."""
    return read_ledger(root, session=session).calls


def read_ledger(root: Path, *, session: str | None = None) -> Reading:
    """Read the segments of a ledger and join what belongs together. Never raises on what the files hold."""
    joining = Joining()
    found = [*joining.calls(read_segments(root, session=session))]
    found.sort(key=lambda call: (call.ts, 0 if call.call is None else call.call.seq, call.id))
    return Reading(calls=found, sessions=joining.sessions, problems=joining.problems, others=joining.others)


@dataclass(slots=True)
class Joining:
    """Yields the calls of a ledger without keeping them; what could not be read is collected on the way.

    The calls of one file come in the order in which they began. A call whose records stand in two files, that has no
    end, or that waits for an answer comes last. A decision counts where it stands before the end of its call, and
    after that where an answer is awaited.
    """

    sessions: list[SessionEntry] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    others: dict[tuple[int, str], int] = field(default_factory=dict)
    """Number of records that were skipped, by version and kind."""
    _decisions: dict[str, list[tuple[str, DecisionEntry]]] = field(default_factory=dict)
    _begun: set[str] = field(default_factory=set)
    _ended: set[str] = field(default_factory=set)
    _waiting: list[tuple[CallEntry, DoneEntry, Segment]] = field(default_factory=list)
    _unfinished: dict[str, tuple[CallEntry, Segment]] = field(default_factory=dict)
    _ends: dict[str, tuple[DoneEntry, Segment]] = field(default_factory=dict)

    def calls(self, found: Iterable[Segment | Problem]) -> Iterator[LedgerCall]:
        """Yield every call, settled ones while the files are read. Never raises on what they hold."""
        for segment in found:
            if isinstance(segment, Problem):
                self.problems.append(segment)
            else:
                yield from self._of_one(segment)
        for call, done, segment in self._waiting:
            yield self._settled(call, done, segment)
        for call_id, (call, segment) in self._unfinished.items():
            end = self._ends.pop(call_id, None)
            if end is not None:
                yield self._settled(call, end[0], segment)
            else:
                state: CallState = "running" if segment.running else "open"
                yield LedgerCall(
                    id=call_id,
                    state=state,
                    path=segment.path,
                    session=call.session,
                    call=call,
                    decisions=self._decided(call_id),
                )
        owners = {entry.writer: entry.session for entry in self.sessions}
        for call_id, (done, segment) in self._ends.items():
            owner = owners.get(writer_of(segment.path.name), UNKNOWN)
            yield LedgerCall(
                id=call_id,
                state="settled",
                path=segment.path,
                session=owner,
                done=done,
                decisions=self._decided(call_id),
            )

    def _of_one(self, segment: Segment) -> Iterator[LedgerCall]:
        waiting: dict[str, tuple[CallEntry, DoneEntry | None]] = {}
        for item in segment.read():
            match item:
                case Problem():
                    self.problems.append(item)
                case Record(entry=SessionEntry() as session):
                    self.sessions.append(session)
                case Record(entry=CallEntry() as call):
                    if self._is_first(self._begun, call, item):
                        waiting[call.id] = (call, None)
                case Record(entry=DoneEntry() as done):
                    if not self._is_first(self._ended, done, item):
                        continue
                    if done.id in waiting:
                        waiting[done.id] = (waiting[done.id][0], done)
                    else:
                        self._ends[done.id] = (done, segment)
                case Record(entry=DecisionEntry() as decision):
                    self._decisions.setdefault(decision.id, []).append((segment.path.name, decision))
                case Record(entry=OtherEntry() as entry):
                    self.others[entry.v, entry.t] = self.others.get((entry.v, entry.t), 0) + 1
            while waiting and (first := next(iter(waiting.values())))[1] is not None:
                del waiting[first[0].id]
                yield from self._ended_in(segment, first[0], first[1])
        for call, end in waiting.values():
            if end is None:
                self._unfinished[call.id] = (call, segment)
            else:
                yield from self._ended_in(segment, call, end)

    def _ended_in(self, segment: Segment, call: CallEntry, done: DoneEntry) -> Iterator[LedgerCall]:
        decisions = self._decisions.get(call.id)
        if decisions and decisions[-1][1].approved is None:  # the answer may stand after the end of the call
            self._waiting.append((call, done, segment))
        else:
            yield self._settled(call, done, segment)

    def _decided(self, call_id: str) -> tuple[DecisionEntry, ...]:
        return in_order(self._decisions.pop(call_id, ()))

    def _is_first(self, known: set[str], entry: CallEntry | DoneEntry, record: Record) -> bool:
        """Whether a record is the first of its kind for its call; nothing in a ledger is replaced later."""
        if entry.id in known:
            text = f"{record.path.name}, line {record.line}, {repeated(entry)}"
            self.problems.append(Problem(path=record.path, line=record.line, text=text))
            return False
        known.add(entry.id)
        return True

    def _settled(self, call: CallEntry, done: DoneEntry, segment: Segment) -> LedgerCall:
        return LedgerCall(
            id=call.id,
            state="settled",
            path=segment.path,
            session=call.session,
            call=call,
            done=done,
            decisions=self._decided(call.id),
        )


class _Dated(Protocol):
    @property
    def ts(self) -> str: ...


def in_order[T: _Dated](found: Iterable[tuple[str, T]]) -> tuple[T, ...]:
    """Return what was decided of a call in the order in which that happened.

    Given are the records in the order in which they stand in the ledger, each with the name of its file. Within a
    file that is the order, whatever the clock said; between files there is only the time.
    """
    named = list(found)
    if any(one != other for (one, _), (other, _) in pairwise(named)):
        named.sort(key=lambda item: item[1].ts)
    return tuple(entry for _, entry in named)
