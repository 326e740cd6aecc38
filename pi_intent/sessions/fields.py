"""Take values out of what others wrote: one of the wrong type is one that is missing, and nothing here raises."""

from __future__ import annotations

import hashlib
import json
import math

from pi_intent.characters import has_visible
from pi_intent.types import JSONObject, JSONValue

_LONGEST_ID = 200


def mapping(value: JSONValue) -> JSONObject:
    """Return an object, or an empty one."""
    return value if isinstance(value, dict) else {}


def listed(value: JSONValue) -> list[JSONValue]:
    """Return a list, or an empty one."""
    return value if isinstance(value, list) else []


def word(value: JSONValue) -> str | None:
    """Return text that is not empty."""
    return value if isinstance(value, str) and value else None


def identity(value: JSONValue) -> str | None:
    """Return an id as text, also one that is a number. A long one becomes its beginning and a digest."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 63:
        return str(value)
    text = word(value)
    if text is None or len(text) <= _LONGEST_ID:
        return text
    return f"{text[:100]}…{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}"


def stated(value: JSONValue) -> str | None:
    """Return an intent or a rationale, without white space around it; None where nobody would see a text."""
    text = value.strip() if isinstance(value, str) else ""
    return text if has_visible(text) else None


def finite(value: JSONValue) -> float | None:
    """Return a number that can be counted with."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def said(content: JSONValue) -> str:
    """Return the text of a content: a text, a block, or a list of either. Images and the like are left out."""
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        inner = content.get("text", content.get("content"))
        return inner if isinstance(inner, str) else ""
    return "\n".join(filter(None, (said(block) for block in listed(content) if not isinstance(block, list))))


def size(text: str) -> int:
    """Return the bytes of a text in UTF-8."""
    return len(text.encode("utf-8", "surrogatepass"))


def parsed(text: JSONValue) -> JSONValue:
    """Return what a text holds as JSON; None where it is not text, or not JSON."""
    if not isinstance(text, str):
        return None
    try:
        value: JSONValue = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value


def exit_code(value: JSONValue) -> int | None:
    """Return an exit code; a number that can be none is none."""
    ok = isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 32
    return value if ok and isinstance(value, int) else None


def server_and_tool(name: str) -> tuple[str | None, str]:
    """Part the name `mcp__server__tool` of a tool behind MCP; any other name is the agent's own tool."""
    server, _, tool = name.removeprefix("mcp__").partition("__")
    return (server, tool) if name.startswith("mcp__") and server and tool else (None, name)
