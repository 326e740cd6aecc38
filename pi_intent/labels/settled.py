"""Word the label of a call that has ended: what its tool says came of it, or else the intent as it was stated."""

from __future__ import annotations

from pi_intent.characters import has_visible
from pi_intent.events import OutcomePatch
from pi_intent.types import Status


def settled_text(
    intent: str | None, status: Status, outcome: str | None = None, outcome_patch: OutcomePatch | None = None
) -> str | None:
    """Return the text of a settled label, or None where there is none; nothing in it is rewritten or filled in.

    Of a call that was `ok`: its outcome, else the intent with the first occurrence of the patch replaced, case and
    all. Of any other: the intent, because a text that claims success must not stand over a failure. A text that
    nobody could see is none.
    """
    stated = seen(intent)
    if status != "ok":
        return stated
    if stated is None or outcome_patch is None or not outcome_patch.from_:
        return seen(outcome) or stated
    return seen(outcome) or seen(stated.replace(outcome_patch.from_, outcome_patch.to, 1)) or stated


def seen(text: str | None) -> str | None:
    """Return a text as it is, or None where nobody could see anything of it."""
    return text if text is not None and has_visible(text) else None
