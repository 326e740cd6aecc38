"""Send spans that are over to an OTLP endpoint, protobuf over HTTP, with what the library does about trouble."""

from __future__ import annotations

import logging
import socket
from collections.abc import Callable, Sequence
from urllib.parse import urlsplit

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExportResult
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import SpanContext, Status, StatusCode, TraceFlags

from pi_intent import __version__
from pi_intent.errors import TracingError
from pi_intent.tracing.attributes import SCOPE
from pi_intent.tracing.environment import shown_url
from pi_intent.tracing.own_provider import our_resource
from pi_intent.tracing.past import PastSpan

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_SECONDS_TO_CONNECT = 2.0


class _Complaints(logging.Handler):
    """Keeps the last thing that the library complained of, and nothing of it on the screen."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.last = ""

    def emit(self, record: logging.LogRecord) -> None:
        self.last = record.getMessage()


class Sender:
    """Sends batches of spans to an address; the standard variables give the headers and the rest.

    `close` lets go of the connection.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._resource = our_resource()
        self._scope = InstrumentationScope(SCOPE, __version__)
        self._complaints = _Complaints()
        library = logging.getLogger("opentelemetry")
        library.addHandler(self._complaints)
        library.propagate = False
        self._exporter = OTLPSpanExporter(endpoint=url)
        self.close: Callable[[], None] = self._exporter.shutdown

    def send(self, spans: Sequence[PastSpan]) -> None:
        """Send a batch, and return when it is taken. Raises `TracingError` when the library has given it up."""
        if self._exporter.export([self._readable(span) for span in spans]) is not SpanExportResult.SUCCESS:
            why = self._complaints.last or "it does not say why"
            raise TracingError(f"{shown_url(self._url)} took no spans ({why})")

    def _readable(self, span: PastSpan) -> ReadableSpan:
        def context(span_id: int) -> SpanContext:
            return SpanContext(span.trace_id, span_id, is_remote=False, trace_flags=TraceFlags(TraceFlags.SAMPLED))

        return ReadableSpan(
            name=span.name,
            context=context(span.span_id),
            parent=context(span.parent_id) if span.parent_id else None,
            resource=self._resource,
            attributes=span.attributes,
            status=Status(StatusCode.ERROR, span.message) if span.failed else Status(StatusCode.UNSET),
            start_time=span.start,
            end_time=span.end,
            instrumentation_scope=self._scope,
        )


def nobody_listens(url: str) -> bool:
    """Whether this machine refuses a connection to an address of its own: no use in trying again for ten seconds."""
    parts = urlsplit(url)
    if parts.hostname not in _LOOPBACK:
        return False
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        socket.create_connection((parts.hostname, port), timeout=_SECONDS_TO_CONNECT).close()
    except ConnectionRefusedError:
        return True
    except OSError:
        return False
    return False
