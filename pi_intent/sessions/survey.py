"""Find the sessions of one project where agents keep them, reading only how each file begins and ends."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from pathlib import Path

from pi_intent.errors import SessionError
from pi_intent.sessions.front import read_session
from pi_intent.sessions.last_time import last_time
from pi_intent.sessions.own_id import own_session_id
from pi_intent.sessions.places import is_inside, session_files, size_and_time, usual_places
from pi_intent.sessions.values import Dialect, Head

_LOOKED_AT = 200
"""Things that a file tells before its working directory, at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A session file that can be imported.

    `modified` is the Unix time of its last change, `last_used` that of the last record in it; where none of the last
    ones has a time, they are the same.
    """

    path: Path
    dialect: Dialect
    session: str
    cwd: str | None
    size: int
    modified: float
    last_used: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """What lies in the usual places: the files of this project, and how many others there are."""

    offers: tuple[Offer, ...]
    elsewhere: int


def survey(environ: Mapping[str, str], folders: tuple[str, ...]) -> Survey:
    """Look through the usual places for sessions in a project's folders. Never raises on what it finds."""
    inside = lru_cache(maxsize=1024)(lambda cwd: is_inside(cwd, folders))
    found: list[Offer] = []
    elsewhere = 0
    for place in usual_places(environ):
        for path in session_files(place.folder):
            offer = offer_of(path)
            if offer is None:
                continue
            if offer.cwd is not None and inside(offer.cwd):
                found.append(replace(offer, last_used=last_time(path) or offer.modified))
            else:
                elsewhere += 1
    return Survey(offers=tuple(found), elsewhere=elsewhere)


def offer_of(path: Path) -> Offer | None:
    """Return what a file says of itself at its beginning; None where it is no session, or cannot be read."""
    try:
        dialect, found = read_session(path)
        session = cwd = None
        for item in islice(found, _LOOKED_AT):
            if isinstance(item, Head):
                session, cwd = item.session or session, item.cwd or cwd
            if cwd is not None:
                break
        size, modified = size_and_time(path)
        session = session or own_session_id(dialect, path)
    except (SessionError, OSError):
        return None
    return Offer(
        path=path,
        dialect=dialect,
        session=session,
        cwd=cwd,
        size=size,
        modified=modified,
        last_used=modified,
    )
