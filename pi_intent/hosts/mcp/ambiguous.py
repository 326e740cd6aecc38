"""Find what of a client's message could be one thing to us and another to the server behind us."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pi_intent.hosts.mcp.wire import Repeated

CALL = "tools/call"

_AROUND = " \t\r\n/"
_ENVELOPE = frozenset({"jsonrpc", "id", "method", "params"})
_OF_A_CALL = frozenset({"name", "arguments"})


def ambiguity(message: dict[str, Any]) -> str | None:
    """Say why readers could take a message differently; None where they cannot.

    Some keep the first of two equal keys, and some, as those of Go, do not mind case.
    """
    method, params = message.get("method"), message.get("params")
    if isinstance(message, Repeated) or isinstance(params, Repeated):
        return "a key stands twice in it"
    if _differs_by_case(message, _ENVELOPE):
        return "a key of it is spelt like one of JSON-RPC, but for its case"
    if isinstance(method, str) and method != CALL and _as_lax(method) == CALL:
        return f"its method is spelt like {CALL}, and is not"
    if method == CALL and isinstance(params, dict) and _differs_by_case(params, _OF_A_CALL):
        return "a key of its parameters is spelt like one of a call, but for its case"
    return None


def _differs_by_case(message: Mapping[str, Any], names: frozenset[str]) -> bool:
    return any(key not in names and _as_lax(key) in names for key in message)


def _as_lax(word: str) -> str:
    """Read a word as the laxest reader does: to the first null character, without what is around it, without case."""
    return word.partition("\0")[0].strip(_AROUND).casefold()
