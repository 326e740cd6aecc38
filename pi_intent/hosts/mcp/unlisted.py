"""Let calls of tools that no list has shown wait until the server was asked for its tools."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pi_intent.contract.rows import INTENT, RATIONALE
from pi_intent.hosts.mcp.requests import Asked, Requests, same_id
from pi_intent.hosts.mcp.tools import Tools
from pi_intent.hosts.mcp.wire import dumped

LIST_SECONDS = 10.0
"""How long a server may take over its list before what waits for it goes its way without."""

_ENVELOPE = "io.modelcontextprotocol/"
"""What a client of 2026-07-28 says of itself in each request's `_meta`; without it the server refuses."""


def is_call(message: object) -> bool:
    """Whether a message calls a tool, with parameters that can be looked at."""
    return (
        isinstance(message, dict)
        and message.get("method") == "tools/call"
        and isinstance(message.get("params"), dict)
        and isinstance(message["params"].get("name"), str)
    )


class Unlisted:
    """The lines that wait. `send` takes a request of ours to the server; `own_id` begins the ids of those."""

    def __init__(
        self,
        *,
        tools: Tools,
        requests: Requests,
        send: Callable[[bytes], None],
        own_id: str,
        clock: Callable[[], float],
    ) -> None:
        self._tools = tools
        self._requests = requests
        self._send = send
        self._own_id = own_id
        self._clock = clock
        self._lines: list[tuple[bytes, list[Any]]] = []
        self._asked_for: set[str] = set()
        self._count = 0
        self._own: set[str] = set()
        """The ids of our requests that are not answered."""
        self.deadline: float | None = None
        """When what waits is to be let go; None while nothing waits."""

    def __len__(self) -> int:
        return len(self._lines)

    @property
    def expects(self) -> bool:
        """Whether an answer is to come that the client did not ask for."""
        return bool(self._own)

    def is_own(self, request_id: object) -> bool:
        """Whether an answer is to a request of ours, also to one that nobody waits for any more."""
        if not isinstance(request_id, str) or not request_id.startswith(self._own_id):
            return False
        self._own.discard(request_id)
        return True

    def must_wait(self, message: Any) -> bool:
        """Whether a call cannot be read yet: whose is its `intent`, the tool's or ours?"""
        if not is_call(message):
            return False
        if self._lines:
            return True  # no call overtakes one that waits
        name, arguments = message["params"]["name"], message["params"].get("arguments")
        if self._tools.find(name) is not None:
            self._asked_for.discard(name)
            return False
        if name in self._asked_for and not self._requests.lists_are_open():
            return False
        stated = isinstance(arguments, dict) and (INTENT in arguments or RATIONALE in arguments)
        return stated or self._tools.settings_for(name).policy in ("require", "adaptive")

    def hold(self, line: bytes, messages: list[Any]) -> None:
        """Keep a line, and see that a list comes."""
        self._lines.append((line if line.endswith(b"\n") else line + b"\n", messages))
        if self.deadline is None:
            self.deadline = self._clock() + LIST_SECONDS
        self.see_to_it()

    def see_to_it(self) -> None:
        """Ask for a list, where something waits for one and none is on its way."""
        if self._lines and not self._requests.lists_are_open():
            self._asked_for |= self._names()
            self.ask(None, _envelope(self._lines[0][1]))

    def ask(self, cursor: str | None, meta: dict[str, Any]) -> None:
        """Ask the server for a page of its tools, in the words of the client's own requests."""
        self._count += 1
        request_id = f"{self._own_id}{self._count}"
        self._own.add(request_id)
        self._requests.add(request_id, Asked("own list", detail=(cursor, meta)))
        params = {**({"cursor": cursor} if cursor is not None else {}), **({"_meta": meta} if meta else {})}
        request = {"jsonrpc": "2.0", "id": request_id, "method": "tools/list"}
        self._send(dumped(request | ({"params": params} if params else {})).encode("ascii") + b"\n")

    def listed(self) -> list[bytes]:
        """A list has come, or none will: return the lines that need not wait any more."""
        return [] if self._requests.lists_are_open() else self._all()

    def let_go(self) -> list[bytes]:
        """Return all the lines, without a list; their tools are not asked for again."""
        self._asked_for |= self._names()
        self._requests.forget_own()
        return self._all()

    def _all(self) -> list[bytes]:
        self.deadline = None
        lines, self._lines = self._lines, []
        return [line for line, _ in lines]

    def _names(self) -> set[str]:
        return {message["params"]["name"] for _, messages in self._lines for message in messages if is_call(message)}

    def call_off(self, request_id: object) -> None:
        """Forget a line whose one request the client has cancelled."""
        self._lines = [
            (line, messages)
            for line, messages in self._lines
            if not (len(messages) == 1 and same_id(messages[0].get("id"), request_id))
        ]
        if not self._lines:
            self.deadline = None


def _envelope(messages: list[Any]) -> dict[str, Any]:
    meta: dict[str, Any] = {}
    for message in messages:
        sent = message["params"].get("_meta") if is_call(message) else None
        if isinstance(sent, dict):
            meta |= {key: value for key, value in sent.items() if key.startswith(_ENVELOPE)}
    return meta
