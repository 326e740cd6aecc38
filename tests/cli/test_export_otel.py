"""`pi-intent export otel` sends the calls of the ledger to a real receiver, the same spans each time."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from ledger_events import a_start, an_end
from otlp_receiver import Received, Receiver, receiving
from session_files import as_bytes, subagent_session

from pi_intent.cli.main import commands
from pi_intent.events import FileChange
from pi_intent.ledger.calls import calls
from pi_intent.ledger.journal import SessionJournal
from pi_intent.ledger.location import find_ledger
from pi_intent.ledger.record import SessionInfo
from pi_intent.protocols import CallContext, Settlement
from pi_intent.tracing.ids import call_span_id, session_span_id, trace_id

CONTEXT = CallContext(turn=1, policy="require", profile="lean", bytes_in=1)
OK = Settlement(status="ok", is_error=False)
CAPTURE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
UNSET, ERROR, INTERNAL = 0, 2, 1
BEGAN = 1_893_456_000_000_000_000
"""2030, in nanoseconds."""
SECOND, MS = 1_000_000_000, 1_000_000


@pytest.fixture(autouse=True)
def project(shop: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in [name for name in os.environ if name.startswith("OTEL_")]:
        monkeypatch.delenv(name)
    return shop


@pytest.fixture
def received() -> Iterator[Receiver]:
    with receiving() as receiver:
        yield receiver


class Clock:
    """A clock that begins with 2030 and goes on by a second a look."""

    def __init__(self) -> None:
        self.now = BEGAN // SECOND - 2

    def __call__(self) -> float:
        self.now += 1
        return float(self.now)


def journal_of(session: str, host: Any = "tau") -> SessionJournal:
    info = SessionInfo(session=session, host=host, agent="main", cwd="/", version="0")
    location = find_ledger(Path(), os.environ)
    journal = SessionJournal(location, info, environ={}, on_problem=pytest.fail, clock=Clock())
    journal._ready()  # the clock's first second is the session's
    return journal


@pytest.fixture
def journal() -> Iterator[SessionJournal]:
    journal = journal_of("s-1")
    yield journal
    journal.close()


def name_of(number: int) -> str:
    return f"01J8{number:022d}"


def call_of(journal: SessionJournal, number: int, *, settlement: Settlement = OK, **particular: Any) -> str:
    """Record a call that ended."""
    call_id = name_of(number)
    context = particular.pop("context", CONTEXT)
    session = journal.info.session
    journal.opened(a_start(call_id=call_id, seq=2 * number, session_id=session, **particular), context)
    told = {"status": settlement.status, "is_error": settlement.is_error, "facts": settlement.facts}
    journal.closed(an_end(call_id=call_id, seq=2 * number + 1, session_id=session, **told), settlement)
    return call_id


def run(*args: str) -> Result:
    return CliRunner().invoke(commands, ["export", "otel", *args])


def sent(received: Receiver, *args: str) -> list[Received]:
    before = len(received.bodies)
    result = run("--endpoint", received.url, *args)
    assert (result.exit_code, result.stderr) == (0, "")
    bodies, received.bodies[:] = received.bodies[before:], received.bodies[before:]
    assert received.bodies == bodies
    return received.spans


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


def test_a_call_that_another_ones_tool_made_is_under_it_and_in_its_trace(received: Receiver) -> None:
    child, parent = journal_of("a-child"), journal_of("z-parent")  # the child's file is read first
    call_of(parent, 1)
    call_of(child, 2, parent_tool_call_id=name_of(1), agent_id="child")
    call_of(child, 3, parent_tool_call_id=name_of(2), agent_id="child")
    call_of(child, 4, parent_tool_call_id="nobody's")
    child.close()
    parent.close()
    told = {span.span_id: span for span in sent(received)}
    spans = [told[f"{call_span_id(name_of(number)):016x}"] for number in range(1, 5)]
    whole, own = f"{trace_id('z-parent'):032x}", f"{trace_id('a-child'):032x}"
    assert [span.trace_id for span in spans] == [whole, whole, whole, own]
    assert [span.parent_id for span in spans] == [
        f"{session_span_id('z-parent'):016x}",
        spans[0].span_id,
        spans[1].span_id,
        f"{session_span_id('a-child'):016x}",
    ]
    alone = sent(received, "--session", "a-child")
    assert {span.span_id for span in alone} == {
        spans[1].span_id,
        spans[2].span_id,
        spans[3].span_id,
        spans[3].parent_id,
    }
    assert all(span == told[span.span_id] for span in alone)


def test_a_call_that_a_subagent_made_is_under_the_one_that_started_it_after_an_import(
    project: Path, tmp_path: Path, received: Receiver
) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(as_bytes(*subagent_session(str(project))))
    CliRunner().invoke(commands, ["import", str(path)], catch_exceptions=False)
    by_tool = {call.call.tool: call.call for call in calls(find_ledger(Path(), os.environ).root) if call.call}
    task, read, bash = (by_tool[name] for name in ("Task", "Read", "Bash"))
    assert (task.parent, read.parent, bash.parent) == (None, task.id, None)
    spans = {span.name: span for span in sent(received)}
    own, of_task = spans["claude-code session"], spans["execute_tool Task"]
    assert [spans[f"execute_tool {name}"].parent_id for name in ("Task", "Read", "Bash")] == [
        own.span_id,
        of_task.span_id,
        own.span_id,
    ]
    assert {span.trace_id for span in spans.values()} == {own.trace_id}


def test_of_too_many_calls_before_their_parent_the_first_hangs_under_its_session(
    journal: SessionJournal, received: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pi_intent.tracing.early.MOST_EARLY", 2)
    for number in (1, 2, 3):
        call_of(journal, number, parent_tool_call_id=name_of(9))
    call_of(journal, 9)
    told = {span.span_id: span.parent_id for span in sent(received)}
    session, parent = f"{session_span_id('s-1'):016x}", f"{call_span_id(name_of(9)):016x}"
    assert [told[f"{call_span_id(name_of(number)):016x}"] for number in (1, 2, 3, 9)] == [
        session,
        parent,
        parent,
        session,
    ]


def test_a_call_that_is_its_own_parent_is_sent_all_the_same(journal: SessionJournal, received: Receiver) -> None:
    call_of(journal, 1, parent_tool_call_id=name_of(1))
    call_of(journal, 2, parent_tool_call_id=name_of(3))
    call_of(journal, 3, parent_tool_call_id=name_of(2))
    assert len(sent(received)) == 4


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
        "Nothing could be sent yet: no endpoint is set: give one with --endpoint, or set OTEL_EXPORTER_OTLP_ENDPOINT.",
    ]


@pytest.mark.parametrize(
    ("variables", "path"),
    [
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "{url}"}, "/v1/traces"),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "{url}/api/public/otel/"}, "/api/public/otel/v1/traces"),
        (
            {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "{url}/mine"},
            "/mine",
        ),
    ],
)
def test_the_standard_variables_say_where_to_and_with_which_headers(
    journal: SessionJournal, received: Receiver, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], path: str
) -> None:
    call_of(journal, 1)
    for name, value in variables.items():
        monkeypatch.setenv(name, value.format(url=received.url))
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "Authorization=Basic%20abc,x-project=shop")
    monkeypatch.setenv("OTEL_SERVICE_NAME", "my agent")
    assert run().exit_code == 0
    assert received.paths == [path]
    assert (received.headers[0]["authorization"], received.headers[0]["x-project"]) == ("Basic abc", "shop")
    assert {span.resource["service.name"] for span in received.spans} == {"my agent"}


@pytest.mark.parametrize("more", [(), ("--dry-run",)])
@pytest.mark.parametrize(
    ("variable", "value", "why"),
    [
        ("OTEL_SDK_DISABLED", "true", "is true"),
        ("OTEL_TRACES_EXPORTER", "none", "is none"),
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc", "is grpc and pi-intent sends http/protobuf alone"),
        ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "http/json", "is http/json and pi-intent sends http/protobuf alone"),
    ],
)
def test_variables_that_are_against_sending_are_named_and_nothing_is_sent(
    journal: SessionJournal,
    received: Receiver,
    monkeypatch: pytest.MonkeyPatch,
    variable: str,
    value: str,
    why: str,
    more: tuple[str, ...],
) -> None:
    call_of(journal, 1)
    monkeypatch.setenv(variable, value)
    result = run("--endpoint", received.url, *more)
    assert (result.exit_code, result.stdout, received.paths) == (1, "", [])
    assert result.stderr == f"Error: nothing was sent, as {variable} {why}: unset {variable} to send\n"


def test_many_calls_go_in_batches(journal: SessionJournal, received: Receiver) -> None:
    for number in range(1100):
        call_of(journal, number)
    assert len(sent(received)) == 1101
    assert len(received.bodies) == 3


def test_where_nobody_listens_there_is_one_sentence_at_once(journal: SessionJournal) -> None:
    call_of(journal, 1)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, and not listening
        port = taken.getsockname()[1]
        began = time.monotonic()
        result = run("--endpoint", f"http://127.0.0.1:{port}")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == (
        f"Error: nobody listens at http://127.0.0.1:{port}/v1/traces: start what is to receive the spans first\n"
    )
    assert time.monotonic() - began < 5


@pytest.mark.parametrize("answer", [401, 404, 400, 503])
def test_a_receiver_that_refuses_is_named_with_its_answer(
    journal: SessionJournal, received: Receiver, answer: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "2")  # what may pass is tried again until then
    call_of(journal, 1)
    received.answer = answer
    result = run("--endpoint", received.url.replace("http://", "http://ada:pa55word@"))
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (1, "", 1)
    assert f"{received.url}/v1/traces took no spans (it answers {answer})" in result.stderr
    assert "0 spans had been sent, and sending them again is safe" in result.stderr
    assert "pa55word" not in result.stderr


@pytest.mark.parametrize(
    "url", ["localhost:4318", "ftp://127.0.0.1", "http://", "http://127.0.0.1:99999", "http://[::1"]
)
def test_what_is_no_address_is_one_sentence(journal: SessionJournal, url: str) -> None:
    result = run("--endpoint", url)
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (1, "", 1)
    assert "is no address such as http://localhost:4318" in result.stderr


def test_without_an_endpoint_nothing_is_guessed(journal: SessionJournal) -> None:
    call_of(journal, 1)
    result = run()
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == (
        "Error: no endpoint is set: give one with --endpoint, or set OTEL_EXPORTER_OTLP_ENDPOINT\n"
    )


def test_an_empty_ledger_is_told_and_nobody_is_contacted(received: Receiver) -> None:
    result = run("--endpoint", received.url)
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr.startswith("There is nothing to send: no call that was asked for is recorded in ")
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
