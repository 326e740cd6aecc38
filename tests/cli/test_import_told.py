"""What `pi-intent import` tells: without secrets, in the width of the terminal, and with the path that is meant."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from session_texts import claude_session, pi_session, write
from terminal_run import run_on_a_terminal

from pi_intent.cli.main import commands

SECRET = "correct-horse-battery-9"
SHAPED = "ghp_" + "Ab3dEf6hIj" * 3 + "LmN0pQ"


@pytest.fixture(autouse=True)
def project(importing: Path) -> Path:
    return importing


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def run(*args: str) -> Result:
    return CliRunner().invoke(commands, ["import", *args], catch_exceptions=False)


def document(*args: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run("--json", *args).stdout)
    return found


def on_a_terminal(width: int, *args: str) -> list[str]:
    """Return the lines that a terminal gets."""
    command = [sys.executable, "-m", "pi_intent", "import", *args]
    shown, _ = run_on_a_terminal(command, {**os.environ, "COLUMNS": str(width)}, is_typed_at=False)
    return shown.splitlines()


@pytest.mark.parametrize("secret", [SECRET, SHAPED])
def test_a_secret_in_a_name_is_shown_nowhere(
    project: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, secret: str
) -> None:
    monkeypatch.setenv("SHOP_TOKEN", SECRET)
    outside = write(tmp_path / secret / "pi.jsonl", pi_session(tmp_path / secret, f"s-{secret}") + "{torn\n")
    write(home / f".claude/projects/-{secret}/s.jsonl", claude_session(project / secret, f"c-{secret}"))
    named = [str(outside), str(tmp_path / secret / "gone")]
    told = [run(), run("--json"), run(*named), run("--json", *named), run("--yes"), run("--yes", "--json")]
    assert [secret in result.output for result in told] == [False] * 6
    assert ["[redacted:" in result.output for result in told] == [False, True, True, True, False, True]


@pytest.mark.parametrize("width", [80, 60])
def test_what_is_told_fits_a_narrow_terminal_and_is_broken_between_words(
    project: Path, home: Path, tmp_path: Path, width: int
) -> None:
    write(home / ".pi/agent/sessions/shop/s.jsonl", pi_session(project) + "{torn\n")
    write(home / ".claude/projects/-shop/s.jsonl", claude_session(tmp_path / "x y"))
    for args in ([], ["--dry-run"], ["--dry-run", str(home), str(home / "gone.jsonl")]):
        lines = on_a_terminal(width, *args)
        whole = on_a_terminal(1000, *args)
        assert all(len(line) <= width or line.lstrip(" (").startswith(("/", "~/")) for line in lines)  # a path alone
        assert " ".join(" ".join(lines).split()) == " ".join(" ".join(whole).split())


def test_the_sessions_are_dated_by_their_last_record(project: Path, home: Path, utc: None) -> None:
    path = write(home / ".pi/agent/sessions/shop/s.jsonl", pi_session(project))
    os.utime(path, (1_600_000_000, 1_600_000_000))
    assert run().stdout.splitlines()[1].endswith("last used 2020-01-31 12:00")
    (found,) = document()["found"]
    assert (found["modified"], found["lastUsed"]) == ("2020-09-13T12:26:40.000Z", "2020-01-31T12:00:06.000Z")


def test_a_line_that_was_not_read_is_told_with_its_number_and_the_path_of_its_file(project: Path, home: Path) -> None:
    path = write(home / "a" / "pi.jsonl", pi_session(project) + "{torn\n")
    assert "· line 8 holds something that is not whole JSON: ~/a/pi.jsonl" in run(str(path)).stdout.splitlines()
