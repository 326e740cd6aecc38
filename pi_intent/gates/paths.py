"""Whether a path lies outside the project, judged by its text; links are for a resolver that the host hands in."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable

Resolver = Callable[[str], str]
"""Follows the links of an absolute path, as `os.path.realpath` does."""

_DEVICES = ("/dev/null", "/dev/stdout", "/dev/stderr", "/dev/stdin", "/dev/tty", "/dev/zero")


def outside_project(
    path: str, cwd: str, project: str | None = None, *, also: Iterable[str] = (), resolve: Resolver | None = None
) -> bool:
    """Tell whether a path that a tool reads or writes lies outside the project and its working directory.

    `also` are further folders that count as the project. A path of the home folder (`~/x`) is outside; so is one with
    a NUL. With `resolve`, both the path as written and the one its links lead to must lie inside.
    """
    if "\0" in path or path == "~" or path.startswith("~/") or (path.startswith("~") and "/" in path):
        return True
    absolute = posixpath.normpath(posixpath.join(cwd, path))
    if absolute.startswith("//"):
        absolute = absolute[1:]
    if absolute in _DEVICES or absolute.startswith("/dev/fd/"):
        return False
    roots = [posixpath.normpath(root) for root in (cwd, project, *also) if root]
    if not any(_within(absolute, root) for root in roots):
        return True
    if resolve is None:
        return False
    real = resolve(absolute)
    return not any(_within(real, resolve(root)) for root in roots)


def _within(path: str, root: str) -> bool:
    return path == root or path.startswith(root.rstrip("/") + "/")
