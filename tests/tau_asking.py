"""A call that leaves a trace, and what came of it."""

from __future__ import annotations

from typing import Any

from tau_desk import Desk

TOUCH = ("bash", {"intent": "Leave a trace", "command": "echo x >> ran"})


def ran(desk: Desk) -> int:
    path = desk.project / "ran"
    return len(path.read_text().splitlines()) if path.exists() else 0


def decided(desk: Desk, *names: str) -> list[tuple[Any, ...]]:
    return [tuple(record[name] for name in names) for record in desk.records if record["t"] == "decision"]
