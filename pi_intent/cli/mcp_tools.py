"""Ask servers for their tools, a few at a time, and hand the answers out in the order in which they are told."""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType

from pi_intent.cli.telling import tell_error
from pi_intent.hosts.mcp.clients.client import Surroundings
from pi_intent.hosts.mcp.clients.reading import ClientStanding, ServerStanding
from pi_intent.hosts.mcp.clients.tools import ToolsFound, tools_of
from pi_intent.labels.printable import printable

_AT_A_TIME = 4
_PATIENCE = 1.0
"""Seconds after which somebody at a terminal is told who is being waited for."""


class Asking:
    """All servers of some clients, being asked; leaving ends those that still run."""

    def __init__(self, surroundings: Surroundings, clients: Sequence[ClientStanding]) -> None:
        self._stop = threading.Event()
        self._threads = ThreadPoolExecutor(_AT_A_TIME)
        self._answers: dict[int, Future[ToolsFound]] = {
            id(server): self._threads.submit(tools_of, one.client, surroundings, place.place, server, self._stop)
            for one in clients
            for place in one.places
            for server in place.servers
        }

    def __enter__(self) -> Asking:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._threads.shutdown(cancel_futures=True)

    def answer(self, server: ServerStanding) -> ToolsFound:
        """Wait for what a server says."""
        answer = self._answers[id(server)]
        try:
            return answer.result(_PATIENCE)
        except TimeoutError:
            if sys.stderr.isatty():
                tell_error(f"      asking {printable(server.name)} for its tools…")
        return answer.result()
