"""Take what a tool itself says came of its call, out of what it returned."""

from __future__ import annotations

from collections.abc import Mapping

from pi_intent.events import OutcomePatch


def stated_outcome(said: object) -> tuple[str | None, OutcomePatch | None]:
    """Return the outcome and its patch; anything of another shape is nothing."""
    if not isinstance(said, Mapping):
        return None, None
    outcome, patch = said.get("outcome"), said.get("outcomePatch")
    text = outcome if isinstance(outcome, str) else None
    if isinstance(patch, Mapping) and isinstance(patch.get("from"), str) and isinstance(patch.get("to"), str):
        return text, OutcomePatch(from_=patch["from"], to=patch["to"])
    return text, None
