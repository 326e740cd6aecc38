"""`pi-intent purge` removes what is old, only when asked, and says what went."""

from __future__ import annotations

import json
import os
import re
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from ledger_events import a_start, an_end
from user_config import write_config

from pi_intent.cli.main import commands
from pi_intent.ledger.journal import SessionJournal
from pi_intent.ledger.location import find_ledger
from pi_intent.ledger.record import SessionInfo
from pi_intent.protocols import CallContext, Settlement

DAY = 86_400.0
LONG_AGO = 1_577_880_000.0  # 2020-01-01T12:00:00Z
CONTEXT = CallContext(turn=1, policy="require", profile="lean", bytes_in=1)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    project = tmp_path / "shop"
    project.mkdir()
    for name in [name for name in os.environ if name.startswith("PI_INTENT")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    monkeypatch.chdir(project)
    return tmp_path


def journal_of(session: str, now: float) -> SessionJournal:
    info = SessionInfo(session=session, host="tau", agent="main", cwd="/", version="0")
    return SessionJournal(
        find_ledger(Path(), os.environ), info, environ={}, on_problem=pytest.fail, clock=lambda: now
    )


def write(session: str, now: float, *, left_open: bool = False) -> Path:
    journal = journal_of(session, now)
    start = a_start(call_id=f"{session}-{now}", seq=1)
    journal.opened(start, CONTEXT)
    if not left_open:
        journal.closed(an_end(call_id=start.call_id, seq=2), Settlement(status="ok", is_error=False))
    path = journal.path
    journal.close()
    assert path is not None
    return path


def run(*args: str) -> Result:
    return CliRunner().invoke(commands, ["purge", *args], catch_exceptions=False)


def document(*args: str) -> dict[str, Any]:
    result = run("--json", *args)
    assert (result.exit_code, result.stderr) == (0, "")
    told: dict[str, Any] = json.loads(result.stdout)
    return told


def user_keeps(home: Path, keep: str) -> None:
    write_config(home / "config", f'keep = "{keep}"\n')


@pytest.mark.usefixtures("utc")
def test_what_went_is_told_by_session_with_calls_bytes_and_dates() -> None:
    one, two = write("one", LONG_AGO), write("two", LONG_AGO + DAY, left_open=True)
    again = write("two", LONG_AGO + 2 * DAY)
    young = write("two", time.time())
    sizes = [path.stat().st_size for path in (one, two, again)]
    told = [
        "2 sessions with nothing from Sat 2020-02-01 00:00:00 UTC or later: 3 files, 3 calls (1 left open), "
        f"{sum(sizes):,} bytes, from Wed 2020-01-01 12:00:00 to Fri 2020-01-03 12:00:00",
        f"  one: 1 file, 1 call, {sizes[0]:,} bytes, from Wed 2020-01-01 12:00:00 to Wed 2020-01-01 12:00:00",
        f"  two: 2 files, 2 calls (1 left open), {sizes[1] + sizes[2]:,} bytes, "
        "from Thu 2020-01-02 12:00:00 to Fri 2020-01-03 12:00:00",
    ]
    dry = run("--before", "2020-02-01T00:00Z", "--dry-run")
    assert (dry.exit_code, dry.stderr) == (0, "")
    assert dry.stdout.splitlines() == [f"Would remove {told[0]}", *told[1:]]
    assert all(path.exists() for path in (one, two, again, young))
    wet = run("--before", "2020-02-01T00:00Z")
    assert (wet.exit_code, wet.stderr) == (0, "")
    assert wet.stdout.splitlines() == [f"Removed {told[0]}", *told[1:]]
    assert [path.exists() for path in (one, two, again, young)] == [False, False, False, True]
    after = run("--before", "2020-02-01T00:00Z")
    assert (after.exit_code, after.stdout.splitlines()) == (
        0,
        [f"Nothing to remove: no file in {young.parent} has only records from before Sat 2020-02-01 00:00:00 UTC."],
    )


def test_json_is_one_document() -> None:
    path = write("one", LONG_AGO, left_open=True)
    size = path.stat().st_size
    running = journal_of("two", LONG_AGO)
    running.opened(a_start(call_id="a", seq=1), CONTEXT)
    try:
        told = document("--before", "2020-02-01 00:00:00+00:00")
    finally:
        running.close()
    assert told == {
        "ledger": str(path.parent),
        "before": "2020-02-01T00:00:00.000Z",
        "dryRun": False,
        "removed": [
            {
                "path": str(path),
                "session": "one",
                "calls": 1,
                "bytes": size,
                "first": "2020-01-01T12:00:00.000Z",
                "last": "2020-01-01T12:00:00.000Z",
            }
        ],
        "leftOpen": 1,
        "kept": [{"path": str(next(path.parent.iterdir())), "why": "it is of a session that still runs"}],
        "failed": [],
    }


def test_without_anything_that_says_what_is_old_nothing_goes() -> None:
    path = write("one", LONG_AGO)
    for args in ((), ("--dry-run",), ("--json",)):
        result = run(*args)
        assert result.exit_code == 0
        assert result.stderr == (
            'Nothing is removed: the setting keep is "forever". Say what is old with --before, or set keep.\n'
        )
    assert json.loads(run("--json").stdout)["before"] is None
    assert path.exists()


def test_the_setting_says_what_is_old_and_a_project_can_make_it_older_only(home: Path) -> None:
    user_keeps(home, "12w")
    old, older = write("one", time.time() - 100 * DAY), write("two", time.time() - 300 * DAY)
    write("three", time.time() - 80 * DAY)
    project = Path(".pi-intent.toml")
    project.write_text('keep = "1d"\n')
    result = run("--json", "--dry-run")
    assert {found["path"] for found in json.loads(result.stdout)["removed"]} == {str(old), str(older)}
    assert result.stderr.startswith(f'{project.absolute()}: keep asks for "1d" where "12w" holds; ')
    project.write_text('keep = "200d"\n')
    assert [found["path"] for found in document()["removed"]] == [str(older)]


def test_the_command_line_goes_before_the_setting(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PI_INTENT_KEEP", "2w")
    write("one", time.time() - 20 * DAY)
    assert len(document("--dry-run")["removed"]) == 1
    assert document("--dry-run", "--before", "30D")["removed"] == []


@pytest.mark.parametrize(
    "before",
    ["", "forever", "6m", "0d", "-1d", "tomorrow", "2030-02-30", "20200101", "2020-W01", "0001-01-01\x1b", "²d"],
)
def test_what_is_no_time_is_wrong_usage(before: str) -> None:
    path = write("one", LONG_AGO)
    result = run("--before", before)
    assert result.exit_code == 2
    assert "is no day such as 2025-01-31" in result.stderr.replace("\n", " ")
    assert "\x1b" not in result.stderr
    assert path.exists()


def test_a_time_to_come_is_wrong_usage_and_one_before_all_time_removes_nothing() -> None:
    path = write("one", LONG_AGO)
    refused = run("--before", "9000-01-01")
    assert refused.exit_code == 2
    assert "say a day that is over, or an age" in " ".join(refused.stderr.split())
    assert document("--before", "99999w")["removed"] == []
    assert path.exists()


def test_the_examples_of_the_help_and_of_the_hint_are_taken() -> None:
    path = write("one", time.time())
    told = [run("--help").stdout, run("--before", "no day").stderr]
    named = {before for text in told for before in re.findall(r"\b(?:\d{4}-\d{2}-\d{2}|\d+[dw])\b", text)}
    assert named == {"2025-01-31", "90d", "12w"}
    assert {run("--before", before).exit_code for before in named} == {0}
    assert path.exists()


def test_a_day_begins_at_midnight_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "UTC-5")
    time.tzset()
    try:
        assert document("--before", "2020-02-01")["before"] == "2020-01-31T19:00:00.000Z"
    finally:
        monkeypatch.undo()
        time.tzset()


def test_a_file_that_cannot_be_removed_is_a_failure() -> None:
    path = write("one", LONG_AGO)
    if os.geteuid() == 0:
        pytest.skip("the superuser may remove everything")
    path.parent.chmod(0o500)
    try:
        result = run("--before", "2020-02-01")
    finally:
        path.parent.chmod(0o700)
    assert (result.exit_code, path.exists()) == (1, True)
    assert result.stderr == f"Error: {path} could not be removed (Permission denied): see who owns the folder\n"
