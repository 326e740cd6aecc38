"""Find out what came of a call that Tau draws: it hands a row the arguments of its call, and no id."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from pi_intent.contract.rows import INTENT, RATIONALE, replaced_fields
from pi_intent.events import ToolEvent, ToolExecutionEnd, ToolExecutionStart

KEPT = 500
"""Different calls whose end is remembered."""

LONGEST = 20_000
"""Characters of an argument with which a call is told apart: rows are drawn often, and must cost nothing."""


class Ends:
    """What came of the calls of a session, by what they were. Calls that are all alike have nothing to tell apart."""

    def __init__(self) -> None:
        self._open: dict[str, str] = {}
        self._ends: dict[str, str | None] = {}

    def apply(self, event: ToolEvent) -> None:
        """Take an event in."""
        if isinstance(event, ToolExecutionStart):
            self._open[event.call_id] = _key(event.tool_name, event.intent or "", event.args)
        elif isinstance(event, ToolExecutionEnd):
            key = self._open.pop(event.call_id, None)
            if not key:
                return
            came = event.facts or ("" if event.status == "ok" else event.status)
            # Two calls that are the same and ended otherwise: their rows cannot be told apart, so neither says it.
            self._ends[key] = came if self._ends.get(key, came) == came else None
            if len(self._ends) > KEPT:
                del self._ends[next(iter(self._ends))]

    def of(self, tool_name: str, arguments: Mapping[str, Any]) -> str:
        """Return what came of the call with these arguments, as the model sent them; "" where that is not known."""
        ours = {INTENT, RATIONALE, *replaced_fields(tool_name)}
        stated = arguments.get(INTENT)
        intent = stated.strip() if isinstance(stated, str) else ""
        key = _key(tool_name, intent, {name: value for name, value in arguments.items() if name not in ours})
        return self._ends.get(key) or ""


def _key(tool_name: str, intent: str, arguments: Mapping[str, Any]) -> str:
    if any(isinstance(value, str) and len(value) > LONGEST for value in arguments.values()):
        return ""
    try:
        text = json.dumps([tool_name, intent, arguments], sort_keys=True, default=repr)
    except (RecursionError, ValueError, TypeError):
        return ""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
