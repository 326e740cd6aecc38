"""Agents with tracing on: beside pydantic-ai's own instrumentation, and without it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from otlp_receiver import Receiver, host_provider, receiving_ours
from pydantic_ai import Agent
from pydantic_ai.capabilities.instrumentation import Instrumentation
from pydantic_ai.models.instrumented import InstrumentationSettings
from pydantic_desk import Desk, Script

from pi_intent.hosts.pydantic_ai import Intents
from pi_intent.tracing import own_provider

ERROR = 2


@pytest.fixture(autouse=True)
def on(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PI_INTENT_TRACING", "on")


@pytest.fixture
def received(monkeypatch: pytest.MonkeyPatch) -> Iterator[Receiver]:
    with receiving_ours(monkeypatch) as receiver:
        yield receiver


@pytest.fixture
def provided(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    """What the application's own provider got."""
    with host_provider(monkeypatch) as exporter:
        yield exporter


def add(a: int, b: int) -> int:
    """Add two numbers."""
    if a < 0:
        raise ValueError("no such thing")
    return a + b


GOOD = {"intent": "Sum", "a": 1, "b": 2}


def spans_by_name(exporter: InMemorySpanExporter) -> dict[str, list[ReadableSpan]]:
    found: dict[str, list[ReadableSpan]] = {}
    for span in exporter.get_finished_spans():
        found.setdefault(span.name, []).append(span)
    return found


@pytest.mark.filterwarnings("ignore:Instrumentation format versions")
@pytest.mark.parametrize("ours_first", [True, False])
@pytest.mark.parametrize("version", [2, 3, 5])
def test_beside_the_hosts_own_spans_no_tool_is_counted_twice(
    desk: Desk, provided: InMemorySpanExporter, ours_first: bool, version: Any
) -> None:
    theirs = Instrumentation(InstrumentationSettings(version=version))
    script = Script([("add", GOOD), ("add", {"a": 1, "b": 2})], "done")
    capabilities = [Intents(), theirs] if ours_first else [theirs, Intents()]
    Agent(script.model, tools=[add], capabilities=capabilities).run_sync("go")
    found = spans_by_name(provided)
    (agent,) = found["agent run" if version == 2 else "invoke_agent agent"]
    ours = found["pi_intent add"]
    assert agent.context is not None
    assert [span.parent and span.parent.span_id for span in ours] == [agent.context.span_id] * 2
    told = [dict(span.attributes or {}) for span in provided.get_finished_spans()]
    counted = [span["gen_ai.tool.call.id"] for span in told if span.get("gen_ai.operation.name") == "execute_tool"]
    assert sorted(counted) == ["call-1-0", "call-1-1"]
    beside = [dict(span.attributes or {}) for span in ours]
    assert {span["gen_ai.tool.call.id"]: span["pi_intent.status"] for span in beside} == {
        "call-1-0": "ok",
        "call-1-1": "rejected",
    }
    assert {(span["gen_ai.tool.name"], span["langfuse.observation.type"]) for span in beside} == {("add", "span")}


def test_under_a_span_of_the_application_alone_a_call_is_a_tool(desk: Desk, provided: InMemorySpanExporter) -> None:
    script = Script([("add", GOOD)], "done")
    with trace.get_tracer("shop").start_as_current_span("order") as order:
        Agent(script.model, tools=[add], capabilities=[Intents()]).run_sync("go")
    found = spans_by_name(provided)
    (span,) = found["execute_tool add"]
    assert span.parent is not None
    assert span.parent.span_id == order.get_span_context().span_id
    assert set(found) == {"order", "execute_tool add"}


def test_without_any_provider_the_run_has_a_span_of_ours(desk: Desk, received: Receiver) -> None:
    script = Script([("add", GOOD)], [("add", {"intent": "Fail", "a": -1, "b": 0})], "done")
    agent = Agent(script.model, tools=[add], capabilities=[Intents(session_id="s-1")])
    with pytest.raises(ValueError, match="no such thing"):
        agent.run_sync("go")
    own_provider.the_provider().flush()
    run, good, bad = received.spans
    assert (run.name, run.parent_id) == ("pydantic-ai session", "")
    assert [(span.name, span.parent_id) for span in (good, bad)] == [("execute_tool add", run.span_id)] * 2
    assert [span.attributes["pi_intent.status"] for span in (good, bad)] == ["ok", "error"]
    assert (good.attributes["session.id"], good.attributes["pi_intent.host"]) == ("s-1", "pydantic-ai")
    assert "gen_ai.agent.name" not in good.attributes  # the host is no agent, and its name is the application's
    assert bad.status == ERROR


def test_without_a_ledger_there_are_spans_as_well(desk: Desk, received: Receiver) -> None:
    script = Script([("add", GOOD)], "done")
    Agent(script.model, tools=[add], capabilities=[Intents(ledger=False)]).run_sync("go")
    own_provider.the_provider().flush()
    assert [span.name for span in received.spans] == ["pydantic-ai session", "execute_tool add"]
    assert not (desk.project / ".git" / "pi-intent").exists()


def test_an_agent_inside_a_tool_has_its_calls_under_it(desk: Desk, received: Receiver) -> None:
    inner = Agent(Script([("add", GOOD)], "inner done").model, tools=[add], capabilities=[Intents()])

    async def delegate(task: str) -> str:
        """Have somebody else do it."""
        return str((await inner.run(task)).output)

    script = Script([("delegate", {"intent": "Delegate", "task": "sum"})], "done")
    Agent(script.model, tools=[delegate], capabilities=[Intents()]).run_sync("go")
    own_provider.the_provider().flush()
    outer = received.named("execute_tool delegate")
    assert received.named("execute_tool add").parent_id == outer.span_id
    assert len(received.spans) == 3
