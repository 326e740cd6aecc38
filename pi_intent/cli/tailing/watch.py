"""Take in what live channels and the ledger tell, each thing once.

The ledger is followed in any case: it has the calls that were over before we were connected, and those of agents that
have no channel. Whatever comes a second time is left out.
"""

from __future__ import annotations

import json
import select
import socket
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from pi_intent.channel import connect, live_channels
from pi_intent.cli.console import complain
from pi_intent.cli.tailing.drawing import Screen
from pi_intent.cli.tailing.from_ledger import END, START, UPDATE, LedgerFollower
from pi_intent.ledger.location import LedgerLocation
from pi_intent.ledger.naming import has_writer
from pi_intent.types import JSONObject

INTERVAL = 0.2
"""Seconds between two looks for new agents and new records."""

_LOOKS_FOR_DEAD = 1.0  # seconds between two looks whether the processes of running calls are there
_LINE_BYTES = 1 << 20
_KNOWN = 10_000  # calls that are remembered, so that none is shown twice


class Watch:
    """Takes in what channels and ledger tell, each thing once, and knows which calls are in flight where."""

    def __init__(self, location: LedgerLocation, environ: Mapping[str, str], session: str) -> None:
        self._location = location
        self._environ = environ
        self._session = session
        self._ledger = LedgerFollower(location)
        self._poll = select.poll()
        self._connections: dict[int, Connection] = {}
        self._known: dict[str, str] = {}
        """Of a call, the type of the last event that was shown: its start, or its end."""
        self._origins: dict[str, tuple[Connection | None, Path | None]] = {}
        self._said: set[str] = set()

    def run(self, screen: Screen) -> None:
        """Follow until interrupted. Raises `BrokenPipeError` when nobody reads the output any more."""
        output = _output()
        if output is not None:
            self._poll.register(output, 0)
        next_look = next_count = 0.0
        while True:
            # What was told before a record was written is told first: the channels are read before the ledger.
            for fd, ready in self._poll.poll(max(0.0, next_look - time.monotonic()) * 1000):
                if fd == output:
                    if ready & (select.POLLERR | select.POLLHUP):
                        raise BrokenPipeError
                    self._poll.unregister(fd)  # something that cannot be asked
                else:
                    self._receive(screen, self._connections[fd])
            now = time.monotonic()
            if now >= next_look:
                next_look = now + INTERVAL
                self.look()
                self._read_ledger(screen)
            if now >= next_count:
                next_count = now + _LOOKS_FOR_DEAD
                self._count_dead(screen)

    def _read_ledger(self, screen: Screen) -> None:
        for path, line in self._ledger.new_lines():
            self._take(screen, line, path=path)

    def look(self) -> None:
        """Connect to the channels that are new, and say what is followed."""
        connected = {connection.path for connection in self._connections.values()}
        for path in live_channels(self._location.root, self._environ):
            if path not in connected and (peer := connect(path)) is not None:
                self._connections[peer.fileno()] = Connection(path, peer)
                self._poll.register(peer, select.POLLIN)
        if self._connections:
            self._say("Watching live; Ctrl-C ends it.")
        elif not self._said:
            where = self._location.segments
            self._say(f"Following the ledger in {where}, until an agent can be watched live; Ctrl-C ends it.")

    def _say(self, sentence: str) -> None:
        if sentence not in self._said:
            self._said.add(sentence)
            complain(sentence)

    def _receive(self, screen: Screen, connection: Connection) -> None:
        lines, is_open = connection.receive()
        for line in lines:
            self._take(screen, line, connection=connection)
        if not is_open:
            fd = connection.peer.fileno()
            self._poll.unregister(fd)
            del self._connections[fd]
            connection.close()

    def _take(
        self, screen: Screen, line: str, *, connection: Connection | None = None, path: Path | None = None
    ) -> None:
        match _object(line):
            case {"type": "dropped", "count": count}:
                complain(f"{count} events came too fast to be shown; the ledger has the calls")
            case {"type": str(kind), "sessionId": str(session), **rest} if session.startswith(self._session):
                call_id = rest.get("callId")
                if connection is not None and kind == END and call_id not in self._known:
                    self._read_ledger(screen)  # its start did not come this way: too fast, or before we were here
                if not isinstance(call_id, str) or self._is_new(call_id, kind, connection, path):
                    screen.show(line)

    def _is_new(self, call_id: str, kind: str, connection: Connection | None, path: Path | None) -> bool:
        """Whether this is to be shown: a start and an end once, no intent after its start, and nothing after the end.

        A start may be read from the ledger before its channel is, so that something earlier comes later.
        """
        known = self._known.get(call_id)
        if known == END or (known == START and kind in (START, UPDATE)):
            if known == START:
                self._remember(call_id, connection, path)
            return False
        if kind in (START, END):
            self._known[call_id] = kind
            if len(self._known) > _KNOWN:
                del self._known[next(iter(self._known))]
        if kind == END:
            self._origins.pop(call_id, None)
        else:
            self._remember(call_id, connection, path)
        return True

    def _remember(self, call_id: str, connection: Connection | None, path: Path | None) -> None:
        earlier = self._origins.get(call_id, (None, None))
        self._origins[call_id] = (connection or earlier[0], path or earlier[1])

    def _count_dead(self, screen: Screen) -> None:
        """Find the calls whose process is not there any more."""
        for call_id, (connection, path) in tuple(self._origins.items()):
            if connection is not None and connection.peer.fileno() in self._connections:
                continue
            if path is None or not _has_writer(path):
                del self._origins[call_id]
                screen.lost(call_id)


class Connection:
    """One live channel that is read from."""

    def __init__(self, path: Path, peer: socket.socket) -> None:
        self.path = path
        self.peer = peer
        self._rest = b""

    def receive(self) -> tuple[list[str], bool]:
        """Return the whole lines that have come, and whether more may."""
        is_open = True
        try:
            data = self.peer.recv(1 << 18)
            is_open = bool(data) and len(self._rest) < _LINE_BYTES
        except BlockingIOError:
            data = b""
        except OSError:
            data, is_open = b"", False
        *lines, self._rest = (self._rest + data).split(b"\n")
        return [line.decode("ascii", "replace") for line in lines], is_open

    def close(self) -> None:
        self.peer.close()


def _object(line: str) -> JSONObject:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _output() -> int | None:
    try:
        return sys.stdout.fileno()
    except (OSError, ValueError):  # no file, or closed
        return None


def _has_writer(path: Path) -> bool:
    try:
        return has_writer(path)
    except OSError:
        return False
