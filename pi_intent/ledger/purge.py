"""Decide which segments are old enough to remove, and remove them whole."""

from __future__ import annotations

import errno
import fcntl
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from pi_intent.ledger.entries import CallEntry, DoneEntry, OtherEntry, SessionEntry
from pi_intent.ledger.open_calls import OpenCalls
from pi_intent.ledger.reader import Problem, Segment

Stay = Literal["running", "tied", "undated", "unreadable", "link"]
"""Why a segment that may be old stays: its writer runs · it has one half of a call whose other half stays · no
record says when it was written · it cannot be read · it is a link, and what it leads to is not ours to remove."""

Removal = Literal["removed", "gone", "in use", "changed"]

_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """What there is in a segment: from when to when, how much, and of which calls only one half.

    `first` and `last` are the earliest and the latest time that a record states, wherever it stands: a clock may
    have been set back. `last` is None where none does, or where one cannot be read. `calls` counts those that begin
    here, `size` is in bytes.
    """

    path: Path
    session: str | None = None
    calls: int = 0
    size: int = 0
    first: str | None = None
    last: str | None = None
    stays: Stay | None = None
    halves: OpenCalls = field(default_factory=OpenCalls, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What to remove, and what stays although it may be old, with the reason."""

    remove: tuple[Survey, ...]
    kept: tuple[tuple[Survey, Stay], ...]


def survey(segment: Segment) -> Survey:
    """Read a segment once. Never raises on what it holds."""
    path, size = segment.path, 0
    if path.is_symlink():
        return Survey(path=path, stays="link")
    session: str | None = None
    times: list[str] = []
    undated = unreadable = False
    begun = 0
    halves = OpenCalls()
    try:
        size = path.stat().st_size
    except OSError:
        unreadable = True
    for item in segment.read():
        if isinstance(item, Problem):
            unreadable = unreadable or item.line is None
            continue
        entry = item.entry
        ts = entry.data.get("ts") if isinstance(entry, OtherEntry) else entry.ts
        if isinstance(ts, str) and _TIME.fullmatch(ts):
            times = [min(ts, *times), max(ts, *times)] if times else [ts, ts]
        elif ts is not None:
            undated = True
        if isinstance(entry, SessionEntry):
            session = session or entry.session
        if isinstance(entry, CallEntry):
            begun += 1
        if isinstance(entry, CallEntry | DoneEntry):
            halves.take(entry)
    stays: Stay | None = None
    if unreadable:
        stays = "unreadable"
    elif segment.running:
        stays = "running"
    elif undated or not times:
        stays = "undated"
    first, last = times or (None, None)
    return Survey(
        path=path,
        session=session,
        calls=begun,
        size=size,
        first=first,
        last=None if undated else last,
        stays=stays,
        halves=halves,
    )


def plan(surveys: Sequence[Survey], *, before: str) -> Plan:
    """Say which segments go: those with nothing from `before` or later, a time as records state it.

    A call is never torn apart: where one half of it stays, the other stays, too.
    """
    old = [found for found in surveys if found.stays is None and found.last is not None and found.last < before]
    kept: list[tuple[Survey, Stay]] = [
        (found, found.stays)
        for found in surveys
        # Of what has a time that is young there is nothing to say.
        if found.stays is not None and (found.last is None or found.last < before)
    ]
    going = {found.path for found in old}
    staying = [found for found in surveys if found.path not in going]
    while staying:
        begun, ended = _halves(staying)
        staying = [found for found in old if _is_tied(found, begun, ended)]
        old = [found for found in old if found not in staying]
        kept += [(found, "tied") for found in staying]
    return Plan(remove=tuple(old), kept=tuple(kept))


def _halves(surveys: Iterable[Survey]) -> tuple[set[str], set[str]]:
    begun: set[str] = set()
    ended: set[str] = set()
    for found in surveys:
        begun |= found.halves.begun
        ended |= found.halves.ended
    return begun, ended


def _is_tied(found: Survey, begun: set[str], ended: set[str]) -> bool:
    halves = found.halves
    return bool(halves.not_followed) or not (halves.begun.isdisjoint(ended) and halves.ended.isdisjoint(begun))


def left_open(surveys: Iterable[Survey]) -> int:
    """Return how many calls begin in these segments and end in none of them."""
    begun, ended = _halves(surveys)
    return len(begun - ended)


def remove_segment(found: Survey) -> Removal:
    """Remove a segment's file, unless somebody holds it or it is not what was surveyed. Raises `OSError`."""
    try:
        fd = os.open(found.path, os.O_RDONLY | os.O_NOFOLLOW)
    except FileNotFoundError:
        return "gone"
    except OSError as error:
        if error.errno == errno.ELOOP:  # it became a link
            return "changed"
        raise
    try:
        try:
            # Shared: over NFS an exclusive one is only for who may write, and a writer's keeps this one away, too.
            fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return "in use"
        except OSError:
            pass  # a file system without locks: whoever writes there begins a new segment
        mine = os.fstat(fd)
        if mine.st_nlink == 0:  # somebody else removed it after it was opened here
            return "gone"
        if mine.st_size != found.size:
            return "changed"
        found.path.unlink()
    except FileNotFoundError:
        return "gone"
    finally:
        os.close(fd)
    return "removed"
