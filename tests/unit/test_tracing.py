"""Spans of a session: what is told, to whom, and what happens when nobody takes them."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from otlp_receiver import Receiver, end_provider, host_provider, receiving_ours

from pi_intent.events import FileChange, OutcomePatch
from pi_intent.pipeline import CallRequest, OpenCall
from pi_intent.protocols import Settlement
from pi_intent.runtime import SessionRuntime
from pi_intent.tracing import own_provider
from pi_intent.tracing.attributes import Begun, Ended, begun_attributes, ended_attributes
from pi_intent.tracing.environment import CAPTURE, captures_content, lacking, shown_url, traces_url
from pi_intent.tracing.ids import call_span_id, session_span_id, trace_id

CHECKOUT = Path(own_provider.__file__).parents[2]
OK = Settlement(status="ok", is_error=False)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    for name in [name for name in os.environ if name.startswith(("OTEL_", "PI_INTENT"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    folder = tmp_path / "shop"
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    yield folder
    end_provider()


@pytest.fixture
def received(monkeypatch: pytest.MonkeyPatch) -> Iterator[Receiver]:
    with receiving_ours(monkeypatch) as receiver:
        yield receiver


@pytest.fixture
def hosts(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    """A provider that the host has set up, and what it got."""
    with host_provider(monkeypatch) as exporter:
        yield exporter


class Sessions:
    """Sessions of one project, and what their person was told."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.told: list[str] = []

    async def start(self, session: str = "s-1", *, traced: bool = True, host: Any = "tau") -> SessionRuntime:
        runtime = SessionRuntime(
            session_id=session,
            host=host,
            host_version="0",
            cwd=self.folder,
            strict=False,
            tell=self.told.append,
            withholds=lambda tool_name: False,
            traced=traced,
        )
        await runtime.start()
        return runtime


@pytest.fixture
def sessions(project: Path) -> Sessions:
    return Sessions(project)


def opened(runtime: SessionRuntime, **particular: Any) -> OpenCall:
    request = {
        "tool_name": "bash",
        "tool_call_id": "call_1",
        "arguments": {"intent": "Say why", "command": "true"},
        "group_id": "g-1",
        "turn": 1,
        "policy": "require",
    }
    return runtime.pipeline.open(CallRequest(**request | particular))


def flushed(received: Receiver) -> Receiver:
    own_provider.the_provider().flush()
    return received


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


# Secrets

ENV_SECRET = "kiwi-lantern" + "-9f3b2c77d1"
SHAPES = (
    "sk" + "-ant-" + "api03-" + "aB3dE6gH9jK2mN5pQ8rS1tU4vW7xY0zAbC3dEf6h",
    "gh" + "p_" + "aB3dE6gH9jK2mN5pQ8rS1tU4vW7xY0zAbC3d",
    "AK" + "IA" + "Q3EGB7XWUZ2LN4TY",
)


def everywhere(secret: str) -> dict[str, Any]:
    """A request that has a secret in every field, also split over lines."""
    half = len(secret) // 2
    split = f"{secret[:half]}\n{secret[half:]}"
    args = {"command": f"echo {secret} '{split}'", f"k {secret}": [secret, {"x": split}], "path": f"/tmp/{secret}"}
    return {
        "tool_name": f"bash {secret}",
        "tool_call_id": f"id {secret}",
        "arguments": {"intent": f"Use {secret} and {split}", "rationale": f"because {secret} {split}", **args},
        "group_id": f"group {secret}",
        "agent_id": f"agent {secret}",
        "tool_source": f"server {secret}",
        "parent_call_id": f"parent {secret}",
        "model": f"model {secret}",
    }


def ended_with(secret: str) -> Settlement:
    half = len(secret) // 2
    split = f"{secret[:half]}\n{secret[half:]}"
    return Settlement(
        status="error",
        is_error=True,
        result=f"result {secret}",
        error=f"no {secret} {split}",
        outcome=f"done {secret} {split}",
        outcome_patch=OutcomePatch(from_=secret, to=split),
        facts=f"exit {secret} {split}",
        files=(FileChange(path=f"/tmp/{secret}", op="create"),),
        ran_args={"command": f"echo {secret} {split}"},
    )


