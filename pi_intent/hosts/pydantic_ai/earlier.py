"""Read off a message history what a conversation did before this process knew of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, ToolCallPart, ToolReturnPart

from pi_intent.gates.history import KEPT
from pi_intent.hosts.pydantic_ai.results import answered
from pi_intent.past import PastCall
from pi_intent.types import IntentCall


def earlier_calls(
    messages: Sequence[ModelMessage], session_id: str, read: Callable[[str, object], IntentCall | None]
) -> list[PastCall]:
    """Return the last calls of a history that were answered.

    `read` takes the intent out of a tool's arguments; None where it cannot.
    """
    answers = {
        part.tool_call_id: part
        for message in messages
        if isinstance(message, ModelRequest)
        for part in message.parts
        if isinstance(part, ToolReturnPart)
    }
    found = []
    turn = 0
    for message in messages:
        if not isinstance(message, ModelResponse):
            continue
        turn += 1
        for part in message.tool_calls:
            answer = answers.get(part.tool_call_id)
            call = read(part.tool_name, part.args or {}) if answer is not None else None
            if answer is not None and call is not None:
                found.append(_past(part, call, answer, session_id, turn, message.model_name))
    return found[-KEPT:]


def _past(
    part: ToolCallPart, call: IntentCall, answer: ToolReturnPart, session_id: str, turn: int, model: str | None
) -> PastCall:
    return PastCall(
        id=f"{turn}:{part.tool_call_id}",
        session=session_id,
        host="pydantic-ai",
        agent="main",
        group=str(turn),
        turn=turn,
        seq=0,
        ts="",
        tool=part.tool_name,
        tool_source=None,
        intent=call.intent,
        intent_source=call.intent_source,
        rationale=call.rationale,
        args=call.arguments,
        policy="optional",
        flags=call.flags,
        model=model,
        status=answered(answer).status,
    )


def sent_in(messages: Sequence[ModelMessage], tool_call_id: str | None) -> ToolCallPart | None:
    """Return the call with this id in the newest response that makes one."""
    for message in reversed(messages):
        if isinstance(message, ModelResponse):
            return next((call for call in message.tool_calls if call.tool_call_id == tool_call_id), None)
    return None
