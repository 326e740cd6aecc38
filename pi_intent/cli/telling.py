"""Print sentences so that a terminal breaks them at words, and a pipe gets them whole."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Iterable
from contextlib import suppress

import click

from pi_intent.cli.here import without_secrets

_BEFORE = "Error: "
"""What click puts before the text of an error."""
_NARROWEST = 40
_INDENT = 4
_STAYS = "\x00"
"""Stands for a space inside of a path while lines are broken; none is left in what was made printable."""


def tell(text: str, *, whole: Iterable[str] = (), hang: int = _INDENT) -> None:
    """Print one line at once, without secrets, made safe before; paths in it named in `whole` are not broken.

    Where a terminal breaks it, what follows stands `hang` columns further in.
    """
    text = without_secrets(text)
    print(_broken(text, whole, hang) if sys.stdout.isatty() else text, flush=True)


def tell_error(text: str, *, whole: Iterable[str] = ()) -> None:
    """Print one line to standard error, without secrets, made safe before. Never raises `OSError`."""
    text = without_secrets(text)
    with suppress(OSError):
        print(_broken(text, whole) if sys.stderr.isatty() else text, file=sys.stderr, flush=True)


def wrong_usage(text: str, ctx: click.Context | None = None) -> click.UsageError:
    """Return the error of a wrong command line; the text was made safe before."""
    said = _broken(f"{_BEFORE}{text}", ()).removeprefix(_BEFORE) if sys.stderr.isatty() else text
    return click.UsageError(said, ctx)


def _broken(text: str, whole: Iterable[str], hang: int = _INDENT) -> str:
    for path in filter(None, map(without_secrets, whole)):
        text = text.replace(path, path.replace(" ", _STAYS))
    bare = text.lstrip(" ")
    indent = " " * (len(text) - len(bare))
    lines = textwrap.wrap(
        bare,
        width=max(_NARROWEST, shutil.get_terminal_size().columns),
        initial_indent=indent,
        subsequent_indent=indent + " " * hang,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return "\n".join(lines).replace(_STAYS, " ")
