"""Every shell command in the sample sessions, whatever the dialect: found by its key."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path


def sample_commands(folder: Path) -> list[str]:
    """The distinct commands of all JSON below a folder, in order."""
    found: dict[str, None] = {}
    for path in sorted(folder.rglob("*.json*")) + sorted(folder.rglob("*.traj")):
        text = path.read_text(encoding="utf-8", errors="replace")
        try:
            values = [json.loads(text)]
        except ValueError:
            values = [value for line in text.splitlines() if (value := _value(line)) is not None]
        for value in values:
            found.update(dict.fromkeys(_commands(value)))
    return list(found)


def _value(line: str) -> object:
    try:
        return json.loads(line)
    except ValueError:
        return None


def _commands(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            if key in ("command", "cmd") and isinstance(item, str) and item.strip() and "\n    return" not in item:
                yield item
            elif key in ("command", "cmd") and isinstance(item, list) and item[1:2] in (["-lc"], ["-c"]):
                yield from (text for text in item[2:3] if isinstance(text, str))
            elif key == "arguments" and isinstance(item, str):
                yield from _commands(_value(item))
            else:
                yield from _commands(item)
    elif isinstance(value, list):
        for item in value:
            yield from _commands(item)
