"""The live side of one session: its events go to whoever watches, and it waits for nobody."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from pi_intent.channel.server import Server, join, leave
from pi_intent.channel.wire import Wire
from pi_intent.events import GroupSummary, ToolEvent, ToolExecutionEnd, ToolExecutionStart, ToolIntentUpdate
from pi_intent.redaction import Redactor

_KNOWN_GROUPS = 1000


class Channel:
    """The live side of one session; all sessions of a process and a ledger share one socket."""

    def __init__(self, redactor: Redactor, environ: Mapping[str, str], withholds: Callable[[str], bool]) -> None:
        self.problem: str | None = None
        """Why nobody can watch, a sentence for a person; None where one can."""
        self._wire = Wire(redactor, environ, withholds)
        self._server: Server | None = None
        self._in_flight: dict[str, ToolExecutionStart] = {}
        self._written: dict[str, ToolIntentUpdate] = {}
        """Of calls that the model still writes, the intent as far as it is known."""
        self._withheld_groups: dict[str, None] = {}

    @classmethod
    def open(
        cls,
        root: Path,
        *,
        redactor: Redactor,
        environ: Mapping[str, str],
        withholds: Callable[[str], bool],
    ) -> Channel:
        """Open the channel of the ledger in `root`; never raises.

        `withholds` tells of a tool's name whether `redact_args` holds for it: for calls that are still being written,
        and carry no flag yet. `environ` is what the redactor knows the secrets of.
        """
        channel = cls(redactor, environ, withholds)
        try:
            channel._server = join(root, channel, environ)
        except Exception as error:  # a boundary: nobody's call depends on whether somebody can watch it
            why = error.strerror or str(error) if isinstance(error, OSError) else f"{type(error).__name__}: {error}"
            channel.problem = f"nobody can watch this session live ({why}); it is recorded all the same"
        return channel

    @property
    def path(self) -> Path | None:
        """The socket; None where there is none."""
        return None if self._server is None or self._server.closed else self._server.path

    def publish(self, event: ToolEvent) -> None:
        """Give an event to whoever watches; a `Sink`. It waits for nobody."""
        server = self._server
        if server is None:
            return
        withheld = self._follow(event)  # before the readers are looked at: who comes now is told what is in flight
        if server.readers and (line := self._wire.line(event, withheld=withheld)) is not None:
            server.send(line)

    def close(self) -> None:
        """Stop; the last one of a ledger hands over what is queued, as far as it is taken, and removes the socket."""
        server, self._server = self._server, None
        if server is not None:
            leave(server, self)

    def in_flight(self) -> list[bytes]:
        """Return the starts of the calls that have not ended, and the intents of those still written, as lines."""
        lines = [self._wire.line(start, withheld=_is_withheld(start)) for start in tuple(self._in_flight.values())]
        lines += [self._wire.line(update, withheld=False) for update in tuple(self._written.values())]
        return [line for line in lines if line is not None]

    def _follow(self, event: ToolEvent) -> bool:
        """Keep track of the calls in flight; return whether the texts of this one are withheld."""
        match event:
            case ToolExecutionStart():
                self._in_flight[event.call_id] = event
                self._written.pop(event.call_id, None)
                if not event.flags or not _is_withheld(event):
                    return False
                self._withheld_groups[event.group_id] = None
                if len(self._withheld_groups) > _KNOWN_GROUPS:
                    del self._withheld_groups[next(iter(self._withheld_groups))]
                return True
            case ToolIntentUpdate():
                self._written[event.call_id] = event
                return False  # asked for the tool when it is sent
            case GroupSummary():
                return event.group_id in self._withheld_groups
            case _:
                start = self._in_flight.get(event.call_id)
                if isinstance(event, ToolExecutionEnd):
                    self._in_flight.pop(event.call_id, None)
                    self._written.pop(event.call_id, None)
                # Of a call whose start was not seen here we do not know whether its texts may be sent.
                return start is None or _is_withheld(start)


def _is_withheld(start: ToolExecutionStart) -> bool:
    return "redact_args" in start.flags
