"""What the standard variables of OpenTelemetry say: may texts leave, and does anybody receive spans."""

from __future__ import annotations

from collections.abc import Mapping

CAPTURE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
PROTOCOLS = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
TIMEOUTS = ("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "OTEL_EXPORTER_OTLP_TIMEOUT")

_ON_SPANS = frozenset({"true", "1", "span_only", "span_and_event"})
"""At first the variable was a boolean; now it names where texts may stand. Whatever else it is, they may not."""

NOT_INSTALLED = 'OpenTelemetry is not installed here: install pi-intent with its extra "otel"'


def captures_content(environ: Mapping[str, str]) -> bool:
    """Whether texts may stand on spans."""
    return environ.get(CAPTURE, "").strip().lower() in _ON_SPANS


def first_set(environ: Mapping[str, str], names: tuple[str, ...]) -> str | None:
    """Return the first of some variables that is set, the more special one being named first."""
    return next((value for name in names if (value := environ.get(name, "").strip())), None)


def lacking(environ: Mapping[str, str]) -> str | None:
    """Say what keeps spans of ours from being sent; None where these variables say where to."""
    if environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return "OTEL_SDK_DISABLED is set"
    if environ.get("OTEL_TRACES_EXPORTER", "").strip().lower() == "none":
        return "OTEL_TRACES_EXPORTER is none"
    if first_set(environ, ENDPOINTS) is None:
        return "no OTEL_EXPORTER_OTLP_ENDPOINT is set"
    protocol = first_set(environ, PROTOCOLS) or "http/protobuf"
    if protocol != "http/protobuf":
        return "pi-intent sends over http/protobuf, and OTEL_EXPORTER_OTLP_PROTOCOL asks for another protocol"
    return None


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
