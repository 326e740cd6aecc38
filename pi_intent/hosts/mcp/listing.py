"""Start an MCP server, ask it for its tools, and end it."""

from __future__ import annotations

import itertools
import json
import os
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import pi_intent
from pi_intent.errors import HostError
from pi_intent.hosts.mcp.clients.secrets import Hidden
from pi_intent.labels.printable import printable

PROTOCOL = "2025-06-18"
"""The version of the handshake that every server of either era knows."""

_MOST_PAGES = 1000
_LONGEST = 64 * 1024 * 1024
_GRACE = 2.0
_LAST_WORDS = 64 * 1024
_SLICE = 0.2
"""Seconds between two looks at whether to stop."""

type _Message = dict[str, object]


def list_tools(
    command: Sequence[str],
    *,
    environ: Mapping[str, str],
    cwd: Path | str | None = None,
    timeout: float = 30.0,
    stop: threading.Event | None = None,
) -> list[dict[str, object]]:
    """Return the tools of a server as it describes them, in its order, all pages of them.

    `command` is its command line, `timeout` seconds are for everything, `stop` gives up early. The server is ended,
    with all that it started. Raises `HostError` where it cannot be started, ends, is not done in time, or refuses; no
    secret of its command line or environment is in what that says.
    """
    with _started(command, environ, cwd, timeout, stop) as server:
        initialized = server.request(
            "initialize",
            {
                "protocolVersion": PROTOCOL,
                "capabilities": {},
                "clientInfo": {"name": "pi-intent", "version": pi_intent.__version__},
            },
        )
        server.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        capabilities = initialized.get("capabilities")
        if isinstance(capabilities, dict) and "tools" not in capabilities:
            return []
        tools: list[dict[str, object]] = []
        cursors: set[str] = set()
        parameters: _Message = {}
        for _ in range(_MOST_PAGES):
            page = server.request("tools/list", parameters)
            found = page.get("tools")
            if not isinstance(found, list):
                raise server.failed("gave no list of tools")
            tools += [tool for tool in found if isinstance(tool, dict)]
            cursor = page.get("nextCursor")
            if not isinstance(cursor, str):
                return tools
            if cursor in cursors:
                break
            cursors.add(cursor)
            parameters = {"cursor": cursor}
        raise server.failed("has no last page of tools")


