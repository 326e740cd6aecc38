"""A program at the other end of three pipes: raw lines in, raw bytes out, every wait bounded."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

PATIENCE = 15.0
"""Seconds after which a wait fails, however slow the machine is."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a program had said when it was over."""

    stdout: bytes
    stderr: bytes
    code: int
    """As a shell tells it: 128 and the number for a death by a signal."""

    @property
    def lines(self) -> list[bytes]:
        return lines_of(self.stdout)


def lines_of(data: bytes) -> list[bytes]:
    """Split at line feeds alone, each line with its own; what stands behind the last one is a line without."""
    *whole, rest = data.split(b"\n")
    return [line + b"\n" for line in whole] + ([rest] if rest else [])


class Silence(AssertionError):
    """The program did not say in time what was waited for."""


class Peer:
    """A child process spoken to in raw bytes.

    Leaving the `with` block ends it, and what it left running in its group.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        patience: float = PATIENCE,
    ) -> None:
        self.patience = patience
        self.process = subprocess.Popen(
            command,
            cwd=cwd,
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            process_group=0,
        )
        self.seen = 0
        self._changed = threading.Condition()
        self._heard = {"stdout": bytearray(), "stderr": bytearray()}
        self._open = {"stdout", "stderr"}
        self._readers = [threading.Thread(target=self._read, args=(name,), daemon=True) for name in self._heard]
        for reader in self._readers:
            reader.start()
        assert self.process.stdin is not None
        os.set_blocking(self.process.stdin.fileno(), False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(self.patience)
        for reader in self._readers:
            reader.join(self.patience)
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe is not None:
                pipe.close()

    def _read(self, name: str) -> None:
        pipe = getattr(self.process, name)
        while chunk := pipe.read(1 << 16):
            with self._changed:
                self._heard[name] += chunk
                self._changed.notify_all()
        with self._changed:
            self._open.discard(name)
            self._changed.notify_all()

    def send(self, data: bytes) -> None:
        """Write the bytes as they are; one who has gone away hears nothing, as with any pipe."""
        stdin = self.process.stdin
        assert stdin is not None
        until = time.monotonic() + self.patience
        with selectors.DefaultSelector() as ready:
            ready.register(stdin, selectors.EVENT_WRITE)
            while data:
                if not ready.select(until - time.monotonic()):
                    raise Silence(f"the program does not read its input; {len(data)} bytes are left")
                try:
                    data = data[os.write(stdin.fileno(), data[: 1 << 16]) :]
                except BlockingIOError:
                    continue
                except BrokenPipeError:
                    return

    def wait_for(self, needle: bytes, *, where: str = "stdout") -> bytes:
        """Wait until a whole line with `needle` stands behind what was waited for before; return that line."""
        heard = self._heard[where]
        start = self.seen if where == "stdout" else 0
        until = time.monotonic() + self.patience
        with self._changed:
            while True:
                found = heard.find(needle, start)
                end = heard.find(b"\n", found) if found >= 0 else -1
                if end >= 0:
                    begin = heard.rfind(b"\n", 0, found) + 1
                    if where == "stdout":
                        self.seen = end + 1
                    return bytes(heard[begin : end + 1])
                left = until - time.monotonic()
                if where not in self._open or not self._changed.wait(left) or left <= 0:
                    raise Silence(
                        f"no line with {needle!r} in {where}: {bytes(heard[start : start + 2_000])!r}; "
                        f"stderr: {bytes(self._heard['stderr'][-2_000:])!r}"
                    )

    def heard(self, where: str = "stdout") -> bytes:
        """Return everything said so far."""
        with self._changed:
            return bytes(self._heard[where])

    def close_input(self) -> None:
        if self.process.stdin is not None:
            self.process.stdin.close()

    def signal(self, number: int) -> None:
        self.process.send_signal(number)

    def finish(self) -> Outcome:
        """Close the input, wait for the end and for everything said until then."""
        self.close_input()
        return self.outcome()

    def outcome(self) -> Outcome:
        """Wait for the end, with the input as it is."""
        try:
            code = self.process.wait(self.patience)
        except subprocess.TimeoutExpired as error:
            raise Silence(f"the program runs on; it said {self.heard()[-500:]!r}") from error
        for reader in self._readers:
            reader.join(self.patience)
            if reader.is_alive():
                raise Silence("the program ended, but one that it started holds its output open")
        return Outcome(stdout=self.heard(), stderr=self.heard("stderr"), code=code if code >= 0 else 128 - code)


def is_running(pid: int) -> bool:
    """Whether that process is there and no zombie."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"
