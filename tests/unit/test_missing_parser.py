"""Where what reads commands is not installed, the person is told why every command is asked about."""

from __future__ import annotations

import importlib.util

import pytest

from pi_intent.gates.kinds import Match
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
def test_it_is_said_where_a_rule_wants_commands_read(settings: Settings, monkeypatch: pytest.MonkeyPatch):
    assert missing_parser(settings) is None
    hide_parser(monkeypatch)
    said = missing_parser(settings)
    assert said is not None
    assert "every command is asked about: pip install" in said


@pytest.mark.parametrize("settings", ON_NOTHING_OF_THEM, ids=str)
def test_nothing_is_said_where_none_does(settings: Settings, monkeypatch: pytest.MonkeyPatch):
    hide_parser(monkeypatch)
    assert missing_parser(settings) is None


def hide_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make Python find no parser, as where it is not installed."""
    find = importlib.util.find_spec
    hidden = lambda name, *rest: None if name == "tree_sitter_bash" else find(name, *rest)  # noqa: E731
    monkeypatch.setattr("pi_intent.settings.parsing.find_spec", hidden)
