"""Run a command on a terminal, and see what it is sent."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path


def on_a_terminal(*args: str, **environ: str) -> str:
    """Return what `pi-intent` sends to a terminal of 24 lines and 80 columns, or of as many as `COLUMNS` says."""
    command = [sys.executable, "-m", "pi_intent", *args]
    said, code = run_on_a_terminal(
        command, {**os.environ, "LINES": "24", "COLUMNS": "80", "TERM": "xterm", **environ}
    )
    assert code == 0
    return said


def run_on_a_terminal(
    command: Sequence[str], environ: Mapping[str, str], *, cwd: Path | None = None, is_typed_at: bool = True
) -> tuple[str, int]:
    """Return what a command sends to a terminal, and how it ends; where nobody types at it, it reads nothing."""
    main, terminal = pty.openpty()
    process = subprocess.Popen(
        command,
        stdin=terminal if is_typed_at else subprocess.DEVNULL,
        stdout=terminal,
        stderr=terminal,
        env=environ,
        cwd=cwd,
    )
    os.close(terminal)
    said, until = b"", time.monotonic() + 60
    while time.monotonic() < until:
        if not select.select([main], [], [], 1)[0]:
            continue
        try:
            piece = os.read(main, 65536)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        said += piece
    os.close(main)
    code = process.wait(timeout=60)
    return said.decode(), code
