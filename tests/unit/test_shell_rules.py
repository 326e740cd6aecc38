"""Dangers are told from what a command would run, for every case of the table."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from shell_samples import sample_commands
from shell_table import CASES, DOCS, written

from pi_intent.gates.paths import outside_project
from pi_intent.gates.shell.command import read_command
from pi_intent.gates.shell.dangers.of_script import DANGER_KINDS, Danger, dangers_of
from pi_intent.gates.shell.script import Script, Unclear

HERE = "/srv/app"


def kinds_of(command: str) -> list[str]:
    script = read_command(command)
    found: set[str] = {danger.kind for danger in dangers_of(script, cwd=HERE, project=HERE)}
    return sorted(found | ({"unclear"} if script.unclear else set()))


EVERY = CASES["commands"] + CASES["cannot"]


@pytest.mark.parametrize("case", EVERY, ids=[f"{number}" for number in range(len(EVERY))])
def test_a_command_has_the_dangers_of_the_table(case):
    assert kinds_of(case["command"]) == sorted(case["dangers"])


def test_the_table_has_every_kind_and_is_long():
    assert {kind for case in CASES["commands"] for kind in case["dangers"]} == set(DANGER_KINDS)
    assert len({case["command"] for case in CASES["commands"]}) >= 150


def test_the_page_shows_the_table():
    assert DOCS.read_text(encoding="utf-8") == written(), "run tests/shell_table.py"


def test_a_danger_names_the_piece_of_the_command_that_tells():
    script = read_command("ls && bash -c 'cd a; rm -rf b' > log; git push")
    assert dangers_of(script, cwd=HERE, project=HERE) == (
        Danger("deletes", "rm -rf b"),
        Danger("publishes", "git push"),
        Danger("network", "git push"),
    )


def test_a_further_folder_counts_as_the_project():
    script = read_command("touch /tmp/x")
    assert dangers_of(script, cwd=HERE, project=HERE, also=("/tmp",)) == ()


def test_an_argument_is_the_text_that_the_shell_would_pass():
    [command] = read_command(r"""printf a\ b "c\"d" 'e$f' $'g\n' h"i"j $K "l$M" *.n ~/o""").commands
    assert [word.text for word in command.arguments] == ["a b", 'c"d', "e$f", "g\n", "hij", None, None, None, None]
    assert [word.start for word in command.arguments[-3:]] == ["l", "", ""]


def test_a_command_says_where_it_stands_and_through_what():
    last = read_command("ls | (timeout 3 env A=1 xargs rm)").commands[-1]
    assert (last.program, last.place, last.through) == ("rm", ("pipe", "subshell"), ("timeout", "env", "xargs"))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a" * 70_000, "long"),
        ("a|" * 40_000, "long"),
        ("rm x\0", "nul"),
        ("(" * 500, "syntax"),
        ("$X y", "name"),
        ("eval " * 60 + "x", "deep"),
        ("$(" * 200 + "a" + ")" * 200, "deep"),
    ],
)
def test_what_cannot_be_read_is_unclear(text, why):
    assert why in {unclear.why for unclear in read_command(text).unclear}


@pytest.mark.usefixtures("no_parser")
def test_without_the_parser_everything_is_unclear():
    assert read_command("ls") == Script(unclear=(Unclear("no_parser", "ls"),))


@pytest.mark.parametrize(
    ("path", "outside"),
    [
        ("a", False),
        ("./a/../b", False),
        ("../a", True),
        ("/srv/app/x", False),
        ("/srv/apple", True),
        ("/srv/app/../x", True),
        ("~/x", True),
        ("~", True),
        ("~root/x", True),
        ("/dev/null", False),
        ("/tmp/x", True),
        ("", False),
        ("a\0b", True),
        ("//srv/app/x", False),
        ("/", True),
    ],
)
def test_a_path_is_outside_by_its_text(path, outside):
    assert outside_project(path, HERE, HERE) is outside


def test_a_resolver_shows_where_links_lead():
    links = {"/srv/app/out": "/etc", "/srv/app/in": "/srv/app/src"}
    resolve = lambda path: links.get(path, path)  # noqa: E731
    assert outside_project("out", HERE, HERE, resolve=resolve)
    assert not outside_project("in", HERE, HERE, resolve=resolve)
    assert not outside_project("new", HERE, HERE, resolve=resolve)


@pytest.mark.skipif("PI_INTENT_SAMPLES" not in os.environ, reason="PI_INTENT_SAMPLES names no folder")
def test_the_commands_of_real_sessions_are_read():
    commands = sample_commands(Path(os.environ["PI_INTENT_SAMPLES"]))
    unclear = [command for command in commands if "unclear" in kinds_of(command)]
    assert len(commands) > 200
    assert len(unclear) <= len(commands) / 100, unclear
