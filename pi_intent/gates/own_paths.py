"""Whether the path of a call is one that a rule of a person's own means, judged by the text of both."""

from __future__ import annotations

import posixpath
from collections.abc import Callable
from fnmatch import fnmatchcase

Expand = Callable[[str], str]
"""Puts the home folder in the place of `~`, as `os.path.expanduser` does."""


def is_path(path: str, pattern: str, *, cwd: str, root: str, expand: Expand) -> bool:
    """Say whether a path, as a tool gets it in `cwd`, is what a glob names, or lies in it.

    The glob is relative to `root`, the project; `*` also stands for `/`. `./`, `//`, `..`, a `/` at the end and `~/`
    are read as a shell reads them.
    """
    absolute = _plain(posixpath.join(cwd, expand(path) if path.startswith("~") else path))
    within = root.rstrip("/") + "/"
    relative = absolute[len(within) :] if absolute.startswith(within) else absolute
    plain = posixpath.normpath(expand(pattern) if pattern.startswith("~") else pattern)
    if plain == ".." or plain.startswith("../") or plain == ".":
        plain = posixpath.join(root, plain)
    if plain.startswith("/"):
        plain = _plain(plain)
    forms = {plain, plain.replace("**/", "")}  # "a/**/b" is also meant for a/b
    return any(_covers(form, each) for form in forms for each in (path, absolute, relative))


def _plain(path: str) -> str:
    normal = posixpath.normpath(path)
    return normal[1:] if normal.startswith("//") else normal


def _covers(pattern: str, path: str) -> bool:
    # Only * and ? are wildcards.
    glob = pattern.replace("[", "[[]")
    return fnmatchcase(path, glob) or fnmatchcase(path, glob.rstrip("/") + "/*")
