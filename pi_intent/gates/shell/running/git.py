"""What git runs: aliases of its settings, and what its subcommands are given to run."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from pi_intent.gates.shell import own_commands
from pi_intent.gates.shell.git_options import subcommand_at
from pi_intent.gates.shell.running.given import given_to
from pi_intent.gates.shell.running.inner import Inside, behind_options, run, run_text, run_texts, together
from pi_intent.gates.shell.script import Command, Word

_RUN_BY = {
    # Options whose values a subcommand runs as the text of a shell, once for each commit.
    "rebase": ("x", ("--exec",)),
    "filter-branch": (
        "",
        [f"--{kind}-filter" for kind in ("env", "tree", "index", "parent", "msg", "commit", "tag-name")]
        + ["--setup"],
    ),
}


def of_git(command: Command) -> Inside | None:
    """`-c alias.x=!…` runs a shell; `submodule foreach`, `bisect run` and `rebase -x` run what they are given."""
    if command.program != "git":
        return None
    words, texts = command.arguments, command.texts
    at = subcommand_at(texts)
    subcommand, behind = "".join(texts[at : at + 1]), behind_options(words[at + 1 :])
    found = [*_settings(words), _of_subcommand(command, subcommand, words[at + 1 :], behind)]
    if any(text.startswith(("--config-env", "--exec-path=")) for text in texts[:at]):
        found.append(Inside(hidden="code"))
    return together(found)


def _settings(words: tuple[Word, ...]) -> Iterator[Inside]:
    """What each setting on the command line has git run: an alias runs as git itself, or with `!` in a shell."""
    for option, setting in pairwise(words):
        name, equals, value = setting.start.partition("=")
        if option.start not in ("-c", "--config"):
            continue
        if name.lower().startswith("alias."):
            yield Inside(texts=((value[1:] if value.startswith("!") else f"git {value}", "nested"),))
        elif equals and own_commands.GIT_SETTING.search(name) and _runs(setting.after(len(name) + 1)):
            yield Inside(hidden="code")


def _runs(value: Word) -> bool:
    return value.text is None or bool(value.text and not own_commands.is_harmless(value.text))


def _of_subcommand(command: Command, name: str, words: tuple[Word, ...], behind: tuple[Word, ...]) -> Inside:
    """What a subcommand is given to run; `behind` are its words behind its options."""
    verb = behind[0].text if behind else None
    if (name, verb) == ("submodule", "foreach"):
        return run_text(behind_options(behind[1:]))
    if (name, verb) == ("bisect", "run"):
        return run(command, behind[1:], "git")
    if name in _RUN_BY:
        return run_texts(given_to(words, *_RUN_BY[name]))
    texts_of = tuple(word.start for word in words)
    return Inside(hidden="code" if own_commands.runs_code("git", (name, *texts_of)) else None)
