"""The notes on doing it again: the same words, tool and arguments as before, with nothing that would explain it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

from pi_intent.notes.actions import Action
from pi_intent.notes.note import Note, quoted, seen_of
from pi_intent.past import PastCall

IN_A_ROW = 3
"""So many of the same, one after the other, are a loop."""

_MOST_KEYS = 20_000


@dataclass(slots=True)
class Repeats:
    """What was done so far in one session. `changed` counts what may have changed something."""

    changed: int = 0
    done: dict[bytes, int] = field(default_factory=dict)
    rows: dict[str, tuple[bytes, int]] = field(default_factory=dict)
    """By agent: the last call, and how many of the same stand in a row up to it."""

    def note(self, call: PastCall, action: Action, key: bytes) -> Note | None:
        """Return the note on a call that comes next; `key` is that of `key_of`."""
        if call.intent is None or action.effects.waits:
            return None
        last, row = self.rows.get(call.agent, (b"", 0))
        if last == key and row + 1 >= IN_A_ROW:
            return Note("loop", f"{_what(call)} for the {_nth(row + 1)} time in a row, word for word")
        if self.done.get(key) == self.changed:
            return Note("duplicate", f"{_what(call)} was done before, and nothing changed since")
        return None

    def add(self, call: PastCall, action: Action, key: bytes) -> None:
        """Remember a call that is over."""
        last, row = self.rows.get(call.agent, (b"", 0))
        self.rows[call.agent] = (key, row + 1 if last == key else 1)
        if call.status in ("rejected", "denied"):
            return
        if action.changes:
            self.changed += 1
        # What failed is rightly tried again; only what went well need not be done twice.
        if call.status == "ok" and call.intent is not None:
            if len(self.done) >= _MOST_KEYS:
                self.done.clear()
            self.done[key] = self.changed


def key_of(call: PastCall) -> bytes:
    """Return what two calls have in common where one repeats the other."""
    try:
        args = repr(sorted(call.args.items()))
    except (ValueError, RecursionError):  # nested too deeply, or a number too large
        args = ""
    words = " ".join((call.intent or "").lower().split())
    whole = "\0".join((call.tool_source or "", call.tool, words, args))
    return hashlib.blake2b(whole.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _what(call: PastCall) -> str:
    return f"{quoted(call.intent or '')} with {seen_of(call.tool[:64])}"


def _nth(number: int) -> str:
    ending = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"
