"""A path or a command as it really is: what a terminal or a reader would not see is spelled out.

A label is only read, so what cannot be seen goes. What is about to run must be seen whole: dropping the escape
sequence in `echo ␛]0; ; rm -rf ~ ␇` would hide the second command, just as a terminal would. It is spelled
`⟨ESC⟩`, as no command is written: `\\x1b` are four characters of one. Made safe again, a safe text stays as it is.
"""

from __future__ import annotations

import re
import unicodedata

from pi_intent.characters import UNSEEN, pair_surrogates
from pi_intent.labels.printable import ELLIPSIS, MARKS_PER_CLUSTER

_MOVES = re.compile(r"[^\S \t]")
"""White space other than a space and a tab: line ends, and what only looks like a space."""
_BLANK = " \t\n"
_NAMES = {"\0": "NUL", "\a": "BEL", "\t": "TAB", "\n": "LF", "\r": "CR", "\x1b": "ESC", " ": "SPACE", "\x7f": "DEL"}
_LONGEST_SPELLING = len("⟨U+E0001⟩")
_MOST_PER_COLUMN = 2 * (1 + MARKS_PER_CLUSTER)
"""Characters that may take no more than a column: half of a surrogate pair each, and the marks on one."""


_ODD = re.compile(f"[{UNSEEN}\ud800-\udfff]|[^\\S ]")
"""What `whole_pieces` never shows as it is: a tab, too, but at the beginning of a line."""


def _spelled(found: re.Match[str]) -> str:
    return spelled(found.group())


def literal_lines(text: str, *, width: int = 120, max_lines: int = 12) -> list[str]:
    """Return a text as lines of at most `width` columns, at least one; a longer line is folded, not cut.

    All of a line can be seen, as in `whole_pieces`. Blank lines at the beginning and the end go; a last line says
    that there was more than `max_lines`.
    """
    shown: list[str] = []
    most = width * (max_lines + 1) * _MOST_PER_COLUMN
    for line in _lines(text, _LONGEST_SPELLING * most):
        shown += whole_pieces(line[:most], width=width)
        if len(shown) > max_lines:
            return [*shown[:max_lines], "… and more"]
    return shown


def _lines(text: str, most: int) -> list[str]:
    """Return the lines of `most` characters, at least one, without blank ones at the beginning and the end."""
    if not text.strip(_BLANK):
        return [text.replace("\n", "")]
    start = text.rfind("\n", 0, len(text) - len(text.lstrip(_BLANK))) + 1
    stop = text.find("\n", len(text.rstrip(_BLANK)))
    return text[start : min(start + most, len(text) if stop < 0 else stop)].split("\n")


def whole_pieces(line: str, *, width: int) -> list[str]:
    """Return one line as pieces of at most `width` columns, at least one, in which all of it can be seen.

    Nothing goes: what would not be seen, moves the cursor, piles up on another character or ends the line with
    nothing is spelled out, and so is half a surrogate pair. Tabs at the beginning are four columns each. No piece
    ends with a space unless it is nothing else.
    """
    return _folded_whole(_whole(line), width) or [""]


def _whole(line: str) -> str:
    text = line.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")  # pairs become characters
    rest = text.lstrip("\t ")
    if rest:
        text = text[: len(text) - len(rest)].replace("\t", "    ") + rest
    if not (text.isascii() and text.isprintable()):
        text = _with_marks_bounded(_ODD.sub(_spelled, text))
    return text[:-1] + spelled(" ") if text.endswith(" ") else text


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
    """Fold a line at its columns, and before the spaces that stand there: at the end of a piece nobody sees them."""
    pieces: list[str] = []
    start = 0
    while start < len(text):
        stop = _fitting(text, start, width)
        piece = text[start:stop]
        pieces.append(piece if stop == len(text) else piece.rstrip(" ") or piece)
        start += len(pieces[-1])
    return pieces


def _fitting(text: str, start: int, width: int) -> int:
    """Return where the longest piece from `start` on ends that has at most `width` columns, or one character."""
    if text.isascii():
        return min(start + width, len(text))
    from rich.cells import cell_len

    columns = 0
    for at in range(start, len(text)):
        columns += 1 if text[at].isascii() else cell_len(text[at])
        if columns > width and at > start:
            return at
    return len(text)


def at_words(text: str, width: int, *, trimmed: bool = False) -> list[str]:
    """Part a safe line between words where that goes; the pieces put together are the line again.

    One space at the end of a piece is that between two words; more than one stand on the next piece, where they show.
    It may stand beyond the width where pieces are going to be `trimmed`.
    """
    from rich.cells import cell_len, chop_cells

    pieces = [""]
    for word in re.findall(r"(?: {2,})?[^ ]+(?: (?! ))?| +", text):
        if cell_len(pieces[-1]) + (wide := cell_len(word.rstrip(" ") if trimmed else word)) <= width:
            pieces[-1] += word
        elif wide <= width:
            pieces.append(word)
        else:
            pieces += chop_cells(word, width)
    return [piece for piece in pieces if piece]


def _has_no_width(character: str) -> bool:
    if unicodedata.category(character)[0] == "M":
        return True
    from rich.cells import cell_len  # only for text that a terminal measures

    return cell_len(character) == 0


def spelled(character: str) -> str:
    """Return the name of a character, or its number, in brackets that hardly any text has: `⟨ESC⟩`, `⟨U+200B⟩`."""
    return f"⟨{_NAMES.get(character) or f'U+{ord(character):04X}'}⟩"


def _escape(found: re.Match[str]) -> str:
    return found.group().encode("unicode_escape").decode("ascii")


def spelled_out(text: str) -> str:
    """Return a text of one line as it is, to the space: what would not be seen, or moves the cursor, is escaped.

    Tabs stay: they are seen where the lines of a file are shown as they are.
    """
    return _MOVES.sub(_escape, re.sub(f"[{UNSEEN}]", _escape, pair_surrogates(text)))


def literal(text: str, *, width: int = 120) -> str:
    """Return a text as one line of at most `width` columns, its line ends shown as `⏎`; all of each line can be seen.

    Blank lines at the beginning and the end go.
    """
    lines = [_whole(line) for line in _lines(text, _MOST_PER_COLUMN * width + 1)]
    return _cut(" ⏎ ".join(lines), width)


def whole_line(text: str, *, width: int) -> str:
    """Return a text as one line of at most `width` columns in which all of it can be seen, line ends spelled out."""
    return _cut(_whole(text[: _MOST_PER_COLUMN * width + 1]), width)


def _cut(line: str, width: int) -> str:
    stop = _fitting(line, 0, width)
    if stop == len(line):
        return line
    fitting = _folded_whole(line[:stop], width - 1) if width > 2 else [""]
    return fitting[0].rstrip(" ") + ELLIPSIS
