"""Take our two fields out of the text of a call, and nothing else."""

from __future__ import annotations

import re

from pi_intent.hosts.mcp import wire
from pi_intent.hosts.mcp.tools import KnownTool
from pi_intent.hosts.mcp.wire import Cut

_HALF = re.compile("[\ud800-\udfff]")
"""Half of a character, which stands in JSON as an escape only."""


def stripped(text: str, start: int, tool: KnownTool, arguments: object) -> list[Cut]:
    """Return the cuts that take what is ours out of the arguments of the call at `start`."""
    at = wire.value_at(text, start, "params", "arguments") if tool.ours and arguments is not None else None
    if at is None:
        return []
    if isinstance(arguments, dict):
        return wire.without(text, at, tool.ours)
    if not isinstance(arguments, str):
        return []  # it will be refused
    try:
        inner = wire.object_text(arguments)
        left = wire.applied(inner, wire.without(inner, 0, tool.ours))
        return [Cut(*wire.span(text, at), _HALF.sub(lambda half: f"\\u{ord(half[0]):04x}", left))]
    except (ValueError, IndexError, RecursionError):
        return []  # it will be refused
