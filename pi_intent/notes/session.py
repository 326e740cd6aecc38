"""Take notes on the calls of one session, in their order; what came before a call is folded into small values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pi_intent.notes.actions import Action, action_of
from pi_intent.notes.drift import note_drift
from pi_intent.notes.evidence import Exists, Seen
from pi_intent.notes.following import Promise, keeps, note_unfulfilled, promised
from pi_intent.notes.note import KINDS, Note
from pi_intent.notes.repeats import Repeats, key_of
from pi_intent.notes.wording import note_echo, note_vague
from pi_intent.notes.words import Words, words_of
from pi_intent.past import PastCall

_MOST = 8192  # characters of an intent that are looked at: twice what the ledger keeps


class SessionNotes:
    """The notes on one session as it goes: `on` a call that is about to run, `add` once it is over, or `take` both.

    Each takes the same time however long the session is. Nothing is done, and nothing is asked, but `exists`.
    """

    def __init__(self, *, exists: Exists | None = None) -> None:
        self._exists = exists
        self._repeats = Repeats()
        self._seen = Seen()
        self._pending: dict[Promise, list[tuple[str, Note]]] = {"test": [], "run": []}

    def on(self, call: PastCall) -> tuple[Note, ...]:
        """Return the notes on the next call; `unfulfilled` is not among them."""
        return self._on(call, action_of(call), _words(call), key_of(call))

    def add(self, call: PastCall) -> None:
        """Remember a call that is over, or that runs."""
        self._add(call, action_of(call), key_of(call))

    def take(self, call: PastCall) -> tuple[Note, ...]:
        """Return the notes on a call that is over, and remember it and what it promises."""
        action, words, key = action_of(call), _words(call), key_of(call)
        notes = self._on(call, action, words, key)
        self._add(call, action, key)
        if call.status not in ("rejected", "denied", "cancelled"):
            promise = None if words is None else promised(words, action)
            if promise is not None:
                self._pending[promise].append((call.id, note_unfulfilled(call.intent or "", promise)))
            for kind, waiting in self._pending.items():
                if waiting and keeps(kind, action):
                    waiting.clear()
        return notes

    def waits_for(self, call_id: str) -> bool:
        """Say whether the call that was taken last says that something follows, which has not yet."""
        return any(waiting and waiting[-1][0] == call_id for waiting in self._pending.values())

    def unfulfilled(self) -> dict[str, Note]:
        """Return the notes on what was promised by the calls that were taken and not kept so far, by call."""
        return {key: note for waiting in self._pending.values() for key, note in waiting}

    def _on(self, call: PastCall, action: Action, words: Words | None, key: bytes) -> tuple[Note, ...]:
        found: list[Note | None] = [self._seen.note(call, action, self._exists)]
        if words is not None:
            copied = Note("copied", "the intent is a text of pi-intent's or of the user's, word for word")
            found += [
                note_drift(call, words, action),
                self._repeats.note(call, action, key),
                copied if "copied" in call.flags else None,
                note_echo(words, action),
                note_vague(words),
            ]
        return in_order(note for note in found if note is not None)

    def _add(self, call: PastCall, action: Action, key: bytes) -> None:
        self._repeats.add(call, action, key)
        self._seen.add(call, action)


def notes_of(calls: Iterable[PastCall], *, exists: Exists | None = None) -> dict[str, tuple[Note, ...]]:
    """Return the notes on the calls of one session, given in their order, by the id of the call.

    A call without a note is left out. Only an intent that a model stated is looked at. `exists` says whether a path
    exists, asked only for files that a rationale names.
    """
    session = SessionNotes(exists=exists)
    found = {call.id: notes for call in calls if (notes := session.take(call))}
    for key, note in session.unfulfilled().items():
        found[key] = in_order((*found.get(key, ()), note))
    return found


def notes_on(call: PastCall, history: Sequence[PastCall], *, exists: Exists | None = None) -> tuple[Note, ...]:
    """Return the notes on a call that is about to run, after the earlier calls of its session, in their order."""
    session = SessionNotes(exists=exists)
    for earlier in history:
        session.add(earlier)
    return session.on(call)


def in_order(notes: Iterable[Note]) -> tuple[Note, ...]:
    """Return notes with the gravest first."""
    return tuple(sorted(notes, key=lambda note: KINDS.index(note.kind)))


def _words(call: PastCall) -> Words | None:
    if call.intent is None or call.intent_source != "model":
        return None
    return words_of(call.intent[:_MOST])
