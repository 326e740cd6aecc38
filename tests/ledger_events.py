"""The start and the end of a call, and a question about it, for tests of the ledger: each says what is its own."""

from __future__ import annotations

from typing import Any

from pi_intent.events import ToolExecutionEnd, ToolExecutionStart
from pi_intent.protocols import Decision

_CALL: dict[str, Any] = {
    "tool_call_id": "call_1",
    "session_id": "s-1",
    "agent_id": "main",
    "group_id": "g-1",
    "host": "tau",
    "tool_name": "bash",
}


def a_start(**particular: Any) -> ToolExecutionStart:
    return ToolExecutionStart(**_CALL | {"args": {"command": "pytest"}, "intent_source": "model"} | particular)


def an_end(**particular: Any) -> ToolExecutionEnd:
    return ToolExecutionEnd(**_CALL | {"status": "ok", "is_error": False, "duration_ms": 14} | particular)


def a_question(call_id: str, **particular: Any) -> Decision:
    return Decision(**{"call_id": call_id, "number": 1, "reasons": ("always",)} | particular)
