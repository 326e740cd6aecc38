"""The note on what follows: the words say test or run, and neither this call nor a later one does."""

from __future__ import annotations

from typing import Literal

from pi_intent.notes.actions import Action
from pi_intent.notes.note import Note, quoted
from pi_intent.notes.own_doing import is_own_doing
from pi_intent.notes.words import Words

Promise = Literal["test", "run"]
"""What an intent says will be done, where that can be checked."""

_TESTING = frozenset({"test", "tests", "testsuite", "suite", "spec", "specs", "lint", "benchmark", "check"})


def promised(words: Words, action: Action) -> Promise | None:
    """Return what an intent says will be done: `test`, `run`, or nothing that could be checked."""
    if not words.known or words.leaning != "test" or words.lead is None:
        return None
    if action.kind in ("write", "edit") and not is_own_doing(words, action):
        return None  # what the program shall run, or a test that is being written
    if words.verb == "test" or not _TESTING.isdisjoint(words.bases[words.lead + 1 :]):
        return "test"
    return "run"


def keeps(promise: Promise, action: Action) -> bool:
    """Say whether a call does something of the kind that was promised, or may do it."""
    if action.hidden or action.kind in ("other", "fetch"):
        return True
    if action.kind != "run":
        return False
    return promise == "run" or action.effects.tests or action.effects.runs


def note_unfulfilled(intent: str, promise: Promise) -> Note:
    """Return the note on a promise that nothing kept."""
    what = "tests anything" if promise == "test" else "runs anything"
    return Note("unfulfilled", f"{quoted(intent)} says so, but neither this call nor a later one {what}")
