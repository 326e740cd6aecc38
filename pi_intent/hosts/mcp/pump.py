"""Move lines between the client, the proxy and the server, in one loop that never waits for one of them alone."""

from __future__ import annotations

import os
import select
import signal
import stat
import time
from collections.abc import Callable
from contextlib import suppress

from pi_intent.hosts.mcp.child import Child
from pi_intent.hosts.mcp.proxy import Proxy

GRACE_SECONDS = 2.0
"""How long a server may take to end by itself, and then to obey SIGTERM."""

_STDIN, _STDOUT = 0, 1
_CHUNK = 1 << 18
_FULL = 1 << 22
"""Bytes on the way to somebody who does not take them, from which on no more are read for them."""

_IDLE_SECONDS = 0.2
_PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)


class Lines:
    """Bytes come in pieces, whole lines go out; each byte is looked at once."""

    def __init__(self, take: Callable[[bytes], None]) -> None:
        self._take = take
        self._parts: list[bytes] = []

    def feed(self, piece: bytes) -> None:
        """Take a piece and hand on the lines that it completes."""
        *whole, rest = piece.split(b"\n")
        for line in whole:
            if self._parts:
                line = b"".join((*self._parts, line))
                self._parts.clear()
            self._take(line + b"\n")
        if rest:
            self._parts.append(rest)

    def end(self) -> None:
        """Hand on what has no end of line."""
        if self._parts:
            line = b"".join(self._parts)
            self._parts.clear()
            self._take(line)


class Outlet:
    """Bytes for a descriptor that takes them when it can."""

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self.waiting: list[bytes] = []
        self.size = 0
        self.is_open = True
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            os.set_blocking(fd, False)

    def put(self, data: bytes) -> None:
        """Take bytes; write them now if nothing waits before them."""
        if not self.is_open:
            return
        if not self.waiting:
            data = data[self._write(data) :]
        if data:
            self.waiting.append(data)
            self.size += len(data)

    def flush(self) -> None:
        """Write what can be written of what waits."""
        while self.waiting:
            data = self.waiting[0]
            written = self._write(data)
            self.size -= written
            if written < len(data):
                self.waiting[:1] = [data[written:]] if self.is_open else []
                break
            del self.waiting[0]

    def _write(self, data: bytes) -> int:
        """Return how much was taken; all of it where nobody reads any more."""
        try:
            return os.write(self.fd, data)
        except BlockingIOError:
            return 0
        except OSError:
            self.close()
            return len(data)

    def close(self) -> None:
        """Take nothing more."""
        self.is_open = False
        self.waiting.clear()
        self.size = 0


