"""Fan events out to whoever listens, so that no listener can hurt a call."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress

from pi_intent.events import ToolEvent
from pi_intent.protocols import Sink


class FanOut:
    """A set of sinks, and those of `wider`, which come after them.

    `on_problem` is told, once for each sink that raises, what to tell the person; `failures` counts every time.
    """

    def __init__(self, *, on_problem: Callable[[str], None] | None = None, wider: FanOut | None = None) -> None:
        self.failures = 0
        self._on_problem = on_problem
        self._wider = wider
        self._sinks: list[Sink] = []
        self._reported: set[int] = set()

    def subscribe(self, sink: Sink) -> Callable[[], None]:
        """Add a sink; return what removes it again, once."""
        self._sinks.append(sink)

        def unsubscribe() -> None:
            with suppress(ValueError):
                self._sinks.remove(sink)

        return unsubscribe

    def emit(self, event: ToolEvent) -> None:
        """Give an event to every sink, in the order of subscription. Never raises."""
        for sink in (*self._sinks, *(self._wider._sinks if self._wider else ())):
            try:
                sink(event)
            except Exception as error:  # the promise of `Sink`: it may raise
                self._failed(sink, error)

    def _failed(self, sink: Sink, error: Exception) -> None:
        self.failures += 1
        if id(sink) in self._reported or self._on_problem is None:
            return
        self._reported.add(id(sink))
        name = getattr(sink, "__qualname__", type(sink).__qualname__)
        with suppress(Exception):
            self._on_problem(
                f"the listener {name} failed ({type(error).__name__}: {error}); the calls themselves go on"
            )


class MemorySink:
    """Keep events in a list, to look at afterwards."""

    def __init__(self) -> None:
        self.events: list[ToolEvent] = []

    def __call__(self, event: ToolEvent) -> None:
        self.events.append(event)

    def __iter__(self) -> Iterator[ToolEvent]:
        return iter(self.events)

    def __len__(self) -> int:
        return len(self.events)


PROCESS = FanOut()
"""The sinks of this process; `pi_intent.subscribe` adds to it."""


def subscribe(sink: Sink) -> Callable[[], None]:
    """Have every event of this process given to `sink`; return what stops it. See `Sink` for the promise."""
    return PROCESS.subscribe(sink)
