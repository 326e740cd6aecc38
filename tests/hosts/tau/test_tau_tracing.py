"""Real Tau sessions with tracing on, and what a receiver of OTLP gets of them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from otlp_receiver import Received, Receiver, receiving_ours
from tau_desk import Desk, calls, says
from tau_screen import running, type_in

from pi_intent.tracing import own_provider
from pi_intent.tracing.ids import call_span_id, session_span_id, trace_id

CAPTURE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
OK, ERROR, INTERNAL = 0, 2, 1


@pytest.fixture
def received(monkeypatch: pytest.MonkeyPatch) -> Iterator[Receiver]:
    with receiving_ours(monkeypatch) as receiver:
        yield receiver


@pytest.fixture
async def traced(desk: Desk, received: Receiver, monkeypatch: pytest.MonkeyPatch) -> Desk:
    monkeypatch.setenv("PI_INTENT_TRACING", "on")
    return desk


async def spans_of(desk: Desk, received: Receiver) -> list[Received]:
    for session in desk.sessions:
        await session.aclose()
    own_provider.the_provider().flush()
    return received.spans


async def test_a_call_is_a_span_under_its_session(traced: Desk, received: Receiver) -> None:
    (traced.project / "a.txt").write_text("one\n")
    await traced.run(calls(("read", {"intent": "See what is there", "path": "a.txt"})))
    root, span = await spans_of(traced, received)
    (start,), (end,) = traced.starts, traced.ends
    session = start.session_id
    assert received.paths == ["/v1/traces"]
    assert received.headers[0]["content-type"] == "application/x-protobuf"
    assert span == Received(
        name="execute_tool read",
        trace_id=f"{trace_id(session):032x}",
        span_id=f"{call_span_id(start.call_id):016x}",
        parent_id=f"{session_span_id(session):016x}",
        kind=INTERNAL,
        start=span.start,
        end=span.end,
        status=OK,
        message="",
        attributes={
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "read",
            "gen_ai.tool.type": "function",
            "gen_ai.tool.call.id": "tool-call-0",
            "gen_ai.conversation.id": session,
            "gen_ai.agent.name": "tau",
            "session.id": session,
            "openinference.span.kind": "TOOL",
            "langfuse.trace.name": "tau session",
            "langfuse.trace.tags": ["pi-intent", "tau"],
            "pi_intent.call.id": start.call_id,
            "pi_intent.host": "tau",
            "pi_intent.agent": "main",
            "pi_intent.group.id": start.group_id,
            "pi_intent.seq": start.seq,
            "pi_intent.intent.source": "model",
            "pi_intent.model": "m",
            "pi_intent.status": "ok",
            "pi_intent.duration_ms": end.duration_ms,
        },
        resource=span.resource,
        scope="pi-intent",
    )
    assert span.resource["service.name"] == "pi-intent"
    assert root.start <= span.start <= span.end <= root.end
    assert (root.name, root.trace_id, root.span_id, root.parent_id) == (
        "tau session",
        span.trace_id,
        span.parent_id,
        "",
    )
    assert root.attributes == {
        "openinference.span.kind": "AGENT",
        "langfuse.observation.type": "agent",
        "langfuse.trace.name": "tau session",
        "langfuse.trace.tags": ["pi-intent", "tau"],
        "gen_ai.conversation.id": session,
        "gen_ai.agent.name": "tau",
        "session.id": session,
        "pi_intent.host": "tau",
    }


async def test_texts_are_told_only_where_content_is_captured(
    traced: Desk, received: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = {"intent": "Prove the café opens", "rationale": "the user asked", "path": "a.txt"}
    (traced.project / "a.txt").write_text("one\n")
    for value in ("", "false", "NO_CONTENT", "EVENT_ONLY", "perhaps"):
        monkeypatch.setenv(CAPTURE, value)
        await traced.run(calls(("read", call)))
    spans = await spans_of(traced, received)
    assert len(spans) == 10
    assert not any("café" in str(span.attributes) or "a.txt" in str(span.attributes) for span in spans)
    assert "café".encode() not in received.all_bytes


@pytest.mark.parametrize("value", ["true", "True", "1", "SPAN_ONLY", "span_and_event"])
async def test_texts_that_are_captured_are_the_intent_the_rationale_the_arguments_and_what_came_of_it(
    traced: Desk, received: Receiver, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv(CAPTURE, value)
    written = {"path": "b.txt", "content": "two\n"}
    await traced.run(
        calls(
            ("write", {"intent": "Prove the café opens", "rationale": "the user asked", **written}),
            ("bash", {"intent": "Fail", "command": "exit 3"}),
        )
    )
    spans = await spans_of(traced, received)
    write = next(span for span in spans if span.name == "execute_tool write")
    texts = {name: write.attributes[name] for name in ("pi_intent.intent", "pi_intent.rationale")}
    assert texts == {"pi_intent.intent": "Prove the café opens", "pi_intent.rationale": "the user asked"}
    assert json.loads(write.attributes["gen_ai.tool.call.arguments"]) == {"path": "b.txt", "content": {"bytes": 4}}
    assert write.attributes["pi_intent.files.count"] == 1
    assert [Path(path).name for path in write.attributes["pi_intent.files"]] == ["b.txt"]
    bash = received.named("execute_tool bash")
    assert (bash.status, bash.message) == (ERROR, "exit 3")
    assert bash.attributes["pi_intent.facts"] == "exit 3"


async def test_texts_under_redact_args_are_told_to_nobody(
    traced: Desk, received: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CAPTURE, "true")
    traced.configure("[tools]\nbash = { redact_args = true }\n")
    call = {"intent": "Look for the hidden thing", "rationale": "hidden reasons", "command": "echo hidden; exit 3"}
    await traced.run(calls(("bash", call)))
    await spans_of(traced, received)
    span = received.named("execute_tool bash")
    assert (span.status, span.message, span.attributes["error.type"]) == (ERROR, "", "error")
    assert span.attributes["pi_intent.flags"] == ["redact_args"]
    assert b"hidden" not in received.all_bytes
    assert not {name for name in span.attributes if name.startswith(("pi_intent.intent", "gen_ai.tool.call.arg"))} - {
        "pi_intent.intent.source"
    }


async def test_every_way_to_end_has_its_status(traced: Desk, received: Receiver) -> None:
    traced.extension(
        "guard",
        "def setup(tau):\n"
        "    from tau_coding.extensions import ToolCallHookResult\n"
        "    def stop(event, context):\n"
        "        if event.arguments.get('command') == 'rm x':\n"
        "            return ToolCallHookResult(block=True, reason='not here')\n"
        "    tau.on('tool_call', stop)\n",
    )
    await traced.run(
        calls(
            ("bash", {"command": "true"}),
            ("bash", {"intent": "Remove", "command": "rm x"}),
            ("bash", {"intent": "Fail", "command": "exit 3"}),
            ("bash", {"intent": "Wait", "command": "sleep 5", "timeout": 1}),
            ("bash", {"intent": "Go on", "command": "true"}),
        )
    )
    spans = [span for span in await spans_of(traced, received) if span.name == "execute_tool bash"]
    told = {
        span.attributes["gen_ai.tool.call.id"]: (
            span.status,
            span.attributes.get("error.type"),
            span.attributes["pi_intent.status"],
            span.attributes.get("pi_intent.codes"),
        )
        for span in spans
    }
    assert told == {
        "tool-call-0": (ERROR, "rejected", "rejected", ["intent_missing"]),
        "tool-call-1": (ERROR, "denied", "denied", None),
        "tool-call-2": (ERROR, "error", "error", None),
        "tool-call-3": (ERROR, "timeout", "timeout", None),
        "tool-call-4": (OK, None, "ok", None),
    }
    assert all(span.start <= span.end for span in spans)


async def test_calls_that_were_open_when_the_session_closed_end_as_interrupted_with_its_own_span(
    traced: Desk, received: Receiver
) -> None:
    session = await traced.session([calls(("bash", {"intent": "Wait", "command": "touch started; sleep 20"}))])

    async def run() -> None:
        async for _ in session.prompt("go"):
            pass

    task = asyncio.create_task(run())
    for _ in range(1000):
        if (traced.project / "started").exists():
            break
        await asyncio.sleep(0.005)
    await session.aclose()
    task.cancel()
    await asyncio.wait([task], timeout=10)
    root, span = await spans_of(traced, received)
    assert (span.name, span.status, span.parent_id) == ("execute_tool bash", ERROR, root.span_id)
    assert (traced.statuses, span.attributes["error.type"]) == ([("bash", "interrupted")], "interrupted")


async def test_parallel_calls_have_spans_of_their_own(traced: Desk, received: Receiver) -> None:
    for number in range(5):
        (traced.project / f"{number}.txt").write_text(str(number))
    await traced.run(calls(*(("read", {"intent": f"Read {n}", "path": f"{n}.txt"}) for n in range(5))))
    root, *spans = await spans_of(traced, received)
    assert {span.parent_id for span in spans} == {root.span_id}
    assert {span.span_id for span in spans} == {f"{call_span_id(start.call_id):016x}" for start in traced.starts}
    assert len({span.span_id for span in spans}) == 5


async def test_on_the_screen_it_is_said_that_spans_do_not_arrive_while_nothing_else_happens(
    traced: Desk, received: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "20")  # milliseconds
    received.answer = 403
    turns = [calls(("bash", {"intent": "Go on", "command": "true"})), says("done")]
    async with running(await traced.session(turns)) as (pilot, app):
        await type_in(pilot, app, "go")
        sentence = f"tracing: spans do not reach {received.url}/v1/traces (it answers 403)"
        for _ in range(500):
            told = [str(note.message) for note in app._notifications if sentence in str(note.message)]
            if told:
                break
            await pilot.pause(0.02)
    assert len(told) == 1
