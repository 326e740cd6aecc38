"""A machine of its own for the doctor to look into."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from user_config import write_config

SECONDS = 60
FOUR = ("read", "write", "edit", "bash")
TAU = Path(sys.executable).with_name("tau")
UNSET = [
    {"key": "profile", "value": None, "origin": "default"},
    {"key": "budget", "value": 3, "origin": "default"},
    {"key": "redact_args", "value": False, "origin": "default"},
    {"key": "strict", "value": False, "origin": "default"},
    {"key": "live", "value": True, "origin": "default"},
    {"key": "checkpoints", "value": False, "origin": "default"},
    {"key": "tracing", "value": False, "origin": "default"},
    {"key": "keep", "value": "forever", "origin": "default"},
    {"key": "ask", "value": "none", "origin": "default"},
    {"key": "check_in", "value": [], "origin": "default"},
    {"key": "consent", "value": "both", "origin": "default"},
    {"key": "unattended", "value": "deny", "origin": "default"},
    {"key": "permissions", "value": [], "origin": "default"},
    {"key": "credentials", "value": [], "origin": "default"},
    {"key": "artifacts", "value": False, "origin": "default"},
    {"key": "result_limit", "value": None, "origin": "default"},
]
"""What the doctor tells of the settings that nobody has made, but for the policy."""


class Machine:
    """A home, a Tau home and a project of their own, and what there is to ask about them."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.home, self.project, self.extensions = (
            root / "home",
            root / "project",
            root / "home" / ".tau" / "extensions",
        )
        for folder in (self.extensions, self.project, root / "tmp"):
            folder.mkdir(parents=True)
        self.environ = {
            "PATH": os.pathsep.join([str(TAU.parent), os.environ["PATH"]]),
            "HOME": str(self.home),
            "TMPDIR": str(root / "tmp"),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CEILING_DIRECTORIES": str(root),
        }
        subprocess.run(["git", "init", "-q", str(self.project)], env=self.environ, check=True, timeout=SECONDS)

    def other_extension(self, source: str) -> None:
        """Give Tau an extension that is loaded before ours."""
        (self.extensions / "aa.py").write_text(source)

    def doctor(self, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "pi_intent.cli.main", "doctor", *arguments],
            env=self.environ | environ,
            cwd=self.project,
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )

    def report(self, **environ: str) -> tuple[int, dict[str, Any]]:
        done = self.doctor("--json", **environ)
        assert done.stderr == ""
        return done.returncode, json.loads(done.stdout)

    def snapshot(self) -> dict[str, tuple[int, int, bytes | None]]:
        """Return everything on the machine, with when it was last changed; of the temporary folder what is in it."""
        return {
            str(path): (path.lstat().st_mtime_ns, path.lstat().st_mode, path.read_bytes() if path.is_file() else None)
            for path in self.root.rglob("*")
            if path != self.root / "tmp"
        }


def verdicts(report: Mapping[str, Any]) -> dict[str, str]:
    return {tool["name"]: tool["verdict"] for tool in report["tools"]}


def config_of(machine: Machine, text: str) -> Path:
    return write_config(machine.home / ".config", text)
