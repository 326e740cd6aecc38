"""The values that a command's options are given, in each way: `-x v`, `-xv`, `-ax v`, `--long v`, `--long=v`."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import pairwise

from pi_intent.gates.shell.script import Word

_SHORTEST = 5
"""How much of a long option its beginning must at least be: programs take one that only one option has."""
_NONE = Word("", ("",))


def given_to(
    words: tuple[Word, ...],
    letters: str = "",
    names: Collection[str] = (),
    valued: str = "",
    *,
    clusters: bool = True,
) -> Iterator[Word]:
    """Yield the values of options of these letters and names; behind a letter of `valued` stands its own value.

    `clusters` says whether `-so x` is `-s -o x`.
    """
    for word, following in pairwise((*words, _NONE)):
        text = word.start
        name, equals, _ = text.partition("=")
        if _is_one(name, names):
            yield word.after(len(name) + 1) if equals else following
        elif end := _letter_end(text if clusters else text[:2], letters, valued):
            yield following if word.text is not None and end == len(text) else word.after(end)


def _is_one(name: str, names: Collection[str]) -> bool:
    return name in names or (
        len(name) >= _SHORTEST and name.startswith("--") and any(known.startswith(name) for known in names)
    )


def _letter_end(text: str, letters: str, valued: str) -> int:
    """Where a letter of these ends in `-o`, `-ox` or `-so`; 0 where there is none."""
    if text.startswith("-") and not text.startswith("--"):
        for at, letter in enumerate(text[1:], start=1):
            if letter in letters:
                return at + 1
            if letter in valued or not letter.isalnum():
                break
    return 0
