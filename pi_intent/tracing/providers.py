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

    `pin` gives the next span of this thread its ids of trace and span, where they are ours to choose. Where sending
    is ours, `look` says why spans do not arrive, as far as it shows at once, and each of `listeners` is told so when
    one did not, from any thread. `end` then sends what waits for the last time, calls the `endings` before, and
    returns what a person should know; the end of the process does as much and says it itself.
    """

    tracer: Tracer
    pin: Callable[[int, int], None]
    look: Callable[[], str | None]
    end: Callable[[], str | None]
    endings: set[Callable[[], None]]
    listeners: set[Callable[[str], None]]


def find_receiver(environ: Mapping[str, str]) -> Receiver | str:
    """Return who receives spans, or what keeps them from being received.

    A provider that the host has set up goes first: what it sends, and when, is left to it.
    """
    provider = trace.get_tracer_provider()
    if not isinstance(provider, trace.ProxyTracerProvider):
        tracer = provider.get_tracer(SCOPE, __version__)
        return Receiver(tracer, _pin_nothing, lambda: None, lambda: None, set(), set())
    if (why := lacking(environ)) is not None:
        return f"nothing receives spans: {why}, and the host has set up no OpenTelemetry of its own"
    try:
        from pi_intent.tracing import own_provider  # the SDK, which a host need not have
    except ImportError:
        return NOT_INSTALLED
    ours = own_provider.the_provider()
    return Receiver(
        tracer=ours.tracer(SCOPE, __version__),
        pin=ours.ids.pin,
        look=ours.exporter.look,
        end=ours.end,
        endings=ours.endings,
        listeners=ours.exporter.listeners,
    )


def _pin_nothing(trace_id: int, span_id: int) -> None:
    pass
