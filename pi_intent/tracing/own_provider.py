"""Send spans ourselves where no host does: one provider for the process, with ids that are ours to choose."""

from __future__ import annotations

import atexit
import logging
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import cache

from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.trace import Tracer

from pi_intent.errors import TracingError
from pi_intent.facts import counted
from pi_intent.labels.printable import printable
from pi_intent.tracing.environment import TIMEOUTS, first_set, shown_url, traces_url
from pi_intent.tracing.exporter import Exporter

_log = logging.getLogger("pi_intent.tracing")

_PATIENCE = 3.0
"""Seconds for one sending, unless a variable says otherwise."""
_PATIENCE_AT_THE_END = 5.0
"""Seconds that the end of the process waits for the last ones, whatever a variable says."""


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


class Counting(BatchSpanProcessor):
    """The library's processor, which counts the spans it was given to send."""

    def __init__(self, exporter: Exporter) -> None:
        super().__init__(exporter)
        self.count = 0
        self._counting = threading.Lock()

    def on_end(self, span: ReadableSpan) -> None:
        if span.context is not None and span.context.trace_flags.sampled:
            with self._counting:
                self.count += 1
        super().on_end(span)


class OwnProvider:
    """Our provider with its exporter, which sends to `url`.

    It is not made the global one: that is for the host to set.
    """

    def __init__(self, url: str) -> None:
        self.ids = ChosenIds()
        self.exporter = Exporter(url, None if first_set(os.environ, TIMEOUTS) else _PATIENCE)
        self.endings: set[Callable[[], None]] = set()
        """What sessions that are open do at the end of the process, before the last spans are sent."""
        self._processor = Counting(self.exporter)
        self._provider = TracerProvider(resource=our_resource(), id_generator=self.ids, shutdown_on_exit=False)
        self._provider.add_span_processor(self._processor)
        self._ending, self._ended = threading.Event(), threading.Event()
        # Waits from the beginning: at the end of the process no thread can be started any more.
        self._last = threading.Thread(target=self._shut_down, name="pi-intent-tracing-end", daemon=True)
        self._last.start()
        atexit.register(self._end_with_process)

    def tracer(self, name: str, version: str) -> Tracer:
        """Return a tracer of ours."""
        return self._provider.get_tracer(name, version)

    def flush(self) -> None:
        """Send what waits."""
        self._provider.force_flush()

    def end(self) -> str | None:
        """End the sessions that are open, send what waits, and stop, all within five seconds.

        Returns a sentence for a person where spans did not arrive.
        """
        atexit.unregister(self._end_with_process)
        if not self._last.is_alive():  # it has ended, or this is a fork of its process and has nothing of its own
            return None
        for end in tuple(self.endings):
            end()
        self.exporter.is_ending = True
        self._ending.set()
        self._ended.wait(_PATIENCE_AT_THE_END)
        count = self._processor.count
        lost = count - self.exporter.sent
        if lost <= 0:
            return None
        told = f"tracing: {lost} of {counted(count, 'span')} did not reach {shown_url(self.exporter.url)}"
        return printable(f'{told}; "pi-intent export otel" sends again what the ledger has of them', width=400)

    def _shut_down(self) -> None:
        self._ending.wait()
        with suppress(Exception):  # a boundary: whatever the library does, the process ends
            self._provider.shutdown()
        self._ended.set()

    def _end_with_process(self) -> None:
        if (sentence := self.end()) is not None:
            _log.warning("pi-intent: %s", sentence)


def our_resource() -> Resource:
    """Return what spans say of their origin: what the variables say, and our name where they give no other."""
    resource = Resource.create()
    named = str(resource.attributes.get(SERVICE_NAME, ""))
    return resource.merge(Resource({SERVICE_NAME: "pi-intent"})) if named.startswith("unknown_service") else resource


@cache
def the_provider() -> OwnProvider:
    """Return the provider of this process, made when it is first asked for.

    Raises `TracingError` where no endpoint is set.
    """
    if (url := traces_url(os.environ)) is None:
        raise TracingError("no OTEL_EXPORTER_OTLP_ENDPOINT is set")
    return OwnProvider(url)
