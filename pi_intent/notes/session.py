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

_COPIED = Note("copied", "the intent is a text of pi-intent's or of the user's, word for word")


class SessionNotes:
    """The notes on one session as it goes, call by call.

    Each call takes the same time however long the session is. Nothing is done, and nothing is asked, but `exists`.
    """

    def __init__(self, *, exists: Exists | None = None) -> None:
        self._exists = exists
        self._repeats = Repeats()
        self._seen = Seen()
        self._pending: dict[Promise, list[tuple[str, str]]] = {"test": [], "try": [], "run": []}

    def take(self, call: PastCall) -> tuple[Note, ...]:
        """Return the notes on the next call but for those that its session must end for, and remember it."""
        action, words, key = action_of(call), _words(call), key_of(call)
        found: list[Note | None] = [self._seen.note(call, action, self._exists)]
        if words is not None:
            found += [
                note_drift(call, words, action),
                self._repeats.note(call, action, key),
                _COPIED if "copied" in call.flags else None,
                note_echo(words, action),
                note_vague(words),
            ]
        self._repeats.add(call, action, key)
        self._seen.add(call, action)
        if call.status not in ("rejected", "denied", "cancelled"):
            self._hold(call, words, action)
        return in_order([note for note in found if note is not None])

    def _hold(self, call: PastCall, words: Words | None, action: Action) -> None:
        """Remember what a call promises, and forget what it keeps."""
        promise = None if words is None else promised(words, action)
        if promise is not None:
            self._pending[promise].append((call.id, (call.intent or "")[:_MOST]))
        for kind, waiting in self._pending.items():
            if waiting and keeps(kind, action):
                waiting.clear()

    def waits_for(self, call_id: str) -> bool:
        """Say whether the call that was taken last may yet get a note when the session ends."""
        return self._seen.waits_for(call_id) or any(
            waiting and waiting[-1][0] == call_id for waiting in self._pending.values()
        )

    def at_the_end(self) -> dict[str, tuple[Note, ...]]:
        """Return the notes that only the end of the session tells, by call, were it to end here.

        They are on what was promised and not kept, and on files that are not there and that no call touched.
        """
        found: dict[str, tuple[Note, ...]] = {key: (note,) for key, note in self._seen.never_touched().items()}
        for kind, waiting in self._pending.items():
            for key, intent in waiting:
                found[key] = (*found.get(key, ()), note_unfulfilled(intent, kind))
        return found


def notes_of(calls: Iterable[PastCall], *, exists: Exists | None = None) -> dict[str, tuple[Note, ...]]:
    """Return the notes on the calls of one session, given in their order, by the id of the call.

    A call without a note is left out. Only an intent that a model stated is looked at. `exists` is asked only for
    files that a rationale names.
    """
    session = SessionNotes(exists=exists)
    found = {call.id: notes for call in calls if (notes := session.take(call))}
    for key, notes in session.at_the_end().items():
        found[key] = in_order((*found.get(key, ()), *notes))
    return found


def in_order(notes: Sequence[Note]) -> tuple[Note, ...]:
    """Return notes with the gravest first."""
    return tuple(notes if len(notes) < 2 else sorted(notes, key=lambda note: KINDS.index(note.kind)))


def _words(call: PastCall) -> Words | None:
    if call.intent is None or call.intent_source != "model":
        return None
    return words_of(call.intent[:_MOST])
