"""Where no gate is configured, none is loaded, and nothing of a session differs from one without gates at all."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import gates_replay
import pytest
from gates_replay import made_up, scripts_of


def replayed(folder: Path, scripts: list[dict[str, Any]], *more: str, **environ: str) -> dict[str, Any]:
    folder.mkdir()
    (folder / "scripts.json").write_text(json.dumps(scripts), encoding="utf-8")
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PI_INTENT")}
    subprocess.run(
        [sys.executable, gates_replay.__file__, folder / "scripts.json", folder / "out.json", *more],
        check=True,
        env=clean | environ,
        cwd=folder,
        timeout=280,
    )
    return json.loads((folder / "out.json").read_text("utf-8"))


def recorded() -> list[dict[str, Any]]:
    samples = os.environ.get("PI_INTENT_SAMPLES")
    folders = [Path(samples) / host for host in ("tau", "pi")] if samples else []
    paths = [path for folder in folders for path in sorted(folder.glob("*.jsonl"))]
    return [script for path in paths if (script := scripts_of(path)) is not None]


@pytest.fixture(scope="module")
def scripts() -> list[dict[str, Any]]:
    return [*made_up(), *recorded()]


def test_sessions_replay_byte_for_byte_as_without_gates(tmp_path: Path, scripts: list[dict[str, Any]]):
    with_gates = replayed(tmp_path / "with", scripts)
    without = replayed(tmp_path / "without", scripts, "blocked")
    assert with_gates["loaded"] == []
    assert list(with_gates["sessions"]) == [script["name"] for script in scripts]
    for name, session in with_gates["sessions"].items():
        for part, told in session.items():
            assert told == without["sessions"][name][part], (name, part)
    statuses = Counter(status for session in with_gates["sessions"].values() for _, status in session["statuses"])
    requests = sum(len(session["requests"]) for session in with_gates["sessions"].values())
    print(f"{len(scripts)} sessions, {requests} requests, calls: {dict(statuses)}")
    assert {"ok", "rejected", "error", "timeout"} <= statuses.keys()


def test_that_comparison_sees_a_gate(tmp_path: Path):
    scripts = [script for script in made_up() if script["name"] == "dangerous"]
    asked = replayed(tmp_path / "asked", scripts, PI_INTENT_CHECK_IN="deletes")
    free = replayed(tmp_path / "free", scripts)
    assert "pi_intent.gating" in asked["loaded"]
    for part in ("requests", "tau", "events", "records"):
        assert asked["sessions"]["dangerous"][part] != free["sessions"]["dangerous"][part]
    blocked = replayed(tmp_path / "blocked", scripts, "blocked", PI_INTENT_CHECK_IN="deletes")
    # What cannot hold a call up lets none through.
    assert json.dumps(blocked["sessions"]["dangerous"]["tau"][-3:]).count("is not to be loaded") >= 3
