"""Fit a Tau tool's own words to the contract: its description, prompt snippet and guidelines."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pi_intent.contract.texts import ModelTexts

# Tau asks for one edit call with many entries; the contract wants one intent a call.
_MANY_IN_ONE_CALL = re.compile(r"^(When changing multiple separate locations in one file)\b")


def with_addition(host_text: str, ours: str) -> str:
    """Add our words, where there are any, to a text of the host."""
    return f"{host_text.rstrip()} {ours}".strip() if ours else host_text


def adapt_guidelines(guidelines: Iterable[str], replaced: Iterable[str], texts: ModelTexts) -> tuple[str, ...]:
    """Drop the guidelines that ask for a property the intent replaces; narrow the one that asks for fewer calls."""
    gone = [re.compile(rf"\b{re.escape(name)}\b") for name in replaced]
    return tuple(
        _MANY_IN_ONE_CALL.sub(rf"\1 {texts.narrowing}", guideline)
        for guideline in guidelines
        if not any(pattern.search(guideline) for pattern in gone)
    )
