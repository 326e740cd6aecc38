"""What a user of the package writes, as a type checker sees it; run by tests/architecture/test_types.py."""

from __future__ import annotations

from typing import assert_never, assert_type

from pydantic_ai import Agent
from pydantic_ai.toolsets import FunctionToolset

from pi_intent import (
    CheckInDecision,
    CheckInRequest,
    GroupSummary,
    IntentCall,
    IntentRejected,
    MemorySink,
    ToolEvent,
    ToolExecutionEnd,
    ToolExecutionStart,
    ToolExecutionUpdate,
    ToolIntentUpdate,
    parse_event,
    printable,
    read_call,
    subscribe,
)
from pi_intent.hosts.pydantic_ai import Intents, IntentToolset


def listen(event: ToolEvent) -> None:
    match event:
        case ToolIntentUpdate():
            assert_type(event.complete, bool)
        case ToolExecutionStart():
            assert_type(event.intent, str | None)
        case ToolExecutionUpdate():
            assert_type(event.backgrounded, bool | None)
        case ToolExecutionEnd():
            assert_type(event.duration_ms, int)
        case CheckInRequest():
            assert_type(event.request, str)
        case CheckInDecision():
            assert_type(event.approved, bool)
        case GroupSummary():
            assert_type(event.text, str)
        case _:
            assert_never(event)


stop = subscribe(listen)
stop()
subscribe(MemorySink())()
assert_type(read_call("bash", {}), IntentCall)
assert_type(printable("x", width=3), str)
try:
    read_call("read", None, policy="adaptive", derive=lambda arguments: str(arguments.get("path")))
except IntentRejected as rejected:
    assert_type(str(rejected), str)
    print(rejected.codes[0])
listen(parse_event("{}"))
read_call("bash", {}, policy="strict")  # type: ignore[arg-type]  # no such policy, and the checker says so

agent = Agent("test", deps_type=int, capabilities=[Intents[int](policy="require", tools=["read_*"], exempt="search")])
assert_type(agent.run_sync("go", deps=1).output, str)
Agent("test", capabilities=[Intents()], toolsets=[IntentToolset(FunctionToolset[object](), ledger=False)])
Intents(policy="strict")  # type: ignore[arg-type]
