"""Join the two records of each call, and say honestly where one of them is missing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from pi_intent.ledger.entries import CallEntry, DoneEntry, OtherEntry, SessionEntry
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
    reading = Reading()
    begun: dict[str, tuple[CallEntry, Segment]] = {}
    ended: dict[str, tuple[DoneEntry, Segment]] = {}
    for segment, item in _items(read_segments(root, session=session)):
        match item:
            case Problem():
                reading.problems.append(item)
            case Record(entry=SessionEntry() as entry):
                reading.sessions.append(entry)
            case Record(entry=CallEntry() as entry):
                _once(begun, entry, segment, item, reading)
            case Record(entry=DoneEntry() as entry):
                _once(ended, entry, segment, item, reading)
            case Record(entry=OtherEntry() as entry):
                reading.others[entry.v, entry.t] = reading.others.get((entry.v, entry.t), 0) + 1
    for call_id, (call, segment) in begun.items():
        done = ended.pop(call_id, None)
        state: CallState = "settled" if done is not None else "running" if segment.running else "open"
        reading.calls.append(
            LedgerCall(
                id=call_id,
                state=state,
                path=segment.path,
                session=call.session,
                call=call,
                done=None if done is None else done[0],
            )
        )
    owners = {entry.writer: entry.session for entry in reading.sessions}
    for call_id, (end, segment) in ended.items():
        owner = owners.get(segment.path.stem.rpartition(".")[2], UNKNOWN)
        reading.calls.append(LedgerCall(id=call_id, state="settled", path=segment.path, session=owner, done=end))
    reading.calls.sort(key=lambda call: (call.ts, 0 if call.call is None else call.call.seq, call.id))
    return reading


def _items(found: Iterable[Segment | Problem]) -> Iterator[tuple[Segment, Record | Problem]]:
    for segment in found:
        if isinstance(segment, Problem):
            yield Segment(path=segment.path, running=False), segment
        else:
            for item in segment.read():
                yield segment, item


def _once[E: (CallEntry, DoneEntry)](
    known: dict[str, tuple[E, Segment]], entry: E, segment: Segment, record: Record, reading: Reading
) -> None:
    """Keep the first record of a call: nothing in a ledger is replaced by what comes later."""
    if entry.id in known:
        text = f"{record.path.name}, line {record.line}, is another {entry.t} record of {entry.id} and was skipped"
        reading.problems.append(Problem(path=record.path, line=record.line, text=text))
    else:
        known[entry.id] = (entry, segment)
