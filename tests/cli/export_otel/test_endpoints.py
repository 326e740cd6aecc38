"""The spans go where it is said, or one sentence says why they do not."""

from __future__ import annotations

import socket
import sys
import time

import pytest
from otel_exporting import call_of, run
from otlp_receiver import Receiver

from pi_intent.ledger.journal import SessionJournal


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
    assert time.monotonic() - began < 25  # it would try again for longer


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


def test_a_dry_run_says_that_nothing_could_be_sent_without_the_library(
    journal: SessionJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    call_of(journal, 1)
    endpoint = ("--endpoint", "http://127.0.0.1:4318")
    assert "could be sent yet" not in run("--dry-run", *endpoint).stdout
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    result = run("--dry-run", *endpoint)
    assert (result.exit_code, result.stderr) == (0, "")
    assert "Nothing could be sent yet: OpenTelemetry is not installed here: " in result.stdout
