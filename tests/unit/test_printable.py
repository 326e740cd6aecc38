"""What a screen shows of a model's text, and what the text still is after it was escaped and drawn."""

from __future__ import annotations

import html
import json
import re
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from rich.cells import cell_len
from rich.text import Text

from pi_intent.characters import UNSEEN_RANGES, has_visible
from pi_intent.labels.printable import (
    MARKS_PER_CLUSTER,
    escape_html,
    escape_markdown,
    escape_rich,
    printable,
    printable_block,
)

CASES = json.loads((Path(__file__).parent.parent / "cases" / "printable_text.json").read_text(encoding="utf-8"))
FAMILY = "👨\u200d👩\u200d👧"
ENGLAND = "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"
KEYCAP = "1\ufe0f\u20e3"
GERMANY = "\U0001f1e9\U0001f1ea"
MILLION = 1_000_000


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_a_known_case_prints_as_written_down_and_prints_the_same_again(case: dict[str, str | int]) -> None:
    width = case.get("width", 120)
    shown = printable(case["raw"], width=width)
    assert shown == case["printable"]
    assert printable(shown, width=width) == shown
    assert has_visible(case["raw"]) == bool(shown)


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("a\x1bPq;body\x07more\x1b\\b", "ab"),  # BEL ends an OSC only
        ("a\x1b]2;title\x18b", "ab"),  # CAN ends every string
        ("a\x1b]2;x\x1b[31mstill the title\x1b\\b", "ab"),
        ("a\x1b]2;x\x1b", "a"),
        ("a\x1b]2;first\nsecond", "a"),
        ("a\x9d2;title\x9cb", "ab"),
        ("a\x90body\x1b\\b\x9fbody\x9cc\x98body\x9cd\x9ebody", "abcd"),
        ("a\x1bktitle\x1b\\b", "ab"),  # the title string of screen and tmux
        ("a\x1b[3\x001mb", "ab"),  # terminals act on a control inside a CSI, then go on with it
        ("a\x1b[31", "a"),
        ("a\x1b(Bb\x1b#8c\x1b Fd", "abcd"),
        ("a\x1b\x1b[1mb", "ab"),
        ("a\x1b[1é", "aé"),
        ("\x1b\u200b[31mx", "[31mx"),  # no sequence for any terminal
    ],
)
def test_an_escape_sequence_goes_with_its_body(raw: str, shown: str) -> None:
    assert printable(raw) == shown


@pytest.mark.parametrize("cut", range(len("Check \x1b]0;pwned\x1b\\ and \x1b[38;5;1mgo")))
def test_a_streamed_text_never_shows_a_part_of_a_sequence(cut: int) -> None:
    raw = "Check \x1b]0;pwned\x1b\\ and \x1b[38;5;1mgo"
    assert "Check and go".startswith(printable(raw[:cut]))


@pytest.mark.parametrize(
    "emoji", [FAMILY, ENGLAND, KEYCAP, GERMANY, "👍🏽", "☁\ufe0f", "❤\ufe0f\u200d🔥", "🏳\ufe0f\u200d🌈", "©\ufe0e"]
)
def test_an_emoji_sequence_is_kept_whole_or_cut_whole(emoji: str) -> None:
    assert printable(f"a{emoji}b") == f"a{emoji}b"
    for width in range(1, 1 + cell_len(emoji)):
        assert printable(f"{emoji}bcd", width=width) == "…"
    assert printable(f"{emoji}bcd", width=1 + cell_len(emoji)) == f"{emoji}…"


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("a\u200d", "a"),
        ("a\u200d b", "a b"),
        ("1\u200d2", "12"),
        ("a\u200d\u200c\u200db", "a\u200db"),  # one says it all
        ("x\ufe0fy", "xy"),
        ("1\ufe0f", "1"),
        ("👩\u200d", "👩"),
        ("👩\u200dx", "👩x"),
        ("👩\ufe0f\ufe0f", "👩\ufe0f"),
        ("👩\U000e0067\U000e0062\U000e007f", "👩"),
        ("\U0001f3f4\U000e0067\U000e0062\U000e0065", "🏴"),
        ("\U0001f3f4" + "\U000e0067" * 7 + "\U000e007f", "🏴"),
        ("\u0915\u094d\u200d\u0937", "\u0915\u094d\u200d\u0937"),  # after a mark on a letter
        ("a \u0301 b", "a b"),
        ("\u0301a", "a"),
        ("\u1112\u1161\u11ab", "\u1112\u1161\u11ab"),
        ("a\ud83d\udc69b", "a👩b"),
        ("\udc69\ud83d", "\ufffd\ufffd"),
        ("ok\udb40\udc68", "ok"),
        ("a\u2800b\uffa0\u115f\u1160c", "abc"),
        ("a\u00a0\u3000b\u2003", "a b"),
    ],
)
def test_what_is_invisible_alone_stays_only_where_it_has_a_place(raw: str, shown: str) -> None:
    assert printable(raw) == shown


def test_marks_on_one_character_are_bounded() -> None:
    assert printable("a" + "\u0301" * 50 + "b") == "a" + "\u0301" * MARKS_PER_CLUSTER + "b"


def test_a_chain_of_joined_emoji_is_bounded_because_terminals_may_draw_each() -> None:
    five = "\u200d".join(["👩"] * 5)
    assert printable("\u200d".join(["👩"] * 10)) == five + five


def test_joined_letters_are_measured_as_they_are_drawn() -> None:
    # Rich counts a letter after a joiner as part of the one before it.
    assert printable("\u200d".join("abcdef"), width=4) == "a\u200db\u200dc…"


def test_a_joiner_is_not_left_over_at_the_cut() -> None:
    assert printable("می\u200cخواهم", width=3) == "می…"


