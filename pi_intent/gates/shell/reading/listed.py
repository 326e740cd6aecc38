"""Which files stand on the input of xargs, where the other side of its pipe lists some."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import replace

from pi_intent.gates.shell.operands import operands
from pi_intent.gates.shell.paths import path_of
from pi_intent.gates.shell.script import Command, Unknown, Word
from pi_intent.word_sets import word_set

_FILTERS = {
    "grep": 1,
    "egrep": 1,
    "fgrep": 1,
    "head": 0,
    "tail": 0,
    "sort": 0,
    "uniq": 0,
    "shuf": 0,
    "tr": 2,
    "tee": 9,
    "xargs": 9,
}
"""Programs that pass on lines of their input, each with how many operands it has then at most."""
_VALUED = {"fd": "etEdjScm", "fdfind": "etEdjScm", "rg": "efgtTmABCjd", "grep": "efmABCd", "ls": "ITw"}
_FILTER_VALUED = "nckteAmB"
_NAMES_ONLY = re.compile(r"-[a-zA-Z]*[lL][a-zA-Z]*|--files(?:-with(?:out)?-match(?:es)?)?|--name-only")
_GIT_LISTS = word_set("ls-files grep diff show log status")
_PRINTS_OTHERWISE = word_set(
    "-printf -exec -execdir --search-path --base-directory --format -x -X --exec --exec-batch"
)


def listed_by(givers: Iterable[Command]) -> tuple[str, ...]:
    """A path in each of the folders whose files the first of these commands lists; none where that is not known."""
    first, *others = givers
    roots = None if _PRINTS_OTHERWISE & set(first.texts) else _roots(first)
    if roots is None or not all(_passes_on(other) for other in others):
        return ()
    paths = [path_of(root) for root in roots] or ["."]
    known = [f"{path}/x" for path in paths if path is not None]
    return tuple(known) if len(known) == len(paths) else ()


def handed(command: Command, paths: tuple[str, ...]) -> Command:
    """A command of which it is known what paths it is handed."""
    return replace(
        command,
        arguments=tuple(_with(word, paths) for word in command.arguments),
        redirects=tuple(replace(given, target=_with(given.target, paths)) for given in command.redirects),
    )


def takes_a_file(command: Command) -> bool:
    """Whether xargs reads something else in place of its input."""
    given = any(redirect.operator.startswith("<") for redirect in command.redirects)
    return given or any(re.match("-[0rtx]*a|--arg-file|:::", text) for text in command.texts)


def _open(part: str | Unknown) -> bool:
    return isinstance(part, Unknown) and part.gap == "input" and not part.values


def _with(word: Word, paths: tuple[str, ...]) -> Word:
    parts = (
        replace(part, values=paths) if isinstance(part, Unknown) and _open(part) else part for part in word.parts
    )
    return Word(word.source, tuple(parts))


def _roots(command: Command) -> list[Word] | None:
    """Where a command looks for the files that it names, or None where it prints something else."""
    program, words = command.program or "", command.arguments
    names_only = any(map(_NAMES_ONLY.fullmatch, command.texts))
    named = list(operands(words, _VALUED.get(program, "")))
    match program:
        case "find":
            return _of_find(words)
        case "ls":
            return named
        case "fd" | "fdfind":
            return named[1:]
        case "rg" if "--files" in command.texts:
            return named
        case "rg" | "grep" if names_only:
            return named if _has({"-e", "-f"}, command.texts) else named[1:]
        case "git" if "ls-files" in command.texts or (names_only and _has(_GIT_LISTS, command.texts)):
            return []
        case _:
            return None


def _of_find(words: tuple[Word, ...]) -> list[Word]:
    named: list[Word] = []
    for word in words:
        if word.start.startswith(("-", "(", "!")) and word.start not in ("-L", "-H", "-P"):
            break
        named += [word] if not word.start.startswith("-") else []
    return named


def _has(names: Collection[str], texts: tuple[str, ...]) -> bool:
    return any(text in names for text in texts)


def _passes_on(command: Command) -> bool:
    given = [word for word in operands(command.arguments, _FILTER_VALUED) if not any(map(_open, word.parts))]
    handed_on = any(part.values for word in given for part in word.parts if isinstance(part, Unknown))
    return command.program in _FILTERS and len(given) <= _FILTERS[command.program] + handed_on
