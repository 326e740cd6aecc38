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
    """The notes on one session as it goes: `on` a call that is about to run, `add` once it is over.

    Both take the same time however long the session is. Nothing is done, and nothing is asked, but `exists`.
    """

    def __init__(self, *, exists: Exists | None = None) -> None:
        self._exists = exists
        self._repeats = Repeats()
        self._seen = Seen()

    def on(self, call: PastCall) -> tuple[Note, ...]:
        """Return the notes on the next call; `unfulfilled` is not among them."""
        return self._on(call, action_of(call), _words(call), key_of(call))

    def add(self, call: PastCall) -> None:
        """Remember a call that is over, or that runs."""
        self._add(call, action_of(call), key_of(call))

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


def notes_of(calls: Sequence[PastCall], *, exists: Exists | None = None) -> dict[str, tuple[Note, ...]]:
    """Return the notes on the calls of one session, given in their order, by the id of the call.

    A call without a note is left out. Only an intent that a model stated is looked at. `exists` says whether a path
    exists, asked only for files that a rationale names.
    """
    session = SessionNotes(exists=exists)
    found: dict[str, tuple[Note, ...]] = {}
    pending: dict[Promise, list[PastCall]] = {"test": [], "run": []}
    for call in calls:
        action, words, key = action_of(call), _words(call), key_of(call)
        notes = session._on(call, action, words, key)
        if notes:
            found[call.id] = notes
        session._add(call, action, key)
        if call.status in ("rejected", "denied", "cancelled"):
            continue
        promise = None if words is None else promised(words, action)
        if promise is not None:
            pending[promise].append(call)
        for kind, waiting in pending.items():
            if waiting and keeps(kind, action):
                waiting.clear()
    for kind, waiting in pending.items():
        for call in waiting:
            found[call.id] = in_order((*found.get(call.id, ()), note_unfulfilled(call, kind)))
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
