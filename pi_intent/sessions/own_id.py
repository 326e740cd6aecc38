"""Name the session of a file that does not name it."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from pi_intent.sessions.values import Dialect

_LONGEST_LINE = 1 << 20
_TAU_ID = re.compile(r"[0-9a-f]{32}")
_TAU_LIST = "index.jsonl"
_IN_BETWEEN = frozenset({"events", "base"})


def own_session_id(dialect: Dialect, path: Path) -> str:
    """Return the id of the session in a file that states none, the same for every longer copy of the file.

    Tau names a file after its session, OpenHands a folder. Elsewhere the id is made of the first line. Raises
    `OSError`.
    """
    if path.is_dir():
        return next((folder.name for folder in (path, *path.parents) if folder.name not in _IN_BETWEEN), str(path))
    if dialect == "tau":
        if _TAU_ID.fullmatch(path.stem):
            return path.stem
        if path.with_name(_TAU_LIST).exists():
            return f"default-{path.parent.name}" if path.stem == "default" else path.stem
    with path.open("rb") as file:
        first_line = file.readline(_LONGEST_LINE)
    return f"{dialect}-{hashlib.sha256(first_line).hexdigest()[:24]}"
