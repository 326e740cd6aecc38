"""The library's exporter, which counts what arrived, tells of what does not, and does not hold up the end."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExportResult

from pi_intent.labels.printable import printable
from pi_intent.tracing.complaints import Complaints
from pi_intent.tracing.environment import shown_url
from pi_intent.tracing.listening import nobody_listens

_NOBODY = "nobody listens there"
_SOON = 0.2
"""Seconds for a look whether somebody listens."""
_LONGEST = 400


class Exporter(OTLPSpanExporter):
    """Sends to `url`, over and over within `timeout` seconds; None for what the variables or the library say.

    `sent` counts the spans that were taken. `problem` is a sentence for a person while they are not, and each of
    `listeners` gets it, from whatever thread sends. Once `is_ending`, what cannot be sent at once is given up.
    """

    def __init__(self, url: str, timeout: float | None) -> None:
        super().__init__(endpoint=url, timeout=timeout)
        self.url = url
        self.sent = 0
        self.problem: str | None = None
        self.listeners: set[Callable[[str], None]] = set()
        self.is_ending = False
        self._complaints = Complaints()

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        if self.is_ending and (self.problem is not None or self._is_alone()):
            return SpanExportResult.FAILURE
        result = super().export(spans)
        if result is SpanExportResult.SUCCESS:
            self.sent += len(spans)
            self.problem = None
            return result
        self.problem = self._sentence(self._why())
        for tell in tuple(self.listeners):
            tell(self.problem)
        return result

    def look(self) -> str | None:
        """Say what keeps spans from arriving, as far as it shows before one is sent."""
        return self.problem or (self._sentence(_NOBODY) if self._is_alone() else None)

    def _is_alone(self) -> bool:
        return nobody_listens(self.url, within=_SOON)

    def _why(self) -> str:
        said = self._complaints.last
        if (answer := re.search(r"\bcode: (\d+)", said)) is not None:
            return f"it answers {answer[1]}"
        if self._is_alone():
            return _NOBODY
        return "it could not be reached in time" if "timeout" in said else said or "it is not known why"

    def _sentence(self, why: str) -> str:
        told = f"tracing: spans do not reach {shown_url(self.url)} ({why}) and are dropped until they do"
        return printable(f"{told}; the calls go on", width=_LONGEST)
