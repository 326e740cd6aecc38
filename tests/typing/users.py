"""What a user of the package writes, as a type checker sees it; run by tests/architecture/test_types.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never, assert_type

from pydantic_ai import Agent
from pydantic_ai.toolsets import FunctionToolset

from pi_intent import (
    Answer,
    CallDenied,
    CheckInDecision,
    CheckInRequest,
    GroupSummary,
    IntentCall,
    IntentRejected,
    MemorySink,
    Question,
    Situation,
    Tiered,
    ToolEvent,
    ToolExecutionEnd,
    ToolExecutionStart,
    ToolExecutionUpdate,
    ToolIntentUpdate,
    ask_when,
    declare_tier,
    parse_event,
    printable,
    read_call,
    subscribe,
)
from pi_intent.gates.declared import Predicate
from pi_intent.gates.question import Asker
from pi_intent.gates.tiers import TierOf
from pi_intent.hosts.pydantic_ai import Intents, IntentToolset
from pi_intent.types import JSONValue


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


def touches_money(arguments: dict[str, JSONValue], situation: Situation) -> bool:
    assert_type(situation.tool_source, str | None)
    return "invoice" in arguments


def tier_of_mail(arguments: dict[str, JSONValue]) -> Tiered:
    return Tiered("exec", "it is sent", override=True) if arguments.get("send") else Tiered("read")


class Terminal:
    async def ask(self, question: Question) -> Answer:
        assert_type(question.intent, str | None)
        assert_type(question.reasons[0].rule, str)
        return Answer(False, note=question.situation.cwd)


predicate: Predicate = touches_money
asker: Asker = Terminal()
tiers: list[TierOf] = ["read", Tiered("write"), tier_of_mail]
ask_when(predicate, tools="billing/*", reason="it touches money")()
ask_when(lambda arguments, situation: situation.tool_name == "bash")()
stop_declaring = declare_tier("mail", tier_of_mail)
assert_type(stop_declaring, Callable[[], None])
ask_when(lambda arguments: True)  # type: ignore[arg-type, misc]  # it sees the situation, too
ask_when(touches_money, "mail")  # type: ignore[call-arg]  # by name only
declare_tier("mail", "reads")  # type: ignore[arg-type]
Answer(True, "always")  # type: ignore[arg-type]
try:
    stop_declaring()
except CallDenied as denial:
    assert_type(str(denial), str)

agent = Agent("test", deps_type=int, capabilities=[Intents[int](policy="require", tools=["read_*"], exempt="search")])
assert_type(agent.run_sync("go", deps=1).output, str)
Agent("test", capabilities=[Intents()], toolsets=[IntentToolset(FunctionToolset[object](), ledger=False)])
Intents(asker=Terminal(), defer=False)
IntentToolset(FunctionToolset[object](), asker=Terminal())
Intents(asker=print)  # type: ignore[arg-type]
Intents(policy="strict")  # type: ignore[arg-type]
