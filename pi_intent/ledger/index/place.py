"""Where the index of a ledger lies, and how it is thrown away: a file that nothing is written to once it is there."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path

NAME = "index.sqlite"

_LEFT_BEHIND_SECONDS = 600


def index_path(root: Path) -> Path:
    """Return the file of a ledger's index."""
    return root / NAME


def draft_path(root: Path) -> Path:
    """Return a new name beside the index, for one that is being made. It is created, for its owner only.

    Raises `OSError`.
    """
    path = root / f"{NAME}.{os.urandom(6).hex()}"
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    return path


def drop_index(root: Path) -> None:
    """Remove the index, and what may be left of the making of one: they repeat what the ledger says."""
    for path in (index_path(root), *root.glob(f"{NAME}.*")):
        with suppress(OSError):
            path.unlink()


def remove_left_behind(root: Path) -> None:
    """Remove what processes that were killed have left of the making of an index."""
    with suppress(OSError):
        for path in root.glob(f"{NAME}.*"):
            if path.stat().st_mtime < time.time() - _LEFT_BEHIND_SECONDS:
                path.unlink()