class _Server:
    """A running server and what it has said so far."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        name: str,
        hidden: Hidden,
        timeout: float,
        stop: threading.Event | None,
    ) -> None:
        self._process = process
        self._name = name
        self._hidden = hidden
        self._stop = stop
        self._timeout = timeout
        self._end = time.monotonic() + timeout
        self._ids = itertools.count(1)
        self._unread = b""
        self._outgoing = bytearray()
        self._complaints = b""
        self._selector = selectors.DefaultSelector()
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe is not None:
                os.set_blocking(pipe.fileno(), False)
        if process.stdout is not None and process.stderr is not None:
            self._selector.register(process.stdout, selectors.EVENT_READ)
            self._selector.register(process.stderr, selectors.EVENT_READ)

    def close(self) -> None:
        """Forget the pipes."""
        self._selector.close()

    def failed(self, what: str) -> HostError:
        """Return the sentence about a server that did not do what was asked."""
        lines = self._complaints.decode("utf-8", "replace").strip().splitlines()
        said = f"; the last it said: {printable(self._hidden.text(lines[-1]), width=160)}" if lines else ""
        return HostError(f"the server {self._name} {what}{said}")

    def request(self, method: str, parameters: _Message) -> _Message:
        """Send a request and return its result."""
        number = next(self._ids)
        self.send({"jsonrpc": "2.0", "id": number, "method": method, "params": parameters})
        while True:
            for message in self._messages(method):
                if message.get("method") is not None:
                    self._answer(message)
                elif message.get("id") == number:
                    return self._result(method, message)

    def _result(self, method: str, message: _Message) -> _Message:
        result = message.get("result")
        if isinstance(result, dict):
            return result
        error = message.get("error")
        why = error.get("message") if isinstance(error, dict) else None
        raise self.failed(f"refused {method}: {printable(self._hidden.text(str(why)), width=160)}")

    def _answer(self, message: _Message) -> None:
        """Answer what the server asks of a client that offers nothing."""
        if "id" not in message:
            return
        if message["method"] == "ping":
            self.send({"jsonrpc": "2.0", "id": message["id"], "result": {}})
        else:
            error = {"code": -32601, "message": "Method not found"}
            self.send({"jsonrpc": "2.0", "id": message["id"], "error": error})

    def send(self, message: _Message) -> None:
        """Put a message on its way; it leaves while answers are read, so that neither side waits for the other."""
        if not self._outgoing and self._process.stdin is not None:
            self._selector.register(self._process.stdin, selectors.EVENT_WRITE)
        self._outgoing += json.dumps(message).encode() + b"\n"

    def _messages(self, method: str) -> Iterator[_Message]:
        """Yield what has come, at least one line of it; what is no message (banners) is passed over."""
        while b"\n" not in self._unread:
            self._exchange(method)
        *lines, self._unread = self._unread.split(b"\n")
        for line in lines:
            try:
                decoded: object = json.loads(line)
            except (ValueError, RecursionError):
                continue
            for message in decoded if isinstance(decoded, list) else [decoded]:
                if isinstance(message, dict):
                    yield message

    def _exchange(self, method: str) -> None:
        ready: list[tuple[selectors.SelectorKey, int]] = []
        while not ready and (left := self._end - time.monotonic()) > 0:
            if self._stop is not None and self._stop.is_set():
                raise self.failed("was not waited for any longer")
            ready = self._selector.select(left if self._stop is None else min(left, _SLICE))
        if not ready:
            raise self.failed(f"did not answer {method} within {self._timeout:g} seconds")
        for key, _ in ready:
            if key.fileobj is self._process.stdin:
                self._write()
                continue
            piece = os.read(key.fd, 1024 * 1024)
            if key.fileobj is self._process.stderr:
                self._complaints = (self._complaints + piece)[-_LAST_WORDS:]
                if not piece:
                    self._selector.unregister(key.fileobj)
            elif not piece:
                self._drain()
                raise self.failed(f"ended before it answered {method}")
            else:
                self._unread += piece
                if len(self._unread) > _LONGEST:
                    raise self.failed(f"answered {method} with more than {_LONGEST // 1024 // 1024} MiB")

    def _write(self) -> None:
        pipe = self._process.stdin
        if pipe is None:
            return
        try:
            sent = os.write(pipe.fileno(), self._outgoing)
        except BlockingIOError:
            return
        except OSError:  # it ended; its output says so next
            sent = len(self._outgoing)
        del self._outgoing[:sent]
        if not self._outgoing:
            self._selector.unregister(pipe)

    def _drain(self) -> None:
        if self._process.stderr is not None:
            with suppress(OSError):
                self._complaints = (self._complaints + (os.read(self._process.stderr.fileno(), 65536)))[-_LAST_WORDS:]


@contextmanager
def _started(
    command: Sequence[str],
    environ: Mapping[str, str],
    cwd: Path | str | None,
    timeout: float,
    stop: threading.Event | None,
) -> Iterator[_Server]:
    hidden = Hidden(environ, [command])
    name = printable(" ".join(hidden.line(command)), width=80)
    try:
        process = subprocess.Popen(
            command,
            env=environ,
            cwd=cwd,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise HostError(f"the server {name} cannot be started ({why})") from error
    server = _Server(process, name, hidden, timeout, stop)
    try:
        yield server
    finally:
        server.close()
        _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a server as clients do: close its input, then ask, then insist, with all that it started."""
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(subprocess.TimeoutExpired):
            process.wait(_GRACE)
        with suppress(OSError):
            os.killpg(process.pid, number)
    process.wait()
