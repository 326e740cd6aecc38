"""Programs that run a command with what they find or read: find, fd, xargs, parallel."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain, takewhile

from pi_intent.gates.shell.paths import MOST_PATHS, path_of
from pi_intent.gates.shell.running.inner import TELLS_ITSELF, Inside, run, run_text
from pi_intent.gates.shell.running.shells import SHELLS
from pi_intent.gates.shell.script import Command, Unknown, Word
from pi_intent.word_sets import word_set

FINDERS = word_set("find fd fdfind")
"""Those that run it with what they find."""
HAND_IN = FINDERS | {"xargs", "parallel"}
_EXEC_BATCH = ("--exec", "--exec-batch")
_RUNS = {
    "find": word_set("-exec -execdir -ok -okdir --exec --exec-batch"),
    **dict.fromkeys(("fd", "fdfind"), word_set("-exec -execdir -ok -okdir -x -X --exec --exec-batch")),
}
"""Options behind which the command stands."""
_BY_NAME = ("-name", "-iname")
_FD_RUNS = re.compile(r"-[HIusigaLpl0F1q]*[xX]")
_EXEC = Word("--exec", ("--exec",))


def of_finder(command: Command) -> Inside | None:
    """What find or fd runs; None for any other program."""
    program, words = command.program or "", command.arguments
    if program not in FINDERS:
        return None
    if program != "find":
        words = tuple(_parted(words))
    commands: list[Command] = []
    names = _named(words) if program == "find" else ()
    at = 0
    while at < len(words):
        if words[at].text in _RUNS[program]:
            end = next((n for n in range(at + 1, len(words)) if words[n].text in (";", "+")), len(words))
            commands += run(
                command, tuple(_put_in(word, "{}", names) for word in words[at + 1 : end]), program
            ).commands
            at = end
        at += 1
    return Inside(commands=tuple(commands))


def _named(words: tuple[Word, ...]) -> tuple[str, ...]:
    """The paths of the names that find is told to look for, at each place where it looks."""
    told = zip((_EXEC, *words), words, words[1:], strict=False)
    names = [name.text for no, option, name in told if option.text in _BY_NAME and no.text not in ("!", "-not")]
    plain = [re.sub(r"[*?]+", "x", name) for name in names if name is not None and "[" not in name]
    roots = takewhile(lambda word: not word.start.startswith(("-", "(", "!")), words)
    places = [path_of(root) or "" for root in roots] or ["."]
    paths = [f"{place}/{name}" for place in places for name in plain]
    return tuple(paths) if len(plain) == len(names) and len(paths) <= MOST_PATHS else ()


def _parted(words: tuple[Word, ...]) -> Iterator[Word]:
    """The words, with each `--exec=x`, `-Hx` and `-xrm` as two."""
    for word in words:
        name, equals, _ = word.start.partition("=")
        if equals and name in _EXEC_BATCH:
            yield from (Word(name, (name,)), word.after(len(name) + 1))
        elif found := _FD_RUNS.match(word.start):
            rest = word.after(found.end())
            yield from (_EXEC, *([rest] if rest.parts != ("",) else []))
        else:
            yield word


def handed_to(command: Command, options: tuple[Word, ...], words: tuple[Word, ...]) -> tuple[Word, ...] | Inside:
    """The command that xargs or parallel runs behind its options, with its input in place; or what else it runs."""
    parallel = command.program == "parallel"
    values: tuple[str, ...] = ()
    if parallel:
        cut = next((at for at, word in enumerate(words) if word.start.startswith(":::")), len(words))
        words, values = words[:cut], _given(words[cut:])
    if not words:
        return Inside(hidden="input" if parallel and command.texts not in TELLS_ITSELF else None)
    mark = "{}" if parallel else _mark(options)
    put = tuple(_put_in(word, mark, values) for word in words) if mark else words
    if parallel and len(words) == 1 and " " in words[0].start:
        return run_text(put)
    if len(words) == 1 and words[0].text in SHELLS:
        return Inside(hidden="input")
    return put if put != words else (*words, Word("…", (Unknown("input", "…", values),)))


def _mark(options: tuple[Word, ...]) -> str:
    """What xargs puts its input in place of; nothing where that comes last."""
    for at, word in enumerate(options):
        if found := re.fullmatch(r"-[0rtxop]*[IJ](.*)|--replace=(.+)|(-i|--replace)", word.start):
            following = options[at + 1].start if at + 1 < len(options) else ""
            return found[1] or found[2] or ("{}" if found[3] else following)
    return ""


def _given(words: tuple[Word, ...]) -> tuple[str, ...]:
    """What parallel hands in from its own words, where it is known."""
    paths = [path_of(word) for word in words[1:]] if words and words[0].text == ":::" else []
    known = tuple(path for path in paths if path is not None)
    return known if len(known) == len(paths) <= MOST_PATHS else ()


def _put_in(word: Word, mark: str, values: tuple[str, ...] = ()) -> Word:
    """A word with what stands on the input in place of a mark."""
    if not any(isinstance(part, str) and mark in part for part in word.parts):
        return word
    pieces = [re.split(f"({re.escape(mark)})", part) if isinstance(part, str) else [part] for part in word.parts]
    parts = [
        Unknown("input", mark, values) if part == mark else part for part in chain.from_iterable(pieces) if part != ""
    ]
    return Word(word.source, tuple(parts))