@pytest.mark.parametrize("width", [0, -1])
def test_no_room_shows_nothing(width: int) -> None:
    assert printable("abc", width=width) == ""


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("x" * MILLION, "x" * 119 + "…"),
        ("a" + "\u200b" * MILLION + "b", "a…"),
        ("a" + " " * MILLION, "a"),
        ("a\x1b]0;" + "x" * MILLION + "\x07b", "a…"),
        ("\x1b[31m" * 800 + "text", "text"),
        ("\x1b[31m" * MILLION + "text", ""),
        ("\u0301" * MILLION, ""),
        ("\x1b[38;2;255;255;255mx" * 200, "x" * 119 + "…"),
    ],
    ids=["visible", "invisible", "spaces", "title", "some sequences", "sequences", "marks", "coloured letters"],
)
def test_a_long_text_is_read_only_at_its_beginning_and_says_so(raw: str, shown: str) -> None:
    assert printable(raw) == shown
    assert has_visible(raw) == bool(shown)


def test_a_block_keeps_its_line_breaks() -> None:
    raw = "\n set -e\r\nmake\t test\v\u2028\x1b[1mdone\x1b[0m\n"
    assert printable_block(raw, width=40, max_lines=9) == ["set -e", "make test", "", "done"]


def test_a_block_that_is_cut_says_how_many_lines_more() -> None:
    raw = "one\ntwo\r\nthree\rfour\n"
    assert printable_block(raw, width=40, max_lines=4) == ["one", "two", "three", "four"]
    assert printable_block(raw, width=40, max_lines=3) == ["one", "two", "… 2 more lines"]
    assert printable_block(raw, width=40, max_lines=1) == ["… 4 more lines"]
    assert printable_block(raw, width=6, max_lines=2) == ["one", "… 3 m…"]
    assert printable_block(raw, width=40, max_lines=0) == []


def test_a_sequence_without_an_end_cannot_hide_the_lines_below_it() -> None:
    assert printable_block("echo \x1b]0;x\nrm -rf build", width=40, max_lines=5) == ["echo", "rm -rf build"]


@pytest.mark.parametrize("raw", ["", " \n ", "\x1b[2J\n\u200b"])
def test_a_block_with_nothing_to_see_has_no_lines(raw: str) -> None:
    assert printable_block(raw, width=40, max_lines=5) == []


AWKWARD = [
    "[bold]x[/bold] [@click=app.quit]y[/]",
    r"\[bold] \\[bold] \[1] \\[1] [\] [[x]] [/] []",
    "C:\\",
    "two \\\\",
    ":bug: and :smile::heart: at a.py:12:3",
    "[link=http://x]:warning-emoji:[/link]",
    "1. one",
    "12) two",
    "- - -",
    "+ plus",
    "# head",
    "=== ~~~ ```",
    "> quote <b>&amp;</b> <http://x.y>",
    "*a* _b_ `c` [d](e) ![f](g) | h | $i$ ~~j~~",
    "https://example.com/a_b_c?d=e&copy=f",
    "see www.example.com/a_b or mail a_b@example.com",
]


@pytest.mark.parametrize("text", AWKWARD)
def test_escaped_text_is_drawn_as_it_was(text: str) -> None:
    assert Text.from_markup(escape_rich(text)).plain == text
    rendered = MarkdownIt("gfm-like").render(escape_markdown(text))
    assert html.unescape(re.sub(r"</?(?:p|a)\b[^>]*>", "", rendered)) == f"{text}\n"


@pytest.mark.parametrize("text", AWKWARD)
def test_escaped_text_leaves_the_tags_around_it_alone(text: str) -> None:
    drawn = Text.from_markup(f"[red]{escape_rich(text)}[/red] [blue]after[/]")
    assert drawn.plain == f"{text} after"
    styles = [(span.start, span.end, span.style) for span in drawn.spans if span.start != span.end]
    assert styles == [(0, len(text), "red"), (len(text) + 1, len(text) + 6, "blue")]


def test_html_is_safe_as_content_and_in_an_attribute() -> None:
    assert escape_html("<a b='c' d=\"&\">") == "&lt;a b=&#x27;c&#x27; d=&quot;&amp;&quot;&gt;"


def test_markdown_stays_readable() -> None:
    assert escape_markdown("Fix the bug (again), then run: tests!") == "Fix the bug (again), then run: tests!"


def test_every_control_and_format_character_of_this_python_counts_as_unseen() -> None:
    unseen = {code for first, last in UNSEEN_RANGES for code in range(first, last + 1)}
    expected = {
        code
        for code in range(sys.maxunicode + 1)
        if unicodedata.category(chr(code)) in ("Cc", "Cf") and not (chr(code).isspace() and not 0x1C <= code <= 0x1F)
    }
    assert expected - unseen == set()
    assert [code for code in unseen if has_visible(chr(code))] == []


def test_white_space_alone_cannot_be_seen() -> None:
    assert not has_visible("".join(filter(str.isspace, map(chr, range(sys.maxunicode + 1)))))


@pytest.mark.parametrize(
    "text", ["", "\u0301", "\u200d\ufe0f\U000e0067", "\udb40\udc67", "\x1b[31m", "\u0301 \u0301"]
)
def test_what_nobody_can_see_is_no_text(text: str) -> None:
    assert not has_visible(text)


@pytest.mark.parametrize("text", [".", "\ud800", "\x1b[31m.", "\u0301a", "\u200b\u0301\u20e3🏴", "\ue000", "\u202e-"])
def test_one_visible_character_is_enough(text: str) -> None:
    assert has_visible(text)


def test_importing_it_loads_no_rich() -> None:
    script = "import sys, pi_intent.labels.printable as p; p.printable('Prüfe'); sys.exit('rich' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], timeout=60, check=False).returncode == 0
