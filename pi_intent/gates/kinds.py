"""The words in which people say when they want to be asked; light, because settings are read at every start."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

DangerKind = Literal[
    "deletes",
    "git_history",
    "publishes",
    "network",
    "installs",
    "privileges",
    "system",
    "secrets",
    "runs_fetched",
    "opaque",
    "recipe",
    "outside_project",
    "infra",
]
"""What a person can name in the settings. `opaque` is code or a script that is not in the command; `recipe` is what a
build tool or a package's script runs."""

DANGER_KINDS: tuple[DangerKind, ...] = get_args(DangerKind)

GeneralRule = Literal["always", "dangers", "outside", "unclear", "unstated", "noted"]
"""`always`: every call · `dangers`: a command that puts something at risk, all kinds of it, and a file written
outside the project · `outside`: a path outside the project, also one that is only read · `unclear`: a command that
cannot be read · `unstated`: no intent was stated · `noted`: a quality note stands on the call."""

RuleWord = GeneralRule | DangerKind
RULE_WORDS: tuple[str, ...] = (*get_args(GeneralRule), *DANGER_KINDS)

ABOUT_COMMANDS = frozenset({"unclear", *DANGER_KINDS} - {"outside_project"})
"""Words that only ever find something in a command."""

LOOK_AT_COMMANDS = frozenset({"dangers", "unclear", "outside", *DANGER_KINDS})
"""Words that find something in a command, whatever else they look at."""


PARSER = "pip install 'tree-sitter>=0.25' 'tree-sitter-bash>=0.25'"
"""Installs what reads commands."""


class Reason(NamedTuple):
    """Why somebody is asked: the rule, and the literal piece of the call that it found ('' for the whole call).

    With `is_said` the text is no piece of the call: whoever set the rule says it.
    """

    rule: str
    text: str = ""
    is_said: bool = False

    @property
    def words(self) -> str:
        """Both in one text."""
        return f"{self.rule}: {self.text}" if self.text else self.rule


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """A rule of a person's own; what is given must all be so, and at least one thing is given.

    `tool` is a name or a glob, also `server/name`. `runs` are the words of a command: the program first, by
    its last part, and the others among its arguments, in their order. `path` is a glob on the path as the tool gets
    it, relative to the project where it lies inside; it covers what is in a folder. `reason` is shown to the person.
    """

    tool: str | None = None
    runs: str | None = None
    path: str | None = None
    reason: str | None = None


type Rule = RuleWord | Match


def rule_name(rule: Rule) -> str:
    """Return how a rule is called in records and on screens."""
    if isinstance(rule, str):
        return rule
    if rule.reason:
        return rule.reason
    said = ((name, getattr(rule, name)) for name in ("tool", "runs", "path"))
    return ", ".join(f"{name} = {value}" for name, value in said if value is not None)
