"""What a whole shell command does and shows, folded from its simple commands.

What is not known to be harmless counts as a program that may do anything, and nothing is said of it.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal, NamedTuple

from pi_intent.notes.commands import Simple, split
from pi_intent.notes.deeds import Effect, deeds, git_verb, in_place
from pi_intent.notes.programs import (
    CHECKERS,
    GIT_LOOKS,
    HARMLESS,
    MANAGERS,
    PROBES,
    RUNNERS,
    SHOWS_LINES,
    SHOWS_NAMES,
    TEST_WORDS,
    WAITS,
)
from pi_intent.notes.scratch import without_scratch
from pi_intent.notes.words import is_file

Shows = Literal["nothing", "names", "lines"]
"""Whether what a command prints can name files, or show lines of files, that it does not name itself."""

_CHANGERS = frozenset({"rm", "cp", "mv", "ln", "tee", "mkdir", "touch"})
_WIDE = frozenset({"find", "rg", "ag", "fd", "xargs"})
_GIT_SHOWS_LINES = frozenset({"diff", "show", "log", "grep", "blame"})
_LEVELS: tuple[Shows, ...] = ("nothing", "names", "lines")


class Done(NamedTuple):
    """One effect, and the words of the command that have it."""

    effect: Effect
    words: str


class Effects(NamedTuple):
    """What a whole command does.

    `tests` says that it runs a test or a check, `runs` that it runs a program that may do anything, `probes` that it
    tries something out; `changes` that something may be different afterwards; `waits` that what it shows changes by
    itself. `files` are the files that it names, `wide` says that it looks at more than those.
    """

    done: tuple[Done, ...] = ()
    tests: bool = False
    runs: bool = False
    probes: bool = False
    changes: bool = False
    waits: bool = False
    files: tuple[str, ...] = ()
    wide: bool = False
    shows: Shows = "nothing"


_SHORT = 400  # characters: commands of this length come again and again


def effects_of(command: str) -> Effects:
    """Return what a command does."""
    return _known(command) if len(command) <= _SHORT else _read(command)


@lru_cache(maxsize=2048)
def _known(command: str) -> Effects:
    return _read(command)


def _read(command: str) -> Effects:
    parts: list[Effects] = []
    moved = downloads = False
    read = _effects if len(command) <= _SHORT else _effects.__wrapped__  # what is long comes once
    for simple in without_scratch(split(command)):
        parts.append(read(simple, moved=moved, downloads=downloads))
        moved = moved or simple.program in ("cd", "pushd")
        downloads = downloads or simple.program in ("curl", "wget", "base64")
    return parts[0] if len(parts) == 1 else _sum(parts)


def _sum(parts: list[Effects]) -> Effects:
    """Return what simple commands do together."""
    tests = runs = probes = changes = waits = wide = False
    done: dict[Done, None] = {}
    files: list[str] = []
    shows: Shows = "nothing"
    for part in parts:
        done |= dict.fromkeys(part.done)
        tests |= part.tests
        runs |= part.runs
        probes |= part.probes
        changes |= part.changes
        waits |= part.waits
        files += part.files
        wide |= part.wide
        if _LEVELS.index(part.shows) > _LEVELS.index(shows):
            shows = part.shows
    return Effects(tuple(done), tests, runs, probes, changes, waits, tuple(files), wide, shows)


@lru_cache(maxsize=2048)
def _effects(simple: Simple, *, moved: bool, downloads: bool) -> Effects:
    program, arguments = simple.program, simple.words[1:]
    found = deeds(simple, moved=moved, downloads=downloads)
    tests = _tests(simple)
    harmless = program in HARMLESS and not (program == "sed" and in_place(simple.words))
    runs = not (harmless or tests or found or program in _CHANGERS or not program)
    files = tuple(word for word in (*arguments, *simple.writes) if is_file(word))
    git = git_verb(simple.words) if program == "git" else ""
    shows: Shows = "nothing"
    if tests or runs or git in _GIT_SHOWS_LINES or (program in SHOWS_LINES and not files and not simple.fed):
        shows = "lines"
    elif program in SHOWS_NAMES or git:
        shows = "names"
    return Effects(
        done=tuple(Done(effect, _shown(effect, simple)) for effect in found),
        tests=tests,
        runs=runs,
        probes=program in PROBES,
        changes=bool(found)
        or runs
        or program in _CHANGERS
        or any(not path.startswith("/dev/") for path in simple.writes)
        or (program == "git" and git not in GIT_LOOKS),
        waits=program in WAITS,
        files=files,
        wide=_wide(simple, files),
        shows=shows,
    )


def _shown(effect: Effect, simple: Simple) -> str:
    """Return the words of a command that tell of an effect: of what it writes, where to."""
    words = " ".join(simple.words)[:200]
    to = ", ".join(path for path in simple.writes if not path.startswith("/dev/"))[:100]
    return f"{words} > {to}" if effect == "write" and to else words


def _wide(simple: Simple, files: tuple[str, ...]) -> bool:
    """Say whether a command looks at more files than it names."""
    if simple.program in _WIDE or "xargs" in simple.wrapped or any("*" in word for word in simple.words[1:]):
        return True
    folder = any(word in (".", "..") or ("/" in word and not word.startswith("-")) for word in simple.words[1:])
    return not files and (folder or simple.program in ("grep", "ls"))


def _tests(simple: Simple) -> bool:
    program = simple.program
    if program in RUNNERS or program in CHECKERS:
        return True
    first = simple.words[1:6]
    if program in MANAGERS:
        return any(_is_test(word) for word in first)
    return program.endswith((".sh", ".py")) and "test" in program


def _is_test(word: str) -> bool:
    parts = re.split(r"[:/._-]", word.lower())
    return any(part in TEST_WORDS for part in parts)
