"""Know where agents keep their session files, and find those of a folder."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_NO_SESSIONS = frozenset({"index.jsonl", "archive.jsonl", "history.jsonl", "session_index.jsonl"})
"""Files beside session files that list sessions or prompts."""

_EVENTS = "events"
_FIRST_EVENT = "event-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A folder below which an agent keeps its sessions. Whose a file is, the file itself tells."""

    agent: str
    folder: Path


def usual_places(environ: Mapping[str, str]) -> tuple[Place, ...]:
    """Return where each agent keeps its sessions, by its own variables where they are set; none need be there."""
    home = Path(environ.get("HOME") or os.path.expanduser("~"))

    def chosen(variable: str, *default: str) -> Path:
        value = environ.get(variable, "").strip()
        if value == "~" or value.startswith("~/"):
            return home / value[2:]
        return Path(value) if value and os.path.isabs(value) else home.joinpath(*default)

    pi = chosen("PI_CODING_AGENT_DIR", ".pi", "agent")
    codex = chosen("CODEX_HOME", ".codex")
    openhands = chosen("OPENHANDS_PERSISTENCE_DIR", ".openhands") / "conversations"
    places = (
        Place(agent="Tau", folder=chosen("TAU_HOME", ".tau") / "sessions"),
        Place(agent="pi", folder=chosen("PI_CODING_AGENT_SESSION_DIR", *(pi / "sessions").parts)),
        Place(agent="oh-my-pi", folder=home / ".omp" / "agent" / "sessions"),
        Place(agent="Claude Code", folder=chosen("CLAUDE_CONFIG_DIR", ".claude") / "projects"),
        Place(agent="Codex", folder=codex / "sessions"),
        Place(agent="Codex", folder=codex / "archived_sessions"),
        Place(agent="OpenHands", folder=chosen("OPENHANDS_CONVERSATIONS_DIR", *openhands.parts)),
    )
    return tuple({place.folder: place for place in places}.values())


def session_files(folder: Path) -> Iterator[Path]:
    """Yield what may be a session below a folder, by name: files, and folders that hold one event a file.

    No link to a folder is followed, and what cannot be looked at is left out.
    """
    for place, folders, names in os.walk(folder):
        if _EVENTS in folders and is_event_folder(Path(place)):
            yield Path(place)
            folders.remove(_EVENTS)
        folders.sort()
        for name in sorted(names):
            if name.endswith(".jsonl") and name not in _NO_SESSIONS and _is_file(path := Path(place, name)):
                yield path


def _is_file(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except OSError:
        return False


def size_and_time(path: Path) -> tuple[int, float]:
    """Return the bytes of a session and the Unix time of its last change, of a folder those of its events.

    Raises `OSError`.
    """
    files = [*(path / _EVENTS).iterdir()] if path.is_dir() else [path]
    found = [file.stat() for file in files]
    return sum(status.st_size for status in found), max((status.st_mtime for status in found), default=0.0)


def is_event_folder(folder: Path) -> bool:
    """Whether a folder is a session of one event a file, as OpenHands keeps them."""
    try:
        with os.scandir(folder / _EVENTS) as entries:
            return any(entry.name.startswith(_FIRST_EVENT) and entry.name.endswith(".json") for entry in entries)
    except OSError:
        return False


def is_inside(cwd: str, folders: tuple[str, ...]) -> bool:
    """Whether a working directory lies in one of a project's folders, read as text and with links resolved.

    What a file says can be any text: one that names no folder, as a relative path does, lies in none.
    """
    if not os.path.isabs(cwd):
        return False
    spelled = [os.path.normpath(cwd)]
    with suppress(OSError, ValueError):  # a NUL, half a surrogate pair, a link that nobody may follow
        spelled.append(os.path.realpath(cwd))
    return any(path == folder or path.startswith(folder.rstrip("/") + "/") for path in spelled for folder in folders)
