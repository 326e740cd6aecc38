"""What was found so far in a text and in all the texts that it runs."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from pi_intent.gates.shell.inputs import said_by
from pi_intent.gates.shell.script import Command, Place, Reason, Unclear

if TYPE_CHECKING:
    from tree_sitter import Parser

_MOST_COMMANDS = 5000
_LONGEST_QUOTE = 200


@dataclass(slots=True)
class Found:
    parser: Parser
    commands: list[Command] = field(default_factory=list)
    unclear: list[Unclear] = field(default_factory=list)
    aliases: dict[str, str] = field(default_factory=dict)
    inputs: dict[int, str] = field(default_factory=dict)
    """By the number of a command, the text on its input."""
    scopes: int = 0
    length: int = 0
    signs: int = 0

    @property
    def full(self) -> bool:
        return len(self.commands) > _MOST_COMMANDS

    def give_up(self, why: Reason, text: str) -> None:
        self.unclear.append(Unclear(why, cut(text)))

    def inner(self, around: Command, place: Place, *, own: bool) -> Command:
        """What stands at a place within another; `own` says whether that is a shell of its own."""
        self.scopes += own
        scope = (*around.scope, self.scopes) if own else around.scope
        return replace(around, place=(*around.place, place), scope=scope)

    def said(self, at: int) -> str | None:
        """What a command prints, where its text tells."""
        command = self.commands[at]
        return self.inputs.get(at) if command.program == "cat" and not command.arguments else said_by(command)


def cut(text: str) -> str:
    return text if len(text) <= _LONGEST_QUOTE else text[:_LONGEST_QUOTE] + "…"
