"""What a shell command would run, as values: nothing here knows how it was read."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import dropwhile
from typing import Literal

from pi_intent.word_sets import word_set

_GNU = word_set(
    "base64 basename cat chgrp chmod chown chroot cp csplit cut date dd df dirname du echo env expand expr factor "
    "false find head hostid id install join kill link ln locate ls make mkdir mkfifo mknod mktemp mv nice nl "
    "nohup od paste printenv printf pwd readlink realpath rm rmdir sed seq shred shuf sleep sort split stat "
    "stdbuf stty sum sync tac tail tar tee test timeout touch tr true truncate tsort uname uniq unlink updatedb "
    "uptime wc who whoami xargs yes"
)
"""Programs of GNU's that are called with a `g` before their name where the system has others of that name."""

Gap = Literal["home", "variable", "substitution", "glob", "input"]
"""What is only known when it runs; `home` is the home folder, `input` what stands on the input of xargs or find."""

Place = Literal[
    "pipe",
    "subshell",
    "substitution",
    "background",
    "function",
    "condition",
    "loop",
    "alternative",
    "heredoc",
    "nested",
    "alias",
    "remote",
]
"""Where a command stands; `nested` is the text handed to another shell, `remote` runs on another machine."""

Hidden = Literal["fetched", "input", "code", "script", "recipe"]
"""What a command runs that is not in the text: fetched from a network, read from its input, code of another language,
a script in a file, a recipe of a build tool."""

Reason = Literal["no_parser", "syntax", "name", "long", "deep", "nul"]


@dataclass(frozen=True, slots=True)
class Unknown:
    """A part of a word that only the run will tell."""

    gap: Gap
    source: str
    values: tuple[str, ...] = ()
    """What it is one of, where that is known: the words of a loop."""


@dataclass(frozen=True)  # no slots: what is asked of one many times is kept in it
class Word:
    """One word as the shell would pass it on: the parts it would pass literally, and those nobody knows before."""

    source: str
    parts: tuple[str | Unknown, ...]

    @cached_property
    def text(self) -> str | None:
        """Exactly what the shell would pass, or None where that is not known before running."""
        return self.start if all(isinstance(part, str) for part in self.parts) else None

    @cached_property
    def start(self) -> str:
        """What is known from the beginning on: everything, for a literal word."""
        known = ""
        for part in self.parts:
            if not isinstance(part, str):
                break
            known += part
        return known

    def after(self, count: int) -> Word:
        """The word without its first characters, which are literal."""
        unknown = dropwhile(lambda part: isinstance(part, str), self.parts)
        return Word(self.source, (self.start[count:], *unknown))

    @property
    def shown(self) -> str:
        """The word with what is not known left as it is written."""
        return "".join(part if isinstance(part, str) else part.source for part in self.parts)


@dataclass(frozen=True, slots=True)
class Assignment:
    name: str
    value: Word


@dataclass(frozen=True, slots=True)
class Redirect:
    operator: str
    target: Word


@dataclass(frozen=True, kw_only=True)  # no slots: what is asked of one many times is kept in it
class Command:
    """One simple command.

    `name` is None for a redirection or an assignment alone. `through` are the wrappers that run it, outermost first;
    `scope` numbers the shells around it, outermost first: a `cd` holds for what has the same beginning. `source` is
    its text as written.
    """

    name: Word | None
    arguments: tuple[Word, ...] = ()
    assignments: tuple[Assignment, ...] = ()
    redirects: tuple[Redirect, ...] = ()
    place: tuple[Place, ...] = ()
    through: tuple[str, ...] = ()
    scope: tuple[int, ...] = ()
    hidden: Hidden | None = None
    source: str = ""

    @cached_property
    def program(self) -> str | None:
        """The name without its folder and the `g` of GNU's own, or None where it is not known."""
        text = self.name.text if self.name else None
        name = None if text is None else text.rsplit("/", 1)[-1]
        return name[1:] if name and name[0] == "g" and name[1:] in _GNU else name

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The arguments, each up to where it is no longer known."""
        return tuple(word.start for word in self.arguments)

    def running(self, words: tuple[Word, ...], through: str) -> Command:
        """The command that this one runs in turn."""
        name, *arguments = words
        return replace(
            self,
            name=name,
            arguments=tuple(arguments),
            assignments=(),
            redirects=(),
            through=(*self.through, through),
        )


@dataclass(frozen=True, slots=True)
class Unclear:
    """Something that could not be read, so that nobody can say what it does."""

    why: Reason
    text: str


@dataclass(frozen=True, slots=True)
class Script:
    """All that a text would run, in order, and what of it could not be read."""

    commands: tuple[Command, ...] = ()
    unclear: tuple[Unclear, ...] = ()
