"""Say when the last record of a session file was written, by that record and not by the date of the file."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

from pi_intent.sessions.front import event_files
from pi_intent.sessions.moments import moment

_READ = 1 << 18
"""Bytes at the end of a file that are read: some of its records end there, if not one fills all of it."""


def last_time(path: Path) -> float | None:
    """Return the time of the last record that has one, in Unix seconds; None where there is none near the end.

    Every agent that is known here writes it as `timestamp`. `path` may be a folder of one event a file. Never raises.
    """
    try:
        files = event_files(path)[-1:] if path.is_dir() else [path]
        return next((time for file in files for line in _last_lines(file) if (time := _time(line)) is not None), None)
    except OSError:
        return None


def _last_lines(file: Path) -> Iterator[bytes]:
    """Yield the whole lines at the end of a file, the last one first."""
    with file.open("rb") as opened:
        start = max(0, os.fstat(opened.fileno()).st_size - _READ)
        opened.seek(start)
        lines = opened.read(_READ).splitlines()
    yield from reversed(lines[1:] if start else lines)


def _time(line: bytes) -> float | None:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return moment(record.get("timestamp")) if isinstance(record, dict) else None
