"""Look up on the disk what bears on a call that is asked about; nothing is changed, and nothing raises."""

from __future__ import annotations

import os
import stat
from pathlib import Path

MOST_BYTES = 256 * 1024
"""Of a file whose content is compared with what would replace it."""


class Disk:
    """The files around a session, from its working directory."""

    def __init__(self, cwd: Path) -> None:
        self._cwd = str(cwd)

    def resolve(self, path: str) -> str:
        """Return where an absolute path leads when its links are followed; as it is where that cannot be told."""
        try:
            return os.path.realpath(path)
        except (OSError, ValueError):
            return path

    def expand(self, path: str) -> str:
        """Return a path with the home folder in the place of `~`."""
        return os.path.expanduser(path)

    def exists(self, path: str) -> bool:
        """Say whether a path, as a tool gets it, names anything."""
        try:
            return os.path.lexists(self._from_here(path))
        except (OSError, ValueError):
            return False

    def text(self, path: str) -> str | None:
        """Return what stands in a file; None where it is none, cannot be read, is large or is no text."""
        try:
            # Never waits for the writer of a pipe; what it is, is asked of what was opened.
            descriptor = os.open(self._from_here(path), os.O_RDONLY | os.O_NONBLOCK)
        except (OSError, ValueError):
            return None
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return None
            with os.fdopen(descriptor, "rb", closefd=False) as file:
                data = file.read(MOST_BYTES + 1)
            return None if len(data) > MOST_BYTES else data.decode("utf-8")
        except (OSError, ValueError):
            return None
        finally:
            os.close(descriptor)

    def _from_here(self, path: str) -> str:
        return os.path.join(self._cwd, self.expand(path))
