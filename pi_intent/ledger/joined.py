"""Join the two records of each call while the files are read, and let go of a call as soon as it is told."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from pi_intent.ledger.calls import CallState, LedgerCall
from pi_intent.ledger.entries import CallEntry, DoneEntry, OtherEntry
from pi_intent.ledger.reader import Problem, Record, Segment


@dataclass(slots=True)
class Joining:
    """Yields the calls of a ledger without keeping them; what could not be read is collected on the way.

    The calls of one file come in the order in which they began. A call whose records stand in two files, or that has
    no end, comes last.
    """

    problems: list[Problem] = field(default_factory=list)
    others: dict[tuple[int, str], int] = field(default_factory=dict)
    """Number of records that were skipped, by version and kind."""
    _begun: set[str] = field(default_factory=set)
    _ended: set[str] = field(default_factory=set)
    _unfinished: dict[str, tuple[CallEntry, Segment]] = field(default_factory=dict)
    _ends: dict[str, tuple[DoneEntry, Segment]] = field(default_factory=dict)

    def calls(self, found: Iterable[Segment | Problem]) -> Iterator[LedgerCall]:
        """Yield every call, settled ones while the files are read. Never raises on what they hold."""
        for segment in found:
            if isinstance(segment, Problem):
                self.problems.append(segment)
            else:
                yield from self._of_one(segment)
        for call_id, (call, segment) in self._unfinished.items():
            end = self._ends.pop(call_id, None)
            if end is not None:
                yield _settled(call, end[0], segment)
            else:
                state: CallState = "running" if segment.running else "open"
                yield LedgerCall(id=call_id, state=state, path=segment.path, call=call)
        for call_id, (done, segment) in self._ends.items():
            yield LedgerCall(id=call_id, state="settled", path=segment.path, done=done)

    def _of_one(self, segment: Segment) -> Iterator[LedgerCall]:
        waiting: dict[str, tuple[CallEntry, DoneEntry | None]] = {}
        for item in segment.read():
            match item:
                case Problem():
                    self.problems.append(item)
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
                case Record(entry=OtherEntry() as entry):
                    self.others[entry.v, entry.t] = self.others.get((entry.v, entry.t), 0) + 1
            while waiting and (first := next(iter(waiting.values())))[1] is not None:
                del waiting[first[0].id]
                yield _settled(first[0], first[1], segment)
        for call, end in waiting.values():
            if end is None:
                self._unfinished[call.id] = (call, segment)
            else:
                yield _settled(call, end, segment)

    def _is_first(self, known: set[str], entry: CallEntry | DoneEntry, record: Record) -> bool:
        """Whether a record is the first of its kind for its call; nothing in a ledger is replaced later."""
        if entry.id in known:
            text = (
                f"{record.path.name}, line {record.line}, is another {entry.t} record of {entry.id} and was skipped"
            )
            self.problems.append(Problem(path=record.path, line=record.line, text=text))
            return False
        known.add(entry.id)
        return True


def _settled(call: CallEntry, done: DoneEntry, segment: Segment) -> LedgerCall:
    return LedgerCall(id=call.id, state="settled", path=segment.path, call=call, done=done)
