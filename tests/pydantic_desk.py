"""Agents of pydantic-ai on a scripted model, in a temporary project with a real ledger."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

from host_desk import HostDesk
from ledger_schema import assert_records_fit
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel

from pi_intent import ToolIntentUpdate
from pi_intent.ledger.calls import LedgerCall, read_ledger

type Turn = str | list[tuple[str, Any] | tuple[str, Any, str]]
"""What the model says: a text, or calls as (tool, arguments) or (tool, arguments, id)."""


class Script:
    """A model that says its turns one after another, and remembers what it was sent; streamed it goes in pieces."""

    def __init__(self, *turns: Turn, piece: int = 7) -> None:
        self.turns = list(turns)
        self.piece = piece
        self.requests: list[list[ModelMessage]] = []
        self.tools: list[dict[str, dict[str, Any]]] = []

    @property
    def model(self) -> FunctionModel:
        return FunctionModel(self.answer, stream_function=self._stream, model_name="scripted")

    @property
    def only_whole(self) -> FunctionModel:
        """The same model, which cannot be streamed."""
        return FunctionModel(self.answer, model_name="scripted")

    def _next(self, messages: list[ModelMessage], info: AgentInfo) -> list[TextPart | ToolCallPart]:
        self.requests.append(list(messages))
        self.tools.append({tool.name: tool.parameters_json_schema for tool in info.function_tools})
        turn = self.turns[len(self.requests) - 1]
        if isinstance(turn, str):
            return [TextPart(turn)]
        step = len(self.requests)
        return [
            ToolCallPart(name, arguments, tool_call_id=more[0] if more else f"call-{step}-{number}")
            for number, (name, arguments, *more) in enumerate(turn)
        ]

    async def answer(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        return ModelResponse(parts=list(self._next(messages, info)))

    async def _stream(
        self, messages: list[ModelMessage], info: AgentInfo
    ) -> AsyncIterator[str | dict[int, DeltaToolCall]]:
        for index, part in enumerate(self._next(messages, info)):
            if isinstance(part, TextPart):
                yield part.content
                continue
            text = part.args if isinstance(part.args, str) else json.dumps(part.args)
            yield {index: DeltaToolCall(name=part.tool_name, json_args="", tool_call_id=part.tool_call_id)}
            for at in range(0, len(text), self.piece):
                yield {index: DeltaToolCall(json_args=text[at : at + self.piece])}

    def told(self, request: int = -1) -> list[str]:
        """What the model was told of its calls, in one request."""
        return [
            part.model_response_str(wrap_if_error=False)
            for message in self.requests[request][-1:]
            for part in message.parts
            if isinstance(part, ToolReturnPart)
        ]


class Desk(HostDesk):
    """A project with a ledger, and what was told of the calls made there."""

    @property
    def updates(self) -> list[ToolIntentUpdate]:
        return [event for event in self.events if isinstance(event, ToolIntentUpdate)]

    @property
    def kept(self) -> list[LedgerCall]:
        """The calls that the ledger holds."""
        reading = read_ledger(self.project / ".git" / "pi-intent")
        assert reading.problems == []
        assert_records_fit((self.project / ".git" / "pi-intent" / "ledger").glob("*.jsonl"))
        return reading.calls

    @property
    def kept_as(self) -> list[tuple[str, str | None, str]]:
        """Tool, intent and status of the calls that the ledger holds; the state where they have not ended."""
        return [
            (kept.call.tool, kept.call.intent, kept.done.status if kept.done else kept.state)
            for kept in self.kept
            if kept.call is not None
        ]
