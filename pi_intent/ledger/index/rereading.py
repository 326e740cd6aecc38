"""Read calls from the segments again, by where the index says that their lines are."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from pi_intent.ledger.entries import (
    CallEntry,
    DecisionEntry,
    DoneEntry,
    parse_entry,
    reread_call,
    reread_decision,
    reread_done,
)
from pi_intent.ledger.index.survey import Known

_MOST_OPEN = 32


class NotThere(Exception):
    """A line is not what the index says: somebody wrote there, or the index is broken."""


class Lines:
    """The lines of the segments of one ledger, by number, offset and length. Files are kept open; close it."""

    def __init__(self, folder: Path, segments: dict[int, Known]) -> None:
        self._folder = folder
        self._segments = segments
        self._open: dict[int, tuple[int, bool]] = {}

    def call(self, segment: int, offset: int, length: int) -> CallEntry:
        """Return the `call` record that stands there. Raises `NotThere`."""
        entry = self._entry(segment, offset, length, reread_call)
        if not isinstance(entry, CallEntry):
            raise NotThere
        return entry

    def done(self, segment: int, offset: int, length: int) -> DoneEntry:
        """Return the `done` record that stands there. Raises `NotThere`."""
        entry = self._entry(segment, offset, length, reread_done)
        if not isinstance(entry, DoneEntry):
            raise NotThere
        return entry

    def decision(self, segment: int, offset: int, length: int) -> DecisionEntry:
        """Return the `decision` record that stands there. Raises `NotThere`."""
        entry = self._entry(segment, offset, length, reread_decision)
        if not isinstance(entry, DecisionEntry):
            raise NotThere
        return entry

    def raw(self, segment: int, offset: int, length: int) -> bytes:
        """Return a line's own bytes. Raises `NotThere`."""
        return self._line(segment, offset, length)[0]

    def close(self) -> None:
        """Close the files."""
        while self._open:
            with suppress(OSError):
                os.close(self._open.popitem()[1][0])

    def _entry(self, segment: int, offset: int, length: int, reread: Callable[[bytes], object]) -> object:
        line, unchanged = self._line(segment, offset, length)
        try:
            return reread(line) if unchanged else parse_entry(line)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise NotThere from error

    def _line(self, segment: int, offset: int, length: int) -> tuple[bytes, bool]:
        """Return a line, and whether its file is the one that was read, to the instant."""
        try:
            fd, unchanged = self._opened(segment)
            line = os.pread(fd, length, offset)
        except (OSError, ValueError, OverflowError) as error:
            raise NotThere from error
        if len(line) != length:
            raise NotThere
        return line.strip(b"\r"), unchanged

    def _opened(self, segment: int) -> tuple[int, bool]:
        if segment not in self._open:
            known = self._segments.get(segment)
            if known is None:
                raise NotThere
            if len(self._open) >= _MOST_OPEN:
                self.close()
            fd = os.open(self._folder / known.name, os.O_RDONLY)
            status = os.fstat(fd)
            same = (status.st_dev, status.st_ino, status.st_mtime_ns) == (known.device, known.inode, known.modified)
            self._open[segment] = (fd, same)
        return self._open[segment]
