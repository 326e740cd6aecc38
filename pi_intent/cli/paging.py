"""Print lines: drawn on a terminal, in the pager that the person uses where they are long, and plain elsewhere."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import TYPE_CHECKING

import click

from pi_intent.render.timeline import Line, folded, write_lines

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

_AT_ONCE = 200  # lines: Rich has a price for every print


def is_drawn() -> bool:
    """Is standard output drawn on, and not only written to? As Rich decides it."""
    return bool(os.environ.get("FORCE_COLOR")) or sys.stdout.isatty()


def drawn_width() -> int | None:
    """Return how many columns are drawn on; None where nothing is drawn."""
    return _console().width if is_drawn() else None


def print_lines(lines: Iterable[Line], *, newest_last: bool = False) -> None:
    """Print lines, whole and plain where standard output is not drawn on."""
    if not is_drawn():
        write_lines(sys.stdout, lines)
        return
    console = _console()
    show(console, folded(console, lines), newest_last=newest_last)


def _console() -> Console:
    from rich.console import Console  # only where something is drawn

    return Console(markup=False, emoji=False, highlight=False)


def show(console: Console, lines: Iterable[Text], *, newest_last: bool = False) -> None:
    """Print lines, through a pager where they are more than the terminal has; only ever on a terminal.

    With `newest_last` it begins at the end, where the pager is `less` and the person has set nothing for it.
    """
    rest = iter(lines)
    first = [*islice(rest, max(1, console.height - 1))]
    following = [*islice(rest, 1)]
    if not following or not _pages():
        for batch in _batches(chain(first, following, rest)):
            console.print(batch, soft_wrap=True)
        return
    # As git does: quit where it fits, keep colours, leave the screen as it is.
    os.environ.setdefault("LESS", "FRX+G" if newest_last else "FRX")
    click.echo_via_pager(_coloured(console, chain(first, following, rest)), color=True)


def _pages() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("PAGER") != ""


def _coloured(console: Console, lines: Iterable[Text]) -> Iterator[str]:
    for batch in _batches(lines):
        with console.capture() as captured:
            console.print(batch, soft_wrap=True)
        yield captured.get()


def _batches(lines: Iterable[Text]) -> Iterator[Text]:
    from rich.text import Text

    lines = iter(lines)
    while batch := [*islice(lines, _AT_ONCE)]:
        yield Text("\n").join(batch)
