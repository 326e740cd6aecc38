"""Show how far a long reading is, on a terminal and only when it takes a while."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from pi_intent.ledger.reader import Line

if TYPE_CHECKING:
    from pi_intent.ledger.index import Index

PATIENCE_SECONDS = 1.0
_LINES_BETWEEN = 512
_ITEMS_BETWEEN = 64
_SECONDS_BETWEEN = 0.2


class Progress:
    """One line on standard error that counts per cent of `total` bytes and is wiped at the end."""

    def __init__(
        self, what: str, total: int, *, stream: TextIO | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._what = what
        self._total = total
        self._stream = sys.stderr if stream is None else stream
        self._clock = clock
        self._next = clock() + PATIENCE_SECONDS if self._stream.isatty() else float("inf")
        self._before = 0
        self._shown = False

    def over(self, lines: Iterable[Line]) -> Iterator[Line]:
        """Yield the lines of the next file, and count them on the way."""
        end = 0
        for line in lines:
            end = line.end
            if line.number % _LINES_BETWEEN == 0:
                self._look(self._before + end)
            yield line
        self.file_done(end)

    def reached(self, end: int) -> None:
        """Take note of how many bytes of the next file were read."""
        self._look(self._before + end)

    def file_done(self, size: int) -> None:
        """Take note that a file was read to its end."""
        self._before += size
        self._look(self._before)

    def at(self, done: int, total: int) -> None:
        """Say how many bytes of how many are done, where that is known from elsewhere."""
        self._total = total
        self._look(done)

    def across[T](self, items: Iterable[T], total: int, *, before: int = 0) -> Iterator[T]:
        """Yield things that are counted one by one, `before` of the `total` having been there already."""
        for number, item in enumerate(items, before):
            if number % _ITEMS_BETWEEN == 0:
                self.at(number, total)
            yield item

    def close(self) -> None:
        """Wipe the line."""
        if self._shown:
            self._shown = False
            self._draw("\r\x1b[K")

    def _look(self, done: int) -> None:
        if self._clock() < self._next:
            return
        self._next = self._clock() + _SECONDS_BETWEEN
        self._shown = True
        # A file that is being written may be longer by now.
        self._draw(f"\r\x1b[K{self._what} {min(100, 100 * done // max(1, self._total))} %")

    def _draw(self, text: str) -> None:
        with suppress(OSError):
            self._stream.write(text)
            self._stream.flush()


@contextmanager
def opened_index(root: Path) -> Iterator[Index]:
    """Open the index of a ledger, and show how far it is where making it takes a while."""
    from pi_intent.ledger.index import open_index

    progress = Progress("Reading the ledger:", 0)
    try:
        index = open_index(root, progress=progress.at)
    finally:
        progress.close()
    with index:
        yield index
