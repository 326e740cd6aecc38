"""What the standard variables of OpenTelemetry say: may texts leave, and does anybody receive spans."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from pi_intent.labels.printable import printable

CAPTURE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
PROTOCOLS = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
PROTOCOL = "http/protobuf"
TIMEOUTS = ("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "OTEL_EXPORTER_OTLP_TIMEOUT")

_DISABLED = "OTEL_SDK_DISABLED"
_EXPORTER = "OTEL_TRACES_EXPORTER"
_OTLP = frozenset({"otlp", "otlp_proto_http"})
"""The names of the exporter that is ours, of which OTEL_TRACES_EXPORTER lists one or more."""
_WIDTH = 40

_ON_SPANS = frozenset({"true", "1", "span_only", "span_and_event"})
"""At first the variable was a boolean; now it names where texts may stand. Whatever else it is, they may not."""

NOT_INSTALLED = 'OpenTelemetry is not installed here: install pi-intent with its extra "otel"'


def captures_content(environ: Mapping[str, str]) -> bool:
    """Whether texts may stand on spans."""
    return environ.get(CAPTURE, "").strip().lower() in _ON_SPANS


def first_set(environ: Mapping[str, str], names: tuple[str, ...]) -> str | None:
    """Return the first of some variables that is set, the more special one being named first."""
    return next((value for name in names if (value := environ.get(name, "").strip())), None)


class Refusal(NamedTuple):
    """A variable that keeps spans of ours from being sent, wherever to, and what it says."""

    variable: str
    why: str


def refusal(environ: Mapping[str, str]) -> Refusal | None:
    """Return what these variables have against the one way in which spans of ours are sent; None without such."""
    if environ.get(_DISABLED, "").strip().lower() == "true":
        return Refusal(_DISABLED, f"{_DISABLED} is true")
    if (exporters := environ.get(_EXPORTER, "").strip()) and not _OTLP & {
        name.strip().lower() for name in exporters.split(",")
    }:
        return Refusal(_EXPORTER, f"{_EXPORTER} is {printable(exporters, width=_WIDTH)}")
    variable = next((name for name in PROTOCOLS if environ.get(name, "").strip()), None)
    if variable is not None and (protocol := environ[variable].strip()).lower() != PROTOCOL:
        told = f"{variable} is {printable(protocol, width=_WIDTH)} and pi-intent sends {PROTOCOL} alone"
        return Refusal(variable, told)
    return None


def lacking(environ: Mapping[str, str]) -> str | None:
    """Say what keeps spans of ours from being sent; None where these variables say where to."""
    if (refused := refusal(environ)) is not None:
        return refused.why
    return "no OTEL_EXPORTER_OTLP_ENDPOINT is set" if first_set(environ, ENDPOINTS) is None else None


def traces_url(environ: Mapping[str, str], endpoint: str | None = None) -> str | None:
    """Return the whole address that spans are sent to, by an endpoint or the standard variables; None without any."""
    whole = environ.get(ENDPOINTS[0], "").strip()
    if endpoint is None and whole:
        return whole
    base = (endpoint or environ.get(ENDPOINTS[1], "")).strip()
    if not base:
        return None
    return base if base.rstrip("/").endswith("/v1/traces") else f"{base.rstrip('/')}/v1/traces"


def shown_url(url: str) -> str:
    """Return an address without a name and password in it."""
    before, at, after = url.partition("://")
    host, slash, path = after.partition("/")
    return f"{before}{at}{host.rpartition('@')[2]}{slash}{path.partition('?')[0]}"