class Pump:
    """One run: from the start of the server to its end.

    `on_idle` is called when nothing has moved for a moment. `proxy` is set before `run`.
    """

    proxy: Proxy

    def __init__(self, child: Child, *, on_idle: Callable[[], None]) -> None:
        self._child = child
        self._on_idle = on_idle
        self._client = Outlet(_STDOUT)
        self._server = Outlet(child.stdin)
        self._client_writes = self._server_writes = True
        self._next_signal: tuple[float, int] | None = None
        """When to send which signal to a server that should have ended."""
        self._leave_at: float | None = None
        """How long to wait, after the server, for the last of what it said and for the client to take it."""
        self._poll = select.poll()
        self._watched: dict[int, int | None] = {}
        self._received: list[int] = []
        self._wake, wake = os.pipe()
        os.set_blocking(self._wake, False)
        os.set_blocking(wake, False)
        self._poll.register(self._wake, select.POLLIN)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        for number in (*_PASSED_ON, signal.SIGCHLD):
            if signal.getsignal(number) is not signal.SIG_IGN:  # as under `nohup`
                signal.signal(number, lambda number, _: self._received.append(number))

    def to_client(self, line: bytes) -> None:
        """Send a line to the client."""
        self._client.put(line)

    def to_server(self, line: bytes) -> None:
        """Send a line to the server."""
        self._server.put(line)

    def run(self) -> None:
        """Move lines until the server has ended and everything that it said is on its way."""
        client, server = Lines(self.proxy.from_client), Lines(self.proxy.from_server)
        self._look_for_the_end()  # it may have come before anybody listened for it
        is_idle = False
        while self._leave_at is None or not self._is_over(self._leave_at):
            ready = self._ready(is_idle)
            is_idle = not ready
            if is_idle:
                self._on_idle()
            for fd, event in ready:
                if fd == _STDIN:
                    self._client_writes = _moved(_STDIN, client)
                elif fd == self._child.stdout:
                    self._server_writes = _moved(fd, server)
                elif fd == _STDOUT:
                    self._client.flush()
                    if event & (select.POLLERR | select.POLLNVAL):
                        self._client.close()
                elif fd == self._child.stdin:
                    self._server.flush()
                else:
                    self._obey()
            if not (self._client_writes and self._server_writes and self._client.is_open) or self._is_timed():
                self._end_in_time()

    def _is_over(self, leave_at: float) -> bool:
        return not (self._server_writes or self._client.waiting) or time.monotonic() > leave_at

    def _is_timed(self) -> bool:
        return self._next_signal is not None or self._leave_at is not None or self.proxy.deadline is not None

    def _ready(self, is_idle: bool) -> list[tuple[int, int]]:
        """Wait until something can be moved, a signal came or a time is up."""
        self._watch(_STDIN, select.POLLIN if self._client_writes and self._server.size < _FULL else None)
        self._watch(self._child.stdout, select.POLLIN if self._server_writes and self._client.size < _FULL else None)
        self._watch(self._child.stdin, select.POLLOUT if self._server.waiting else None)
        # The client also to hear that nobody reads it any more.
        self._watch(_STDOUT, (select.POLLOUT if self._client.waiting else 0) if self._client.is_open else None)
        timeout = None if is_idle else _IDLE_SECONDS
        if self._is_timed():
            times = (self._next_signal and self._next_signal[0], self._leave_at, self.proxy.deadline)
            first = min(at for at in times if at is not None) - time.monotonic()
            timeout = first if timeout is None else min(first, timeout)
        return self._poll.poll(None if timeout is None else max(0, int(timeout * 1000) + 1))

    def _watch(self, fd: int, events: int | None) -> None:
        """Ask the system about a descriptor, in another way than before."""
        if self._watched.get(fd) == events:
            return
        if events is None:
            self._poll.unregister(fd)
        else:
            self._poll.register(fd, events)
        self._watched[fd] = events

    def _obey(self) -> None:
        """Pass on the signals that came, and see whether the server is still there."""
        with suppress(BlockingIOError):
            os.read(self._wake, 4096)
        received, self._received = self._received, []
        for number in received:
            if number != signal.SIGCHLD:
                self._child.signal(number)
            if number == signal.SIGTERM:
                self._next_signal = (time.monotonic() + GRACE_SECONDS, signal.SIGKILL)
        self._look_for_the_end()

    def _look_for_the_end(self) -> None:
        if self._leave_at is None and self._child.process.poll() is not None:
            self._leave_at = time.monotonic() + GRACE_SECONDS
            self._next_signal = None

    def _end_in_time(self) -> None:
        """Let the server end when the client has, and see to it that it does."""
        now = time.monotonic()
        if self.proxy.deadline is not None and now >= self.proxy.deadline:
            self.proxy.give_up()
        if self._leave_at is not None:
            return
        if not self._client.is_open or not self._server_writes:
            self._client_writes = False  # nobody is there to ask, or to be asked
        if not (self._client_writes or self._server.waiting or self.proxy.holds_lines):
            self._watch(self._child.stdin, None)
            self._server.close()
            self._child.close_stdin()
            hears = self._client.is_open and self._server_writes
            if self._next_signal is None and (self.proxy.is_answered or not hears):
                self._next_signal = (now + GRACE_SECONDS, signal.SIGTERM)
        if self._next_signal is not None and now >= self._next_signal[0]:
            self._child.signal(self._next_signal[1])
            self._next_signal = (now + GRACE_SECONDS, signal.SIGKILL)


def _moved(fd: int, lines: Lines) -> bool:
    """Read what is there and hand it on; return whether more may come."""
    try:
        data = os.read(fd, _CHUNK)
    except BlockingIOError:
        return True
    except OSError:  # as on a terminal that is gone
        data = b""
    if data:
        lines.feed(data)
        return True
    lines.end()
    return False
