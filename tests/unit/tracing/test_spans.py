"""Spans of a session: what is told of its calls, and to whom."""

from __future__ import annotations

import time

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from otlp_receiver import Receiver
from traced_sessions import OK, Sessions, flushed, opened

from pi_intent.runtime import SessionRuntime
from pi_intent.tracing import own_provider
from pi_intent.tracing.ids import call_span_id, trace_id


async def test_under_a_span_of_the_hosts_a_call_is_in_its_trace_and_no_session_span_is_made(
    sessions: Sessions, hosts: InMemorySpanExporter
) -> None:
    runtime = await sessions.start()
    with trace.get_tracer("the host").start_as_current_span("invoke_agent") as agent:
        call = opened(runtime)
    call.settle(OK)
    runtime.close()
    by_name = {span.name: span for span in hosts.get_finished_spans()}
    assert set(by_name) == {"invoke_agent", "execute_tool bash"}
    span = by_name["execute_tool bash"]
    assert span.parent is not None
    assert span.context is not None
    assert span.attributes is not None
    assert (span.parent.span_id, span.context.trace_id) == (
        agent.get_span_context().span_id,
        agent.get_span_context().trace_id,
    )
    # What Langfuse reads off any span for the whole trace is the host's to say.
    assert not [name for name in span.attributes if name.startswith("langfuse.trace")]
    assert span.attributes["session.id"] == "s-1"


async def test_the_session_that_the_host_has_named_is_kept(sessions: Sessions, hosts: InMemorySpanExporter) -> None:
    runtime = await sessions.start()
    for name in ("session.id", "langfuse.session.id"):
        with trace.get_tracer("the host").start_as_current_span("agent", attributes={name: "ada's"}):
            opened(runtime).settle(OK)
    runtime.close()
    spans = [span for span in hosts.get_finished_spans() if span.name == "execute_tool bash"]
    assert [(span.attributes or {}).get("session.id") for span in spans] == ["ada's", "ada's"]
    assert [(span.attributes or {}).get("gen_ai.conversation.id") for span in spans] == ["s-1", "s-1"]


async def test_without_a_span_of_the_hosts_its_provider_gets_the_sessions_span_too(
    sessions: Sessions, hosts: InMemorySpanExporter
) -> None:
    runtime = await sessions.start()
    opened(runtime).settle(OK)
    assert [span.name for span in hosts.get_finished_spans()] == ["execute_tool bash"]
    runtime.close()
    call, session = hosts.get_finished_spans()
    assert session.name == "tau session"
    assert call.parent is not None
    assert session.context is not None
    assert call.parent.span_id == session.context.span_id


async def test_a_call_inside_another_ones_tool_is_under_it(sessions: Sessions, received: Receiver) -> None:
    runtime, child = await sessions.start(), await sessions.start("child")
    outer = opened(runtime)
    inner = opened(child, parent_call_id=outer.start.call_id, agent_id="child")
    inner.settle(OK)
    outer.settle(OK)
    child.close()
    runtime.close()
    session, first, second = flushed(received).spans
    assert [span.parent_id for span in (session, first, second)] == ["", session.span_id, first.span_id]
    assert {span.trace_id for span in (session, first, second)} == {f"{trace_id('s-1'):032x}"}
    assert second.span_id == f"{call_span_id(inner.start.call_id):016x}"


async def test_what_is_sent_live_and_what_is_exported_are_the_same_spans(
    sessions: Sessions, received: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    from click.testing import CliRunner

    from pi_intent.cli.main import commands

    runtime, child = await sessions.start(), await sessions.start("child")
    outer = opened(runtime)
    opened(child, parent_call_id=outer.start.call_id).settle(OK)
    outer.settle(OK)
    child.close()
    runtime.close()

    def ids() -> set[tuple[str, str, str, str]]:
        return {(span.name, span.trace_id, span.span_id, span.parent_id) for span in received.spans}

    live = len(flushed(received).spans), ids()
    received.bodies.clear()
    monkeypatch.chdir(sessions.folder)
    assert CliRunner().invoke(commands, ["export", "otel"]).exit_code == 0
    assert (len(received.spans), ids()) == live == (3, live[1])


async def test_a_call_begins_and_ends_when_its_span_does(sessions: Sessions, received: Receiver) -> None:
    runtime = await sessions.start()
    before = time.time_ns()
    call = opened(runtime)
    between = time.time_ns()
    call.settle(OK)
    after = time.time_ns()
    runtime.close()
    span = flushed(received).named("execute_tool bash")
    assert before <= span.start <= between <= span.end <= after


async def test_calls_that_are_open_when_the_process_ends_are_interrupted(
    sessions: Sessions, received: Receiver
) -> None:
    runtime = await sessions.start()
    opened(runtime)
    own_provider.the_provider().end()  # as it is called at the end of a process
    assert received.named("execute_tool bash").attributes["pi_intent.status"] == "interrupted"
    assert received.named("tau session").parent_id == ""
    runtime.close()


async def test_calls_without_a_ledger_have_spans_as_well(sessions: Sessions, received: Receiver) -> None:
    runtime = SessionRuntime(
        session_id="s-1",
        host="python",
        host_version="0",
        cwd=sessions.folder,
        strict=False,
        tell=sessions.told.append,
        withholds=lambda tool_name: False,
        traced=True,
    )
    await runtime.start_tracing()
    await runtime.start_tracing()
    opened(runtime).settle(OK)
    runtime.close()
    assert [span.name for span in flushed(received).spans] == ["python session", "execute_tool bash"]
    assert not (sessions.folder / ".git" / "pi-intent").exists()


async def test_a_label_that_came_to_nothing_has_no_span(sessions: Sessions, received: Receiver) -> None:
    runtime = await sessions.start()
    named = {"call_id": "01J80000000000000000000000", "tool_call_id": "1", "tool_name": "bash", "group_id": "g"}
    runtime.pipeline.streamed(**named, intent="Say", complete=False)
    runtime.pipeline.abandoned(**named)
    runtime.close()
    assert flushed(received).spans == []
