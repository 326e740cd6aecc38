"""Learn the tools of a list, and put the schemas with an intent in the place of the server's own."""

from __future__ import annotations

from typing import Any

from pi_intent.hosts.mcp import wire
from pi_intent.hosts.mcp.tools import Tools
from pi_intent.hosts.mcp.wire import Cut, Repeated


def learn_page(tools: Tools, text: str, start: int, message: dict[str, Any], cursor: object) -> list[Cut]:
    """Return what is cut out of the message at `start`, which answers the request of a page of tools."""
    result = message.get("result")
    definitions = result.get("tools") if isinstance(result, dict) else None
    if not isinstance(result, dict) or not isinstance(definitions, list):
        return []
    # Where a key stands twice, the client may take the other one than we would change.
    repeated = isinstance(message, Repeated) or isinstance(result, Repeated)
    at = None if repeated else wire.value_at(text, start, "result", "tools")
    spans = [None] * len(definitions) if at is None else list(wire.items(text, at))
    tools.begin_page(cursor)
    cuts: list[Cut] = []
    for span, definition in zip(spans, definitions, strict=True):
        if not isinstance(definition, dict):
            continue
        at = None if span is None or isinstance(definition, Repeated) else wire.value_at(text, span[0], "inputSchema")
        schema = None if at is None else wire.span(text, at)
        tool = tools.learn(definition, None if schema is None else text[slice(*schema)])
        if tool is not None and tool.shown is not None and schema is not None:
            cuts.append(Cut(*schema, tool.shown))
    tools.end_page(result.get("nextCursor"))
    return cuts
