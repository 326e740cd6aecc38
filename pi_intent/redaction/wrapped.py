"""Follow a secret to the next lines: a value below its name, and the rest of one that was wrapped."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pi_intent.redaction.looks import is_random, mixes_cases
from pi_intent.redaction.spans import ANY_LEADER, Span, match_end

_MOST_LINES = 4
_LINE_BREAK = re.compile(rf"(?:[ \t]{{0,20}}+\|[ \t]{{0,20}}+)?\r?\n[ \t]{{0,80}}+(?:{ANY_LEADER})?")
_PIECE = re.compile(r"[^\s\"'`;|<>&(){}\[\],:=\\]{4,128}+={0,2}(?=[\s\"'`;]|\Z)")
_ALONE = re.compile(r"[ \t\"'`,;)\]}*/|]*+\\?(?:[\r\n]|\Z)")
_BLANK = re.compile(r"[ \t]*+(?:[\r\n]|\Z)")
_URL = re.compile(r"://[^\s/:@\"'<>\\]{0,256}+:(?P<value>[^\s/@\"'<>\\]{0,128}+)(?=\r?\n)")
_URL_PIECE = re.compile(r"[^\s/@:\"'<>\\]{1,128}+")
_RUN = re.compile(r"[A-Za-z0-9]{6,}")
# A capital before small letters is the beginning of a word, and no change.
_CHANGE = re.compile(r"[a-z](?=[A-Z0-9])|[0-9](?=[A-Za-z])|[A-Z](?=[0-9])")
_HYPHENS = re.compile("-+")
_BEFORE_NAME = re.compile(rf"(?P<leader>[ \t]*+(?:{ANY_LEADER})?)(?:-[ ])?[\"']?")


def _is_drawn(piece: str, *, alone: bool) -> bool:
    """Tell whether a piece looks drawn, and like no name, command or commit: what follows a secret often is one."""
    return any(
        re.search(r"\d", run) and (len(run) >= 20 or len(_CHANGE.findall(run)) >= 3) and (alone or mixes_cases(run))
        for run in _RUN.findall(piece)
    )


def rest_of(text: str, end: int) -> tuple[str, int]:
    """What of the next lines reads like the rest of a value that ends at `end`, and where that ends."""
    rest = ""
    for _ in range(_MOST_LINES):
        gap = _LINE_BREAK.match(text, end)
        piece = gap and _PIECE.match(text, gap.end())
        if not piece or not _is_drawn(piece.group(), alone=_ALONE.match(text, piece.end()) is not None):
            break
        rest += piece.group()
        end = piece.end()
    return rest, end


def wrapped_urls(text: str) -> Iterator[Span]:
    """The passwords of URLs that a line ends in. The port of one and an address below it are none."""
    for match in _URL.finditer(text):
        value, end = match["value"], match.end()
        for _ in range(_MOST_LINES):
            gap = _LINE_BREAK.match(text, end)
            piece = gap and _URL_PIECE.match(text, gap.end())
            if not piece:
                break
            value += piece.group()
            end = piece.end()
            if text[end : end + 1] == "@":
                if not match["value"].isdigit() and is_random(value):
                    yield Span(match.start("value"), end, "secret", value)
                break


def stands_below(text: str, name_start: int, start: int, end: int, leader: str | None) -> bool:
    """Tell whether a value alone on its line belongs to the name above: that begins its line, and is less indented.

    In a comment or a quotation both lines have to begin alike.
    """
    line, name_start = text.rfind("\n", 0, name_start) + 1, match_end(_HYPHENS, text, name_start)
    before = _BEFORE_NAME.fullmatch(text, line, name_start)
    column = start - text.rfind("\n", 0, start) - 1
    alone = _BLANK.match(text, end)
    return bool(before and alone and leads_alike(text, name_start, leader)) and column > name_start - line


def leads_alike(text: str, name_start: int, leader: str | None) -> bool:
    """Tell whether the line of a name begins with the same leader as the next line, or neither with one."""
    before = _BEFORE_NAME.match(text, text.rfind("\n", 0, name_start) + 1, match_end(_HYPHENS, text, name_start))
    return (leader or "").strip() == (before["leader"].strip() if before else "")
