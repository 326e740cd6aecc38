"""Say what a file looks like that is none of ours, so that whoever named it knows which one to name instead."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from pi_intent.sessions.pi import EVENTS
from pi_intent.types import JSONObject

_HEAD = 65_536


def looks_like(first: Sequence[JSONObject], path: Path) -> str:
    """Return the rest of a sentence that begins with the file's name."""
    kinds = {kind for entry in first if isinstance(kind := entry.get("type"), str)}
    if kinds & EVENTS:
        return "is the event stream of an agent's JSON mode; name the session file that the same run wrote"
    if any("provider_name" in entry and "updated_at" in entry and "type" not in entry for entry in first):
        return "is Tau's list of sessions; name one of the session files beside it"
    if any(kind.startswith(("context.append_", "config.update")) for kind in kinds):
        return "is a session of Kimi Code"
    return _document(path) or (
        "is JSON, but no session that we know" if first else "holds no JSON objects, one a line"
    )


def _document(path: Path) -> str | None:
    """Name what is one JSON document over many lines."""
    head = ""
    with suppress(OSError), path.open("rb") as file:
        head = file.read(_HEAD).decode("utf-8", "replace").lstrip("\ufeff \t\r\n")
    if not re.match(r"[{\[]\s*(?:[\"{\[]|$)", head) or "\n" not in head:
        return None
    if re.match(r'\{[^\n]*\n(?:[^\n]*\n)?\s*"trajectory"\s*:', head) or path.name.endswith(".traj"):
        return "is a trajectory of SWE-agent"
    if re.match(r'\[\s*\{\s*"role"\s*:', head):
        return "is a list of messages, as mini-SWE-agent keeps its trajectories"
    first_line = head.partition("\n")[0].rstrip()
    return "is one JSON document, not one object a line" if len(first_line) < 2 else None
