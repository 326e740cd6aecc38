"""Keep what tools store for later calls, beside the ledger: by content, private, bounded, gone with the session."""

from __future__ import annotations

import os
import shutil
import time
from contextlib import suppress
from pathlib import Path

from pi_intent.gates.artifacts import PREFIX, Live, artifact_reference, kind_of
from pi_intent.ledger.location import make_private_folder
from pi_intent.ledger.naming import SUFFIX, has_writer

MOST_BYTES = 1 << 20
"""Of one artifact."""

MOST_IN_ALL = 64 << 20
"""Of a session's artifacts together; then the oldest go."""

_LEFT_BEHIND = 3600
"""Seconds after which a folder that no session holds is removed: its process was killed."""


class ArtifactStore:
    """The artifacts of one session, in a folder named after its segment: while that has a writer, they stay."""

    def __init__(self, root: Path, segment: Path) -> None:
        self._folder = root / "artifacts" / segment.stem
        self._ledger = segment.parent
        self._kept: dict[str, tuple[int, str]] = {}

    def put(self, kind: str, text: str, tool: str) -> str | None:
        """Store a text; return a sentence for the person where that cannot be done. Never raises `OSError`."""
        data = text.encode("utf-8", "surrogatepass")
        if len(data) > MOST_BYTES:
            return f"what {tool} wanted to store has {len(data)} bytes, more than {MOST_BYTES}: it was not stored"
        reference = artifact_reference(kind, text)
        try:
            make_private_folder(self._folder.parent)
            make_private_folder(self._folder)
            self._write(self._path(reference), data)
        except OSError as error:
            return f"what {tool} wanted to store could not be written in {self._folder} ({error.strerror})"
        self._kept.pop(reference, None)
        self._kept[reference] = (len(data), tool)
        self._bound()
        return None

    def get(self, reference: str) -> str | None:
        """Return the text under a reference; None where there is none, or where the file is not what was stored."""
        kind = kind_of(reference)
        if kind is None or reference not in self._kept:
            return None
        try:
            os.utime(self._folder)  # in use: nobody has left it behind
            descriptor = os.open(self._path(reference), os.O_RDONLY | os.O_NOFOLLOW)
            with os.fdopen(descriptor, "rb") as file:
                text = file.read(MOST_BYTES + 1).decode("utf-8", "surrogatepass")
        except (OSError, ValueError):
            return None
        return text if artifact_reference(kind, text) == reference else None

    def live(self) -> list[Live]:
        """Return what is stored, the newest first."""
        return [Live(reference, size, tool) for reference, (size, tool) in reversed(self._kept.items())]

    def close(self) -> None:
        """Remove everything, and what killed sessions have left behind."""
        self._kept.clear()
        shutil.rmtree(self._folder, ignore_errors=True)
        with suppress(OSError):
            for folder in self._folder.parent.iterdir():
                if self._is_left_behind(folder):
                    shutil.rmtree(folder, ignore_errors=True)

    def _is_left_behind(self, folder: Path) -> bool:
        if time.time() - folder.lstat().st_mtime < _LEFT_BEHIND:
            return False
        try:
            return not has_writer(self._ledger / f"{folder.name}{SUFFIX}")
        except FileNotFoundError:
            return True

    def _path(self, reference: str) -> Path:
        return self._folder / reference.removeprefix(PREFIX).replace(":", ".")

    def _write(self, path: Path, data: bytes) -> None:
        temporary = path.with_name(f".{os.urandom(6).hex()}")
        try:
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)

    def _bound(self) -> None:
        while sum(size for size, _ in self._kept.values()) > MOST_IN_ALL:
            oldest = next(iter(self._kept))
            del self._kept[oldest]
            with suppress(OSError):
                self._path(oldest).unlink()
