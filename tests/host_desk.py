"""A project in which a host works, and what there is to see of its calls."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from user_config import write_config

from pi_intent import MemorySink, ToolExecutionEnd, ToolExecutionStart


@dataclass
class HostDesk:
    """A project with a ledger, the settings of a person, and what was told of the calls made there."""

    root: Path
    events: MemorySink = field(default_factory=MemorySink)

    def __post_init__(self) -> None:
        self.project = self.root / "project"
        self.project.mkdir(parents=True)
        subprocess.run(["git", "init", "-q", str(self.project)], check=True)

    def configure(self, text: str) -> Path:
        """Set what a person sets in their file, and return it."""
        return write_config(self.root / "xdg" / "config", text)

    @property
    def starts(self) -> list[ToolExecutionStart]:
        return [event for event in self.events if isinstance(event, ToolExecutionStart)]

    @property
    def ends(self) -> list[ToolExecutionEnd]:
        return [event for event in self.events if isinstance(event, ToolExecutionEnd)]

    @property
    def statuses(self) -> list[tuple[str, str]]:
        """Tool and status of each ended call, after a check that every call started and ended exactly once."""
        started = [start.call_id for start in self.starts]
        ended = [end.call_id for end in self.ends]
        assert len(set(started)) == len(started)
        assert sorted(started) == sorted(ended)
        return [(end.tool_name, end.status) for end in self.ends]


def move_home(monkeypatch: pytest.MonkeyPatch, root: Path) -> None:
    """Give this process a home of its own, in which nobody has set anything: that of the desk with this root."""
    monkeypatch.setenv("HOME", str(root / "home"))
    for name in ("CONFIG", "STATE", "CACHE", "DATA"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(root / "xdg" / name.lower()))
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(root))
    for name in [name for name in os.environ if name.startswith("PI_INTENT")]:
        monkeypatch.delenv(name)
