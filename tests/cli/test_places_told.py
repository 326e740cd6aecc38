"""What the commands tell of a ledger: nothing secret in the name of a folder, and lines that fit the terminal."""

from __future__ import annotations

import io
import json
import os
import re
from pathlib import Path

import pytest
from canaries import SHAPES
from click import unstyle
from click.testing import CliRunner, Result
from ledger_events import a_start, an_end
from rich.console import Console
from terminal_run import on_a_terminal

from pi_intent.cli.main import commands
from pi_intent.cli.tailing.drawing import LabelLines
from pi_intent.events import event_to_json
from pi_intent.ledger.journal import SessionJournal
from pi_intent.ledger.location import find_ledger
from pi_intent.ledger.record import SessionInfo
from pi_intent.protocols import CallContext, Settlement

VALUE = "tulip-mango-42-kiosk"
LATER = 1_700_000_000.0
WORDS = " ".join(["The quick brown fox jumps over the lazy dog, as the test of the fox says that it does"] * 3)


def record(project: Path) -> None:
    """Two calls in the ledger of a project, of which one never ended."""
    info = SessionInfo(session="s", host="tau", agent="main", cwd=str(project), version="0")
    journal = SessionJournal.open(info, environ=os.environ, on_problem=pytest.fail, clock=lambda: LATER)
    context = CallContext(turn=1, policy="require", profile="lean", bytes_in=10)
    for number in range(2):
        ids = {"call_id": f"01J8Z3M4Q5R6S7T8V9WXAAAAA{number}", "session_id": "s", "seq": number}
        journal.opened(a_start(**ids, intent="Run the tests", rationale=WORDS), context)
        if not number:
            journal.closed(an_end(**ids, facts="1 passed"), Settlement(status="ok", is_error=False, error=WORDS))
    journal.close()


def drawn(width: int, *args: str) -> list[str]:
    """Return the lines that a terminal gets."""
    return unstyle(on_a_terminal(*args, COLUMNS=str(width), PAGER="")).splitlines()


def run(*args: str) -> Result:
    return CliRunner().invoke(commands, args)


@pytest.mark.parametrize("secret", [VALUE, SHAPES["ghp"]])
@pytest.mark.parametrize("recorded", [True, False])
def test_a_secret_in_the_name_of_a_folder_is_told_by_no_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, secret: str, recorded: bool
) -> None:
    monkeypatch.setenv("SHOP_TOKEN", VALUE)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / secret / "state"))
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    project = tmp_path / secret / "shop"
    project.mkdir(parents=True)
    monkeypatch.chdir(project)
    if recorded:
        record(project)
        segments = find_ledger(project, os.environ).segments
        (segments / "gone.000000000000.jsonl").symlink_to(segments / "nowhere")
    asked = [
        ("log",),
        ("log", "--json"),
        ("log", "--session", "x"),
        ("show", "AAAAA0", "--json"),
        ("show", "nothing"),
        ("stats",),
        ("verify",),
        ("verify", "--json"),
        ("purge", "--before", "1d", "--dry-run"),
        ("purge", "--before", "1d", "--dry-run", "--json"),
        ("purge", "--before", "2000-01-31"),
        ("export", "jsonl"),
        ("export", "csv", "-o", str(project / "calls.csv")),
        ("export", "csv", "-o", str(project / "no" / "calls.csv")),
        ("export", "otel", "--dry-run", "--json"),
        ("export", "otel", "--dry-run"),
        ("import", "--json"),
    ]
    assert [args for args in asked if secret in run(*args).output] == []
    assert "[redacted:" in run("verify").output


def test_the_same_folder_has_the_same_token_in_what_is_told_and_in_what_is_recorded(
    shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOP_TOKEN", shop.parent.name)
    record(shop)
    told = json.loads(run("log", "--json").stdout)
    here = find_ledger(shop, os.environ).segments
    token = told["ledger"].removeprefix("/").split("[")[1].split("]")[0]
    assert token in (next(here.glob("*.jsonl"))).read_text("ascii")


@pytest.mark.parametrize("width", [80, 60])
@pytest.mark.parametrize(
    "args",
    [
        ("verify",),
        ("purge", "--before", "2024-01-31", "--dry-run"),
        ("purge", "--before", "2000-01-31"),
        ("purge",),
        ("show", "AAAAA0"),
    ],
)
def test_what_is_told_is_broken_between_words(shop: Path, width: int, args: tuple[str, ...]) -> None:
    record(shop)
    lines = drawn(width, *args)
    whole = drawn(2000, *args)
    assert [line for line in lines if len(line) > width and not line.lstrip().startswith("/")] == []  # a path alone
    assert " ".join(" ".join(lines).split()) == " ".join(" ".join(whole).split())


def test_a_fact_of_one_call_hangs_under_its_value(shop: Path) -> None:
    record(shop)
    lines = drawn(60, "show", "AAAAA0")
    first = next(number for number, line in enumerate(lines) if line.startswith("  because"))
    assert lines[first].startswith("  because       The quick brown fox")
    assert re.match(r" {16}\w", lines[first + 1])


def test_followed_calls_are_broken_between_words() -> None:
    drawn = io.StringIO()
    console = Console(file=drawn, force_terminal=True, _environ={"TERM": "dumb"})  # 80 columns
    screen = LabelLines(console)
    screen.show(event_to_json(a_start(call_id="c", session_id="s", seq=0, intent="Run the tests")))
    screen.show(event_to_json(an_end(call_id="c", session_id="s", seq=1, facts=WORDS[:200])))
    screen.close()
    lines = unstyle(drawn.getvalue()).splitlines()
    assert [line for line in lines if len(line) > 80] == []
    assert WORDS[:200] in " ".join(" ".join(lines).split())
