"""Say of a path that a session of this project names whether it is there now, for the notes on evidence."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from pi_intent.ledger.entries import SessionEntry
from pi_intent.ledger.location import LedgerLocation, work_tree_of

_MOST_FOLDERS = 8  # that one session worked in
_MOST_PARTS = 64
_MOST_KEPT = 8192


class _Place(NamedTuple):
    """A folder that a session worked in: as it was recorded, where it really lies, and the top of its work tree."""

    said: str
    real: str
    top: str


class ProjectFiles:
    """Looks for files of a project, without following a link and without leaving the project; it never raises.

    Sessions that worked elsewhere than in the project or in another work tree of its repository are not judged.
    """

    def __init__(self, location: LedgerLocation, sessions: Iterable[SessionEntry]) -> None:
        self._project = location.project
        self._said: dict[str, dict[str, None]] = {}
        for entry in sessions:
            self._said.setdefault(entry.session, {})[entry.cwd] = None
        self._places = lru_cache(maxsize=_MOST_KEPT)(self._look_up_places)
        self._is_gone = lru_cache(maxsize=_MOST_KEPT)(_is_gone)

    def may_be_there(self, session: str, path: str) -> bool:
        """Say whether a path that a session names exists; also where that cannot be told."""
        return not self._is_gone(self._places(session), path)

    def _look_up_places(self, session: str) -> tuple[_Place, ...]:
        found = (self._place(said) for said in islice(self._said.get(session, ()), _MOST_FOLDERS))
        return tuple(place for place in found if place is not None)

    def _place(self, said: str) -> _Place | None:
        if self._project is None or not os.path.isabs(said):
            return None
        try:
            real, own = os.path.realpath(said), os.path.realpath(self._project)
            if not os.path.isdir(real):
                return None
            tree, here = work_tree_of(Path(real)), work_tree_of(Path(own))
        except (OSError, ValueError):
            return None
        if here is None:
            return _Place(said, real, own) if _is_inside(real, own) else None
        same = tree is not None and tree.repository == here.repository
        return _Place(said, real, str(tree.top)) if tree is not None and same else None


def _is_gone(places: tuple[_Place, ...], path: str) -> bool:
    """Say whether a path is missing from everywhere that it may mean, and surely from one of these."""
    found = [_is_there(place, base, path) for place in places for base in dict.fromkeys((place.real, place.top))]
    return False in found and True not in found


def _is_there(place: _Place, base: str, path: str) -> bool | None:
    """Say whether a path from a folder exists; None where that cannot be told.

    Where not even its first folder exists, it may be short for another one, or of another project.
    """
    if os.path.isabs(path) and _is_inside(path, place.said):
        base, path = place.real, os.path.relpath(path, place.said)
    whole = os.path.normpath(os.path.join(base, path))
    if not _is_inside(whole, place.top) or _is_inside(whole, os.path.join(place.top, ".git")):
        return None
    parts = os.path.relpath(whole, place.top).split(os.sep)
    known = os.path.commonpath((base, whole)).count("/") - place.top.rstrip("/").count("/")
    at = place.top
    for number, part in enumerate(parts[:_MOST_PARTS], 1):
        at = os.path.join(at, part)
        try:
            mode = os.lstat(at).st_mode
        except FileNotFoundError:
            return False if number > known + 1 else None
        except (OSError, ValueError):
            return None
        if number < len(parts) and not stat.S_ISDIR(mode):
            return None
    return True if len(parts) <= _MOST_PARTS else None


def _is_inside(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")
