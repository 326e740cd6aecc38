"""Compare the segments that there are with those that an index knows."""

from __future__ import annotations

import os
import sqlite3
import stat
import time
import zlib
from dataclasses import dataclass
from pathlib import Path

from pi_intent.ledger.naming import SUFFIX
from pi_intent.ledger.reader import Problem

_BLOCK = 1 << 20
_TICK_NS = 100_000_000
"""How much earlier a file must have been changed for the time of its change to tell it from the next one."""


@dataclass(frozen=True, slots=True)
class Known:
    """A segment as an index knows it: read up to `offset`, with this checksum up to there.

    `modified` is None where the file was changed so shortly before that it may have changed since without a trace.
    It is not `whole` where what was read does not end with a line feed: nobody was to write there any more.
    """

    n: int
    name: str
    device: int
    inode: int
    modified: int | None
    offset: int
    lines: int
    crc: int
    whole: bool


@dataclass(frozen=True, slots=True)
class File:
    """A segment as it lies in the folder."""

    path: Path
    device: int
    inode: int
    modified: int
    size: int


def look_around(folder: Path) -> tuple[list[File], list[Problem]]:
    """Return the segments of a ledger by name, and what lies there in vain. Opens none of them."""
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(SUFFIX))
    except FileNotFoundError:
        return [], []
    except OSError as error:
        return [], [Problem(path=folder, line=None, text=f"{folder} cannot be read ({error.strerror})")]
    files: list[File] = []
    problems: list[Problem] = []
    for name in names:
        path = folder / name
        try:
            status = os.stat(path)
            if not stat.S_ISREG(status.st_mode):
                problems.append(Problem(path=path, line=None, text=f"{path} is no file of records and was skipped"))
                continue
            if not os.access(path, os.R_OK):
                os.close(os.open(path, os.O_RDONLY))  # says why not
        except OSError as error:
            if path.is_symlink() or not isinstance(error, FileNotFoundError):
                problems.append(Problem(path=path, line=None, text=f"{path} cannot be read ({error.strerror})"))
            continue
        files.append(File(path, status.st_dev, status.st_ino, status.st_mtime_ns, status.st_size))
    return files, problems


def known_segments(database: sqlite3.Connection) -> dict[str, Known]:
    """Return the segments of an index by name. Raises `sqlite3.DatabaseError`."""
    rows = database.execute("SELECT n, name, device, inode, modified, offset, lines, crc, whole FROM segment")
    return {
        name: Known(n, name, int(device), int(inode), modified, offset, lines, crc, bool(whole))
        for n, raw, device, inode, modified, offset, lines, crc, whole in rows
        if (name := os.fsdecode(raw))
    }


def news(files: list[File], known: dict[str, Known]) -> list[File] | None:
    """Return the segments that hold more than is known of them; None where what is known is not true any more.

    A segment that was rewritten, replaced or removed makes it untrue. Raises `OSError`.
    """
    if not known.keys() <= {file.path.name for file in files}:
        return None
    longer: list[File] = []
    for file in files:
        seen = known.get(file.path.name)
        if seen is None:
            longer.append(file)
            continue
        if (seen.device, seen.inode) != (file.device, file.inode) or file.size < seen.offset:
            return None
        grown = file.size > seen.offset
        if (grown or file.modified != seen.modified) and checksum(file.path, seen.offset) != seen.crc:
            return None
        if grown and not seen.whole:
            return None
        if grown:
            longer.append(file)
    return longer


def checksum(path: Path, stop: int, *, start: int = 0, crc: int = 0) -> int:
    """Return the checksum of a file from `start` to `stop`, going on from `crc`. Raises `OSError`."""
    with path.open("rb", buffering=0) as file:
        file.seek(start)
        while start < stop and (piece := file.read(min(_BLOCK, stop - start))):
            crc = zlib.crc32(piece, crc)
            start += len(piece)
    return crc


def dated(file: File) -> int | None:
    """Return when a file was changed, where that tells it from a file that is changed next."""
    return file.modified if file.modified < time.time_ns() - _TICK_NS else None
