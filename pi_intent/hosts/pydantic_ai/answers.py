"""Read off a history what was answered, and which calls nobody had read: skipped, blocked, decided elsewhere."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from typing import NamedTuple

from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, ToolCallPart, ToolReturnPart

from pi_intent.hosts.pydantic_ai.results import answered
from pi_intent.pipeline import failure
from pi_intent.protocols import Settlement


class Answers(NamedTuple):
    """What the newest messages of a history answer: the calls of the last response, in the order of the answers."""

    response: ModelResponse
    parts: tuple[ToolReturnPart, ...]


def newest_answers(messages: Sequence[ModelMessage], run_id: str | None) -> Answers | None:
    """Return the answers that a run has put behind the last response; None where there are none yet."""
    parts: list[ToolReturnPart] = []
    for message in reversed(messages):
        if isinstance(message, ModelResponse):
            return Answers(message, tuple(parts)) if parts else None
        if isinstance(message, ModelRequest) and message.run_id in (None, run_id):
            parts[:0] = (part for part in message.parts if isinstance(part, ToolReturnPart))
    return None


def unopened(answers: Answers, read: Container[str], run_id: str | None) -> Iterator[tuple[ToolCallPart, Settlement]]:
    """Name the calls that nobody has read, and how they ended."""
    calls = {call.tool_call_id: call for call in answers.response.tool_calls}
    for part in answers.parts:
        call = calls.get(part.tool_call_id)
        if call is None or part.tool_call_id in read:
            continue
        # An answer of this run to a call of this run, and the tool was not asked: pydantic-ai had its final result.
        is_skipped = part.outcome == "success" and answers.response.run_id == run_id
        yield call, failure("cancelled", part.model_response_str()) if is_skipped else answered(part)


def turn_of(messages: Sequence[ModelMessage]) -> int:
    """Count the answers of the model in a history."""
    return sum(isinstance(message, ModelResponse) for message in messages)