@pytest.mark.parametrize("capture", ["", "true"])
async def test_no_secret_is_in_any_span_live_or_exported(
    sessions: Sessions, received: Receiver, monkeypatch: pytest.MonkeyPatch, capture: str
) -> None:
    from click.testing import CliRunner

    from pi_intent.cli.main import commands

    monkeypatch.setenv(CAPTURE, capture)
    monkeypatch.setenv("SHOP_API_TOKEN", ENV_SECRET)
    for number, secret in enumerate((ENV_SECRET, *SHAPES)):
        runtime = await sessions.start(f"session {number} {secret}")
        opened(runtime, **everywhere(secret)).settle(ended_with(secret))
        runtime.close()
    live = flushed(received).all_bytes
    assert len(received.spans) == 8
    received.bodies.clear()
    monkeypatch.chdir(sessions.folder)
    exports = [CliRunner().invoke(commands, ["export", name]) for name in ("otel", "jsonl", "csv")]
    assert [result.exit_code for result in exports] == [0, 0, 0]
    assert len(received.spans) == 8
    told = b"\n".join([live, received.all_bytes, *(result.output.encode() for result in exports)])
    assert (b"[redacted:" in live, b"[redacted:" in received.all_bytes) == (True, True)
    for secret in (ENV_SECRET, *SHAPES):
        half = len(secret) // 2
        assert secret.encode() not in told
        assert secret[:half].encode() not in told
        assert secret[half:].encode() not in told


# When something is missing


async def test_where_nothing_receives_spans_it_is_said_once_and_calls_go_on(sessions: Sessions) -> None:
    runtime = await sessions.start()
    await runtime.start()
    opened(runtime).settle(OK)
    runtime.close()
    assert sessions.told == [
        "tracing is on, but nothing receives spans: no OTEL_EXPORTER_OTLP_ENDPOINT is set, and the host has set up "
        "no OpenTelemetry of its own"
    ]


async def test_an_endpoint_that_refuses_is_said_once_and_costs_no_call(
    sessions: Sessions, received: Receiver, capfd: pytest.CaptureFixture[str]
) -> None:
    runtime = await sessions.start()
    for received.answer in (403, 404, 403):
        opened(runtime).settle(OK)
        own_provider.the_provider().flush()
    runtime.close()
    assert sessions.told == [undelivered(received.url, "it answers 403")]
    assert [span.done.status for span in _kept(sessions)] == ["ok"] * 3
    assert capfd.readouterr() == ("", "")


def undelivered(url: str, why: str) -> str:
    return f"tracing: spans do not reach {url}/v1/traces ({why}) and are dropped until they do; the calls go on"


async def test_it_is_said_while_the_session_has_nothing_to_do(
    sessions: Sessions, received: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "20")  # milliseconds
    received.answer = 403
    runtime = await sessions.start()
    told, threads = asyncio.Event(), []

    def tell(sentence: str) -> None:
        sessions.told.append(sentence)
        threads.append(threading.current_thread())
        told.set()

    runtime.tell = tell
    opened(runtime).settle(OK)
    await asyncio.wait_for(told.wait(), 20)
    assert sessions.told == [undelivered(received.url, "it answers 403")]
    assert threads == [threading.main_thread()]  # a host's screen is not for other threads
    runtime.close()


async def test_a_session_that_begins_later_is_told_as_well(sessions: Sessions, received: Receiver) -> None:
    received.answer = 403
    first = await sessions.start()
    opened(first).settle(OK)
    own_provider.the_provider().flush()
    second = await sessions.start("s-2")
    assert sessions.told == [undelivered(received.url, "it answers 403")] * 2
    first.close()
    second.close()


async def test_the_end_says_how_many_spans_were_lost(sessions: Sessions, received: Receiver) -> None:
    runtime = await sessions.start()
    for received.answer in (403, 200, 200):
        opened(runtime).settle(OK)
        own_provider.the_provider().flush()
    runtime.close()  # and with it the span of the session
    assert own_provider.the_provider().end() == (
        f"tracing: 1 of 4 spans did not reach {received.url}/v1/traces; "
        '"pi-intent export otel" sends again what the ledger has of them'
    )
    assert len(received.spans) == 3


def _kept(sessions: Sessions) -> list[Any]:
    from pi_intent.ledger.calls import read_ledger

    return read_ledger(sessions.folder / ".git" / "pi-intent").calls


