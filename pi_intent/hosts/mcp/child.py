"""Start the server as a direct client would, and make sure that nothing of it outlives the proxy."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress

# Waits until the proxy is gone, however it went, and then ends what is left of the server.
_GUARD = 'read -r _; sleep 2; kill -s TERM -- "-$1"; sleep 2; kill -s KILL -- "-$1"'

CANNOT_START, NOT_FOUND = 126, 127
"""The exit codes with which shells tell that a command could not be run."""


class Child:
    """The server's process group. Its standard error, environment and working directory are ours."""

    def __init__(self, command: Sequence[str]) -> None:
        """Start the server. Raises `OSError`."""
        # A group of its own: it can be ended whole, with what `npx` and the like have started in it.
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, process_group=0, bufsize=0
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.stdin = self.process.stdin.fileno()
        self.stdout = self.process.stdout.fileno()
        self._guard: subprocess.Popen[bytes] | None = None
        with suppress(OSError):  # without a shell nobody stands guard
            self._guard = subprocess.Popen(
                ("/bin/sh", "-c", _GUARD, "pi-intent-guard", str(self.process.pid)),
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                process_group=0,
            )

    def close_stdin(self) -> None:
        """Tell the server that nothing more comes."""
        if self.process.stdin is not None:
            self.process.stdin.close()

    def signal(self, number: int) -> None:
        """Send a signal to the whole group."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, number)

    def finish(self) -> int:
        """End what is left of the group and whoever guards it; return the code with which the server ended.

        As `subprocess` gives it: negative for a signal.
        """
        code = self.process.poll()
        self.signal(signal.SIGKILL)
        if code is None:
            code = self.process.wait()
        if self._guard is not None:
            self._guard.kill()
            self._guard.wait()
        return code
