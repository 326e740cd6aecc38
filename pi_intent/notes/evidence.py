"""The note on evidence: the rationale points at a file that no earlier call could have shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from pi_intent.notes.actions import Action
from pi_intent.notes.drift import touches
from pi_intent.notes.note import Note, quoted
from pi_intent.notes.words import Mention, files_in, words_of
from pi_intent.past import PastCall
from pi_intent.word_sets import word_set

Exists = Callable[[str], bool]
"""Says whether a path exists, from the working directory of the session."""

_FROM_ELSEWHERE = word_set(
    """
    user user's users you you're your asked ask asks request requested requests prompt issue issues ticket
    task brief told instruction instructions instructed spec specification convention conventions memory
    documentation documented usually typically standard should new create will agents.md claude.md according
    plan planned previous earlier session
    """
)
_MOST_NAMES = 50_000


@dataclass(slots=True)
class Seen:
    """What the calls of one session can have shown: files by name, and how much beyond those."""

    named: set[str] = field(default_factory=set)
    any_name: bool = False
    any_line: bool = False

    def add(self, call: PastCall, action: Action) -> None:
        """Remember a call that is over."""
        if call.status in ("rejected", "denied"):
            return
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
        """Return the note on the rationale of a call that comes next."""
        if call.rationale is None:
            return None
        for mention in files_in(call.rationale[:4096]):
            if mention.name in self.named or _goes_there(action, mention):
                continue
            path = mention.text.partition(":")[0].partition("#")[0]
            if exists is not None and "/" in path and not exists(path):
                why = "does not exist"
            elif self.any_line or (self.any_name and not mention.line):
                continue
            else:
                why = "no earlier call of the session read, wrote, searched or named"
            words = words_of(call.rationale[:4096])
            if not words.known or not _FROM_ELSEWHERE.isdisjoint(words.all):
                return None
            return Note("unseen-evidence", f"the rationale points at {quoted(mention.text)}, which {why}")
        return None


def _goes_there(action: Action, mention: Mention) -> bool:
    """Say whether the call is about to see for itself; who changes a file at a line must have seen that line."""
    return touches(action, mention.name) and (not mention.line or action.kind in ("read", "search", "run", "fetch"))
