"""Agents whose tool a person must see before it runs."""

from __future__ import annotations

import json
from typing import Any

from pydantic_ai import Agent, ApprovalRequired, DeferredToolRequests, DeferredToolResults, RunContext, Tool
from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter, ModelResponse, ToolCallPart
from pydantic_ai.toolsets import FunctionToolset
from pydantic_desk import Desk, Script

from pi_intent import Answer, CheckInDecision, CheckInRequest, Question
from pi_intent.gates.identity import identity
from pi_intent.hosts.pydantic_ai import Intents, IntentToolset
from pi_intent.ledger.calls import LedgerCall
from pi_intent.ledger.entries import DecisionEntry
from pi_intent.ledger.keys import Digester, load_key

SENT = {"intent": "Free some space", "rationale": "df says 99 %", "path": "/tmp/x"}
CALL = ("remove", SENT, "call-a")
YES = DeferredToolResults(approvals={"call-a": True})
WAYS = ["all", "one toolset"]
"""Where the intents are put: on the whole agent, or on the one toolset."""

APPROVALS = ["declared", "in the tool", "in its check", "by a toolset"]
"""Where it is said that a tool must be approved."""


class Store:
    """Two tools, and what they did."""

    def __init__(self) -> None:
        self.removed: list[str] = []
        self.listed = 0

    def remove(self, path: str) -> str:
        self.removed.append(path)
        return f"removed {path}"

    def list_all(self) -> str:
        self.listed += 1
        return "x, y"

    @property
    def toolset(self) -> FunctionToolset[None]:
        return FunctionToolset([self.remove, self.list_all], max_retries=0)


class Removal:
    """A tool that must be approved, in each of the ways there are to say so."""

    def __init__(self, way: str) -> None:
        self.way = way
        self.removed: list[str] = []

    def remove(self, path: str) -> str:
        self.removed.append(path)
        return f"removed {path}"

    def asking(self, ctx: RunContext[None], path: str) -> str:
        if not ctx.tool_call_approved:
            raise ApprovalRequired(metadata={"risk": "high"})
        return self.remove(path)

    def check(self, ctx: RunContext[None], path: str) -> None:
        if not ctx.tool_call_approved:
            raise ApprovalRequired(metadata={"risk": "high"})

    @property
    def toolset(self) -> Any:
        match self.way:
            case "declared":
                return FunctionToolset([Tool(self.remove, name="remove", requires_approval=True)])
            case "in the tool":
                return FunctionToolset([Tool(self.asking, name="remove")])
            case "in its check":
                return FunctionToolset([Tool(self.remove, name="remove", args_validator=self.check)])
            case _:
                return FunctionToolset([Tool(self.remove, name="remove")]).approval_required()


def gated_agent(
    how: str, script: Script, toolset: Any, *capabilities: Any, defers: bool = True, **options: Any
) -> Agent[None, Any]:
    """Make an agent with intents on its tools; `defers` says whether its runs may end with waiting calls."""
    output: Any = [str, DeferredToolRequests] if defers else str
    if how == "all":
        capabilities = (Intents(**options), *capabilities)
        return Agent(script.model, toolsets=[toolset], capabilities=capabilities, output_type=output)
    toolsets = [IntentToolset(toolset, **options)]
    return Agent(script.model, toolsets=toolsets, capabilities=capabilities, output_type=output)


class Person:
    """An asker that gives its answers one after another, and keeps the questions."""

    def __init__(self, *answers: Answer | Exception) -> None:
        self.answers = list(answers)
        self.questions: list[Question] = []

    async def ask(self, question: Question) -> Answer:
        self.questions.append(question)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def decisions(desk: Desk) -> list[tuple[bool | None, str | None, int]]:
    """What the ledger has of questions and answers: approved, by whom, and the number of the question."""
    return [(entry.approved, entry.by, entry.number) for kept in desk.kept for entry in in_time(kept)]


def in_time(kept: LedgerCall) -> list[DecisionEntry]:
    """What was asked about a call and decided, also where several processes wrote it down."""
    return sorted(kept.decisions, key=lambda entry: entry.ts)


def asked_and_decided(desk: Desk) -> list[str]:
    """The events about questions and answers, in order."""
    return [
        event.request if isinstance(event, CheckInRequest) else f"{'yes' if event.approved else 'no'} by {event.by}"
        for event in desk.events
        if isinstance(event, CheckInRequest | CheckInDecision)
    ]


def digest_of(desk: Desk, arguments: dict[str, Any], tool: str = "remove", source: str | None = None) -> str:
    """The digest that the desk's ledger gives to a call."""
    key = identity(tool, source, str(desk.project), arguments)
    assert key is not None
    return Digester(load_key(desk.project / ".git" / "pi-intent")).digest(key)


def with_arguments(messages: list[ModelMessage], **changes: Any) -> list[ModelMessage]:
    """Return a history whose last call has other arguments, or is one of another tool (`tool_name`)."""
    copied = ModelMessagesTypeAdapter.validate_json(ModelMessagesTypeAdapter.dump_json(messages))
    response = next(message for message in reversed(copied) if isinstance(message, ModelResponse))
    part = next(part for part in response.parts if isinstance(part, ToolCallPart))
    part.tool_name = changes.pop("tool_name", part.tool_name)
    part.args = {**part.args_as_dict(), **changes}
    return copied


def as_json(value: Any) -> Any:
    """Return a value as it would come back from a file."""
    return json.loads(json.dumps(value))
