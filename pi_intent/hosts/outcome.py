"""Take what a tool itself says came of its call, out of the details of its result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pi_intent.events import OutcomePatch


def stated_outcome(details: Mapping[str, Any]) -> tuple[str | None, OutcomePatch | None]:
    """Return the outcome and its patch under `pi_intent`; anything of another shape is nothing."""
    said = details.get("pi_intent")
    if not isinstance(said, Mapping):
        return None, None
    outcome, patch = said.get("outcome"), said.get("outcomePatch")
    text = outcome if isinstance(outcome, str) else None
    if isinstance(patch, Mapping) and isinstance(patch.get("from"), str) and isinstance(patch.get("to"), str):
        return text, OutcomePatch(from_=patch["from"], to=patch["to"])
    return text, None
