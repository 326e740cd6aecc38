"""What a command runs in turn: commands, texts of a shell, or what nobody can read; and the ways to tell it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from pi_intent.gates.shell.script import Command, Hidden, Place, Unknown, Word
from pi_intent.word_sets import word_set

FETCHERS = word_set("curl wget fetch aria2c http https xh nc ncat lynx w3m ssh")
TELLS_ITSELF = (("--version",), ("--help",))
"""Arguments with which a program only tells what it is."""
INPUT = "0input"
"""A variable, of a name that no shell allows: what stands on the input of xargs or find, in a text made of it."""


@dataclass(frozen=True, slots=True)
class Inside:
    """What a command runs in turn."""

    commands: tuple[Command, ...] = ()
    texts: tuple[tuple[str, Place], ...] = ()
    hidden: Hidden | None = None
    apart: bool = False
    """Whether the commands run in a shell of their own: a `cd` among them holds for them alone."""


NOTHING = Inside()


def run(command: Command, words: tuple[Word, ...], through: str) -> Inside:
    """Words that are run as a command."""
    return Inside(commands=(command.running(words, through),)) if words else NOTHING


def run_text(words: tuple[Word, ...], place: Place = "nested") -> Inside:
    """Words that another shell reads as its text: what is not known in them stays a variable there."""
    if any(
        part.gap == "substitution" or word.start == ""
        for word in words
        for part in word.parts
        if isinstance(part, Unknown)
    ):
        if hidden := fetched(words):
            return Inside(hidden=hidden)
        if all(not word.start for word in words):
            return Inside(hidden="input")
    stand_ins = {"home": "~", "input": f"${{{INPUT}}}"}
    pieces = [
        "".join(part if isinstance(part, str) else stand_ins.get(part.gap, "$__unknown") for part in word.parts)
        for word in words
    ]
    return Inside(texts=((" ".join(pieces), place),))


def run_texts(words: Iterable[Word]) -> Inside:
    """Words of which another shell reads each as a text of its own."""
    return together([run_text((word,)) for word in words])


def together(found: Collection[Inside]) -> Inside:
    """All that one command runs in turn."""
    return Inside(
        commands=tuple(inner for one in found for inner in one.commands),
        texts=tuple(text for one in found for text in one.texts),
        hidden=next((one.hidden for one in found if one.hidden), None),
    )


def fetched(words: Iterable[Word]) -> Hidden | None:
    """Whether the words are what a program prints that fetches."""
    for word in words:
        for part in word.parts:
            if isinstance(part, Unknown):
                found = re.match(r"[<$]?[(`]\s*(?:\w+=\S+\s+)*(?:sudo\s+)?([\w/.-]+)", part.source)
                if found and found[1].rsplit("/", 1)[-1] in FETCHERS:
                    return "fetched"
    return None


def behind_options(words: tuple[Word, ...], letters: str = "", long: Collection[str] = ()) -> tuple[Word, ...]:
    """Leave out the options in front, with their values."""
    at = 0
    while at < len(words):
        text = words[at].start
        if text == "--":
            return words[at + 1 :]
        if not text.startswith("-") or text == "-":
            break
        takes = text in long or (
            not text.startswith("--") and text[-1:] in letters and not set(text[1:-1]) & set(letters)
        )
        at += 2 if takes else 1
    return words[at:]
