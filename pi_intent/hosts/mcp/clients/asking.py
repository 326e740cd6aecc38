"""Run a client's own command for a short time."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path


def on_path(name: str, environ: Mapping[str, str]) -> str | None:
    """Return the command of that name that a person would run."""
    return shutil.which(name, path=environ.get("PATH", os.defpath))


def ask(command: Sequence[str], *, environ: Mapping[str, str], cwd: Path, timeout: float) -> str | None:
    """Return what a command prints, None where it fails, cannot be run or takes too long.

    Nothing of it is left running.
    """
    try:
        process = subprocess.Popen(
            command,
            env=environ,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except (OSError, ValueError):
        return None
    try:
        out, _ = process.communicate(timeout=max(timeout, 0.1))
    except subprocess.TimeoutExpired:
        return None
    finally:
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
        with suppress(subprocess.TimeoutExpired, ValueError):
            process.communicate(timeout=2)
    return out.decode("utf-8", "replace") if process.returncode == 0 else None
