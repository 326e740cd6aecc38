"""Fold the ledger's records of one session into its calls, in the order in which they opened."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pi_intent.contract.rows import target_argument
from pi_intent.ledger.entries import CallEntry, DoneEntry, Entry
from pi_intent.types import JSONObject


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptCall:
    """One call as the ledger tells it; `done` is absent while it is open."""

    call: CallEntry
    done: DoneEntry | None = None

    @property
    def target(self) -> str:
        """What the call is aimed at: a path or a command, empty where it has neither."""
        target = target_argument(self.call.tool, self.call.args)
        return target if isinstance(target, str) else ""

    def to_json(self) -> JSONObject:
        """Return what a reader wants to know of the call, under the names that the ledger uses."""
        call, done = self.call, self.done
        return {
            "id": call.id,
            "tool": call.tool,
            "target": self.target,
            "intent": call.intent,
            "intentSource": call.intent_source,
            "rationale": call.rationale,
            "status": None if done is None else done.status,
            "ms": None if done is None else done.ms,
            "facts": None if done is None else done.facts,
            "error": None if done is None else done.error,
            "codes": [] if done is None else [*done.codes],
        }


class Transcript:
    """The calls of one session so far."""

    def __init__(self) -> None:
        self._calls: dict[str, TranscriptCall] = {}

    @property
    def calls(self) -> Sequence[TranscriptCall]:
        """Every call, the earliest first."""
        return tuple(self._calls.values())

    def apply(self, entry: Entry) -> TranscriptCall | None:
        """Take in one record and return the call it opened or settled; None for records of another kind."""
        match entry:
            case CallEntry():
                changed = TranscriptCall(call=entry)
            case DoneEntry(id=id) if id in self._calls:
                changed = replace(self._calls[id], done=entry)
            case _:
                return None
        self._calls[changed.call.id] = changed
        return changed