def in_a_process(code: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run code in a process of its own, with a session `runtime` that is traced as `traced` says."""
    script = f"""
import asyncio, json, os, sys
from pathlib import Path
sys.path.insert(0, {str(CHECKOUT / "tests")!r})
def told(sentence): print("told", sentence)
{textwrap.dedent(code)}
"""
    return subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, **environ},
    )


SESSION = """
from pi_intent.runtime import SessionRuntime
from pi_intent.pipeline import CallRequest
from pi_intent.protocols import Settlement
async def main(traced):
    runtime = SessionRuntime(session_id="s-1", host="tau", host_version="0", cwd=Path(), strict=False, tell=told,
                             withholds=lambda name: False, traced=traced)
    await runtime.start()
    sent = {"intent": "Say why", "command": "true"}
    request = CallRequest("bash", "1", sent, group_id="g", turn=1, policy="require")
    call = runtime.pipeline.open(request)
    call.settle(Settlement(status="ok", is_error=False))
    runtime.close()
"""


def test_switched_off_nothing_of_opentelemetry_is_loaded(project: Path, received: Receiver) -> None:
    ours = "[name for name in sys.modules if 'telemetry' in name or 'tracing' in name]"
    code = f"{SESSION}asyncio.run(main(False))\nprint({ours})"
    done = in_a_process(f"os.chdir({str(project)!r})" + code)
    assert (done.stdout, done.stderr, done.returncode) == ("[]\n", "", 0)
    assert received.paths == []


def test_what_waits_is_sent_at_the_end_of_the_process(project: Path, received: Receiver) -> None:
    done = in_a_process(f"os.chdir({str(project)!r})" + SESSION + "asyncio.run(main(True))")
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)
    assert [span.name for span in received.spans] == ["tau session", "execute_tool bash"]


@pytest.mark.parametrize("missing", ["opentelemetry", "opentelemetry.sdk.trace", "opentelemetry.exporter"])
def test_without_the_extra_it_is_one_sentence_and_the_session_goes_on(
    project: Path, received: Receiver, missing: str
) -> None:
    code = f"os.chdir({str(project)!r})\nsys.modules[{missing!r}] = None\n" + SESSION + "asyncio.run(main(True))"
    done = in_a_process(code)
    sentence = (
        'told tracing is on, but OpenTelemetry is not installed here: install pi-intent with its extra "otel"\n'
    )
    assert (done.stdout, done.stderr, done.returncode) == (sentence, "", 0)
    assert received.paths == []


def test_an_endpoint_that_is_gone_is_said_and_does_not_keep_the_process_from_ending(project: Path) -> None:
    began = time.monotonic()
    done = in_a_process(
        f"os.chdir({str(project)!r})" + SESSION + "asyncio.run(main(True))",
        OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:9",
    )
    assert (done.stdout, done.returncode) == (
        f"told {undelivered('http://127.0.0.1:9', 'nobody listens there')}\n",
        0,
    )
    assert done.stderr == (
        "pi-intent: tracing: 2 of 2 spans did not reach http://127.0.0.1:9/v1/traces; "
        '"pi-intent export otel" sends again what the ledger has of them\n'
    )
    assert time.monotonic() - began < 10


def test_an_endpoint_that_never_answers_is_not_waited_for_at_the_end(project: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:  # connections are taken, and nothing is ever said
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
        shorter = "\nfrom pi_intent.tracing import own_provider\nown_provider._PATIENCE_AT_THE_END = 0.3"
        began = time.monotonic()
        done = in_a_process(
            f"os.chdir({str(project)!r}){shorter}{SESSION}asyncio.run(main(True))",
            OTEL_EXPORTER_OTLP_ENDPOINT=url,
            OTEL_EXPORTER_OTLP_TIMEOUT="60",
        )
    assert (done.stdout, done.returncode) == ("", 0)
    assert done.stderr.startswith(f"pi-intent: tracing: 2 of 2 spans did not reach {url}/v1/traces; ")
    assert time.monotonic() - began < 20  # what the library itself would wait is 30


# The pure part


def test_ids_are_of_the_right_size_and_never_change() -> None:
    # What was exported once must be found again by every later version.
    assert f"{trace_id('s-1'):032x}" == "bf2ec06d7861b1e32b76cc3ba53bac2a"
    assert f"{session_span_id('s-1'):016x}" == "730533e63cc4371f"
    assert f"{call_span_id('01J80000000000000000000003'):016x}" == "8d2ce5f64a7c806a"
    assert 0 < trace_id("\ud800") < 2**128


def test_what_the_protocol_cannot_carry_costs_no_more_than_itself() -> None:
    begun = Begun(
        id="1",
        tool_call_id="\ud800",
        session="s",
        host="tau",
        agent="main",
        group="g",
        seq=2**70,
        tool="bash",
        tool_source=None,
        parent=None,
        intent="half \udfff",
        intent_source="model",
        rationale=None,
        args={"a": "\ud800"},
        model=None,
        flags=(),
    )
    told = begun_attributes(begun, content=True)
    assert (told["gen_ai.tool.call.id"], told["pi_intent.intent"]) == ("\ufffd", "half \ufffd")
    assert "pi_intent.seq" not in told
    assert json.loads(str(told["gen_ai.tool.call.arguments"])) == {"a": "\ufffd"}
    deep: Any = {}
    for _ in range(100_000):
        deep = {"a": deep}
    assert "gen_ai.tool.call.arguments" not in begun_attributes(begun._replace(args=deep), content=True)


def test_only_a_call_that_went_well_has_no_class_of_error() -> None:
    statuses = ("ok", "error", "timeout", "interrupted", "cancelled", "denied", "rejected", "open")
    told = [ended_attributes(Ended(status=status), content=False).get("error.type") for status in statuses]
    assert told == [None, "error", "timeout", "interrupted", "cancelled", "denied", "rejected", "interrupted"]


@pytest.mark.parametrize(
    ("value", "on"),
    [
        *((value, True) for value in ("true", "TRUE", " True ", "1", "SPAN_ONLY", "span_and_event")),
        *((value, False) for value in ("", "false", "0", "NO_CONTENT", "EVENT_ONLY", "yes", "span")),
    ],
)
def test_the_standard_variable_says_whether_texts_are_told(value: str, on: bool) -> None:
    assert captures_content({CAPTURE: value}) is on
    assert captures_content({}) is False


@pytest.mark.parametrize(
    ("environ", "why"),
    [
        ({}, "no OTEL_EXPORTER_OTLP_ENDPOINT is set"),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": " "}, "no OTEL_EXPORTER_OTLP_ENDPOINT is set"),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://x"}, None),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://x"}, None),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://x", "OTEL_SDK_DISABLED": "true"}, "OTEL_SDK_DISABLED is true"),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://x", "OTEL_TRACES_EXPORTER": "none"}, "OTEL_TRACES_EXPORTER is none"),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://x", "OTEL_SDK_DISABLED": "1"}, None),  # only "true" is
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://x", "OTEL_TRACES_EXPORTER": "console, OTLP"}, None),
        (
            {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://x", "OTEL_TRACES_EXPORTER": "console,\x1b[2Jzipkin"},
            "OTEL_TRACES_EXPORTER is console,zipkin",
        ),
        (
            {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://x", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"},
            "OTEL_EXPORTER_OTLP_PROTOCOL is grpc and pi-intent sends http/protobuf alone",
        ),
        (
            {
                "OTEL_EXPORTER_OTLP_ENDPOINT": "http://x",
                "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc",
                "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "HTTP/protobuf",
            },
            None,
        ),
    ],
)
def test_the_standard_variables_say_what_is_lacking(environ: dict[str, str], why: str | None) -> None:
    assert lacking(environ) == why


def test_an_address_is_shown_without_what_lets_people_in() -> None:
    assert shown_url("https://ada:pa@ss@x.org:1/a/b?key=1") == "https://x.org:1/a/b"
    assert traces_url({}, "http://x/v1/traces/") == "http://x/v1/traces/"
    assert traces_url({}) is None


def test_spans_that_were_pinned_get_their_ids_once() -> None:
    ids = own_provider.ChosenIds()
    ids.pin(7, 8)
    assert (ids.generate_trace_id(), ids.generate_span_id()) == (7, 8)
    assert ids.generate_trace_id() != 7
    assert ids.generate_span_id() != 8
    ids.pin(7, 8)
    assert ids.generate_span_id() == 8  # it has a parent
    assert ids.generate_trace_id() != 7
