"""Start the server as a direct client would, and make sure that nothing of it outlives the proxy."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType

# Waits until the proxy is gone, however it went, and then ends what is left of the server. It looks ten times a
# second whether anything is, because the number of a group that is gone may be given to another one.
_GUARD = """
read -r _
tenths=0
while kill -s 0 -- "-$1"; do
    case $tenths in
        20) kill -s TERM -- "-$1" ;;
        40) kill -s KILL -- "-$1"; exit ;;
    esac
    tenths=$((tenths + 1))
    sleep 0.1
done
"""

CANNOT_START, NOT_FOUND = 126, 127
"""The exit codes with which shells tell that a command could not be run."""


class Child:
    """The server's process group. Its environment and working directory are ours.

    So is its standard error, unless credentials are given: then `stderr` is where it is read from.
    """

    def __init__(self, command: Sequence[str], given: Mapping[str, str] = MappingProxyType({})) -> None:
        """Start the server, with these variables besides ours. Raises `OSError`."""
        # A group of its own: it can be ended whole, with what `npx` and the like have started in it.
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE if given else None,
            process_group=0,
            bufsize=0,
            env={**os.environ, **given} if given else None,
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.stdin = self.process.stdin.fileno()
        self.stdout = self.process.stdout.fileno()
        self.stderr = None if self.process.stderr is None else self.process.stderr.fileno()
        self._guard: subprocess.Popen[bytes] | None = None
        with suppress(OSError):  # without a shell nobody stands guard
            self._guard = subprocess.Popen(
                ("/bin/sh", "-c", _GUARD, "pi-intent-guard", str(self.process.pid)),
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                process_group=0,
            )

    def has_ended(self) -> bool:
        """Whether the server has ended. It keeps its number until `finish`, so that no signal reaches another one."""
        return os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

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
        os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOWAIT)
        self.signal(signal.SIGKILL)
        code = self.process.wait()
        if self._guard is not None:
            self._guard.kill()
            self._guard.wait()
        return code
