"""Word what the proxy itself says to a client."""

from __future__ import annotations

from typing import Any

from pi_intent.hosts.mcp.wire import dumped

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603

_VERSION = "io.modelcontextprotocol/protocolVersion"


def error_answer(raw_id: str, code: int, why: str) -> str:
    """Return a JSON-RPC error; `raw_id` is the id as JSON text, as the client spelt it."""
    return f'{{"jsonrpc":"2.0","id":{raw_id},"error":{{"code":{code},"message":{dumped(why)}}}}}'


def is_of_results(params: dict[str, Any]) -> bool:
    """Whether a request is of 2026-07-28 or later, as each then says of itself: servers ask in results alone."""
    meta = params.get("_meta")
    return isinstance(meta, dict) and _VERSION in meta


def refusal(raw_id: str, params: dict[str, Any], why: str) -> str:
    """Answer a call that is refused: as a failed result, because a model sees those and no errors (SEP-1303).

    Whoever asked for a task takes no result of a call in its place: it gets the error.
    """
    if "task" in params:
        return error_answer(raw_id, INVALID_PARAMS, why)
    # From 2026-07-28 on a result says whether it is one.
    kind = '"resultType":"complete",' if is_of_results(params) else ""
    content = f'[{{"type":"text","text":{dumped(why)}}}]'
    return f'{{"jsonrpc":"2.0","id":{raw_id},"result":{{{kind}"content":{content},"isError":true}}}}'
