"""Say where rules on commands can only ask about every command, as nothing is there that reads one."""

from __future__ import annotations

from importlib.util import find_spec

from pi_intent.gates.kinds import LOOK_AT_COMMANDS, PARSER, Match, Rule
from pi_intent.settings.rules import Settings


def missing_parser(settings: Settings) -> str | None:
    """Return a sentence for the person where a rule wants commands read, and the parser is not installed here."""
    tables = (*settings.tools, *settings.floors)
    rules = (*settings.check_in, *(rule for table in tables for rule in table.check_in or ()))
    if not any(map(_reads_commands, rules)) or find_spec("tree_sitter_bash") is not None:
        return None
    return (
        "check_in has a rule on commands, and what reads commands is not installed where this runs, so every command "
        f"is asked about: {PARSER} there"
    )


def _reads_commands(rule: Rule) -> bool:
    return rule.runs is not None if isinstance(rule, Match) else rule in LOOK_AT_COMMANDS
