"""`pi-intent log` tells what was done and why, from whatever the ledger's files hold."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from rich.console import Console
from syrupy.assertion import SnapshotAssertion

from pi_intent.cli.main import commands
from pi_intent.events import OutcomePatch, ToolExecutionEnd, ToolExecutionStart
from pi_intent.ids import ulid
from pi_intent.ledger.calls import read_ledger
from pi_intent.ledger.journal import SessionJournal
from pi_intent.ledger.location import find_ledger
from pi_intent.ledger.record import SessionInfo, seal
from pi_intent.protocols import CallContext, Settlement
from pi_intent.render.sessions import group_by_session
from pi_intent.render.timeline import print_timeline

NOON = 1_896_091_200.0  # 2030-01-31T12:00:00Z
PROJECT = "/home/me/shop"
HOSTILE = "Look\x1b]0;owned\x07 [bold]at[/bold] [@click=app.quit]this[/]\nand \u202ethat"
FIELDS: dict[str, Any] = {"agent_id": "main", "host": "tau", "tool_call_id": "tool-call-0"}


class Clock:
    """Stands still until it is moved on."""

    def __init__(self, now: float) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


class Writer:
    """Writes one session's ledger the way a host does, at fixed times and with fixed ids."""

    def __init__(self, project: Path, session: str, begins: float = NOON, **info: Any) -> None:
        self.clock = Clock(begins)
        self.session = session
        self.problems: list[str] = []
        self.journal = SessionJournal(
            replace(find_ledger(project, os.environ), project=Path(PROJECT)),
            SessionInfo(
                session=session, host="tau", host_version="0.4.8", agent="main", cwd=PROJECT, version="0.1.0", **info
            ),
            environ={},
            on_problem=self.problems.append,
            clock=self.clock,
        )
        self._number = 0

    def begin(self, tool: str, args: dict[str, Any], intent: str | None = None, **more: Any) -> str:
        self._number += 1
        call_id = ulid(int(self.clock.now * 1000), self.session.encode().ljust(9, b".")[:9] + bytes([self._number]))
        ids = {"session_id": self.session, "call_id": call_id, "group_id": "g", "seq": self._number}
        source = {"intent_source": "absent" if intent is None else "model"}
        start = ToolExecutionStart(**FIELDS | ids | source | more, tool_name=tool, args=args, intent=intent)
        self.journal.opened(start, CallContext(turn=1, policy="require", profile="lean", bytes_in=10))
        return call_id

    def end(self, call_id: str, status: Any = "ok", *, ms: int = 14, error: str | None = None, **more: Any) -> None:
        self.clock.now += ms / 1000
        ran_args = more.pop("ran_args", None)
        end = ToolExecutionEnd(
            **FIELDS | {"session_id": self.session, "call_id": call_id, "group_id": "g", "seq": 99},
            tool_name="any",
            status=status,
            is_error=status != "ok",
            duration_ms=ms,
            **more,
        )
        settlement = Settlement(status=status, is_error=status != "ok", error=error, ran_args=ran_args)
        self.journal.closed(end, settlement)
        self.clock.now += 2

    def done(self) -> None:
        self.journal.close()
        assert self.problems == []


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    folder = tmp_path / "shop"
    folder.mkdir()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    monkeypatch.chdir(folder)
    yield folder
    monkeypatch.undo()
    time.tzset()


def write_story(project: Path) -> None:
    """Two sessions, with every way in which a call is told."""
    first = Writer(project, "0d2f6c9a7b3e4f51")
    first.end(
        first.begin("bash", {"command": "ls"}), "rejected", codes=("intent_missing",), error="Nothing ran", ms=0
    )
    first.end(
        first.begin(
            "read",
            {"path": f"{PROJECT}/src/pay.py"},
            "Find out how often the payment client tries again",
            rationale="tests/test_pay.py::test_retry says that a fourth attempt is made",
        ),
        facts="120 lines",
    )
    first.end(
        first.begin("edit", {"path": "src/pay.py", "edits": [{"oldText": "5", "newText": "3"}]}, "Stop after three"),
        facts="1 replacement",
        outcome="Stops after three attempts",
        ms=1234,
    )
    first.end(
        first.begin("bash", {"command": "pytest -q \\\n  tests/test_pay.py"}, "Verify that nothing else broke"),
        "error",
        facts="exit 1",
        error="1 failed, 3 passed",
        ms=125_000,
    )
    first.end(
        first.begin("bash", {"command": "rm -rf build"}, HOSTILE), "denied", error="Tool call blocked: ask first"
    )
    first.clock.now += 12 * 3600
    first.end(
        first.begin(
            "write",
            {"path": "a.py", "content": "x"},
            "write a.py",
            intent_source="derived",
            flags=("budget_spent",),
            agent_id="reviewer",
        ),
        ran_args={"path": "b.py", "content": "x"},
        outcome_patch=OutcomePatch(from_="write", to="wrote"),
    )
    first.begin("search", {"q": "retry"}, "Find other callers", tool_source="github")
    first.done()
    second = Writer(project, "Übung/2", NOON + 60)
    second.end(second.begin("bash", {"command": "x" * 3000}, "検索中: 認証の処理"), "timeout", ms=60_000)
    second.done()


def log(*args: str) -> Result:
    return CliRunner().invoke(commands, ["log", *args])
