"""What holds for every text, however hostile, that is made safe for a screen."""

from __future__ import annotations

import html
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from rich.cells import cell_len
from rich.text import Text

from pi_intent.characters import UNSEEN_RANGES, has_visible
from pi_intent.labels.printable import escape_html, escape_markdown, escape_rich, printable, printable_block

# Pieces that mean something together, so that random texts hit upon sequences, clusters and markup.
SEQUENCES = ["\x1b[31m", "\x1b]0;", "\x1b\\", "\x1bP"]
MARKUP = ["[b]", "[/b]", "[/]", ":bug:", "http://x.y", "1.", "&lt;"]
TAGS = ["\U000e0067", "\U000e0062", "\U000e007f", "\U000e0067\U000e0062\U000e0065", "\udb40\udc67", "\udb40"]
INVISIBLE = (
    "\x1b\x9b\x9d\x90\x9c\x07\x18\u200c\u200d\ufe0e\ufe0f\u20e3\u0301\u094d \n\r\t\u2028\u3000\u00ad\u2800\u3164"
)
VISIBLE = "\u0915\u1100\u1161\u11a8\ud83d\udc69👩🏴🏽❤☁1#[]\\/:*_`<>&-+.)(!=~|$@éم検\U0001f1e9\ufffda…"
PIECES = st.sampled_from([*SEQUENCES, *MARKUP, *TAGS, *INVISIBLE, *VISIBLE])
ANY_CHARACTER = st.characters(codec=None) | st.integers(0, 0x10FFFF).map(chr)
TEXTS = st.lists(PIECES | ANY_CHARACTER, max_size=40).map("".join)
LINES = TEXTS.map(lambda text: printable(text, width=1000))
WIDTHS = st.integers(1, 30) | st.just(120)

PLACED = set("\u200c\u200d\ufe0e\ufe0f\U000e007f") | set(map(chr, range(0xE0030, 0xE007B)))
UNSEEN = {chr(code) for first, last in UNSEEN_RANGES for code in range(first, last + 1)}


@given(TEXTS, WIDTHS)
def test_only_joiners_selectors_and_tags_remain_of_what_cannot_be_seen(text: str, width: int) -> None:
    shown = printable(text, width=width)
    assert {character for character in shown if character in UNSEEN} <= PLACED
    assert {unicodedata.category(character) for character in set(shown) - PLACED} & {
        "Cc",
        "Cf",
        "Cs",
        "Zl",
        "Zp",
    } == set()
    assert shown == " ".join(shown.split())


@given(TEXTS, WIDTHS)
def test_a_placed_character_has_a_visible_neighbour_before_it(text: str, width: int) -> None:
    shown = printable(text, width=width)
    for before, character in zip(" " + shown, shown, strict=False):
        if character in "\u200c\u200d\ufe0e\ufe0f" or unicodedata.category(character).startswith("M"):
            assert before != " "
    assert not shown.endswith(("\u200c", "\u200d"))


@given(TEXTS, WIDTHS)
def test_printing_again_changes_nothing(text: str, width: int) -> None:
    shown = printable(text, width=width)
    assert printable(shown, width=width) == shown


@given(TEXTS, WIDTHS)
def test_the_width_is_never_exceeded(text: str, width: int) -> None:
    assert cell_len(printable(text, width=width)) <= width


@given(TEXTS, WIDTHS)
def test_a_cut_text_begins_like_the_whole_one(text: str, width: int) -> None:
    whole, shown = printable(text, width=1000), printable(text, width=width)
    assert shown == whole or (shown.endswith("…") and whole.startswith(shown[:-1]))


@given(TEXTS, WIDTHS)
def test_what_has_a_visible_character_shows_something(text: str, width: int) -> None:
    assert has_visible(text) == bool(printable(text, width=width))


@given(TEXTS, WIDTHS, st.integers(1, 6))
def test_a_block_has_as_many_safe_lines_as_it_may(text: str, width: int, max_lines: int) -> None:
    lines = printable_block(text, width=width, max_lines=max_lines)
    assert len(lines) <= max_lines
    assert [printable(line, width=width) for line in lines] == lines
    whole = printable_block(text, width=width, max_lines=1000)
    if len(whole) > max_lines:
        more = printable(f"… {len(whole) - max_lines + 1} more lines", width=width)
        assert lines == [*whole[: max_lines - 1], more]
    elif whole:
        assert lines == whole


@given(LINES)
def test_rich_draws_the_text_itself(line: str) -> None:
    assert Text.from_markup(escape_rich(line)).plain == line
    assert Text.from_markup(f"[b]{escape_rich(line)}[/b]").plain == line


@given(LINES)
def test_textual_draws_the_text_itself_but_for_a_backslash_at_the_end(line: str) -> None:
    content = pytest.importorskip("textual.content")
    if not line.endswith("\\"):
        assert content.Content.from_markup(escape_rich(line)).plain == line


@given(LINES)
def test_html_reads_back_as_the_text_itself(line: str) -> None:
    escaped = escape_html(line)
    assert html.unescape(escaped) == line
    assert not set(escaped) & set("<>\"'")


@given(LINES, st.sampled_from(["commonmark", "js-default"]))
def test_markdown_draws_one_paragraph_with_the_text_itself(line: str, flavour: str) -> None:
    tokens = MarkdownIt(flavour).parse(escape_markdown(line))
    if not line:
        assert tokens == []
        return
    assert [token.type for token in tokens] == ["paragraph_open", "inline", "paragraph_close"]
    assert {child.type for child in tokens[1].children or []} <= {"text"}
    assert "".join(child.content for child in tokens[1].children or []) == line
