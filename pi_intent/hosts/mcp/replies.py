"""Read what the server says: answers end calls, lists are shown with intents, and answers to us stay with us."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pi_intent.hosts.mcp import wire
from pi_intent.hosts.mcp.answers import INTERNAL_ERROR, error_answer
from pi_intent.hosts.mcp.calls import Calls
from pi_intent.hosts.mcp.ends import Ends
from pi_intent.hosts.mcp.lists import learn_page
from pi_intent.hosts.mcp.requests import Asked, Requests
from pi_intent.hosts.mcp.results import unfinished
from pi_intent.hosts.mcp.tools import Tools
from pi_intent.hosts.mcp.unlisted import Unlisted
from pi_intent.hosts.mcp.wire import Cut, Unreadable

if TYPE_CHECKING:
    from pi_intent.hosts.mcp.bounding import Bounded, Bounds

type Afterwards = Callable[[], None]
"""What is to be done when a line is on its way to the client, who need not wait for it."""


class _Own(Exception):
    """A message answers a request of ours: the client did not ask."""


class Replies:
    """The server's side of a session."""

    def __init__(
        self,
        *,
        tools: Tools,
        calls: Calls,
        requests: Requests,
        ends: Ends,
        unlisted: Unlisted,
        bounds: Bounds | None = None,
    ) -> None:
        self._bounds = bounds
        self._tools = tools
        self._calls = calls
        self._requests = requests
        self._ends = ends
        self._unlisted = unlisted

    @property
    def matter(self) -> bool:
        """Whether anything that comes now can mean something to us."""
        return bool(self._requests) or self._ends.has_tasks or self._unlisted.expects

    def look_at(self, line: bytes) -> tuple[bytes | None, list[Afterwards]]:
        """Return what the client gets of a line, None for nothing, and what is to be done when it is on its way."""
        text, message = wire.read_line(line, lenient=True)
        cuts: list[Cut] = []
        afterwards: list[Afterwards] = []
        ours: list[int] = []
        parts = wire.parts(text, message)
        for index, (start, part) in enumerate(parts):
            if isinstance(part, dict):
                try:
                    found, then = self._said(text, start, part)
                except _Own:
                    ours.append(index)
                else:
                    cuts += found
                    afterwards += then
        if ours:
            rest = wire.rest_of_array(text, cuts, ours).encode("utf-8") if len(ours) < len(parts) else None
            return rest, afterwards
        return (wire.applied(text, cuts).encode("utf-8") if cuts else line), afterwards

    def glance_at(self, line: bytes) -> tuple[bytes | None, list[Afterwards]]:
        """Return the same of a line that cannot be read, by the id that it answers."""
        try:
            request_id = wire.id_of_unreadable(line)
        except Unreadable:
            return line, []
        asked = self._requests.take(request_id)
        if self._unlisted.is_own(request_id):
            return None, []
        if asked is None or asked.kind not in ("call", "task result"):
            return line, []
        if asked.opened is not None:
            self._calls.answered(asked.opened)
        opened = self._ends.opened(asked)
        if self._bounds is not None and opened is not None:
            told = self._bounds.unreadable(line, opened.start.tool_name)
            if told is not None:
                answer = error_answer(wire.dumped(request_id), INTERNAL_ERROR, told.text)
                return f"{answer}\n".encode(), self._ends.withheld(asked, told.settlement)
        return line, self._ends.answered(asked, {"result": None})

    def _said(self, text: str, start: int, message: dict[str, Any]) -> tuple[list[Cut], list[Afterwards]]:
        """Return what is cut out of a message, and what is to be done when it is on its way."""
        if "method" in message:
            return [], self._ends.told(message)
        asked = self._requests.take(message["id"]) if "id" in message else None
        if asked is None or asked.kind == "own list":
            if not self._unlisted.is_own(message.get("id")):
                return [], []
            if asked is None:  # nobody waits for it any more, but it says what there is
                learn_page(self._tools, text, start, message, None)
                raise _Own
        if asked.opened is not None:
            self._calls.answered(asked.opened)
        if asked.kind == "own list":
            cursor, meta = asked.detail
            learn_page(self._tools, text, start, message, cursor)
            following = message["result"].get("nextCursor") if isinstance(message.get("result"), dict) else None
            if isinstance(following, str):
                self._unlisted.ask(following, meta)
            raise _Own
        if asked.kind == "list":
            return learn_page(self._tools, text, start, message, asked.detail), []
        bounded = self._bounded(text, start, message, asked)
        if bounded is not None:
            return bounded.cuts, self._ends.withheld(asked, bounded.settlement)
        return [], self._ends.answered(asked, message)

    def _bounded(self, text: str, start: int, message: dict[str, Any], asked: Asked) -> Bounded | None:
        """Return what is to come back in place of the result of a call; None for the result itself."""
        opened = self._ends.opened(asked)
        if self._bounds is None or opened is None or unfinished(message.get("result")) is not None:
            return None
        return self._bounds.answer(text, start, message, opened.start.tool_name)
