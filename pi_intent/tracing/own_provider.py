"""Send spans ourselves where no host does: one provider for the process, with ids that are ours to choose."""

from __future__ import annotations

import atexit
import logging
import os
import threading
from collections.abc import Callable, Sequence
from functools import cache

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExportResult
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.trace import Tracer

from pi_intent.tracing.environment import TIMEOUTS, first_set

_PATIENCE = 3.0
"""Seconds for one sending, unless a variable says otherwise: the end of the process waits for the last one."""


class ChosenIds(RandomIdGenerator):
    """Gives a span the ids that were pinned for it, each once, and random ones otherwise."""

    def __init__(self) -> None:
        self._pinned = threading.local()

    def pin(self, trace_id: int, span_id: int) -> None:
        """Choose the ids of the next span that this thread starts; with a parent only that of the span counts."""
        self._pinned.trace, self._pinned.span = trace_id, span_id

    def generate_trace_id(self) -> int:
        return self._take("trace") or super().generate_trace_id()

    def generate_span_id(self) -> int:
        self._take("trace")
        return self._take("span") or super().generate_span_id()

    def is_trace_id_random(self) -> bool:
        return False  # a digest is as evenly spread, but nobody is promised chance

    def _take(self, which: str) -> int | None:
        taken: int | None = getattr(self._pinned, which, None)
        setattr(self._pinned, which, None)
        return taken


class Exporter(OTLPSpanExporter):
    """The library's exporter, which remembers that it failed; at the end of the process it tries only once."""

    def __init__(self, timeout: float | None) -> None:
        super().__init__(timeout=timeout)
        self.problem: str | None = None
        self.is_ending = False

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        if self.is_ending and self.problem is not None:
            return SpanExportResult.FAILURE
        result = super().export(spans)
        failed = result is not SpanExportResult.SUCCESS
        self.problem = "spans could not be sent to the OTLP endpoint that is set" if failed else None
        return result


class OwnProvider:
    """Our provider with its exporter. It is not made the global one: that is for the host to set."""

    def __init__(self) -> None:
        # With no handler of the host's Python would print the exporter's complaints, across whatever screen there is.
        logging.getLogger("opentelemetry").addHandler(logging.NullHandler())
        self.ids = ChosenIds()
        self.exporter = Exporter(None if first_set(os.environ, TIMEOUTS) else _PATIENCE)
        self.endings: set[Callable[[], None]] = set()
        """What sessions that are open do at the end of the process, before the last spans are sent."""
        self._provider = TracerProvider(resource=our_resource(), id_generator=self.ids, shutdown_on_exit=False)
        self._provider.add_span_processor(BatchSpanProcessor(self.exporter))
        atexit.register(self.end)

    def tracer(self, name: str, version: str) -> Tracer:
        """Return a tracer of ours."""
        return self._provider.get_tracer(name, version)

    def flush(self) -> None:
        """Send what waits."""
        self._provider.force_flush()

    def end(self) -> None:
        """End the sessions that are open, send what waits, and stop."""
        atexit.unregister(self.end)
        for end in tuple(self.endings):
            end()
        self.exporter.is_ending = True
        self._provider.shutdown()


def our_resource() -> Resource:
    """Return what spans say of their origin: what the variables say, and our name where they give no other."""
    resource = Resource.create()
    named = str(resource.attributes.get(SERVICE_NAME, ""))
    return resource.merge(Resource({SERVICE_NAME: "pi-intent"})) if named.startswith("unknown_service") else resource


@cache
def the_provider() -> OwnProvider:
    """Return the provider of this process, made when it is first asked for."""
    return OwnProvider()
