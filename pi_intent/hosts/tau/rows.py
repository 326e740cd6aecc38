"""Draw a call in Tau's transcript: the intent, and under it what the call really does."""

from __future__ import annotations

from collections.abc import Mapping

from pi_intent.contract.rows import INTENT, target_argument
from pi_intent.labels.literal import literal, literal_lines
from pi_intent.labels.printable import printable
from pi_intent.types import JSONValue

MARK = "→ "  # Tau turns this into its spinner while a call runs
_WIDTH = 200
_MOST_LINES = 12


def call_row(tool_name: str, arguments: Mapping[str, JSONValue], came_of_it: str = "") -> str:
    """Return one call's row as literal text: the stated intent and the target, or the target alone.

    What came of the call stands after the label and never instead of it. Never empty: where we return nothing Tau
    draws the arguments as they are.
    """
    target = target_lines(tool_name, arguments)
    stated = arguments.get(INTENT)
    label = printable(stated, width=_WIDTH) if isinstance(stated, str) else ""
    first, *rest = [label, *target] if label else target
    after = printable(came_of_it, width=_WIDTH)
    return MARK + "\n  ".join([f"{first} · {after}" if after else first, *rest])


def target_lines(tool_name: str, arguments: Mapping[str, JSONValue]) -> list[str]:
    """Name the tool and the path or command of a call, whatever the model wrote there."""
    target = target_argument(tool_name, arguments)
    if not isinstance(target, str) or not target.strip():
        return [tool_name]
    if tool_name != "bash":
        return [f"{tool_name} {literal(target, width=_WIDTH)}"]
    first, *rest = literal_lines(target, width=_WIDTH, max_lines=_MOST_LINES)
    return [f"$ {first}", *(f"  {line}" for line in rest)]
