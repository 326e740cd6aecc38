"""What happens, and what is said, where spans reach nobody."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from otlp_receiver import Receiver
from traced_sessions import OK, Sessions, opened

from pi_intent.tracing import own_provider

CHECKOUT = Path(own_provider.__file__).parents[2]


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
