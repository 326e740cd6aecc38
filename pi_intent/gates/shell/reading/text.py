"""One text: its commands are kept in order, each before the commands and texts that it runs in turn."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from pi_intent.gates.shell.inputs import reads_code
from pi_intent.gates.shell.reading.found import Found
from pi_intent.gates.shell.reading.nodes import first_error
from pi_intent.gates.shell.reading.redirections import Given
from pi_intent.gates.shell.reading.tree import tree_of
from pi_intent.gates.shell.reading.variables import Variables
from pi_intent.gates.shell.reading.walk import Walk
from pi_intent.gates.shell.running.inside import inside
from pi_intent.gates.shell.running.shells import SHELLS
from pi_intent.gates.shell.script import Command, Hidden, Place

_LONGEST = 64 * 1024
_MOST_READ = 2 * _LONGEST
"""Characters of a text and all those that it runs."""
_MOST_SIGNS = 3000
"""How many signs that mean something to a shell. The parser's time grows with the square of wrong ones."""
_SIGNS = "|<>`$()&;!{}[]*=@?:~+"
_MOST_STEPS = 20
"""Wrappers around one command."""
_MOST_WORDS = 20_000
"""Words that are read anew behind each wrapper, together."""
_DEEPEST_SHELL = 6
_FED = SHELLS | {"ssh"}
"""Programs that run as a shell what they are given on their input."""


@dataclass(frozen=True, slots=True)
class Text:
    """One text that is being walked through; `depth` is how many others run it."""

    found: Found
    variables: Variables
    depth: int

    def read(self, text: str, around: Command) -> None:
        """Read a text that this one runs."""
        read_text(text, around, self.found, self.depth + 1)

    def add(self, command: Command, given: Given | None = None, steps: int = 0) -> None:
        """Keep a command, and those that it runs in turn."""
        found = self.found
        if found.full or steps > _MOST_STEPS or steps * len(command.arguments) > _MOST_WORDS:
            return found.give_up("deep", command.source)
        if command.name is not None and command.name.text is None:
            found.give_up("name", command.source)
        if self.variables.lost_to(command):
            found.give_up("name", command.source)
        self._alias(command)
        within = inside(command)
        fed = reads_code(command)
        if given is not None and given.text and given.known:
            found.inputs[len(found.commands)] = given.text
        hidden = _hidden(command, given, within.hidden) if fed else within.hidden
        found.commands.append(replace(command, hidden=hidden))
        if fed and given is not None and given.text and command.program in _FED:
            place: Place = "remote" if command.program == "ssh" else "nested"
            self.read(given.text, found.inner(_bare(command), place, own=True))
        for text, place in within.texts:
            nested = found.inner(_bare(command), place, own=command.program != "eval")
            self.read(text, replace(nested, through=(*command.through, command.program or "")))
        own = found.inner(command, "nested", own=True).scope if within.apart else command.scope
        for inner in within.commands:
            self.add(replace(inner, scope=own) if within.apart else inner, given, steps + 1)
        return None

    def _alias(self, command: Command) -> None:
        """Read what an alias stands for, where it is made and where it is used."""
        found, name = self.found, command.name
        if command.program == "alias":
            for word in command.arguments:
                alias, equals, text = (word.text or "").partition("=")
                if equals:
                    found.aliases[alias] = text
                    self.read(text, found.inner(replace(command, name=None), "alias", own=False))
        elif name is not None and name.source in found.aliases and "alias" not in command.place:
            rest = " ".join(word.source for word in command.arguments)
            self.read(f"{found.aliases[name.source]} {rest}", found.inner(_bare(command), "alias", own=False))


def read_text(text: str, around: Command, found: Found, depth: int = 0) -> None:
    """Read one text, as far as that is bounded."""
    if depth > _DEEPEST_SHELL:
        return found.give_up("deep", text)
    found.signs += sum(map(text.count, _SIGNS)) + text.count("\n") // 8
    found.length += len(text)
    if len(text) > _LONGEST or found.length > _MOST_READ or found.signs > _MOST_SIGNS:
        return found.give_up("long", text)
    if "\0" in text:
        found.give_up("nul", text.replace("\0", "\\0"))
        text = text.replace("\0", "")
    root = tree_of(found.parser, re.sub("[\ud800-\udfff]", "\ufffd", text).encode())
    if root is None:
        return found.give_up("syntax", text)
    if root.has_error:
        found.give_up("syntax", first_error(root) or text)
    return Walk(Text(found, Variables(root), depth)).visit(root, around, 0)


def _hidden(command: Command, given: Given | None, hidden: Hidden | None) -> Hidden | None:
    """What is not known of the code that a command is given on its input."""
    if given is not None and command.program not in _FED:
        return "code"
    if given is not None and not given.known:
        return hidden or (None if given.text else "input")
    return "script" if any(redirect.operator == "<" for redirect in command.redirects) else hidden


def _bare(command: Command) -> Command:
    return replace(command, name=None, arguments=(), assignments=(), redirects=(), hidden=None)
