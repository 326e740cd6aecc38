"""A path or a command as it really is: what a terminal or a reader would not see is spelled out.

A label is only read, so what cannot be seen goes. What is about to run must be seen whole: dropping the escape
sequence in `echo ␛]0; ; rm -rf ~ ␇` would hide the second command, just as a terminal would.
"""

from __future__ import annotations

import re
import unicodedata

from pi_intent.characters import UNSEEN, pair_surrogates
from pi_intent.labels.printable import MARKS_PER_CLUSTER, printable

_MOVES = re.compile(r"[^\S \t]")
"""White space other than a space and a tab: line ends, and what only looks like a space."""
_LONGEST_SPELLING = len("\\U000e0001")


_ODD = re.compile(f"[{UNSEEN}\ud800-\udfff]|[^\\S ]")
"""What `whole_pieces` never shows as it is: a tab, too, but at the beginning of a line."""


def _spelled(found: re.Match[str]) -> str:
    return spelled(found.group())


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


def whole_pieces(line: str, *, width: int) -> list[str]:
    """Return one line as pieces of at most `width` columns, at least one, in which all of it can be seen.

    Nothing goes: what would not be seen, moves the cursor, piles up on another character or ends the line with
    nothing is spelled out, and so is half a surrogate pair. Tabs at the beginning are four columns each.
    """
    text = line.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")  # pairs become characters
    rest = text.lstrip("\t ")
    if rest:
        text = text[: len(text) - len(rest)].replace("\t", "    ") + rest
    if not (text.isascii() and text.isprintable()):
        text = _with_marks_bounded(_ODD.sub(_spelled, text))
    if text.endswith(" "):
        text = text[:-1] + "\\x20"
    return _folded_whole(text, width) or [""]


def _with_marks_bounded(text: str) -> str:
    """Spell out what has no width of its own and stands on nothing, or on a pile."""
    kept: list[str] = []
    pile = MARKS_PER_CLUSTER  # a line begins with nothing that could carry one
    for character in text:
        if not character.isascii() and _has_no_width(character):
            pile += 1
            kept.append(character if pile <= MARKS_PER_CLUSTER else spelled(character))
        else:
            pile = 0 if character != " " else MARKS_PER_CLUSTER
            kept.append(character)
    return "".join(kept)


def _folded_whole(text: str, width: int) -> list[str]:
    if text.isascii():
        return [text[at : at + width] for at in range(0, len(text), width)]
    from rich.cells import cell_len

    pieces: list[str] = []
    start = columns = 0
    for at, character in enumerate(text):
        wide = 1 if character.isascii() else cell_len(character)
        if columns + wide > width:
            pieces.append(text[start:at])
            start, columns = at, 0
        columns += wide
    return [*pieces, text[start:]]


def _has_no_width(character: str) -> bool:
    if unicodedata.category(character)[0] == "M":
        return True
    from rich.cells import cell_len  # only for text that a terminal measures

    return cell_len(character) == 0


def spelled(character: str) -> str:
    """Return a character as its escape."""
    return character.encode("unicode_escape").decode("ascii")


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
