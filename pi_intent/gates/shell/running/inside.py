"""Look through one command to what it runs. What is handed to it on its input is not its matter."""

from __future__ import annotations

from pi_intent.gates.shell.running.git import of_git
from pi_intent.gates.shell.running.handed import of_finder
from pi_intent.gates.shell.running.hidden import hidden_by, names_commands
from pi_intent.gates.shell.running.inner import NOTHING, Inside
from pi_intent.gates.shell.running.languages import of_language
from pi_intent.gates.shell.running.runners import of_runner
from pi_intent.gates.shell.running.shells import of_shell
from pi_intent.gates.shell.running.subcommands import is_told_later
from pi_intent.gates.shell.running.wrappers import of_wrapper
from pi_intent.gates.shell.script import Command

_LOOKS = (of_shell, of_finder, of_runner, of_wrapper, of_git, of_language)
"""Each tells what a command of its kind runs, or None for any other; `npm exec` and `bun x` are of two kinds."""


def inside(command: Command) -> Inside:
    """Return what a command runs in turn."""
    program = command.program
    if names_commands(command):
        return Inside(hidden="code")
    if not program:
        return NOTHING
    if is_told_later(program, command.arguments):
        return Inside(hidden="code")
    for look in _LOOKS:
        if (found := look(command)) is not None:
            return found
    return Inside(hidden=hidden_by(command))
