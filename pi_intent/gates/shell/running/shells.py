"""Shells, and what else runs words as the text of a shell: eval, trap, su, ssh."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from pi_intent.gates.shell.running.inner import NOTHING, Inside, behind_options, fetched, run_text
from pi_intent.gates.shell.script import Command, Word
from pi_intent.word_sets import word_set

SHELLS = word_set("sh bash zsh dash ksh ash fish mksh busybox-sh")


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
        return _ssh(words)
    if program == "trap" and len(words) > 1:
        words = words[words[0].text == "--" :]
        return run_text(words[:1]) if words[0].text not in ("-", "", "-p", "-l") else NOTHING
    return None


def _shell(words: tuple[Word, ...]) -> Inside:
    at = 0
    if any(re.match("--(?:rcfile|init-file)(?:=|$)", word.start) for word in words):
        return replace(_shell(tuple(_without_start_file(words))), hidden="script")
    while at < len(words):
        text = words[at].start
        if text.startswith("--command="):
            return run_text((words[at].after(len("--command=")),))
        if text == "--command" or (text.startswith(("-", "+")) and not text.startswith("--") and "c" in text[1:]):
            rest = behind_options(words[at + 1 :], "oO")
            return run_text(rest[:1]) if rest else NOTHING
        if text in ("-o", "+o", "-O", "+O"):
            at += 2
        elif text == "-s" or text == "-":
            return NOTHING
        elif text.startswith(("-", "+")) and text != "--":
            if text in ("--version", "--help"):
                return NOTHING
            if text.lstrip("-") == "n":
                return NOTHING  # it only checks the script
            at += 1
        else:
            break
    rest = words[at:]
    return Inside(hidden=fetched(rest) or "script") if rest else NOTHING


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


def _ssh(words: tuple[Word, ...]) -> Inside:
    rest = behind_options(words, "bcDeFIiJLlmOopQRSWw")[1:]
    return run_text(rest, "remote") if rest else NOTHING
