"""Read segments of the ledger line by line: whatever stands between whole records is reported and skipped."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, NamedTuple

from pi_intent.ledger.entries import Entry, parse_entry
from pi_intent.ledger.naming import SUFFIX, file_stem, has_writer

LINE_LIMIT = 1 << 20
"""Bytes of a line that are read; the writer stays far below."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A whole record: what it says, the line's own bytes (for checking the chain), and where it stands."""

    path: Path
    line: int
    entry: Entry
    raw: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Something that could not be read; `line` is None where it is about the file, `text` a sentence."""

    path: Path
    line: int | None
    text: str


class Line(NamedTuple):
    """A line of a segment without its line feed; `end` is where the next one begins.

    It is not `complete` without a line feed. Of one that is `too_long` there is no content.
    (A named tuple, because one is made for every line and a frozen dataclass takes three times as long.)
    """

    number: int
    content: bytes
    end: int
    complete: bool = True
    too_long: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """One file of the ledger. `running`: its writer was alive when the file was found, before anything was read."""

    path: Path
    running: bool

    def lines(self) -> Iterator[Line]:
        """Yield the lines as they stand, but not the one that a running writer is in the middle of.

        Raises `OSError`.
        """
        with self.path.open("rb") as file:
            yield from settled_lines(split_lines(file), running=self.running)

    def read(self) -> Iterator[Record | Problem]:
        """Yield every record in the order of the file, and every problem at its place."""
        try:
            for line in self.lines():
                item = _record_of(self.path, line)
                if item is not None:
                    yield item
        except FileNotFoundError:
            yield Problem(path=self.path, line=None, text=f"{self.path} was deleted meanwhile")
        except OSError as error:
            yield Problem(path=self.path, line=None, text=f"{self.path} cannot be read ({error.strerror})")


def read_segments(root: Path, *, session: str | None = None) -> Iterator[Segment | Problem]:
    """Yield the segments of a ledger, of one session or of all, by name; nothing where there is no ledger yet.

    `session` is the id under which the journal was opened.
    """
    folder = root / "ledger"
    prefix = "" if session is None else f"{file_stem(session)}."
    try:
        names = sorted(path.name for path in folder.iterdir())
    except FileNotFoundError:
        return
    except OSError as error:
        yield Problem(path=folder, line=None, text=f"{folder} cannot be read ({error.strerror})")
        return
    for name in names:
        if not name.endswith(SUFFIX) or not name.startswith(prefix):
            continue
        path = folder / name
        try:
            # A named pipe would keep us waiting, and a link may lead nowhere.
            if not stat.S_ISREG(path.stat().st_mode):
                yield Problem(path=path, line=None, text=f"{path} is no file of records and was skipped")
                continue
            running = has_writer(path)
        except OSError as error:
            if path.is_symlink() or not isinstance(error, FileNotFoundError):
                yield Problem(path=path, line=None, text=f"{path} cannot be read ({error.strerror})")
            continue
        yield Segment(path=path, running=running)


class SegmentTail:
    """Follows one segment: each `read_new` returns what has been added since the last one."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.problems: list[Problem] = []
        self._offset = 0
        self._line = 0

    def read_new(self) -> list[Record]:
        """Return the new records; a line that is still being written waits for the next time."""
        records: list[Record] = []
        try:
            with self.path.open("rb") as file:
                file.seek(self._offset)
                for line in split_lines(file, first=self._line + 1):
                    if not line.complete:
                        break
                    self._offset, self._line = line.end, line.number
                    match _record_of(self.path, line):
                        case Record() as record:
                            records.append(record)
                        case Problem() as problem:
                            self.problems.append(problem)
                        case None:
                            pass
        except FileNotFoundError:
            pass  # not yet there, or deleted: either way nothing new
        except OSError as error:
            text = f"{self.path} cannot be read ({error.strerror})"
            if not any(problem.text == text for problem in self.problems):
                self.problems.append(Problem(path=self.path, line=None, text=text))
        return records


def settled_lines(lines: Iterator[Line], *, running: bool) -> Iterator[Line]:
    """Leave out the line that a running writer is in the middle of."""
    for line in lines:
        if not line.complete and running and not line.too_long:
            return
        yield line


def split_lines(file: BinaryIO, *, first: int = 1, limit: int = LINE_LIMIT) -> Iterator[Line]:
    """Split a file at line feeds; of a line over the limit nothing but its end is kept."""
    number, end = first, file.tell()
    while piece := file.readline(limit):
        end += len(piece)
        too_long = False
        while piece and not piece.endswith(b"\n") and (too_long or len(piece) == limit):
            too_long = True
            piece = file.readline(limit)
            end += len(piece)
        complete = piece.endswith(b"\n")
        yield Line(number, b"" if too_long else piece.removesuffix(b"\n"), end, complete, too_long)
        number += 1


def read_line(line: Line) -> Entry | str | None:
    """Return what a line says, or what is wrong with it; None for an empty one, left after a failed write.

    What is wrong goes on after the words "line N,".
    """
    if line.too_long:
        return f"is longer than {LINE_LIMIT} bytes and was skipped"
    content = line.content.strip(b"\r")
    if not content:
        return None
    entry = parse_entry(content)
    return "was cut off while it was written" if isinstance(entry, str) and not line.complete else entry


def _record_of(path: Path, line: Line) -> Record | Problem | None:
    entry = read_line(line)
    if isinstance(entry, str):
        return Problem(path=path, line=line.number, text=f"{path.name}, line {line.number}, {entry}")
    if entry is None:
        return None
    return Record(path=path, line=line.number, entry=entry, raw=line.content.strip(b"\r"))
