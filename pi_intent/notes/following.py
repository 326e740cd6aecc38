"""The note on what follows: the words say test or run, and neither this call nor a later one does."""

from __future__ import annotations

from typing import Literal

from pi_intent.notes.actions import Action
from pi_intent.notes.note import Note, quoted
from pi_intent.notes.own_doing import is_own_doing
from pi_intent.notes.words import Words

Promise = Literal["test", "try", "run"]
"""What an intent says will be done, where that can be checked: the tests are run · something is tried out · something
is run."""

_TESTING = frozenset({"test", "tests", "testsuite", "suite", "spec", "specs", "lint", "benchmark", "check"})
_ASKED = frozenset({"if", "whether", "that", "for", "how", "what", "which"})


def promised(words: Words, action: Action) -> Promise | None:
    """Return what an intent says will be done, None for nothing that could be checked."""
    if not words.known or words.leaning != "test" or words.lead is None:
        return None
    if action.kind in ("write", "edit") and not is_own_doing(words, action):
        return None  # what the program shall run, or a test that is being written
    if not _TESTING.isdisjoint(words.bases[words.lead + 1 :]):
        return "test"
    if words.verb != "test":
        return "run"
    asks = not _ASKED.isdisjoint(words.all[words.lead + 1 : words.lead + 2])
    return None if asks else "try"  # whatever answers a question tests it: `Test if jq is there`, and `which jq`


def keeps(promise: Promise, action: Action) -> bool:
    """Say whether a call does something of the kind that was promised, or may do it."""
    if action.hidden or action.kind in ("other", "fetch"):
        return True
    if action.kind in ("write", "edit"):
        return promise == "try" and any("test" in name or "spec" in name for name in action.names)
    if action.kind != "run":
        return False
    effects = action.effects
    return promise == "run" or effects.tests or effects.runs or (promise == "try" and effects.probes)


def note_unfulfilled(intent: str, promise: Promise) -> Note:
    """Return the note on a promise that nothing kept."""
    what = "runs anything" if promise == "run" else "tests anything"
    return Note("unfulfilled", f"{quoted(intent)} says so, but neither this call nor a later one {what}")
