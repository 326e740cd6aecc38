"""A path or a command as it really is: what a terminal or a reader would not see is spelled out.

A label is only read, so what cannot be seen goes. What is about to run must be seen whole: dropping the escape
sequence in `echo ␛]0; ; rm -rf ~ ␇` would hide the second command, just as a terminal would.
"""

from __future__ import annotations

import re

from pi_intent.characters import UNSEEN, pair_surrogates
from pi_intent.labels.printable import printable

_MOVES = re.compile(r"[^\S \t]")
"""White space other than a space and a tab: line ends, and what only looks like a space."""
_LONGEST_SPELLING = len("\\U000e0001")


def _spelled(found: re.Match[str]) -> str:
    return found.group().encode("unicode_escape").decode("ascii")


def literal_lines(text: str, *, width: int = 120, max_lines: int = 12) -> list[str]:
    """Return a text as lines of at most `width` columns, at least one; a longer line is folded, not cut.

    Blank lines go; a last line says that there was more than `max_lines`.
    """
    shown: list[str] = []
    most = width * (max_lines + 1)
    for line in text[: _LONGEST_SPELLING * most].splitlines():
        if line.strip():
            shown += [printable(piece, width=width) for piece in _folded(_spelled_out(line[:most]), width)]
        if len(shown) > max_lines:
            return [*shown[:max_lines], "… and more"]
    return shown or [""]


def literal_pieces(line: str, *, width: int) -> list[str]:
    """Return one line as pieces of at most `width` columns, at least one; the white space at its beginning stays."""
    text = line.expandtabs(4)
    rest = text.lstrip(" ")
    indent = min(len(text) - len(rest), width // 2)
    pieces = [printable(piece, width=width - indent) for piece in _folded(_spelled_out(rest), width - indent)]
    return [" " * indent + piece for piece in pieces] or [""]


def spelled_out(text: str) -> str:
    """Return a text of one line as it is, to the space: what would not be seen, or moves the cursor, is spelt out.

    Tabs stay: they are seen where the lines of a file are shown as they are.
    """
    return _MOVES.sub(_spelled, _spelled_out(text))


def _folded(text: str, width: int) -> list[str]:
    if text.isascii():
        return [text[at : at + width] for at in range(0, len(text), width)]
    from rich.cells import chop_cells  # only for text that a terminal measures

    return chop_cells(text, width)


def literal(text: str, *, width: int = 120) -> str:
    """Return a text as one line of at most `width` columns, its line breaks shown as `⏎`."""
    lines = [line.strip() for line in text[: 4 * width].splitlines() if line.strip()]
    return _one_line(" ⏎ ".join(lines) if lines else text, width)


def _one_line(line: str, width: int) -> str:
    # Enough that the cut falls into the text and its ellipsis shows.
    return printable(_spelled_out(line[: _LONGEST_SPELLING * width]), width=width)


def _spelled_out(text: str) -> str:
    return re.sub(f"[{UNSEEN}]", _spelled, pair_surrogates(text))
