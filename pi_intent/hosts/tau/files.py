"""Digest a file before and after a tool changed it."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pi_intent.events import FileChange
from pi_intent.types import JSONObject

if TYPE_CHECKING:
    from pi_intent.ledger.keys import Digester

MOST_BYTES = 256 * 1024
"""Files up to this size are read in place; a digest of a larger one would hold up the loop."""


class FileBefore(NamedTuple):
    """A file as it was before a call: its path, whether it was there, and the digest of its content."""

    path: Path
    existed: bool
    digest: str | None

    def changes(self, digester: Digester) -> tuple[FileChange, ...]:
        """Return what became of the file, () where nothing did."""
        there, digest = _look(self.path, digester)
        if not there or (digest == self.digest and self.existed and digest is not None):
            return ()
        change = FileChange(
            path=str(self.path), op="modify" if self.existed else "create", pre=self.digest, post=digest
        )
        return (change,)


def before(arguments: JSONObject, cwd: Path, digester: Digester) -> FileBefore | None:
    """Look at the file that a call names, found as Tau's own tools find it; None where it names none."""
    named = arguments.get("path")
    if not isinstance(named, str):
        return None
    try:
        path = cwd / Path(named).expanduser()
        return FileBefore(path, *_look(path, digester))
    except (OSError, RuntimeError, ValueError):  # no such user, a NUL in the name
        return None


def _look(path: Path, digester: Digester) -> tuple[bool, str | None]:
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode) or found.st_size > MOST_BYTES:  # a pipe would hold the loop up
            return True, None
        return True, digester.digest(path.read_bytes())
    except FileNotFoundError:
        return False, None
    except (OSError, ValueError):
        return True, None
