"""Word the refusal of a call for the model that made it."""

from __future__ import annotations

from collections.abc import Sequence

from pi_intent.contract.rows import INTENT, RATIONALE
from pi_intent.contract.texts import ModelTexts
from pi_intent.types import Code

STOP_AFTER_ROUNDS = 3
"""Rounds in a row after which the text asks the model to stop calling the tool."""

MAX_LENGTH = 300
"""The most characters a rejection may have: it is paid for in every later request."""


_MOST_NAMES = 4
_LONGEST_NAME = 40


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _quoted(names: Sequence[str]) -> str:
    shown = [f"`{name[:_LONGEST_NAME]}`" for name in names[:_MOST_NAMES]]
    return _listed([*shown, "others"] if len(names) > _MOST_NAMES else shown)


def rejection_text(
    tool_name: str, codes: Sequence[Code], missing: Sequence[str], *, texts: ModelTexts, rounds: int = 1
) -> str:
    """Say what is wrong with a call and what to send: at most two sentences and 300 characters.

    `missing` names the tool's own required arguments that are absent too; `rounds` counts the rounds in a row in
    which this tool was refused, this one included. No value of the call is repeated.
    """
    parts = texts.rejections
    problems = [texts.problem(code) for code in codes]
    requests = [
        parts[f"request {subject}"]
        for subject in ("arguments", RATIONALE, INTENT)  # the longest last
        if any(code.startswith(subject) for code in codes)
    ]
    if missing:
        names = _quoted(missing)
        problems.append(parts["argument_missing"].format(names=names, verb="is" if len(missing) == 1 else "are"))
        requests.insert(0, parts["request argument"].format(names=names))
    frame = parts["stop" if rounds >= STOP_AFTER_ROUNDS else "frame"]
    text = frame.format(problems=_listed(problems), request=_listed(requests), tool=tool_name[:_LONGEST_NAME])
    return text[:MAX_LENGTH]
