"""Where find and fd look."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise, takewhile

from pi_intent.gates.shell.operands import operands
from pi_intent.gates.shell.script import Command, Word
from pi_intent.word_sets import word_set

_HERE = Word(".", (".",))
_LEADING = re.compile(r"-[HLP]|-O\d*|-D.*")
"""Options of find that stand before the folders."""
_FD_RUNS = re.compile("-[xX]|--exec(?:-batch)?(?:=.*)?")
_FD_LETTERS = "etEdjScCo"
_FD_NAMES = word_set(
    "--extension --type --exclude --max-depth --min-depth --exact-depth --threads --size --changed-within --color "
    "--changed-before --max-results --path-separator --ignore-file --batch-size --owner --format --base-directory "
    "--search-path"
)
_FD_FOLDERS = re.compile("(?:--search-path|--base-directory)(?P<value>=)?|-C")


def roots(command: Command) -> list[Word]:
    """The folders in which it looks: where it runs, unless it names some."""
    named = _of_find(command.arguments) if command.program == "find" else _of_fd(command.arguments)
    return list(named) or [_HERE]


def _of_find(words: tuple[Word, ...]) -> Iterator[Word]:
    leads, value = True, False
    for word in words:
        if value or (leads and _LEADING.fullmatch(word.start)):
            value = not value and word.text == "-D"
        elif word.start.startswith(("-", "(", "!")) and word.text != "--":
            return
        else:
            leads = False
            yield from () if word.text == "--" else (word,)


def _of_fd(words: tuple[Word, ...]) -> Iterator[Word]:
    before = tuple(takewhile(lambda word: not _FD_RUNS.fullmatch(word.start), words))
    yield from list(operands(before, _FD_LETTERS, _FD_NAMES))[1:]
    for word, following in pairwise((*before, _HERE)):
        if found := _FD_FOLDERS.match(word.start):
            yield word.after(found.end()) if found["value"] else following
