"""Run a client's own command for a short time."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pi_intent.hosts.mcp.clients.secrets import Hidden
from pi_intent.labels.printable import printable

_QUOTED = 300
_QUOTED_LINES = 4
"""Codex tells the cause of an error on the lines below it."""
_WARNINGS = ("warning", "warn ", "warn:", "[warn")
_LOOKED_AT = 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a command printed, or else why there is nothing: the rest of a sentence that begins with the command."""

    text: str | None = None
    why: str = ""


def on_path(name: str, environ: Mapping[str, str]) -> str | None:
    """Return the command of that name that a person would run."""
    return shutil.which(name, path=environ.get("PATH", os.defpath))


def ask(command: Sequence[str], *, environ: Mapping[str, str], cwd: Path, timeout: float) -> Answer:
    """Return what a command prints, or why it did not: it fails, cannot be run or takes too long.

    Nothing of it is left running.
    """
    try:
        process = subprocess.Popen(
            command,
            env=environ,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        return Answer(why=f"cannot be run ({why})")
    try:
        out, complaints = process.communicate(timeout=max(timeout, 0.1))
    except subprocess.TimeoutExpired:
        return Answer(why=f"gave no answer within {timeout:.0f} seconds")
    finally:
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
        with suppress(subprocess.TimeoutExpired, ValueError):
            process.communicate(timeout=2)
    if process.returncode == 0:
        return Answer(text=out.decode("utf-8", "replace"))
    said = _reason(complaints) or _reason(out)
    quoted = f", saying: {printable(Hidden(environ).text(said), width=_QUOTED)}" if said else ", and does not say why"
    return Answer(why=f"fails with exit code {process.returncode}{quoted}")


def _reason(output: bytes) -> str:
    """Return the beginning of what it said of an error as one line, without the warnings that go before."""
    lines = [line.strip() for line in output[:_LOOKED_AT].decode("utf-8", "replace").splitlines() if printable(line)]
    lines = [line for line in lines if not printable(line).lower().startswith(_WARNINGS)] or lines
    first = next((at for at, line in enumerate(lines) if "error" in line.lower()), 0)
    return " ".join(lines[first : first + _QUOTED_LINES])
