"""What git runs: aliases of its settings, and what its subcommands are given to run."""

from __future__ import annotations

from itertools import pairwise

from pi_intent.gates.shell import own_commands
from pi_intent.gates.shell.git_options import subcommand_at
from pi_intent.gates.shell.running.inner import Inside, behind_options, run, run_text
from pi_intent.gates.shell.script import Command


def of_git(command: Command) -> Inside | None:
    """`-c alias.x=!…` runs a shell; `submodule foreach`, `bisect run` and `rebase -x` run what they are given."""
    if command.program != "git":
        return None
    words, texts = command.arguments, command.texts
    at = subcommand_at(texts)
    if any(text.startswith(("--config-env", "--exec-path=")) for text in texts[:at]):
        return Inside(hidden="code")
    for text, setting in pairwise(texts):
        name, _, value = setting.partition("=")
        if text == "-c" and name.lower().startswith("alias.") and value.startswith("!"):
            return Inside(texts=((value[1:], "nested"),))
        if text == "-c" and value and own_commands.GIT_SETTING.search(name):
            return Inside(hidden=None if own_commands.is_harmless(value) else "code")
    subcommand = [text for text in texts if not text.startswith("-")][:2]
    if subcommand == ["submodule", "foreach"]:
        return run_text(behind_options(words[texts.index("foreach") + 1 :]))
    if subcommand == ["bisect", "run"]:
        return run(command, words[texts.index("run") + 1 :], "git")
    return Inside(hidden="code" if own_commands.runs_code("git", texts[at:]) else None)
