"""No text makes the reading of a command raise, and quoting changes nothing of what it finds."""

from __future__ import annotations

import shlex
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_intent.gates.shell.command import read_command
from pi_intent.gates.shell.dangers.of_script import dangers_of

PIECES = st.sampled_from(
    [
        "rm",
        "a",
        "|",
        "<",
        ">",
        "&",
        "&&",
        "||",
        ";",
        "\n",
        "(",
        ")",
        "{",
        "}",
        "$",
        "`",
        "'",
        '"',
        "\\",
        " ",
        "=",
        "[",
        "]",
        "#",
        "!",
        "*",
        "~",
        "1",
        "<<E",
        "<<<",
        "$(",
        "${",
        "((",
        "[[",
        "case ",
        "if ",
        "then ",
        "fi",
        "do ",
        "done",
        "for ",
        "in ",
        ";;",
        "<(",
        "$'",
        "E\n",
        "\0",
        "\ud800",
        "é",
        "sh -c ",
        "eval ",
        "env ",
        "xargs ",
        "find . -exec ",
        "alias a=",
        "cd ",
        "git ",
        "-C ",
        "--",
        "ssh h ",
        "-c ",
        "python ",
        "\\\n",
        "{a,b}",
        "sudo ",
        "export X=",
        "time ",
        "coproc ",
        "X=",
        "$X ",
        "docker run ",
        "uv run ",
    ]
)


@given(st.one_of(st.text(), st.lists(PIECES, max_size=40).map("".join)))
def test_no_text_makes_it_raise(text):
    dangers_of(read_command(text), cwd="/w", project="/w")


@pytest.mark.parametrize(
    "unit", ["a|", "`>~", "<", "$(", '"', "cat <<E\n", "rm x; ", "eval ", "a && ", "{a,", "\0", "\ud800"]
)
def test_a_huge_text_is_given_up_soon(unit):
    started = time.process_time()
    dangers_of(read_command(unit * (1_000_000 // len(unit))), cwd="/w", project="/w")
    dangers_of(read_command(unit * (6_000 // len(unit))), cwd="/w", project="/w")
    assert time.process_time() - started < 10


DOUBLED = "v0=xxxxxxxxxx;" + "".join(f'v{n + 1}="$v{n}$v{n}";' for n in range(30)) + "echo $v30"
ALIASES = " ".join(f"-c alias.a{number}=a{number + 1}" for number in range(2_000))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (DOUBLED, set()),
        (DOUBLED.replace("xxxxxxxxxx", "'x x x x x'"), set()),
        (f"alias b='{'c ' * 20_000}'; {'b; ' * 100}", {"long"}),
        (f"alias b='{'c ' * 1_000}'; {'b; ' * 1_000}", {"long"}),
        (f"{'eval ' * 6}{'word ' * 12_000}", {"long"}),
        (f"a='{'x ' * 4_000}'; echo {'$a ' * 1_400}", set()),
        (f"git {ALIASES} a0", {"opaque"}),
    ],
    ids=["variables", "words", "a long alias", "many aliases", "eval", "one variable", "git"],
)
def test_what_stands_for_more_than_it_is_long_is_given_up_soon(text, told):
    started = time.process_time()
    script = read_command(text)
    dangers = dangers_of(script, cwd="/w", project="/w")
    assert time.process_time() - started < 5
    assert {unclear.why for unclear in script.unclear} | {danger.kind for danger in dangers} == told


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0\r\n"), min_size=1), max_size=4))
def test_a_quoted_argument_is_read_back(arguments):
    [command] = read_command(shlex.join(["printf", *arguments])).commands
    assert [word.text for word in command.arguments] == arguments
