"""Which paths the words of a command may be, and whether one of them lies outside the project."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable

from pi_intent.gates.paths import outside_project
from pi_intent.gates.shell.script import Unknown, Word

MOST_PATHS = 32
"""How many paths one word may be, so that each is looked at."""


def word_outside(
    word: Word, folders: Iterable[str | None], cwd: str, project: str | None, also: Iterable[str]
) -> bool:
    """Tell whether a word may name something outside, seen from any folder it may be run in (None: not known).

    What is not known counts as outside, except a glob below a known folder.
    """
    if any(isinstance(part, Unknown) and part.gap == "home" for part in word.parts[:1]):
        return True
    paths = paths_of(word)
    if paths is None:
        return True
    inside = (cwd, *also)
    return any(
        (folder is None and not path.startswith("/"))
        or outside_project(posixpath.join(folder or "/", path), cwd, project, also=inside)
        for folder in dict.fromkeys(folders)
        for path in paths
    )


def paths_of(word: Word) -> list[str] | None:
    """The paths that a word may be; a name stands for what is not known of a path that begins in a known folder."""
    paths = [""]
    for part in word.parts:
        further: tuple[str, ...] = ("x",)
        if isinstance(part, str):
            further = (part,)
        elif part.values and len(paths) * len(part.values) <= MOST_PATHS:
            further = part.values
        elif not (part.gap == "glob" and ".." not in part.source) and not (
            paths[0].endswith(("/", "-", "_", ".")) and _plain_rest(word)
        ):
            return None
        paths = [path + more for path in paths for more in further]
    return paths


def path_of(word: Word) -> str | None:
    """The path of a word without blanks, a name in place of a pattern; None where it is not known."""
    known = all(isinstance(part, str) or (part.gap == "glob" and ".." not in part.source) for part in word.parts)
    path = "".join(part if isinstance(part, str) else "x" for part in word.parts)
    return path if known and not re.search(r"[\s*?\[]", path) else None


def _plain_rest(word: Word) -> bool:
    """A variable within a path is taken for a name: whoever puts `..` into one hides it from this rule."""
    return all(
        isinstance(part, str) or part.gap in ("variable", "substitution", "glob", "input") for part in word.parts
    )
