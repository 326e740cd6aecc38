"""Read any session file that we know: the dialect is told by what stands first in it, not by its name."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

from pi_intent.errors import SessionError
from pi_intent.labels.printable import printable
from pi_intent.sessions import claude_code, codex, oh_my_pi, openhands, pi, tau
from pi_intent.sessions.lines import LINE_LIMIT, Numbered, objects
from pi_intent.sessions.looks import looks_like
from pi_intent.sessions.values import Dialect, Found, Unread
from pi_intent.types import JSONObject


class _Way(NamedTuple):
    """How one dialect is recognised and read."""

    name: str
    is_ours: Callable[[Sequence[JSONObject]], bool]
    read: Callable[[Iterable[Numbered | Unread]], Iterator[Found]]


WAYS: dict[Dialect, _Way] = {
    "tau": _Way("Tau", tau.is_ours, tau.read),
    "oh-my-pi": _Way("oh-my-pi", oh_my_pi.is_ours, oh_my_pi.read),
    "pi": _Way("pi", pi.is_ours, pi.read),
    "claude-code": _Way("Claude Code", claude_code.is_ours, claude_code.read),
    "codex": _Way("Codex", codex.is_ours, codex.read),
    "openhands": _Way("OpenHands", openhands.is_ours, openhands.read),
}
"""Every dialect that is read, in the order in which they are tried: pi's kin are told from pi by what they add."""

FIRST = 32
"""Objects by which a dialect is told."""

LOOKED_AT = 1000
"""Objects, and lines that hold none, among which they are looked for."""


def read_session(path: Path, *, at: Callable[[int], None] | None = None) -> tuple[Dialect, Iterator[Found]]:
    """Return whose session a file is, and what it tells, which is read as it is asked for.

    `path` may also be a folder in which OpenHands keeps one event a file. `at` is told the bytes read so far. Raises
    `SessionError`, with a sentence, for what is no session that we know; the iterator raises it where the disk fails.
    Whatever else stands in the file is told and passed over.
    """
    shown = printable(str(path), width=200)
    try:
        mode = path.stat().st_mode
        files = event_files(path) if stat.S_ISDIR(mode) else [path]
    except (OSError, ValueError) as error:
        raise SessionError(f"{shown} cannot be read: {_reason(error)}") from error
    if stat.S_ISDIR(mode):
        if not files:
            raise SessionError(f"{shown}: no session file in this folder")
        items = _whole(files)
    elif stat.S_ISREG(mode):
        items = _lines(path)
    else:
        raise SessionError(f"{shown} is neither a file nor a folder")
    start: list[Numbered | Unread] = []
    first: list[JSONObject] = []
    for item in islice(items, LOOKED_AT):
        start.append(item)
        if isinstance(item, Numbered):
            first.append(item.value)
            if len(first) == FIRST:
                break
    if not start:
        raise SessionError(f"{shown} is empty")
    for dialect, way in WAYS.items():
        if way.is_ours(first):
            return dialect, way.read(_told(chain(start, items), at))
    raise SessionError(f"{shown} {looks_like(first, path)} (sessions of {names()} can be read)")


def names() -> str:
    """Return the agents whose sessions are read, as part of a sentence."""
    *others, last = (way.name for way in WAYS.values())
    return f"{', '.join(others)} and {last}"


def _lines(path: Path) -> Iterator[Numbered | Unread]:
    try:
        with path.open("rb") as file:
            # Whoever asks later what is known of a session knows all that was recorded of what stands here now.
            yield from objects(file, size=os.fstat(file.fileno()).st_size)
    except OSError as error:
        raise SessionError(f"{printable(str(path), width=200)} cannot be read: {_reason(error)}") from error


def event_files(folder: Path) -> list[Path]:
    """Return the files of an OpenHands session, in order, of its folder or of one that lies above its events."""
    for place in (folder, folder / "events", folder / "base" / "events"):
        if files := sorted(place.glob("event-*.json"), key=_number):
            return files
    return []


def _number(file: Path) -> tuple[int, str]:
    """Return what an event is sorted by: from the 100,000th on the numbers are longer."""
    digits = file.name.removeprefix("event-").partition("-")[0].removesuffix(".json")
    return (int(digits) if digits.isdecimal() and len(digits) < 20 else 0), file.name


def _whole(files: Iterable[Path]) -> Iterator[Numbered | Unread]:
    """Yield the object of each file, numbered as if it were a line."""
    end = 0
    for number, path in enumerate(files, 1):
        name = printable(path.name, width=80)
        try:
            with path.open("rb") as file:
                data = file.read(LINE_LIMIT + 1)
            if len(data) > LINE_LIMIT:
                raise ValueError(f"it is longer than {LINE_LIMIT} bytes")
            value = json.loads(data)
        except (OSError, ValueError, RecursionError) as error:
            yield Unread(line=number, text=f"{name} was skipped: {_reason(error)}")
            continue
        end += len(data)
        if isinstance(value, dict):
            yield Numbered(number, value, end)
        else:
            yield Unread(line=number, text=f"{name} holds JSON that is not an object")


def _told(items: Iterable[Numbered | Unread], at: Callable[[int], None] | None) -> Iterator[Numbered | Unread]:
    for item in items:
        if at is not None and isinstance(item, Numbered):
            at(item.end)
        yield item


def _reason(error: Exception) -> str:
    said = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return printable(said, width=120) or type(error).__name__
