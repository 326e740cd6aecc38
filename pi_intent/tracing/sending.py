"""Send spans that are over to an OTLP endpoint, protobuf over HTTP, with what the library does about trouble."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExportResult
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import SpanContext, Status, StatusCode, TraceFlags

from pi_intent import __version__
from pi_intent.errors import TracingError
from pi_intent.tracing.attributes import SCOPE
from pi_intent.tracing.complaints import Complaints
from pi_intent.tracing.environment import shown_url
from pi_intent.tracing.own_provider import our_resource
from pi_intent.tracing.past import PastSpan


class Sender:
    """Sends batches of spans to an address; the standard variables give the headers and the rest.

    `close` lets go of the connection.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._resource = our_resource()
        self._scope = InstrumentationScope(SCOPE, __version__)
        self._complaints = Complaints()
        self._exporter = OTLPSpanExporter(endpoint=url)
        self.close: Callable[[], None] = self._exporter.shutdown

    def send(self, spans: Sequence[PastSpan]) -> None:
        """Send a batch, and return when it is taken. Raises `TracingError` when the library has given it up."""
        if self._exporter.export([self._readable(span) for span in spans]) is not SpanExportResult.SUCCESS:
            answer = self._complaints.answer
            why = f"it answers {answer}" if answer else self._complaints.last or "it does not say why"
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
