"""Variables that have other programs load code: what they run, or where they look for it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from pi_intent.gates.paths import outside_project
from pi_intent.gates.shell.own_commands import VARIABLES, is_harmless
from pi_intent.gates.shell.running.shells import SHELLS
from pi_intent.gates.shell.script import Command, Unknown, Word
from pi_intent.gates.steering import BY_OPTION, FOLDERS, HOMES, LOADED, RUN
from pi_intent.word_sets import word_set

_USUAL_BIN = re.compile(r"(?:.*/)?(?:node_modules/\.bin|bin)/?")
_TEMPORARY = ("/tmp", "/var/tmp", "/dev/shm")
_ASSIGN = word_set("env sudo doas export declare typeset readonly local")
_CACHES = re.compile(r"(?:/\S*/)?(?:sccache|ccache|cachepot)")
"""Programs that keep what a compiler made."""
_SUBSTITUTES = re.compile(r"\$\(|`")
_NOT_KNOWN = "\0"


def loads_code(command: Command, inside: Iterable[str]) -> bool:
    """Whether a variable that a command sets has it, or a later one, load code that nobody has read.

    `inside` are the folders whose files the session may have written.
    """
    roots = (*inside, *_TEMPORARY)
    assigned = list(_assigned(command))
    folders = FOLDERS | HOMES if command.program == "git" else FOLDERS
    return _starts_with(command, {name for name, _ in assigned}) or any(
        _runs_code(name, value) or (name in folders and _finds_elsewhere(value, roots, empty=name == "PATH"))
        for name, value in assigned
    )


def _assigned(command: Command) -> Iterator[tuple[str, Word]]:
    yield from ((assigned.name, assigned.value) for assigned in command.assignments)
    for word in command.arguments if command.program in _ASSIGN else ():
        name, equals, _ = word.start.partition("=")
        if equals:
            yield name, word.after(len(name) + 1)


def _starts_with(command: Command, assigned: set[str]) -> bool:
    """Whether a shell reads a file first that a variable names: ENV means something else to other programs."""
    return "ENV" in assigned and any(word and word.text in SHELLS for word in (command.name, *command.arguments))


def _runs_code(variable: str, value: Word) -> bool:
    if variable == "PS4":
        return value.text is not None and bool(_SUBSTITUTES.search(value.text))
    if variable in BY_OPTION:
        return bool(BY_OPTION[variable].search(value.shown))
    runs = variable in VARIABLES | RUN and not (value.text is not None and _is_harmless(value.text))
    return variable in LOADED or runs


def _is_harmless(value: str) -> bool:
    return is_harmless(value) or bool(_CACHES.fullmatch(value))


def _finds_elsewhere(value: Word, roots: tuple[str, ...], *, empty: bool) -> bool:
    """Whether one of the folders is of the session, and not where programs are usually put. `''` is where it runs."""
    text = "".join(_known(part) for part in value.parts)
    entries = text.split(":") if text or empty else []
    return any(
        _NOT_KNOWN not in entry
        and not _USUAL_BIN.fullmatch(entry)
        and (not entry.startswith("/") or any(not outside_project(entry, root) for root in roots))
        for entry in entries
    )


def _known(part: str | Unknown) -> str:
    if isinstance(part, str):
        return part
    return part.values[0] if len(part.values) == 1 else _NOT_KNOWN
