"""Refuse a result that is larger than what is set, whole: a part of it could say the opposite of all of it."""

from __future__ import annotations

from pi_intent.contract.texts import ModelTexts
from pi_intent.protocols import Settlement


def too_large(texts: ModelTexts, tool_name: str, size: int, limit: int | None) -> str | None:
    """Return what the model gets in place of a result of `size` bytes; None where it may have the result itself.

    `limit` is a number of bytes, None for any number.
    """
    if limit is None or size <= limit:
        return None
    return texts.consent["withheld"].format(tool=tool_name, size=size, limit=limit)


def leaking(texts: ModelTexts, tool_name: str) -> str:
    """Return what the model gets in place of a result that holds a credential which was given to the tool."""
    return texts.consent["leaking"].format(tool=tool_name)


def withheld(settlement: Settlement, size: int, text: str) -> Settlement:
    """Return how a call ended whose result of `size` bytes is withheld, for which the model gets `text`.

    The call did run, and ended as it ended; what was read off its result goes with the result.
    """
    return settlement._replace(
        result=None,
        error=None,
        outcome=None,
        outcome_patch=None,
        facts=f"result of {size} bytes withheld",
        bytes_out=len(text.encode()),
        flags=("withheld",),
    )
