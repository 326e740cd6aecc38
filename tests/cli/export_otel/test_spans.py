"""`pi-intent export otel` sends the calls of the ledger to a real receiver, the same spans each time."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from ledger_events import a_start, an_end
from otel_exporting import BEGAN, CONTEXT, MS, call_of, name_of, run, sent
from otlp_receiver import Received, Receiver

from pi_intent.events import FileChange
from pi_intent.ledger.journal import SessionJournal
from pi_intent.protocols import Settlement
from pi_intent.tracing.ids import call_span_id, session_span_id, trace_id

CAPTURE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
UNSET, ERROR, INTERNAL = 0, 2, 1


def test_a_call_is_a_span_with_all_that_may_be_told_under_its_session(
    journal: SessionJournal, received: Receiver
) -> None:
    start = a_start(
        call_id=name_of(1),
        seq=7,
        intent="Prove it",
        rationale="the log",
        tool_source="docs",
        model="m",
        flags=("sent_as_text",),
    )
    journal.opened(start, CONTEXT._replace(turn=3, bytes_in=12))
    files = (FileChange(path="a.py", op="modify", pre="hmac:1", post="hmac:2"),)
    end = an_end(call_id=start.call_id, seq=8, status="error", is_error=True, facts="exit 1", files=files)
    journal.closed(end, Settlement(status="error", is_error=True, error="no such thing", bytes_out=2))
    result = run("--endpoint", received.url)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == (
        f"Sent 2 spans to {received.url}/v1/traces: 1 call of 1 session.\n"
        "Without their texts: OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true adds them.\n"
    )
    assert (received.paths, received.headers[0]["content-type"]) == (["/v1/traces"], "application/x-protobuf")
    session, span = received.spans
    resource = {"service.name": "pi-intent"}
    assert {**span.resource, **resource} == span.resource
    assert span == Received(
        name="execute_tool bash",
        trace_id=f"{trace_id('s-1'):032x}",
        span_id=f"{call_span_id(name_of(1)):016x}",
        parent_id=f"{session_span_id('s-1'):016x}",
        kind=INTERNAL,
        start=BEGAN,
        end=BEGAN + 14 * MS,
        status=ERROR,
        message="",
        attributes={
            "gen_ai.operation.name": "execute_tool",
            "openinference.span.kind": "TOOL",
            "gen_ai.tool.name": "bash",
            "gen_ai.tool.type": "function",
            "gen_ai.tool.call.id": "call_1",
            "gen_ai.conversation.id": "s-1",
            "session.id": "s-1",
            "gen_ai.agent.name": "tau",
            "langfuse.trace.name": "tau session",
            "langfuse.trace.tags": ["pi-intent", "tau"],
            "pi_intent.call.id": name_of(1),
            "pi_intent.host": "tau",
            "pi_intent.agent": "main",
            "pi_intent.group.id": "g-1",
            "pi_intent.seq": 7,
            "pi_intent.tool.source": "docs",
            "pi_intent.intent.source": "model",
            "pi_intent.model": "m",
            "pi_intent.flags": ["sent_as_text"],
            "pi_intent.policy": "require",
            "pi_intent.profile": "lean",
            "pi_intent.turn": 3,
            "error.type": "error",
            "pi_intent.status": "error",
            "pi_intent.duration_ms": 14,
            "pi_intent.files.count": 1,
            "pi_intent.bytes.in": 12,
            "pi_intent.bytes.out": 2,
        },
        resource=span.resource,
        scope="pi-intent",
    )
    assert (session.name, session.parent_id, session.trace_id, session.span_id, session.start, session.end) == (
        "tau session",
        "",
        span.trace_id,
        span.parent_id,
        span.start,
        span.end,
    )


def test_sending_again_sends_the_same_spans(journal: SessionJournal, received: Receiver) -> None:
    for number in range(5):
        call_of(journal, number)
    first = sent(received)
    assert len(first) == 6
    assert sent(received) == first
    some = sent(received, "--since", "2030-01-01T00:00:05Z")
    assert [span for span in some if span.name == "execute_tool bash"] == first[-2:]
    assert {span.span_id for span in some} <= {span.span_id for span in first}


def test_texts_are_sent_only_where_content_is_captured_and_never_under_redact_args(
    journal: SessionJournal, received: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    failed = Settlement(status="error", is_error=True, error="no café", facts="exit 1")
    call_of(journal, 1, intent="Prove the café opens", args={"path": "café.py"}, settlement=failed)
    withholding = CONTEXT._replace(redact_args=True)
    call_of(journal, 2, intent="hidden", args={"path": "hidden"}, context=withholding, settlement=failed)
    for value in ("", "false", "no_content", "event_only"):
        monkeypatch.setenv(CAPTURE, value)
        sent(received)
        assert "café".encode() not in received.all_bytes
    monkeypatch.setenv(CAPTURE, "span_only")
    result = run("--endpoint", received.url)
    assert (
        "With their texts, without secrets.\n1 call without texts, as redact_args withholds them.\n" in result.stdout
    )
    told = {span.attributes.get("pi_intent.call.id"): span for span in received.spans}
    open_, withheld = told[name_of(1)], told[name_of(2)]
    assert open_.attributes["pi_intent.intent"] == "Prove the café opens"
    assert json.loads(open_.attributes["gen_ai.tool.call.arguments"]) == {"path": "café.py"}
    assert (open_.attributes["pi_intent.error"], open_.attributes["pi_intent.facts"]) == ("no café", "exit 1")
    assert (open_.status, open_.message) == (ERROR, "no café")
    assert not {"pi_intent.intent", "gen_ai.tool.call.arguments"} & set(withheld.attributes)
    assert b"hidden" not in received.all_bytes
    assert b"withheld" not in received.all_bytes


def test_what_became_a_secret_after_it_was_recorded_is_taken_out(
    journal: SessionJournal, received: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    canary = "kiwi-lantern" + "-9f3b2c77d1"
    failed = Settlement(status="error", is_error=True, error=f"no {canary}", facts=f"exit {canary}")
    named = {"tool_name": f"bash {canary}", "group_id": f"g {canary}", "model": f"m {canary}"}
    texts = {"intent": f"Use {canary}", "rationale": f"by {canary}", "args": {"command": f"login {canary}"}}
    call_of(journal, 1, settlement=failed, tool_call_id=f"id {canary}", **named, **texts)
    monkeypatch.setenv(CAPTURE, "true")
    sent(received)
    assert received.all_bytes.count(canary.encode()) >= 10
    monkeypatch.setenv("SHOP_API_TOKEN", canary)
    sent(received)
    assert canary.encode() not in received.all_bytes


def test_what_still_runs_is_left_out_and_told_and_what_was_left_open_is_interrupted(
    journal: SessionJournal, received: Receiver
) -> None:
    call_of(journal, 1)
    journal.opened(a_start(call_id=name_of(2), seq=9), CONTEXT)
    result = run("--endpoint", received.url)
    assert "1 call left out, still running.\n" in result.stdout
    assert len(received.spans) == 2
    journal.close()
    received.bodies.clear()
    open_ = next(span for span in sent(received) if span.attributes.get("pi_intent.call.id") == name_of(2))
    assert (open_.status, open_.end - open_.start) == (ERROR, 0)
    told = {key: open_.attributes.get(key) for key in ("pi_intent.status", "error.type", "pi_intent.duration_ms")}
    assert told == {"pi_intent.status": "open", "error.type": "interrupted", "pi_intent.duration_ms": None}


def test_a_dry_run_contacts_nobody_and_says_what_would_go(journal: SessionJournal, received: Receiver) -> None:
    call_of(journal, 1)
    result = run("--endpoint", received.url, "--dry-run", "--json")
    assert json.loads(result.stdout) == {
        "ledger": str(journal.location.segments),
        "endpoint": f"{received.url}/v1/traces",
        "dryRun": True,
        "content": False,
        "spans": 2,
        "calls": 1,
        "sessions": 1,
        "running": 0,
        "undated": 0,
        "withheld": 0,
    }
    assert received.paths == []
    assert run("--dry-run").stdout.splitlines()[:2] == [
        "Would send 2 spans: 1 call of 1 session.",
        "Nothing could be sent yet: no endpoint is set: give one with --endpoint, "
        "or set OTEL_EXPORTER_OTLP_ENDPOINT.",
    ]


def test_many_calls_go_in_batches(journal: SessionJournal, received: Receiver) -> None:
    for number in range(1100):
        call_of(journal, number)
    assert len(sent(received)) == 1101
    assert len(received.bodies) == 3


def test_an_empty_ledger_is_told_and_nobody_is_contacted(received: Receiver) -> None:
    result = run("--endpoint", received.url)
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr.startswith("There is nothing to send: no call is recorded in ")
    assert received.paths == []


def test_hostile_records_cost_no_other_span(journal: SessionJournal, received: Receiver) -> None:
    call_of(journal, 1)
    assert journal.path is not None
    line, end = (json.loads(text) for text in journal.path.read_text().splitlines()[1:3])
    hostile = [
        line | {"id": "a" * 26, "seq": 10**40, "turn": -(10**30)},
        end | {"id": "a" * 26, "ms": 10**30, "bytesIn": -(10**40)},
        line | {"id": "b" * 26, "ts": "whenever"},
        line | {"id": "c" * 26, "ts": "0001-01-01T00:00:00Z"},
        line | {"id": "d" * 26, "ts": "9999-12-31T23:59:59Z"},
        end | {"id": "e" * 26},
        line | {"id": "f" * 26},
        end | {"id": "f" * 26, "ms": -5},
    ]
    with journal.path.open("a") as file:
        file.writelines(json.dumps(record) + "\n" for record in hostile)
    journal.close()
    result = run("--endpoint", received.url)
    assert result.exit_code == 0
    assert "4 calls left out, as the ledger does not say when they began." in result.stderr
    told = {span.attributes.get("pi_intent.call.id"): span for span in received.spans}
    assert set(told) == {None, name_of(1), "a" * 26, "f" * 26}
    assert told["a" * 26].end == 2**63 - 1
    assert told["f" * 26].end == told["f" * 26].start
    assert not {"pi_intent.seq", "pi_intent.turn", "pi_intent.duration_ms"} & set(told["a" * 26].attributes)


def test_without_the_extra_the_sentence_says_what_to_install(journal: SessionJournal, tmp_path: Path) -> None:
    call_of(journal, 1)
    code = (
        "import sys\n"
        "sys.modules['opentelemetry'] = None\n"
        "sys.argv = ['pi-intent', 'export', 'otel', '--endpoint', 'http://127.0.0.1:9']\n"
        "from pi_intent.cli.main import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == 'Error: OpenTelemetry is not installed here: install pi-intent with its extra "otel"\n'
