"""Where what reads commands is not installed, the person is told why every command is asked about."""

from __future__ import annotations

from pathlib import Path

import pytest

from pi_intent.around import Disk
from pi_intent.gates.evidence import gather
from pi_intent.gates.kinds import Match, Reason
from pi_intent.gates.question import Question
from pi_intent.gates.situation import Situation
from pi_intent.render.check_in import question_lines
from pi_intent.settings import Settings, ToolRule
from pi_intent.settings.parsing import missing_parser

ON_COMMANDS = [
    Settings(check_in=("dangers",)),
    Settings(check_in=("outside",)),
    Settings(check_in=(Match(runs="terraform apply"),)),
    Settings(tools=(ToolRule(pattern="bash", origin="x", check_in=("deletes",)),)),
    Settings(floors=(ToolRule(pattern="*", origin="x", check_in=("network",)),)),
]
ON_NOTHING_OF_THEM = [
    Settings(),
    Settings(ask="exec"),
    Settings(check_in=("always", "unstated", "noted")),
    Settings(check_in=(Match(path="migrations/*"),)),
]


@pytest.mark.parametrize("settings", ON_COMMANDS, ids=str)
def test_nothing_is_said_where_there_is_one(settings: Settings):
    assert missing_parser(settings) is None


@pytest.mark.usefixtures("no_parser")
@pytest.mark.parametrize("settings", ON_COMMANDS, ids=str)
def test_it_is_said_where_a_rule_wants_commands_read(settings: Settings):
    said = missing_parser(settings)
    assert said is not None
    assert "every command is asked about: pip install" in said


@pytest.mark.usefixtures("no_parser")
@pytest.mark.parametrize("settings", ON_NOTHING_OF_THEM, ids=str)
def test_nothing_is_said_where_none_does(settings: Settings):
    assert missing_parser(settings) is None


@pytest.mark.usefixtures("no_parser")
def test_a_question_says_that_nothing_reads_the_command_and_how_to_get_it():
    command = {"command": "rm -rf build-of-this-test"}
    situation = Situation(tool_name="bash", tool_source=None, cwd="/p", project="/p", host="tau", session_id="s")
    evidence = gather(command, situation, Disk(Path("/p")), (), rationale=None, notes=())
    question = Question("x", situation, command, (Reason("always"),), "", evidence=evidence)
    lines = question_lines(question, width=200)
    does = lines[lines.index("What it would do:") + 1]
    assert does == (
        "> not known, as what reads commands is not installed where this runs "
        "(pip install 'tree-sitter>=0.25' 'tree-sitter-bash>=0.25')"
    )
    assert not any("beforehand" in line for line in lines)


def test_of_a_file_that_is_only_made_nothing_is_said_to_be_unread(tmp_path: Path):
    (tmp_path / "there").write_text("x")
    for tool, path, read in [
        ("write", "new", ()),
        ("write", "there", (("there", "not read in this session"),)),
        ("read", "new", (("new", "not read in this session"),)),
    ]:
        situation = Situation(
            tool_name=tool, tool_source=None, cwd=str(tmp_path), project=None, host="tau", session_id="s"
        )
        found = gather({"path": path, "content": ""}, situation, Disk(tmp_path), (), rationale=None, notes=())
        assert found.read == read
