"""`pi-intent log` finds what is asked for, says what to try where nothing fits, and pages what is long."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path

import pytest
from click import unstyle
from click.testing import CliRunner, Result
from ledger_events import a_start, an_end
from terminal_run import on_a_terminal

from pi_intent.cli.asking import path_filter
from pi_intent.cli.main import commands
from pi_intent.cli.moments import read_since
from pi_intent.events import FileChange
from pi_intent.ledger.journal import SessionJournal
from pi_intent.ledger.location import find_ledger
from pi_intent.ledger.record import SessionInfo
from pi_intent.protocols import CallContext, Settlement

NOON = 1_896_091_200.0  # 2030-01-31T12:00:00Z


def write(project: Path, session: str, calls: list[dict[str, object]], *, begins: float = NOON) -> None:
    """Write calls, each a minute after the one before; one without a status is left open."""
    now = [begins]
    journal = SessionJournal(
        find_ledger(project, os.environ),
        SessionInfo(session=session, host="tau", agent="main", cwd=str(project), version="0"),
        environ={},
        on_problem=lambda text: pytest.fail(text),
        clock=lambda: now[0],
    )
    for number, said in enumerate(calls):
        call = {"call_id": f"{session.upper()}{number:025d}"[:26], "session_id": session, "seq": number}
        end = {name: said.pop(name) for name in ("status", "files", "facts", "codes") if name in said}
        journal.opened(a_start(**call | said), CallContext(turn=1, policy="require", profile="lean", bytes_in=1))
        now[0] += 60
        if "status" in end:
            status = str(end["status"])
            journal.closed(
                an_end(**call | {"is_error": status != "ok", "seq": 99} | end),
                Settlement(status=status, is_error=status != "ok"),  # type: ignore[arg-type]
            )
    journal.close()


@pytest.fixture(autouse=True)
def project(shop: Path, utc: None) -> Path:
    (shop / "src").mkdir()
    return shop


@pytest.fixture
def story(project: Path) -> None:
    change = (FileChange(path="src/pay.py", op="modify"),)
    write(
        project,
        "s",
        [
            {
                "tool_name": "edit",
                "args": {"path": "src/pay.py"},
                "intent": "Stop after three",
                "status": "ok",
                "files": change,
            },
            {
                "tool_name": "bash",
                "args": {"command": "pytest -q"},
                "intent": "Verify it",
                "status": "error",
                "facts": "exit 1",
            },
            {
                "tool_name": "get-page",
                "tool_source": "web",
                "args": {},
                "intent": "Read the manual",
                "status": "rejected",
                "codes": ("intent_missing",),
            },
            {"tool_name": "bash", "args": {"command": "sleep 9"}, "intent": "Wait for it", "group_id": "g-2"},
        ],
    )
    write(
        project,
        "t",
        [{"tool_name": "read", "args": {"path": "docs/a.md"}, "intent": "Look", "status": "ok"}],
        begins=NOON + 9000,
    )


def log(*args: str) -> Result:
    return CliRunner().invoke(commands, ["log", *args])


def intents(*args: str) -> list[str]:
    result = log("--json", *args)
    assert (result.exit_code, result.stderr) == (0, "")
    return [call["call"]["intent"] for call in json.loads(result.stdout)["calls"]]


@pytest.mark.parametrize(
    ("args", "found"),
    [
        (("--tool", "edit"), ["Stop after three"]),
        (("--tool", "web/get_*", "--tool", "read"), ["Read the manual", "Look"]),
        (("--tool", "get_page"), ["Read the manual"]),
        (("--path", "src"), ["Stop after three"]),
        (("--path", "pay.py"), ["Stop after three"]),
        (("--path", "*.md", "--path", "src/"), ["Stop after three", "Look"]),
        (("--status", "ok"), ["Stop after three", "Look"]),
        (("--status", "open", "--status", "error"), ["Verify it", "Wait for it"]),
        (("--failed",), ["Verify it", "Read the manual", "Wait for it"]),
        (("--failed", "--tool", "bash", "--grep", "verify"), ["Verify it"]),
        (("--since", "2030-01-31 12:02", "--limit", "2"), ["Wait for it", "Look"]),
        (("--session", "t"), ["Look"]),
        (("--grep", "EXIT 1|manual"), ["Verify it", "Read the manual"]),
    ],
)
@pytest.mark.usefixtures("story")
def test_filters_combine(args: tuple[str, ...], found: list[str]) -> None:
    assert intents(*args) == found


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("--tool", "bsh"), "No call fits --tool 'bsh'; the tools here are bash, edit, web/get-page, read."),
        (
            ("--since", "2031-01-01"),
            "No call fits --since '2031-01-01'; the last one began on Thu 2030-01-31 14:30:00 UTC.",
        ),
        (
            ("--status", "denied", "--tool", "bash"),
            "No call fits --status 'denied'; there are 1 rejected, 1 error, 2 ok, 1 open.",
        ),
        (("--grep", "xyz"), "No call fits --grep 'xyz'; it is looked for in "),
        (("--grep", "after\nthree"), "No call fits --grep 'after three'; no line feed stands in what is searched: "),
        (("--path", "xyz"), "No call fits --path 'xyz'; a name alone is found in every folder"),
        (("--failed", "--tool", "edit"), "No call fits --tool 'edit' and --failed together; leave one out."),
    ],
)
@pytest.mark.usefixtures("story")
def test_where_nothing_fits_one_sentence_says_which_filter_and_what_there_is(
    args: tuple[str, ...], said: str
) -> None:
    result = log(*args)
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr.startswith(said)
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("--since", "soon"), "Invalid value for '--since': 'soon' is no time; it can be \"2 hours ago\""),
        (("--grep", "a("), "Invalid value for --grep: 'a(' is no regular expression (missing ), unterminated"),
        (("--status", "fine"), "Invalid value for '--status': 'fine' is not one of"),
    ],
)
def test_what_cannot_be_read_is_a_sentence(args: tuple[str, ...], said: str) -> None:
    result = log(*args)
    assert result.exit_code == 2
    assert said in result.stderr


NOW = datetime(2030, 1, 31, 12, 0, tzinfo=UTC)  # a Thursday


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2 hours ago", "2030-01-31T10:00:00+00:00"),
        ("90m", "2030-01-31T10:30:00+00:00"),
        ("90 min", "2030-01-31T10:30:00+00:00"),
        ("an hour ago", "2030-01-31T11:00:00+00:00"),
        ("3D", "2030-01-28T12:00:00+00:00"),
        ("2w", "2030-01-17T12:00:00+00:00"),
        ("yesterday", "2030-01-30T00:00:00+00:00"),
        ("Today", "2030-01-31T00:00:00+00:00"),
        ("monday", "2030-01-28T00:00:00+00:00"),
        ("thursday", "2030-01-31T00:00:00+00:00"),
        ("last thursday", "2030-01-24T00:00:00+00:00"),
        ("2030-01-31", "2030-01-31T00:00:00+00:00"),
        ("2030-01-31 09:30", "2030-01-31T09:30:00+00:00"),
        ("2030-01-31T09:30:00.123Z", "2030-01-31T09:30:00.123000+00:00"),
        ("2030-01-31T09:30+02:00", "2030-01-31T07:30:00+00:00"),
        ("2030-02-31", None),
        ("0001-01-01", None),
        ("99999w", "0113-07-27T12:00:00+00:00"),
        ("3 months", None),
        ("", None),
    ],
)
def test_times_as_people_give_them(text: str, moment: str | None) -> None:
    found = read_since(text, NOW)
    if text == "0001-01-01":  # some systems know that day, others do not
        assert found is None or found.year == 1
        return
    assert (None if found is None else found.isoformat()) == moment


@pytest.mark.parametrize(
    ("pattern", "path", "meant"),
    [
        ("src/pay.py", "src/pay.py", True),
        ("./src/pay.py", "src/pay.py", True),
        ("pay.py", "src/pay.py", True),
        ("src", "src/deep/pay.py", True),
        ("sr", "src/pay.py", False),
        ("ay.py", "src/pay.py", False),
        ("src/**/pay.py", "src/pay.py", True),
        ("src/**/pay.py", "src/a/b/pay.py", True),
        ("*.py", "src/pay.py", True),
        ("*.md", "src/pay.py", False),
        ("/p/shop/src/pay.py", "src/pay.py", True),
        ("src/pay.py", "/p/shop/src/pay.py", True),
        ("../src", "src/pay.py", True),
        ("/etc", "/etc/passwd", True),
    ],
)
def test_paths_as_people_give_them(pattern: str, path: str, meant: bool) -> None:
    assert path_filter([pattern], Path("/p/shop/docs"), Path("/p/shop"))(path) is meant


def test_calls_that_were_left_open_are_named_also_where_they_are_not_shown(project: Path) -> None:
    write(project, "s", [{"args": {"command": f"sleep {n}"}, "intent": f"Wait {n}"} for n in range(7)])
    write(project, "t", [{"args": {}, "intent": "Look", "status": "ok"}], begins=NOON + 9000)
    said = log("--limit", "2").stdout
    assert said.splitlines()[-13:-10] == [
        "",
        "6 earlier calls were left open: the process ended under them",
        "0000000001  Wait 1"[2:],
    ]
    assert said.splitlines()[-1] == "1 more: pi-intent log --status open"
    assert "left open" not in log("--limit", "0").stdout
    assert "left open" not in log("--limit", "2", "--status", "ok").stdout


def test_imported_calls_without_a_result_are_not_named_again_and_again(project: Path) -> None:
    write(project, "s", [{"args": {}, "intent": f"Wait {n}", "flags": ("imported",)} for n in range(3)])
    write(project, "t", [{"args": {}, "intent": "Look", "status": "ok"}], begins=NOON + 9000)
    assert "left open" not in log("--limit", "1").stdout
    assert log("--status", "open").stdout.count("? open: no result stands in the session file") == 3


@pytest.mark.usefixtures("story")
def test_failed_and_status_together_let_through_what_is_both() -> None:
    assert "Verify it" in log("--failed", "--status", "error", "--status", "ok").stdout
    assert "Stop after three" not in log("--failed", "--status", "error", "--status", "ok").stdout
    refused = log("--failed", "--status", "ok")
    assert refused.exit_code == 2
    assert "--failed and --status ok let no call through together" in refused.stderr


@pytest.mark.usefixtures("story")
def test_tools_are_found_in_any_case() -> None:
    assert "Verify it" in log("--tool", "BASH").stdout
    assert "Read the manual" in log("--tool", "Web/*").stdout


@pytest.mark.usefixtures("story")
@pytest.mark.parametrize("option", ["--tool", "--path", "--session", "--grep"])
def test_an_empty_filter_is_wrong_usage(option: str) -> None:
    refused = log(option, "")
    assert (refused.exit_code, refused.stderr.splitlines()[-1]) == (2, f"Error: {option} is empty")


def test_calls_of_one_message_stand_together(project: Path) -> None:
    groups = ["g-1", "g-1", "g-2"]
    write(
        project,
        "s",
        [{"args": {}, "intent": f"Step {n}", "group_id": group, "status": "ok"} for n, group in enumerate(groups)],
    )
    shape = ["" if not line else "step" for line in log().stdout.splitlines() if not line or "Step" in line]
    assert shape == ["step", "step", "", "step"]


@pytest.mark.parametrize("more", [(), ("--json",)])
def test_an_expression_that_could_be_tried_for_ever_is_given_up(
    project: Path, monkeypatch: pytest.MonkeyPatch, more: tuple[str, ...]
) -> None:
    monkeypatch.setattr(import_module("pi_intent.cli.log"), "_LONGEST_SEARCH", 0.5)
    write(project, "s", [{"args": {}, "intent": "a" * 60 + "!", "status": "ok"}])
    before, began = signal.getsignal(signal.SIGALRM), time.monotonic()
    refused = log("--grep", "(a+)+$", *more)
    assert time.monotonic() - began < 30
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert refused.stderr.startswith("Error: the search for '(a+)+$' was given up after 0.5 seconds: ")
    assert (signal.getsignal(signal.SIGALRM), signal.getitimer(signal.ITIMER_REAL)) == (before, (0.0, 0.0))
    assert log("--grep", "a+!").exit_code == 0


def test_a_pager_begins_at_the_end_only_where_it_is_soon_there(project: Path, tmp_path: Path) -> None:
    pager = tmp_path / "pager"
    pager.write_text('#!/bin/sh\necho "LESS=$LESS"\nhead -n 3\n')
    pager.chmod(0o700)
    calls = [{"args": {}, "intent": "Step", "group_id": f"g-{n}", "status": "ok"} for n in range(2001)]
    write(project, "s", calls)
    log("--limit", "1")  # what takes over a second says so on the screen, too
    few = unstyle(on_a_terminal("log", "--limit", "2000", PAGER=str(pager)))
    many = unstyle(on_a_terminal("log", "--limit", "0", PAGER=str(pager)))  # ends, though the pager reads no more
    assert few.splitlines()[:2] == ["LESS=FRX+G", "1 earlier call is not shown; --limit 0 shows all"]
    assert many.splitlines()[:2] == [
        "LESS=FRX",
        "2001 calls, the oldest first; in the pager G goes to the newest",
    ]


def test_a_terminal_pages_what_is_longer_than_it(project: Path) -> None:
    write(
        project, "s", [{"args": {}, "intent": f"Step {n}", "group_id": f"g-{n}", "status": "ok"} for n in range(30)]
    )
    pager = "sed s/^/PAGED:/"
    assert "PAGED:" in on_a_terminal("log", PAGER=pager)
    assert "PAGED:" not in on_a_terminal("log", "--limit", "2", PAGER=pager)
    assert "PAGED:" not in on_a_terminal("log", PAGER="")
    assert "\x1b[1mStep 7" in on_a_terminal("log", PAGER=pager)
    assert "\x1b[32m" in on_a_terminal("log", PAGER=pager)
    assert "\x1b[32m" not in on_a_terminal("log", PAGER=pager, NO_COLOR="1")
    piped = subprocess.run(
        [sys.executable, "-m", "pi_intent", "log"],
        capture_output=True,
        env={**os.environ, "PAGER": pager},
        timeout=60,
        check=True,
    )
    assert b"PAGED:" not in piped.stdout


def test_the_index_goes_with_what_is_purged(project: Path) -> None:
    write(project, "s", [{"args": {}, "intent": "Old", "status": "ok"}], begins=1e9)
    log()
    index = find_ledger(project, os.environ).root / "index.sqlite"
    assert index.is_file()
    runner = CliRunner()
    assert runner.invoke(commands, ["purge", "--before", "90d", "--dry-run"]).exit_code == 0
    assert index.is_file()
    assert runner.invoke(commands, ["purge", "--before", "90d"]).exit_code == 0
    assert not index.exists()
    assert log().stderr.startswith("No call is recorded here yet")
