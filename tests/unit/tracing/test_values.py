"""What a span is made of: its ids, its attributes, and what the standard variables say."""

from __future__ import annotations

import ast
import inspect
import json
import re
import socket
from pathlib import Path
from typing import Any

import pytest

from pi_intent.tracing import attributes, own_provider
from pi_intent.tracing.attributes import Begun, Ended, begun_attributes, ended_attributes
from pi_intent.tracing.environment import CAPTURE, captures_content, lacking, shown_url, traces_url
from pi_intent.tracing.ids import call_span_id, session_span_id, trace_id
from pi_intent.tracing.listening import nobody_listens


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


def test_only_a_port_of_this_machine_that_refuses_is_one_where_nobody_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}/v1/traces"
        assert not nobody_listens(url)
    assert nobody_listens(url)
    assert not nobody_listens("http://nowhere.invalid:9")
    assert not nobody_listens("http://127.0.0.1:99999")


def test_spans_that_were_pinned_get_their_ids_once() -> None:
    ids = own_provider.ChosenIds()
    ids.pin(7, 8)
    assert (ids.generate_trace_id(), ids.generate_span_id()) == (7, 8)
    assert ids.generate_trace_id() != 7
    assert ids.generate_span_id() != 8
    ids.pin(7, 8)
    assert ids.generate_span_id() == 8  # it has a parent
    assert ids.generate_trace_id() != 7


def test_every_attribute_is_documented_and_nothing_else_is() -> None:
    page = (Path(__file__).parents[3] / "docs" / "tracing.md").read_text("utf-8")
    table = page.split("| attribute | of | says |")[1].split("\n\n")[0]
    documented = {name for row in table.splitlines()[2:] for name in re.findall(r"`([^`]+)`", row.split("|")[1])}
    assert documented == names_in_the_code()


def names_in_the_code() -> set[str]:
    """Return what looks like the name of an attribute among the keys of the module that makes them."""
    tree = ast.parse(inspect.getsource(attributes))
    keys = (key for node in ast.walk(tree) if isinstance(node, ast.Dict) for key in node.keys)
    return {key.value for key in keys if isinstance(key, ast.Constant)}
