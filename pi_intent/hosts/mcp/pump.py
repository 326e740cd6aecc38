"""Move lines between the client, the proxy and the server, in one loop that never waits for one of them alone."""

from __future__ import annotations

import os
import select
import signal
import stat
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

from pi_intent.hosts.mcp.child import Child
from pi_intent.hosts.mcp.proxy import Proxy

GRACE_SECONDS = 2.0
"""How long a server may take to end by itself, and then to obey SIGTERM."""

_STDIN, _STDOUT, _STDERR = 0, 1, 2
_CHUNK = 1 << 18
_FULL = 1 << 22
"""Bytes on the way to somebody who does not take them, from which on no more are read for them."""

_TOO_MUCH = 1 << 26
"""Bytes for the client from which on it is not heard either: they may be our own answers to it."""

_ATOMIC = 4096
"""Bytes that a pipe which takes any takes at once."""

_IDLE_SECONDS = 0.2
_GONE = select.POLLERR | select.POLLHUP | select.POLLNVAL  # a pipe, or the socket that Node gives its children
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


class Feeds(Protocol):
    """Whatever takes bytes in pieces, and is told when no more come."""

    def feed(self, piece: bytes) -> None: ...

    def end(self) -> None: ...


class Outlet:
    """Bytes for a descriptor that takes them when it can."""

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self.is_open = True
        self._buffer = bytearray()
        self._written = 0
        """How much of the buffer is written already."""
        kind = os.fstat(fd)
        # What is written to a file is there at once. A description that is shared with standard error is the server's
        # too, and must not change under it.
        self._is_shared = os.path.samestat(kind, os.fstat(_STDERR))
        self._was_blocking = os.get_blocking(fd)
        if not stat.S_ISREG(kind.st_mode) and not self._is_shared:
            os.set_blocking(fd, False)

    @property
    def size(self) -> int:
        """How many bytes wait."""
        return len(self._buffer) - self._written

    def put(self, data: bytes) -> None:
        """Take bytes; write them now if nothing waits before them. What nobody reads any more is dropped."""
        if not self.is_open:
            return
        if not self._buffer:
            data = data[self._write(data) :]
        if data and self.is_open:
            self._buffer += data

    def flush(self) -> None:
        """Write what can be written of what waits."""
        with memoryview(self._buffer) as waiting, waiting[self._written :] as rest:
            self._written += self._write(rest)
        if self._written == len(self._buffer) or not self.is_open:
            self._buffer.clear()
            self._written = 0
        elif self._written > _CHUNK and self._written > len(self._buffer) // 2:
            del self._buffer[: self._written]
            self._written = 0

    def close(self) -> None:
        """Take nothing more."""
        self.is_open = False
        self._buffer.clear()
        self._written = 0

    def give_back(self) -> None:
        """Leave the descriptor as it was found."""
        with suppress(OSError):
            os.set_blocking(self.fd, self._was_blocking)

    def _write(self, data: bytes | memoryview) -> int:
        """Write as much as is taken, and return how much that is."""
        written = 0
        try:
            while written < len(data):
                piece = data[written : written + (_ATOMIC if self._is_shared else _CHUNK)]
                if self._is_shared and not _takes(self.fd):
                    break
                written += os.write(self.fd, piece)
        except BlockingIOError:
            pass
        except OSError:
            self.is_open = False
        return written


def _of_our_own(fd: int) -> int:
    """Open a terminal or a pipe anew, so that writing there need not wait; the very same where that does not go."""
    if os.isatty(fd) or stat.S_ISFIFO(os.fstat(fd).st_mode):
        with suppress(OSError):
            return os.open(f"/dev/fd/{fd}", os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY)
    return fd


def _takes(fd: int, milliseconds: int = 0) -> bool:
    return _is_ready(fd, select.POLLOUT, milliseconds)


def _is_ready(fd: int, event: int, milliseconds: int = 0) -> bool:
    poll = select.poll()
    poll.register(fd, event)
    return bool(poll.poll(milliseconds))


