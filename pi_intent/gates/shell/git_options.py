"""The options that git takes before its subcommand."""

from __future__ import annotations

from pi_intent.word_sets import word_set

GIT_VALUED = word_set("-C -c --git-dir --work-tree --namespace --exec-path --config-env --super-prefix")
"""Those with a value behind a blank."""


def subcommand_at(texts: tuple[str, ...]) -> int:
    """How many of git's arguments stand before its subcommand."""
    at = 0
    while at < len(texts) and texts[at].startswith("-"):
        at += 2 if texts[at] in GIT_VALUED else 1
    return at
