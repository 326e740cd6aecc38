"""The ids of spans, made from those of the session and the call: told twice, a call is the same span."""

from __future__ import annotations

import hashlib

_TRACE_BYTES = 16
_SPAN_BYTES = 8


def trace_id(session: str) -> int:
    """Return the id of the trace that holds a session where no trace of the host does."""
    return _number(f"trace {session}", _TRACE_BYTES)


def session_span_id(session: str) -> int:
    """Return the id of the span around a session's calls."""
    return _number(f"session {session}", _SPAN_BYTES)


def call_span_id(call: str) -> int:
    """Return the id of a call's span."""
    return _number(f"call {call}", _SPAN_BYTES)


def _number(text: str, size: int) -> int:
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:size], "big") or 1  # 0 is no id
