"""The sink that makes a span of every call while it happens: begun and ended with it, under the host's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pi_intent.channel.wire import Wire
from pi_intent.events import ToolEvent, ToolExecutionEnd, ToolExecutionStart
from pi_intent.tracing.attributes import (
    Attributes,
    Begun,
    Ended,
    begun_attributes,
    ended_attributes,
    error_type,
    session_attributes,
    session_span_name,
    span_name,
    trace_attributes,
)
from pi_intent.tracing.environment import NOT_INSTALLED, captures_content
from pi_intent.tracing.ids import call_span_id, session_span_id, trace_id

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.trace import Span

    from pi_intent.redaction import Redactor
    from pi_intent.tracing.providers import Receiver


@dataclass(frozen=True, slots=True)
class _Open:
    """A call that has not ended: its span, the host's that was current when it began, and may its texts be told."""

    span: Span
    under: Span
    content: bool


class Tracing:
    """The spans of one session; its methods are called on the loop, and hand over without waiting.

    `tell` shows a person one sentence, from any thread. `redactor` is asked for with the first call, when the
    ledger's key has been read, if there is one.
    """

    def __init__(
        self,
        receiver: Receiver,
        redactor: Callable[[], Redactor],
        environ: Mapping[str, str],
        tell: Callable[[str], None],
    ) -> None:
        from opentelemetry import trace

        self._trace = trace
        self._receiver = receiver
        self._redactor = redactor
        self._environ = environ
        self._tell = tell
        self._content = captures_content(environ)
        self._wire: Wire | None = None
        self._root: Span | None = None
        self._open: dict[str, _Open] = {}
        self._told = False
        receiver.endings.add(self.close)
        receiver.listeners.add(self._tell_undelivered)
        if (problem := receiver.look()) is not None:
            self._tell_undelivered(problem)

    @classmethod
    def open(
        cls, redactor: Callable[[], Redactor], environ: Mapping[str, str], tell: Callable[[str], None]
    ) -> Tracing | None:
        """Begin to make spans; where nobody receives them, tell why and return None. Never raises.

        It loads OpenTelemetry, which takes a tenth of a second: on an event loop, run it in a thread.
        """
        try:
            from pi_intent.tracing.providers import find_receiver

            receiver = find_receiver(environ)
            if not isinstance(receiver, str):
                return cls(receiver, redactor, environ, tell)
            why = receiver
        except ImportError:
            why = NOT_INSTALLED
        except Exception as error:  # a boundary: nobody's call depends on whether somebody traces it
            why = f"it cannot be set up ({type(error).__name__}: {error})"
        tell(f"tracing is on, but {why}")
        return None

    def publish(self, event: ToolEvent) -> None:
        """Begin or end the span of a call; a `Sink`."""
        match event:
            case ToolExecutionStart():
                self._begin(event)
            case ToolExecutionEnd():
                self._end(event)
            case _:
                pass

    def close(self) -> None:
        """End what is still open, and the session's own span."""
        self._receiver.endings.discard(self.close)
        self._receiver.listeners.discard(self._tell_undelivered)
        for call_id, call in tuple(self._open.items()):
            del self._open[call_id]
            _OPEN.pop(call_id, None)
            self._finish(call, Ended(status="interrupted"))
        root, self._root = self._root, None
        if root is not None:
            root.end()

    def end(self) -> None:
        """Send what waits, where sending is ours, as the last thing that the process does, and tell what was lost.

        It may take seconds, and no more than five.
        """
        with suppress(Exception):  # a boundary: nothing is to keep a process from ending as it should
            if (lost := self._receiver.end()) is not None:
                self._tell(lost)

    def _tell_undelivered(self, sentence: str) -> None:
        """Tell, once a session, that spans do not arrive; called from whatever thread sends."""
        if not self._told:
            self._told = True
            self._tell(sentence)

    def _begin(self, event: ToolExecutionStart) -> None:
        content = self._content and "redact_args" not in event.flags
        begun = _begun(self._safe(event, content))
        under = self._trace.get_current_span()
        context, beside, told = self._place(begun, under)
        told = begun_attributes(begun, content=content, beside=beside) | told
        self._receiver.pin(trace_id(begun.session), call_span_id(begun.id))
        span = self._receiver.tracer.start_span(span_name(begun.tool, beside=beside), context, attributes=told)
        _OPEN[event.call_id] = self._open[event.call_id] = _Open(span, under, content)

    def _place(self, begun: Begun, under: Span) -> tuple[Context | None, bool, Attributes]:
        """Return the context that a call's span belongs to, whether the host tells of the call itself, and what else
        the span says there.
        """
        parent = _OPEN.get(begun.parent or "")
        if parent is not None and parent.under is under:  # nothing of the host's stands between the two
            return self._trace.set_span_in_context(parent.span), False, {}
        if under.get_span_context().is_valid:
            scope = getattr(under, "instrumentation_scope", None)
            return None, getattr(scope, "name", None) == begun.host == "pydantic-ai", _session_of(under)
        return self._trace.set_span_in_context(self._session_span(begun)), False, trace_attributes(begun.host)

    def _session_span(self, begun: Begun) -> Span:
        """Return the span around a session that runs under none of the host's; it begins with the first call."""
        if self._root is None:
            from opentelemetry.context import Context

            self._receiver.pin(trace_id(begun.session), session_span_id(begun.session))
            told = session_attributes(begun.session, begun.host)
            name = session_span_name(begun.host)
            self._root = self._receiver.tracer.start_span(name, Context(), attributes=told)
        return self._root

    def _end(self, event: ToolExecutionEnd) -> None:
        call = self._open.pop(event.call_id, None)
        _OPEN.pop(event.call_id, None)
        if call is not None:  # else only a label was shown of it
            # Without texts there is nothing in it to make safe.
            self._finish(call, _ended(self._safe(event, True) if call.content else event))

    def _finish(self, call: _Open, ended: Ended) -> None:
        call.span.set_attributes(ended_attributes(ended, content=call.content))
        if error_type(ended) is not None:
            call.span.set_status(
                self._trace.Status(self._trace.StatusCode.ERROR, ended.facts if call.content else None)
            )
        call.span.end()

    def _safe[Event: (ToolExecutionStart, ToolExecutionEnd)](self, event: Event, content: bool) -> Event:
        if self._wire is None:
            self._wire = Wire(self._redactor(), self._environ, lambda tool_name: True)
        return self._wire.safe(event, withheld=not content)


_OPEN: dict[str, _Open] = {}
"""The calls of all sessions of the process that have not ended: a child's calls stand under its parent's."""


def _begun(event: ToolExecutionStart) -> Begun:
    return Begun(
        id=event.call_id,
        tool_call_id=event.tool_call_id,
        session=event.session_id,
        host=event.host,
        agent=event.agent_id,
        group=event.group_id,
        seq=event.seq,
        tool=event.tool_name,
        tool_source=event.tool_source,
        parent=event.parent_tool_call_id,
        intent=event.intent,
        intent_source=event.intent_source,
        rationale=event.rationale,
        args=event.args,
        model=event.model,
        flags=event.flags,
    )


def _ended(event: ToolExecutionEnd) -> Ended:
    return Ended(
        status=event.status,
        ms=event.duration_ms,
        codes=event.codes,
        outcome=event.outcome,
        facts=event.facts,
        files=tuple(file.path for file in event.files),
    )


def _session_of(span: Span) -> Attributes:
    """Return the session that the host's span names, so that ours does not move its trace to another one."""
    told = getattr(span, "attributes", None) or {}
    named = next((told[name] for name in ("langfuse.session.id", "session.id") if name in told), None)
    return {} if named is None else {"session.id": str(named)}
