"""Run a command on a terminal of 24 lines, and see what it is sent."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import time


def on_a_terminal(*args: str, **environ: str) -> str:
    """Return what `pi-intent` sends to a terminal of 80 columns, or of as many as `COLUMNS` says."""
    main, terminal = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "pi_intent", *args],
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        env={**os.environ, "LINES": "24", "COLUMNS": "80", "TERM": "xterm", **environ},
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
    assert process.wait(timeout=60) == 0
    return said.decode()
