"""The socket of one process and ledger, and the thread that hands over what waits for each reader."""

from __future__ import annotations

import errno
import os
import select
import socket
import threading
import time
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from pi_intent.channel.place import folders, is_mine, listen, make_private, remove_dead, socket_path

QUEUED_LINES = 1000
"""Lines that wait for a slow reader; what comes on top is dropped, counted, and told to it."""

QUEUED_BYTES = 4 << 20
MOST_READERS = 32

_SENT_AT_ONCE = 64 << 10
_CLOSING_SECONDS = 1.0  # nothing in the thread blocks: it ends at once
_ATTEMPTS = 3  # what closes a server while it is joined is the end of another session
_ACCEPTING_AGAIN = 0.1  # seconds
_GONE = select.POLLHUP | select.POLLERR | select.POLLNVAL


class Greeting(Protocol):
    """What has something to say to a reader that has just come."""

    def in_flight(self) -> list[bytes]: ...


class Reader:
    """One connection that is only written to, and what waits for it.

    The lock holds queue, size and count of the dropped together; nobody does anything slow under it.
    """

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self._lock = threading.RLock()
        self._queue: deque[bytes] = deque()
        self._bytes = 0
        self._dropped = 0
        self._unsent = b""

    def greet(self, lines: list[bytes]) -> None:
        """Put lines before all others."""
        with self._lock:
            self._queue.extendleft(reversed(lines))
            self._bytes += sum(map(len, lines))

    def offer(self, line: bytes) -> None:
        """Queue a line, or count it where there is no room."""
        with self._lock:
            if len(self._queue) >= QUEUED_LINES or self._bytes + len(line) > QUEUED_BYTES:
                self._dropped += 1
                return
            self._tell_dropped()
            self._queue.append(line)
            self._bytes += len(line)

    def _tell_dropped(self) -> None:
        if self._dropped:
            notice = b'{"type":"dropped","count":%d}\n' % self._dropped
            self._queue.append(notice)
            self._bytes += len(notice)
            self._dropped = 0

    def _take(self) -> bytes:
        taken: list[bytes] = []
        size = 0
        with self._lock:
            if not self._queue:
                self._tell_dropped()
            while self._queue and size < _SENT_AT_ONCE:
                line = self._queue.popleft()
                taken.append(line)
                size += len(line)
            self._bytes -= size
        return b"".join(taken)

    def send(self) -> bool:
        """Hand over what the socket takes; return whether all of it is gone. Raises `OSError` where nobody reads."""
        while self._unsent or (more := self._take()):
            self._unsent = self._unsent or more
            try:
                sent = self.connection.send(self._unsent)
            except BlockingIOError:
                return False
            self._unsent = self._unsent[sent:]
        return True


class Server:
    """The socket of one process and ledger, and the thread that serves it.

    The thread alone accepts, sends and closes. `readers` and `channels` are replaced and never changed, so that the
    loop may look at them at any time.
    """

    def __init__(self, path: Path, listener: socket.socket) -> None:
        self.path = path
        self.closed = False
        self.readers: tuple[Reader, ...] = ()
        self.channels: tuple[Greeting, ...] = ()
        self._listener = listener
        self._woken, self._waker = socket.socketpair()
        for end in (listener, self._woken, self._waker):
            end.setblocking(False)
        self._poll = select.poll()
        self._thread = threading.Thread(target=self._run, name="pi-intent channel", daemon=True)
        self._thread.start()

    def send(self, line: bytes) -> None:
        """Queue a line for every reader."""
        for reader in self.readers:
            reader.offer(line)
        self._wake()

    def _wake(self) -> None:
        with suppress(OSError):  # it has been woken often enough, or is gone
            self._waker.send(b"\0")

    def stop(self) -> None:
        """Have the thread hand over what is queued and end."""
        self.closed = True
        self._wake()
        self._thread.join(_CLOSING_SECONDS)

    def abandon(self) -> None:
        """Let go of everything, in a forked child: the socket is the parent's, and there is no thread here."""
        self.closed = True
        for end in (self._listener, self._woken, self._waker, *(reader.connection for reader in self.readers)):
            end.close()
        self.readers = ()

    def _run(self) -> None:
        try:
            self._serve()
        except Exception:  # a boundary: whoever watches falls back to the ledger, and the host goes on
            pass
        finally:
            with suppress(OSError):
                self.path.unlink()
            self.abandon()

    def _serve(self) -> None:
        self._poll.register(self._listener, select.POLLIN)
        self._poll.register(self._woken, select.POLLIN)
        while not self.closed:
            ready = dict(self._poll.poll())
            if self._woken.fileno() in ready:
                self._woken.recv(4096)
            if self._listener.fileno() in ready:
                self._accept()
            for reader in self.readers:
                if ready.get(reader.connection.fileno(), 0) & _GONE:
                    self._drop(reader)
                else:
                    self._hand_over(reader)
        for reader in self.readers:
            self._hand_over(reader)

    def _accept(self) -> None:
        try:
            connection, _ = self._listener.accept()
        except (BlockingIOError, ConnectionAbortedError):  # it has left already
            return
        except OSError:  # no file is left to open: it goes on waiting
            time.sleep(_ACCEPTING_AGAIN)
            return
        connection.setblocking(False)
        if len(self.readers) >= MOST_READERS or not is_mine(connection):
            connection.close()
            return
        reader = Reader(connection)
        self._poll.register(connection, 0)  # what it sends is never read: it fills its own buffer
        self.readers += (reader,)  # before the look at what is in flight, or a start could be missed
        reader.greet([line for channel in self.channels for line in channel.in_flight()])

    def _hand_over(self, reader: Reader) -> None:
        try:
            self._poll.modify(reader.connection, 0 if reader.send() else select.POLLOUT)
        except OSError:
            self._drop(reader)

    def _drop(self, reader: Reader) -> None:
        self._poll.unregister(reader.connection)
        self.readers = tuple(other for other in self.readers if other is not reader)
        reader.connection.close()


_SERVERS: dict[Path, Server] = {}
_LOCK = threading.RLock()
"""Held while a server begins, gets or loses a channel, or ends: there is one for each path.

Taken again inside of itself: whatever allocates may free a session, whose end leaves its server.
"""


def join(root: Path, channel: Greeting, environ: Mapping[str, str]) -> Server:
    """Add a channel to the server of this process and ledger, a new one where there is none. Raises `OSError`."""
    problem: OSError | None = None
    with _LOCK:
        for folder in folders(environ):
            path = socket_path(folder, root)
            try:
                for _ in range(_ATTEMPTS):
                    server = _SERVERS.get(path)
                    if server is None or server.closed:
                        make_private(folder)
                        remove_dead(folder)
                        server = _SERVERS[path] = Server(path, listen(path))
                    server.channels += (channel,)
                    if not server.closed:
                        return server
                raise OSError(errno.EIO, f"the socket {path} was closed at once")
            except OSError as error:
                problem = problem or error
    raise problem or FileNotFoundError(errno.ENOENT, "there is no folder for its socket")


def leave(server: Server, channel: Greeting) -> None:
    with _LOCK:
        server.channels = tuple(other for other in server.channels if other is not channel)
        if not server.channels and not server.closed:
            server.stop()


def _abandon_in_child() -> None:
    global _LOCK
    _LOCK = threading.RLock()  # somebody may hold the parent's
    for server in _SERVERS.values():
        server.abandon()
    _SERVERS.clear()


os.register_at_fork(after_in_child=_abandon_in_child)