class Pump:
    """One run: from the start of the server to its end.

    `proxy`, and `on_idle`, which is called when nothing has moved for a moment, are set before `run`; so is `told`,
    which gets what the server says on its standard error, where that is read.
    """

    proxy: Proxy
    on_idle: Callable[[], None]
    told: Feeds

    def __init__(self, child: Child) -> None:
        self._child = child
        self._client = Outlet(_STDOUT)
        self._server = Outlet(child.stdin)
        self._client_writes = self._server_writes = True
        self._server_tells = child.stderr is not None
        self._log = Outlet(_of_our_own(_STDERR))
        self._input_ended = False
        self._next_signal: tuple[float, int] | None = None
        """When to send which signal to a server that should have ended."""
        self._leave_at: float | None = None
        """How long to wait, after the server, for the last of what it said: its helpers may still hold the pipe."""
        self._give_up_at: float | None = None
        """When to leave though the client has not taken everything: somebody wants us to end."""
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

    def to_log(self, line: bytes) -> None:
        """Send a line to standard error, which clients keep as the server's log, and wait for nobody who reads it."""
        self._log.put(line)

    def finish_log(self) -> None:
        """Let who reads the log take what waits for them, for a moment."""
        give_up_at = time.monotonic() + GRACE_SECONDS
        while self._log.size and _takes(self._log.fd, max(0, int((give_up_at - time.monotonic()) * 1000))):
            self._log.flush()

    def run(self) -> None:
        """Move lines until the server has ended and everything that it said is on its way."""
        try:
            self._run(Lines(self.proxy.from_client), Lines(self.proxy.from_server))
        finally:
            self._tell_the_rest()
            self.proxy.hang_up()
            self._client.give_back()

    def _run(self, client: Lines, server: Lines) -> None:
        self._look_for_the_end()  # it may have come before anybody listened for it
        is_idle = False
        while self._leave_at is None or self._server_writes or self._client.size:
            ready = self._ready(is_idle)
            is_idle = not ready
            if is_idle:
                self.on_idle()
            for fd, event in ready:
                if fd == _STDIN:
                    self._client_writes = _moved(_STDIN, client)
                elif fd == self._child.stdout:
                    self._server_writes = _moved(fd, server)
                elif fd == _STDOUT:
                    self._client.flush()
                    if event & _GONE:
                        self._client.close()
                elif fd == self._child.stdin:
                    self._server.flush()
                elif fd == self._child.stderr:
                    self._server_tells = _moved(fd, self.told)
                elif fd == self._log.fd:
                    self._log.flush()
                else:
                    self._obey()
            if not (self._client_writes and self._server_writes and self._client.is_open) or self._times():
                self._end_in_time()

    def _times(self) -> list[float]:
        """When something is to be done though nothing has moved."""
        leave_at = self._leave_at if self._server_writes and self._client.size < _FULL else None
        give_up_at = None if self._leave_at is None else self._give_up_at
        times = (self._next_signal and self._next_signal[0], leave_at, give_up_at, self.proxy.deadline)
        return [at for at in times if at is not None]

    def _ready(self, is_idle: bool) -> list[tuple[int, int]]:
        """Wait until something can be moved, a signal came or a time is up."""
        self._watch(
            _STDIN,
            select.POLLIN
            if self._client_writes and self._server.size < _FULL and self._client.size < _TOO_MUCH
            else None,
        )
        self._watch(self._child.stdout, select.POLLIN if self._server_writes and self._client.size < _FULL else None)
        self._watch(self._child.stdin, select.POLLOUT if self._server.size else None)
        if self._child.stderr is not None:
            self._watch(self._child.stderr, select.POLLIN if self._server_tells and self._log.size < _FULL else None)
        self._watch(self._log.fd, select.POLLOUT if self._log.size else None)
        # The client also to hear that nobody reads it any more.
        self._watch(_STDOUT, (select.POLLOUT if self._client.size else 0) if self._client.is_open else None)
        timeout = None if is_idle else _IDLE_SECONDS
        if times := self._times():
            first = min(times) - time.monotonic()
            timeout = first if timeout is None else min(first, timeout)
        return self._poll.poll(None if timeout is None else max(0, int(timeout * 1000) + 1))

    def _tell_the_rest(self) -> None:
        """Pass on what the server has said to standard error and nobody has read yet."""
        if self._child.stderr is None:
            return
        os.set_blocking(self._child.stderr, False)
        while self._server_tells and self._log.size < _FULL and _is_ready(self._child.stderr, select.POLLIN):
            self._server_tells = _moved(self._child.stderr, self.told)
        self.told.end()

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
            if number == signal.SIGTERM and self._give_up_at is None:
                now = time.monotonic()
                self._give_up_at = now if self._leave_at is not None else now + 2 * GRACE_SECONDS
                self._next_signal = (now + GRACE_SECONDS, signal.SIGKILL)
        self._look_for_the_end()

    def _look_for_the_end(self) -> None:
        if self._leave_at is None and self._child.has_ended():
            self._leave_at = time.monotonic() + GRACE_SECONDS
            self._next_signal = None

    def _leave(self, now: float, leave_at: float) -> None:
        """The server has ended: wait for the rest of what it said, and for the client to take it."""
        if self._give_up_at is not None and now >= self._give_up_at:
            self._server_writes = False
            self._client.close()
        elif self._client.size >= _FULL:
            self._leave_at = now + GRACE_SECONDS  # the rest is not read before the client has taken some
        elif now >= leave_at:
            self._server_writes = False

    def _end_in_time(self) -> None:
        """Let the server end when the client has, and see to it that it does."""
        now = time.monotonic()
        if self.proxy.deadline is not None and now >= self.proxy.deadline:
            self.proxy.give_up()
        if self._leave_at is not None:
            self._leave(now, self._leave_at)
            return
        hears = self._client.is_open and self._server_writes
        listens = self._input_ended or self._server.is_open
        if not hears or not listens:
            self._client_writes = False  # nobody is there to ask, or to be asked
        if not self._client_writes:
            self.proxy.hang_up()
        if not self._client_writes and not (hears and listens and (self._server.size or self.proxy.holds_lines)):
            if not self._input_ended:
                self._input_ended = True
                self._watch(self._child.stdin, None)
                self._server.close()
                self._child.close_stdin()
            if self._next_signal is None and (self.proxy.is_answered or not hears or not listens):
                self._next_signal = (now + GRACE_SECONDS, signal.SIGTERM)
        if self._next_signal is not None and now >= self._next_signal[0]:
            self._look_for_the_end()
        if self._next_signal is not None and now >= self._next_signal[0]:
            self._child.signal(self._next_signal[1])
            self._next_signal = (now + GRACE_SECONDS, signal.SIGKILL)


def _moved(fd: int, lines: Feeds) -> bool:
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
