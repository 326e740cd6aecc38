"""The note on evidence: the rationale points at a file that no earlier call could have shown."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from pi_intent.notes.actions import Action
from pi_intent.notes.drift import touches
from pi_intent.notes.note import Note, quoted
from pi_intent.notes.words import Mention, Words, files_in, words_of
from pi_intent.past import PastCall
from pi_intent.word_sets import word_set

Exists = Callable[[str], bool]
"""Says whether a path exists, from the working directory of the session; also where that cannot be told."""

_FROM_ELSEWHERE = word_set(
    """
    user user's users you you're your asked ask asks request requested requests prompt issue issues ticket
    task brief told instruction instructions instructed spec specification convention conventions memory
    documentation documented usually typically standard should new create will agents.md claude.md according
    plan planned previous earlier session
    """
)
_ABSENT = word_set(
    """
    absent add added adds deleted doesn't exist exists gone had lacks lost missing moved no none nonexistent removed
    renamed was were without yet
    """
)
"""Words of somebody who knows that a file is not there."""

_CHANGES_TREE = re.compile(
    r"\bgit\b[^|;&]*\b(?:am|apply|bisect|checkout|cherry-pick|clean|merge|mv|pull|rebase|reset|restore|revert|rm|"
    r"sparse-checkout|stash|switch|worktree)\b"
)
_MOST_NAMES = 50_000


class Gone(NamedTuple):
    """A file that a rationale names and that is not there; a later call may tell that it was."""

    call: str
    name: str
    note: Note


@dataclass(slots=True)
class Seen:
    """What the calls of one session can have shown: files by name, and how much beyond those."""

    named: set[str] = field(default_factory=set)
    gone: list[Gone] = field(default_factory=list)
    any_name: bool = False
    any_line: bool = False
    may_remove: bool = False
    """Whether a call may have removed or moved files that it does not name: then nobody knows what was there."""

    def add(self, call: PastCall, action: Action) -> None:
        """Remember a call that is over."""
        if call.status in ("rejected", "denied"):
            return
        self.may_remove |= _may_remove(action)
        if len(self.named) < _MOST_NAMES:
            for name in action.names:
                self.named |= {name, name.partition(".")[0]}  # `README` in prose is `README.md`
            for text in (call.facts, call.error, call.outcome):
                if text:
                    self.named.update(mention.name for mention in files_in(text[:4096]))
        if action.kind in ("search", "fetch", "other") or action.hidden or action.effects.shows == "lines":
            self.any_line = self.any_name = True
        elif action.effects.shows == "names":
            self.any_name = True

    def note(self, call: PastCall, action: Action, exists: Exists | None) -> Note | None:
        """Return the note on the rationale of a call that comes next, and remember files that are not there."""
        if call.rationale is None:
            return None
        words: Words | None = None
        for mention in files_in(call.rationale[:4096]):
            if mention.name in self.named or _goes_there(action, mention):
                continue
            shown = self.any_line or (self.any_name and not mention.line)
            if shown and (exists is None or not _is_gone(mention, exists)):
                continue
            words = words or words_of(call.rationale[:4096])
            if not words.known or not _FROM_ELSEWHERE.isdisjoint(words.all):
                return None
            if not shown:
                return _note(mention, "no earlier call of the session read, wrote, searched or named")
            if _ABSENT.isdisjoint(words.all):
                self.gone.append(Gone(call.id, mention.name, _note(mention, "is not there now")))
                return None
        return None

    def waits_for(self, call_id: str) -> bool:
        """Say whether the last call that named a file that is not there is this one."""
        return bool(self.gone) and self.gone[-1].call == call_id

    def never_touched(self) -> dict[str, Note]:
        """Return the notes on files that are not there and that no call of the session touched, by call."""
        if self.may_remove:
            return {}
        return {gone.call: gone.note for gone in self.gone if gone.name not in self.named}


def _may_remove(action: Action) -> bool:
    """Say whether a call may take files away that it does not name: folders, what a pattern fits, another branch."""
    if action.kind in ("write", "edit"):
        return False
    return action.changes or action.effects.runs or bool(_CHANGES_TREE.search((action.command or "")[:4096]))


def _note(mention: Mention, why: str) -> Note:
    return Note("unseen-evidence", f"the rationale points at {quoted(mention.text)}, which {why}")


def _is_gone(mention: Mention, exists: Exists) -> bool:
    path = mention.text.partition(":")[0].partition("#")[0]
    return "/" in path and not exists(path)


def _goes_there(action: Action, mention: Mention) -> bool:
    """Say whether the call is about to see for itself; who changes a file at a line must have seen that line."""
    return touches(action, mention.name) and (not mention.line or action.kind in ("read", "search", "run", "fetch"))
