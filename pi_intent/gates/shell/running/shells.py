"""Shells, and what else runs words as the text of a shell: eval, trap, su, ssh."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from pi_intent.gates.shell.running.inner import (
    NOTHING,
    Inside,
    behind_options,
    fetched,
    run_text,
    run_texts,
    together,
)
from pi_intent.gates.shell.running.run_by_option import runs_by_option
from pi_intent.gates.shell.script import Command, Word
from pi_intent.word_sets import word_set

SHELLS = word_set("sh bash zsh dash ksh ash fish mksh yash csh tcsh rbash rksh busybox-sh")
_SSH_VALUED = "bcDeFIiJLlmOopQRSWw"
_JOINED = word_set("sem cross-env-shell")
"""Programs that hand all their words to a shell as one text; `concurrently` takes each for a text of its own."""
_TEXT_VALUED = word_set(
    "-j --jobs --id --semaphorename --semaphoretimeout -n --names -c --prefix-colors -p --prefix -m --max-processes "
    "-l --prefix-length -t --timestamp-format -s --success --restart-tries --restart-after --kill-signal"
)


def of_shell(command: Command) -> Inside | None:
    """What a shell runs, or a command that runs a text; None for any other."""
    program, words = command.program or "", command.arguments
    if program in SHELLS:
        return _shell(words)
    if program == "eval":
        words = behind_options(words)
        return run_text(words) if words else NOTHING
    if program in (".", "source"):
        return Inside(hidden=fetched(words) or "script") if words else NOTHING
    if program == "su":
        return _su(words)
    if program in ("ssh", "mosh"):
        return _ssh(command)
    if program in _JOINED:
        rest = behind_options(words, long=_TEXT_VALUED)
        return run_text(rest) if rest else NOTHING
    if program == "concurrently":
        return run_texts(behind_options(words, long=_TEXT_VALUED))
    if program == "trap" and len(words) > 1:
        words = words[words[0].text == "--" :]
        return run_text(words[:1]) if words[0].text not in ("-", "", "-p", "-l") else NOTHING
    return None


def _shell(words: tuple[Word, ...]) -> Inside:
    if any(re.match("--(?:rcfile|init-file)(?:=|$)", word.start) for word in words):
        return replace(_shell(tuple(_without_start_file(words))), hidden="script")
    at, letters = 0, ""
    while at < len(words) and (option := words[at].start).startswith(("-", "+")):
        at += 1
        if option.startswith("--command="):
            return run_text((words[at - 1].after(len("--command=")),))
        if option in ("--version", "--help") or option.lstrip("-") == "n":
            return NOTHING  # `-n` only checks the script
        if option in ("--", "-"):
            break
        cluster = "c" if option == "--command" else "" if option.startswith("--") else option[1:]
        letters += cluster
        at += len(re.findall("[oO]", cluster))  # each takes a value
    rest = words[at:]
    if "c" in letters:
        return run_text(rest[:1]) if rest else NOTHING
    return Inside(hidden=fetched(rest) or "script") if rest and "s" not in letters else NOTHING


def _without_start_file(words: tuple[Word, ...]) -> Iterator[Word]:
    """The words without the options that name the file that a shell begins with."""
    left = iter(words)
    for word in left:
        if word.start in ("--rcfile", "--init-file"):
            next(left, None)
        elif not word.start.startswith(("--rcfile=", "--init-file=")):
            yield word


def _su(words: tuple[Word, ...]) -> Inside:
    for at, word in enumerate(words[:-1]):
        if word.start in ("-c", "--command", "-lc"):
            return run_text(words[at + 1 : at + 2])
    return NOTHING


def _ssh(command: Command) -> Inside:
    words = command.arguments
    rest = behind_options(behind_options(words, _SSH_VALUED)[1:], _SSH_VALUED)
    runs = runs_by_option(replace(command, arguments=words[: len(words) - len(rest)]))
    return together([Inside(hidden="code" if runs else None), run_text(rest, "remote") if rest else NOTHING])
