"""Show the intents of calls while the model writes them: listen to the lines of Tau's responses as they pass.

Tau tells of a call when its arguments are complete, so there is no event to follow. What its adapters for providers
read are the lines of an httpx response, and there a second reader can sit: whoever reads the response gets the very
same lines, each in the same step of the loop, the same exception or end, and the same close. When Tau tells of
arguments as they come, this module can go.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Protocol, Self

from pi_intent.hosts.tau.dialects import DialectReader, ToolDelta
from pi_intent.labels.printable import printable
from pi_intent.labels.reader import IntentReader

if TYPE_CHECKING:
    import httpx


class Listener(Protocol):
    """Whoever shows the intents of one turn while they are written.

    - All are called between two lines of a response, in the task that reads it: they must be quick and must not wait.
    - `wants` is asked once a call, before anything is read of it.
    - `label` is called for calls that are wanted, each time that there is more of the intent (unstripped, never
      empty, at most 4,096 characters before it is complete), and with `complete` once at most, as the last.
      `position` and `tool_call_id` are those of `ToolDelta`; a request that Tau repeats starts over at position 0.
    - May raise: nobody but `failed` hears of it, with one sentence for the person, and no listener of this process
      is called again.
    - What the provider sent is not what Tau will make of it: the call may never come, or come with other arguments.
    """

    def wants(self, tool_name: str) -> bool: ...

    def label(self, position: int, tool_name: str, tool_call_id: str | None, intent: str, complete: bool) -> None: ...

    def failed(self, sentence: str) -> None: ...


LISTENER: ContextVar[Listener | None] = ContextVar("pi_intent_listener", default=None)
"""Who listens to the responses that the task at hand asks for."""

_MARK = "__pi_intent__"
"""Marks httpx's method as wrapped, and holds our part of it: the latest, should this module be loaded anew."""


class _Tee:
    """What is done with responses that somebody listens to, until it fails once."""

    def __init__(self) -> None:
        self.is_on = True

    def attach(self, response: httpx.Response, listener: Listener) -> None:
        """Have `listener` hear of the calls in a response, where it is a stream of events."""
        try:
            kind = response.headers.get("content-type", "")
            if self.is_on and kind.lower().startswith("text/event-stream"):
                # On this one response; the class and everybody else's responses stay as they are.
                setattr(response, "aiter_lines", functools.partial(self._lines, response.aiter_lines, listener))  # noqa: B010
        except Exception as error:
            self._turn_off(listener, error)

    def read(self, reading: _Reading, line: str) -> None:
        """Read one line for the listener. Nothing that goes wrong here may reach whoever reads the response."""
        if self.is_on:
            try:
                reading.read(line)
            except Exception as error:
                self._turn_off(reading.listener, error)

    def _lines(self, lines: Callable[[], Any], listener: Listener) -> _TeedLines:
        return _TeedLines(lines(), self, _Reading(listener))

    def _turn_off(self, listener: Listener, error: Exception) -> None:
        self.is_on = False
        with suppress(Exception):
            why = printable(f"{type(error).__name__}: {error}", width=200)
            listener.failed(f"intents are not shown while they are written any more ({why}); calls are not affected")


class _Reading:
    """One response, as far as it was read for its listener."""

    __slots__ = ("_dialect", "_intents", "listener")

    def __init__(self, listener: Listener) -> None:
        self.listener = listener
        self._dialect = DialectReader()
        self._intents: dict[int, IntentReader] = {}

    def read(self, line: str) -> None:
        for delta in self._dialect.feed(line):
            intent = self._intents.get(delta.position)
            if intent is None and self.listener.wants(delta.tool_name):
                intent = self._intents[delta.position] = IntentReader()
            if intent is not None and not intent.complete:
                self._tell(delta, intent)
            if intent is None or intent.complete:
                self._dialect.skip(delta.position)

    def _tell(self, delta: ToolDelta, reader: IntentReader) -> None:
        grown = reader.feed(delta.text)
        if grown or (reader.complete and reader.intent):
            self.listener.label(
                delta.position, delta.tool_name, delta.tool_call_id, reader.intent or "", reader.complete
            )


class _TeedLines:
    """The lines of a response, read along.

    No generator: one that is left before its end is closed by the loop later, in another task, and would close the
    lines below it later still. This goes when its reader lets go of it, and the lines below in the same moment.
    """

    __slots__ = ("_lines", "_reading", "_tee")

    def __init__(self, lines: AsyncGenerator[str], tee: _Tee, reading: _Reading) -> None:
        self._lines = lines
        self._tee = tee
        self._reading = reading

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> str:
        line = await anext(self._lines)
        self._tee.read(self._reading, line)  # nothing is awaited between: a line that came is handed over
        return line

    async def aclose(self) -> None:
        await self._lines.aclose()


_TEE = _Tee()


def install_tee() -> bool:
    """Wrap `AsyncClient.send` once a process; return whether that could be done with the httpx at hand."""
    try:
        import httpx
    except ImportError:
        return False
    client, response = getattr(httpx, "AsyncClient", None), getattr(httpx, "Response", None)
    send = getattr(client, "send", None)
    if getattr(send, _MARK, None) == (_TEE, LISTENER):
        return True
    if not inspect.iscoroutinefunction(send) or not _can_be_teed(response):
        return False
    if not hasattr(send, _MARK):
        send = _wrapped(send)
        setattr(client, "send", send)  # noqa: B010 - a method of httpx's, replaced knowingly
    setattr(send, _MARK, (_TEE, LISTENER))
    return True


def _can_be_teed(response: Any) -> bool:
    """Tell whether an attribute of one response can stand over its method, and the method is the one we know."""
    lines = getattr(response, "aiter_lines", None)
    return inspect.isasyncgenfunction(lines) and getattr(response, "__dictoffset__", 0) != 0


def _wrapped(original: Any) -> Any:
    @functools.wraps(original)
    async def send(self: httpx.AsyncClient, *arguments: Any, **named: Any) -> httpx.Response:
        response: httpx.Response = await original(self, *arguments, **named)
        tee, listening = getattr(send, _MARK)
        listener = listening.get()
        if listener is not None:
            tee.attach(response, listener)
        return response

    return send
