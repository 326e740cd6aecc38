"""Leave out of a command the files that it only makes for itself: `rg x > found && cat found` changes nothing."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pi_intent.notes.commands import Simple
from pi_intent.notes.programs import HARMLESS
from pi_intent.notes.words import is_known_name

_PLAIN = re.compile(r"[a-z0-9_-]+(?:\.(?:txt|out|log|tmp|lst|list|diff))?")
_KEPT = re.compile(r"requirements|constraints|cmakelists|robots|humans|llms|version|changes|authors|todo|notes")
_REMOVERS = frozenset({"rm", "unlink"})


def without_scratch(simples: Sequence[Simple]) -> Sequence[Simple]:
    """Return simple commands without what concerns such a file: that it is written, and that it is removed again.

    It has a plain name and stands where the command runs, and a later part of the same command, which only shows
    things, reads it.
    """
    if not any(simple.writes for simple in simples):
        return simples
    made: set[str] = set()
    kept: list[Simple] = []
    for place, simple in enumerate(simples):
        own = {name for name in simple.writes if _is_scratch(name) and _is_read(name, simples[place + 1 :])}
        made |= own
        targets = [word for word in simple.words[1:] if not word.startswith("-")]
        if simple.program in _REMOVERS and targets and made.issuperset(targets):
            continue
        kept.append(simple._replace(writes=tuple(name for name in simple.writes if name not in own)))
    return kept


def _is_scratch(name: str) -> bool:
    return _PLAIN.fullmatch(name) is not None and not is_known_name(name) and _KEPT.match(name) is None


def _is_read(name: str, later: Sequence[Simple]) -> bool:
    return any(
        simple.program in HARMLESS and simple.program != "git" and name in (*simple.reads, *simple.words[1:])
        for simple in later
    )
