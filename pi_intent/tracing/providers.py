"""Find who receives spans: the OpenTelemetry that the host has set up, or ours, which sends to a set endpoint."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from opentelemetry import trace
from opentelemetry.trace import Tracer

from pi_intent import __version__
from pi_intent.tracing.attributes import SCOPE
from pi_intent.tracing.environment import NOT_INSTALLED, lacking


class Receiver(NamedTuple):
    """Who makes our spans.

    `pin` gives the next span of this thread its ids of trace and span, where they are ours to choose. `problem` tells
    why spans do not arrive, as far as we are told. Where sending is ours, `end` sends
    what waits for the last time, which the end of the process does as well, and calls the `endings` before.
    """

    tracer: Tracer
    pin: Callable[[int, int], None]
    problem: Callable[[], str | None]
    end: Callable[[], None]
    endings: set[Callable[[], None]]


def find_receiver(environ: Mapping[str, str]) -> Receiver | str:
    """Return who receives spans, or what keeps them from being received.

    A provider that the host has set up goes first: what it sends, and when, is left to it.
    """
    provider = trace.get_tracer_provider()
    if not isinstance(provider, trace.ProxyTracerProvider):
        return Receiver(provider.get_tracer(SCOPE, __version__), _pin_nothing, lambda: None, lambda: None, set())
    if (why := lacking(environ)) is not None:
        return f"nothing receives spans: {why}, and the host has set up no OpenTelemetry of its own"
    try:
        from pi_intent.tracing import own_provider  # the SDK, which a host need not have
    except ImportError:
        return NOT_INSTALLED
    ours = own_provider.the_provider()
    return Receiver(
        ours.tracer(SCOPE, __version__), ours.ids.pin, lambda: ours.exporter.problem, ours.end, ours.endings
    )


def _pin_nothing(trace_id: int, span_id: int) -> None:
    pass
