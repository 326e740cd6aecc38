"""A receiver of OTLP over HTTP on this machine: it takes protobuf as a collector does, and keeps what came."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry import trace
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.common.v1.common_pb2 import AnyValue
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from pi_intent.tracing import own_provider


@dataclass(frozen=True, kw_only=True)
class Received:
    """One span as it came, with what its resource and scope say."""

    name: str
    trace_id: str
    span_id: str
    parent_id: str
    kind: int
    start: int
    end: int
    status: int
    message: str
    attributes: dict[str, Any]
    resource: dict[str, Any]
    scope: str


@dataclass
class Receiver:
    """What was received. `answer` is the HTTP status that the next requests get."""

    url: str
    answer: int = 200
    bodies: list[bytes] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    came: threading.Event = field(default_factory=threading.Event)

    @property
    def spans(self) -> list[Received]:
        """The spans in the order in which they began, the first of its trace before those under it."""
        found = [span for body in self.bodies for span in _spans(body)]
        return sorted(found, key=lambda span: (span.start, span.parent_id != "", span.end))

    def named(self, name: str) -> Received:
        """The one span of this name."""
        (found,) = [span for span in self.spans if span.name == name]
        return found

    @property
    def all_bytes(self) -> bytes:
        return b"\n".join(self.bodies)


def _spans(body: bytes) -> Iterator[Received]:
    for of_resource in ExportTraceServiceRequest.FromString(body).resource_spans:
        resource = {pair.key: _value(pair.value) for pair in of_resource.resource.attributes}
        for of_scope in of_resource.scope_spans:
            for span in of_scope.spans:
                yield Received(
                    name=span.name,
                    trace_id=span.trace_id.hex(),
                    span_id=span.span_id.hex(),
                    parent_id=span.parent_span_id.hex(),
                    kind=span.kind,
                    start=span.start_time_unix_nano,
                    end=span.end_time_unix_nano,
                    status=span.status.code,
                    message=span.status.message,
                    attributes={pair.key: _value(pair.value) for pair in span.attributes},
                    resource=resource,
                    scope=of_scope.scope.name,
                )


def _value(value: AnyValue) -> Any:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [_value(item) for item in value.array_value.values]
    return None if kind is None else getattr(value, kind)


@contextmanager
def receiving() -> Iterator[Receiver]:
    """Receive on a port of this machine until the end of the block."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            receiver.paths.append(self.path)
            receiver.headers.append({name.lower(): value for name, value in self.headers.items()})
            if receiver.answer == 200:
                ExportTraceServiceRequest.FromString(body)  # a real one would refuse what is none
                receiver.bodies.append(body)
            self.send_response(receiver.answer)
            self.send_header("Content-Type", "application/x-protobuf")
            answer = ExportTraceServiceResponse().SerializeToString() if receiver.answer == 200 else b""
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)
            receiver.came.set()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    receiver = Receiver(url=f"http://127.0.0.1:{server.server_address[1]}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def receiving_ours(environ: Any) -> Iterator[Receiver]:
    """Have the provider of this process send here; `environ` is a `monkeypatch`, or has its `setenv` and `delenv`."""
    environ.delenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", raising=False)
    with receiving() as receiver:
        environ.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.url)
        yield receiver
        end_provider()


@contextmanager
def host_provider(patch: Any) -> Iterator[InMemorySpanExporter]:
    """Have a host set up a provider of its own, and yield what it gets; `patch` is a `monkeypatch`."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    patch.setattr(trace, "_TRACER_PROVIDER", provider)
    yield exporter
    provider.shutdown()


def end_provider() -> None:
    """End the provider of this process, so that the next test has one of its own."""
    if own_provider.the_provider.cache_info().currsize:
        own_provider.the_provider().end()
    own_provider.the_provider.cache_clear()
