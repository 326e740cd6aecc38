"""Text of a model made safe for a line of a screen, and escaped for what draws it.

The steps: surrogates are paired, escape sequences go, invisible characters go, runs of white space become one space,
and what is left is read cluster by cluster (what a reader calls one character), which decides on marks, joiners,
selectors and tags and is where the text is cut.

Only the beginning of a long text is read, a bounded number of characters from its first visible one on; when there is
more, the ellipsis says so.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator

from pi_intent.characters import SEQUENCE, UNSEEN, first_visible, pair_surrogates

ELLIPSIS = "…"
UNCUT = 16_384
"""Columns: more than the ledger keeps, or a channel sends, of any text."""
MARKS_PER_CLUSTER = 8
"""Marks kept on one character: real writing needs about four, text that climbs over its neighbours needs dozens."""

_JOINERS = "\u200c\u200d"
# Invisible alone, but part of a word or an emoji in their place: joiners, the two emoji selectors, the tags that
# spell a flag's region and the one that ends it.
_CONDITIONAL = f"{_JOINERS}\ufe0e\ufe0f\U000e0030-\U000e0039\U000e0061-\U000e007a\U000e007f"
# Expressions are compiled, and kept by `re`, at their first use: hosts load this module while a person waits.
_DROPPED = rf"[{UNSEEN}](?<![{_CONDITIONAL}])"
_STARTS_SEQUENCE = "[\x1b\x80-\x9f]"
_LINE_BREAK = "\r\n|[\n-\r\x85\u2028\u2029]"

# Kinds of characters by their code points; any other is l(etter), M(ark) or o(ther). Capitals only ever follow some
# other character. The p(ictographs) come in whole blocks, coarser than Unicode's list, which Python does not have: a
# selector or joiner left on a symbol next to them does no harm.
_RANGES: tuple[tuple[str, tuple[tuple[int, int], ...]], ...] = (
    ("k", ((0x23, 0x23), (0x2A, 0x2A), (0x30, 0x39))),  # what a keycap can hold
    ("K", ((0x20E3, 0x20E3),)),  # the keycap around it
    ("f", ((0x1F3F4, 0x1F3F4),)),  # the black flag, which tags turn into a region's
    ("T", ((0xE0030, 0xE0039), (0xE0061, 0xE007A))),  # the tags that spell the region
    ("E", ((0xE007F, 0xE007F),)),  # the tag that ends it
    ("r", ((0x1F1E6, 0x1F1FF),)),  # regional indicators, two of which are a flag
    ("t", ((0x1F3FB, 0x1F3FF),)),  # skin tones
    ("V", ((0xFE0E, 0xFE0F),)),  # selectors of text or emoji style
    ("N", ((0x200C, 0x200C),)),  # zero-width non-joiner
    ("Z", ((0x200D, 0x200D),)),  # zero-width joiner
    ("a", ((0x1100, 0x115E), (0xA960, 0xA97C))),  # Hangul letters drawn as one syllable: initials,
    ("u", ((0x1161, 0x11A7), (0xD7B0, 0xD7C6))),  # vowels
    ("w", ((0x11A8, 0x11FF), (0xD7CB, 0xD7FB))),  # and finals
    ("p", ((0xA9, 0xA9), (0xAE, 0xAE), (0x203C, 0x203C), (0x2049, 0x2049), (0x2122, 0x2122), (0x2139, 0x2139))),
    ("p", ((0x2190, 0x21FF), (0x2300, 0x23FF), (0x2460, 0x24FF), (0x25A0, 0x27BF), (0x2900, 0x297F))),
    ("p", ((0x2B00, 0x2BFF), (0x3030, 0x3030), (0x303D, 0x303D), (0x3297, 0x3297), (0x3299, 0x3299))),
    ("p", ((0x1F000, 0x1F1E5), (0x1F200, 0x1F3F3), (0x1F3F5, 0x1F3FA), (0x1F400, 0x1FAFF))),
)
_BY_START = sorted((first, last, kind) for kind, ranges in _RANGES for first, last in ranges)
_STARTS = [first for first, _, _ in _BY_START]


class _KindTable(dict[int, str]):
    """The kind of each character, worked out when it is first met.

    `str.translate` with it turns a text into its kinds, position by position, for the expressions below.
    """

    _KEPT = 4096  # a text with every character there is must not fill the memory

    def __missing__(self, code: int) -> str:
        first, last, kind = _BY_START[bisect_right(_STARTS, code) - 1]
        if not first <= code <= last:
            kind = {"L": "l", "M": "M"}.get(unicodedata.category(chr(code))[0], "o")
        if len(self) < self._KEPT:
            self[code] = kind
        return kind


_KINDS = _KindTable()
# An emoji joins at most five pictographs, as many as any in use: a terminal that cannot join them draws them all.
_EMOJI = "fT{3,6}E|kV?K|[fp]t?V?(?:Z[fp]t?V?){0,4}|rr"
_BEYOND_ONE_CHARACTER = "[MKZNVTEtruw]"
_CLUSTER = rf"(?P<base>{_EMOJI}|[al]u{{0,2}}w{{0,2}}|[^MKZNVTE]?)(?P<tail>[MKZNVTE]*)"


def printable(text: str, *, width: int = 120) -> str:
    """Return the text made safe for one line of at most `width` terminal columns; '' when nobody could see it.

    Never raises, and does not change what it returned before. Markup is literal: escape it for the target.
    """
    start = first_visible(text)
    if width < 1 or start is None:
        return ""
    # More than what fits, to leave room for sequences and marks among the visible characters.
    end = start + 16 * width + 1024
    window = text[start:end].rstrip()
    more = len(text) > end and bool(text[end:].strip())
    if window.isascii() and window.isprintable():
        line = " ".join(window.split())
        return line if len(line) <= width and not more else line[: width - 1] + ELLIPSIS
    if re.search(_STARTS_SEQUENCE, window):
        window = re.sub(SEQUENCE, "", window)
    line = " ".join(re.sub(_DROPPED, "", pair_surrogates(window)).split())
    kinds = line.translate(_KINDS)
    if re.search(_BEYOND_ONE_CHARACTER, kinds):
        return _fit(_clusters(line, kinds), width, more)
    if 2 * len(line) <= width and not more:  # no character is wider
        return line
    return _fit(iter(line), width, more)


def _clusters(line: str, kinds: str) -> Iterator[str]:
    """Yield what a reader calls one character, without the marks, joiners, selectors and tags that have no place."""
    for found in re.finditer(_CLUSTER, kinds):
        start, tail, end = found.start(), found.start("tail"), found.end()
        base = line[start:tail]
        if start == tail or base == " ":
            yield base  # nothing carries what follows
            continue
        marks = "".join(line[at] for at in range(tail, end) if kinds[at] in "MK")[:MARKS_PER_CLUSTER]
        # A joiner between letters is part of the word, as in Persian and the Indic scripts.
        joins = kinds[end - 1] in "ZN" and kinds[start] in "lauw" and kinds[end : end + 1] in ("l", "a", "u", "w")
        yield base + marks + (line[end - 1] if joins else "")


def _fit(clusters: Iterator[str], width: int, more: bool) -> str:
    """Return the clusters as one line, cut with an ellipsis when they need more than `width` columns."""
    from rich.cells import cell_len  # loaded only where there is something to measure

    kept: list[tuple[str, int]] = []
    columns = 0
    for cluster in clusters:
        if not cluster or (cluster == " " and (not kept or kept[-1][0] == " ")):
            continue
        # Rich gives a skin tone or a vowel that stands alone no column; terminals give it up to two.
        kept.append((cluster, cell_len(cluster) or 2))
        columns += kept[-1][1]
        if columns > width:
            more = True
            break
    if not more or not kept:
        return "".join(cluster for cluster, _ in kept).rstrip()
    while columns >= width:
        columns -= kept.pop()[1]
    return "".join(cluster for cluster, _ in kept).rstrip(_JOINERS) + ELLIPSIS


def printable_block(text: str, *, width: int, max_lines: int) -> list[str]:
    """Return at most `max_lines` safe lines; when there are more, the last line is '… N more lines'.

    Every line is read by itself, so that an escape sequence without an end cannot hide the lines below it.
    """
    text = text.strip()
    if max_lines < 1 or not text:
        return []
    total = 1 + sum(map(text.count, "\n\v\f\r\x85\u2028\u2029")) - text.count("\r\n")
    shown = max_lines if total <= max_lines else max_lines - 1
    lines = [printable(line, width=width) for line in re.split(_LINE_BREAK, text, maxsplit=shown)[:shown]]
    if total > shown:
        lines.append(printable(f"{ELLIPSIS} {total - shown} more lines", width=width))
    return lines if any(lines) else []


_HTML = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;"})


def escape_html(text: str) -> str:
    """Return the text for HTML, as content or inside a quoted attribute."""
    return text.translate(_HTML)


# Only what can mean something, for a source that people can read too. The colon and the dot are for GitHub's emoji
# codes and for addresses that would become links by themselves, with the backslashes of other escapes in them.
_MARKDOWN_ANYWHERE = r"(?i)[\\`*_\[\]<>&~|$]|:(?=[\w+/-])|(?<=www)\."
_MARKDOWN_AT_START = r"[#+=-]|\d+[.)]"


def escape_markdown(text: str) -> str:
    """Return one printable line for Markdown, in the place of a paragraph or inside one."""
    escaped = re.sub(_MARKDOWN_ANYWHERE, r"\\\g<0>", text)
    opening = re.match(_MARKDOWN_AT_START, escaped)
    return escaped if opening is None else f"{escaped[: opening.end() - 1]}\\{escaped[opening.end() - 1 :]}"


# A tag that styles nothing: it ends a piece of text without leaving a trace.
_RICH_BREAK = "[none][/none]"
_RICH_SPECIAL = r"(?P<slashes>\\++)(?P<end>\[|\Z)|\[|:(?=[^\s:]*:)"


def escape_rich(text: str) -> str:
    """Return one printable line for Rich markup, also between tags.

    Covers what `rich.markup.escape` leaves open: a backslash before any bracket or at the end, and emoji codes like
    `:bug:`. Textual's markup reads the same text, except that nothing there can carry a backslash at the end: give
    Textual a `Content`, or a widget with `markup=False`.
    """
    return re.sub(_RICH_SPECIAL, _escape_rich_match, text)


def _escape_rich_match(found: re.Match[str]) -> str:
    special, slashes = found[0], found["slashes"]
    if slashes is None:
        return special + _RICH_BREAK if special == ":" else "\\["
    if found["end"]:
        # Before a tag Rich halves backslashes, before any other bracket it does not: this is never a tag.
        return f"{slashes}\\[{_RICH_BREAK}"
    return slashes + slashes + _RICH_BREAK
