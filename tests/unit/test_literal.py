"""What is about to run is shown whole, and still cannot hurt the screen."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from rich.cells import cell_len

from pi_intent.characters import UNSEEN_RANGES
from pi_intent.labels.literal import at_words, literal, literal_lines, spelled, spelled_out, whole_line, whole_pieces


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("ls -la", "ls -la"),
        ("echo \x1b]0; ; rm -rf ~ \x07", "echo ⟨ESC⟩]0; ; rm -rf ~ ⟨BEL⟩"),
        ("rm \u202ecod.exe", "rm ⟨U+202E⟩cod.exe"),
        ("cat a\u200bb", "cat a⟨U+200B⟩b"),
        ("ls\n\n rm x", "ls ⏎  ⏎  rm x"),
        ("\n \n  rm x\n\n", "  rm x"),
        ('rm "a  b"', 'rm "a  b"'),
        ("rm -rf  build ", "rm -rf  build⟨SPACE⟩"),
        ("rm a\tb\xa0\r\nc", "rm a⟨TAB⟩b⟨U+00A0⟩⟨CR⟩ ⏎ c"),
        ("  ", " ⟨SPACE⟩"),
        ("[@click=app.quit]x[/]", "[@click=app.quit]x[/]"),
        ("\ud83d", "⟨U+D83D⟩"),
        ("\x00", "⟨NUL⟩"),
        ("", ""),
    ],
)
def test_nothing_that_would_run_is_hidden(text, shown):
    assert literal(text) == shown


def test_a_line_of_a_file_stays_as_it_is_to_the_space():
    assert spelled_out("\t a  b\t ") == "\t a  b\t "
    assert spelled_out("a\xa0b\u2028c\x85d\re\x1b[31m\u200b") == "a\\xa0b\\u2028c\\x85d\\re\\x1b[31m\\u200b"


def test_many_lines_are_bounded_and_that_is_said():
    assert literal_lines("\n".join("abcdef"), max_lines=4) == ["a", "b", "c", "d", "… and more"]
    assert literal_lines("", max_lines=4) == [""]
    assert literal_lines("\n\n") == [""]
    assert literal_lines("\n" * 1_000_000 + " a\n\nb\n") == [" a", "", "b"]
    assert literal("x  " * 100, width=6) == "x  x…"
    assert literal("x" * 6, width=6) == "x" * 6
    assert literal_lines("x" * 100_000, width=10, max_lines=2) == ["x" * 10, "x" * 10, "… and more"]


def test_a_long_line_is_folded_so_that_its_end_shows():
    assert literal_lines("true " + "#" * 25 + "; rm -rf ~", width=20) == ["true " + "#" * 15, "#" * 10 + "; rm -rf ~"]
    assert literal_lines("検索中" * 4, width=10) == ["検索中検索", "中検索中検", "索中"]


@given(st.text() | st.text(alphabet="a \n\t\r\x1b\x9b\u202e\u2028\ud800", min_size=1), st.integers(2, 40))
def test_no_text_brings_a_control_or_a_line_break_to_the_screen(text, width):
    for line in (literal(text, width=width), *literal_lines(text, width=width, max_lines=3)[:3]):
        assert cell_len(line) <= width
        assert not any(first <= ord(char) <= last for char in line for first, last in UNSEEN_RANGES)
        assert "\n" not in line
        assert "\r" not in line


# What is to be approved is shown whole


@pytest.mark.parametrize(
    ("line", "pieces"),
    [
        ("", [""]),
        ("ls  -la", ["ls  -la"]),
        ("a b c d e f", ["a b c d e", " f"]),
        ("\t\tif  x:", ["        if", "  x:"]),
        ("a\tb", ["a⟨TAB⟩b"]),
        ("rm x ", ["rm x⟨SPACE", "⟩"]),
        ("   ", ["  ⟨SPACE⟩"]),
        ("\t", ["⟨TAB⟩"]),
        ("a\r\x0b\x85\u2028b", ["a⟨CR⟩⟨U+00", "0B⟩⟨U+0085", "⟩⟨U+2028⟩b"]),
        ("rm\u3000\xa0x", ["rm⟨U+3000⟩", "⟨U+00A0⟩x"]),
        ("\x1b[31m\x00", ["⟨ESC⟩[31m⟨", "NUL⟩"]),
        ("\\x1b[31m\\0", ["\\x1b[31m\\0"]),
        ("\U0001f468\u200d\U0001f469", ["\U0001f468⟨U+200D⟩", "\U0001f469"]),
        ("\ud83d\ude00 \ud83d", ["\U0001f600 ⟨U+D83D", "⟩"]),
        ("検索検索検索", ["検索検索検", "索"]),
        ("\u0301x", ["⟨U+0301⟩x"]),
        ("e\u0301", ["e\u0301"]),
        ("e" + "\u0301" * 10, ["e" + "\u0301" * 8 + "⟨U+0301⟩⟨", "U+0301⟩"]),
        (" \u0301", [" ⟨U+0301⟩"]),
    ],
)
def test_every_character_of_a_line_can_be_seen(line, pieces):
    assert whole_pieces(line, width=10) == pieces


ODD = st.text(alphabet="a $|>-+ \t\r\x0b\x1b\x9b\u200b\u202e\u2028\u0301\u0e33\u1160\u3000\ud800検\U0001f600\ufe0f")


def is_whole(line: str, drawn: str) -> bool:
    """Follow a line through what is drawn of it: each character as it is, or spelled out."""
    line = line.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    at = 0
    for character in line:
        for form in (character, spelled(character), spelled(" ") if character == " " else "    "):
            if drawn.startswith(form, at) and (form != "    " or character == "\t"):
                at += len(form)
                break
        else:
            return False
    return at == len(drawn)


@given(st.text() | ODD, st.integers(20, 120))
def test_a_line_that_is_folded_is_whole_and_moves_nothing(line, width):
    pieces = whole_pieces(line, width=width)
    assert all(cell_len(piece) <= width for piece in pieces)
    drawn = "".join(pieces)
    assert is_whole(line, drawn)
    assert not drawn.endswith(" ")
    assert not any(first <= ord(char) <= last for char in drawn for first, last in UNSEEN_RANGES)
    assert not any(char.isspace() and char != " " for char in drawn)
    assert not any(0xD800 <= ord(char) <= 0xDFFF for char in drawn)


@given(st.lists(ODD | st.text(alphabet="\\x1b \x1b0"), min_size=2, max_size=2, unique=True))
def test_two_lines_that_differ_are_drawn_as_two(lines):
    one, other = (line.replace("\t", "") for line in lines)  # tabs at the beginning are columns
    whole = [line.encode("utf-16-le", "surrogatepass") for line in (one, other)]
    assume(whole[0] != whole[1])
    assert whole_pieces(one, width=10_000) != whole_pieces(other, width=10_000)


@given(st.text() | ODD)
def test_what_is_safe_stays_as_it_is(line):
    safe = whole_line(line, width=10_000)
    assert whole_line(safe, width=10_000) == safe
    assert literal(safe, width=10_000) == safe


@given(ODD, st.integers(200, 400))
def test_a_line_in_one_line_is_whole_where_it_fits(line, width):
    drawn = whole_line(line, width=width)
    assert cell_len(drawn) <= width
    assert is_whole(line, drawn) or drawn.endswith("…")
    assert cell_len(literal(line, width=width)) <= width


@given(st.text(alphabet="ab  検", max_size=200), st.integers(4, 40))
def test_a_line_that_is_parted_at_words_keeps_every_space_in_sight(line, width):
    pieces = at_words(line, width)
    assert "".join(pieces) == line
    assert all(cell_len(piece) <= width for piece in pieces)


def test_spaces_at_the_end_of_a_line_go_to_the_next_where_there_are_several():
    assert at_words("rm one two", 7) == ["rm one ", "two"]
    assert at_words("rm one  two", 7) == ["rm one", "  two"]
    assert whole_pieces("rm one  two", width=7) == ["rm one", "  two"]
