"""A path or a command as it really is: what a terminal or a reader would not see is spelled out.

A label is only read, so what cannot be seen goes. What is about to run must be seen whole: dropping the escape
sequence in `echo ␛]0; ; rm -rf ~ ␇` would hide the second command, just as a terminal would.
"""

from __future__ import annotations

import re

from pi_intent.characters import UNSEEN, pair_surrogates
from pi_intent.labels.printable import printable

_LONGEST_SPELLING = len("\\U000e0001")


def _spelled(found: re.Match[str]) -> str:
    return found.group().encode("unicode_escape").decode("ascii")


def literal_lines(text: str, *, width: int = 120, max_lines: int = 12) -> list[str]:
    """Return the lines of a text for a screen, at least one, each at most `width` columns wide.

    Blank lines go; a last line says how many more there were than `max_lines`.
    """
    lines = [line for line in text.splitlines() if line.strip()] or [text]
    shown = [_one_line(line, width) for line in lines[:max_lines]]
    if len(lines) > max_lines:
        shown.append(f"… {len(lines) - max_lines} more lines")
    return shown


def literal(text: str, *, width: int = 120) -> str:
    """Return a text as one line of at most `width` columns, its line breaks shown as `⏎`."""
    lines = [line.strip() for line in text[: 4 * width].splitlines() if line.strip()]
    return _one_line(" ⏎ ".join(lines) if lines else text, width)


def _one_line(line: str, width: int) -> str:
    # Enough that the cut falls into the text and its ellipsis shows.
    beginning = pair_surrogates(line[: _LONGEST_SPELLING * width])
    return printable(re.sub(f"[{UNSEEN}]", _spelled, beginning), width=width)
