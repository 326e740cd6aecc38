"""`pi-intent verify` says of every file whether it holds, and what it cannot know."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from ledger_events import a_start, an_end

from pi_intent.cli.main import commands
from pi_intent.ledger.journal import SessionJournal
from pi_intent.ledger.location import find_ledger
from pi_intent.ledger.record import SessionInfo
from pi_intent.ledger.verify import LIMITS
from pi_intent.protocols import CallContext, Settlement

CONTEXT = CallContext(turn=1, policy="require", profile="lean", bytes_in=1)
SETTLEMENT = Settlement(status="ok", is_error=False)


@pytest.fixture(autouse=True)
def project(shop: Path) -> Path:
    return shop


def journal_of(session: str) -> SessionJournal:
    info = SessionInfo(session=session, host="tau", agent="main", cwd="/", version="0")
    return SessionJournal(find_ledger(Path(), os.environ), info, environ={}, on_problem=pytest.fail)


def write(session: str, *, left_open: int = 0) -> Path:
    """Write a session of two calls that ended, and some that did not; return its file."""
    journal = journal_of(session)
    for number in range(2 + left_open):
        start = a_start(call_id=f"{session}-{number}", seq=number, session_id=session, intent="Say why")
        journal.opened(start, CONTEXT)
        if number < 2:
            journal.closed(an_end(call_id=start.call_id, seq=number, session_id=session), SETTLEMENT)
    path = journal.path
    journal.close()
    assert path is not None
    return path


def run(*args: str) -> Result:
    return CliRunner().invoke(commands, ["verify", *args], catch_exceptions=False)


def document(*args: str) -> tuple[int, dict[str, Any]]:
    result = run("--json", *args)
    assert result.stderr == ""
    return result.exit_code, json.loads(result.stdout)


def replace_in(path: Path, old: bytes, new: bytes) -> None:
    content = path.read_bytes()
    assert old in content
    path.write_bytes(content.replace(old, new, 1))


def test_a_ledger_that_holds_is_said_to_hold_and_what_that_means() -> None:
    folder = write("one").parent
    write("two", left_open=1)
    result = run()
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.splitlines() == [
        f"11 records in 2 files checked: {folder}",
        "0 calls still running, 1 left open by a process that ended.",
        "✓ All that was written is as it was written, as far as hashes can tell.",
        "",
        LIMITS,
    ]


def test_without_a_ledger_that_is_said_and_is_no_failure() -> None:
    result = run()
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr.startswith("There is nothing to check: no record in ")
    assert document()[0] == 0
    assert document()[1]["segments"] == []


def test_the_first_bad_line_of_each_file_is_named_and_the_exit_code_is_one() -> None:
    one, two = write("one"), write("two")
    replace_in(one, b'"intent":"Say why"', b'"intent":"Say wha"')
    one.write_bytes(one.read_bytes() + b"hello\n")
    lines = two.read_bytes().splitlines(keepends=True)
    two.write_bytes(b"".join(lines[:2] + lines[3:]))
    result = run()
    assert result.exit_code == 1
    assert result.stdout.splitlines()[:2] == [
        f"✗ {one.name}, line 2, was changed: its hash does not fit what stands there (1 more in this file)",
        f"✗ {two.name}, line 3, does not follow the record before it: records were lost, moved or added there",
    ]
    assert "✗ 2 files of the ledger cannot be trusted as a whole." in result.stdout


def test_a_torn_end_is_told_and_is_no_failure() -> None:
    path = write("one")
    path.write_bytes(path.read_bytes()[:-10])
    result = run()
    assert result.exit_code == 0
    assert result.stdout.splitlines()[0] == f"· {path.name}, line 5, was cut off while it was written"
    assert "1 line cut off while written (·): no tampering, but what they told is lost." in result.stdout


def test_json_is_one_document_with_all_of_it() -> None:
    path = write("one", left_open=1)
    good = write("two")
    replace_in(path, b'"intent":"Say why"', b'"intent":"Say wha"')
    code, told = document()
    assert code == 1
    assert told == {
        "ledger": str(path.parent),
        "segments": [
            {
                "path": str(path),
                "session": "one",
                "running": False,
                "ok": False,
                "records": 6,
                "newer": 0,
                "bad": 1,
                "first": {
                    "line": 2,
                    "kind": "changed",
                    "text": "was changed: its hash does not fit what stands there",
                },
                "tornLines": 0,
                "torn": None,
            },
            {
                "path": str(good),
                "session": "two",
                "running": False,
                "ok": True,
                "records": 5,
                "newer": 0,
                "bad": 0,
                "first": None,
                "tornLines": 0,
                "torn": None,
            },
        ],
        "problems": [],
        "calls": {"running": 0, "open": 1},
        "limits": LIMITS,
        "ok": False,
    }


def test_one_session_is_checked_alone_also_where_its_beginning_is_damaged() -> None:
    one, two = write("one"), write("two")
    replace_in(one, b'"intent":"Say why"', b'"intent":"Say wha"')
    assert document("--session", "tw")[0] == 0
    assert document("--session", "one")[0] == 1
    again = write("two")
    replace_in(two, b'{"v":1,"t":"session"', b'{"v":1,"t":"sessi..')
    code, told = document("--session", "two")
    assert code == 1
    assert {segment["path"] for segment in told["segments"]} == {str(two), str(again)}
    result = run("--session", "three")
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: there is no session three in ")


def test_a_running_writers_file_is_checked_as_far_as_it_is_written() -> None:
    journal = journal_of("one")
    try:
        journal.opened(a_start(call_id="a", seq=1), CONTEXT)
        assert journal.path is not None
        with journal.path.open("ab") as file:
            file.write(b'{"v":1,"t":"do')
        code, told = document()
        (segment,) = told["segments"]
        assert (code, segment["running"], segment["records"], segment["torn"]) == (0, True, 2, None)
        assert told["calls"] == {"running": 1, "open": 0}
    finally:
        journal.close()


def test_a_call_that_ended_in_another_file_is_not_open() -> None:
    journal = journal_of("one")
    journal.opened(a_start(call_id="a", seq=1), CONTEXT)
    first = journal.path
    assert first is not None
    content = first.read_bytes()
    first.unlink()
    journal.closed(an_end(call_id="a", seq=2), SETTLEMENT)
    first.write_bytes(content)
    assert document()[1]["calls"] == {"running": 0, "open": 0}
    journal.close()
    assert document()[1]["calls"] == {"running": 0, "open": 0}


def test_what_cannot_be_read_is_not_called_good(project: Path) -> None:
    folder = write("one").parent
    (folder / "folder.0.jsonl").mkdir()
    os.mkfifo(folder / "pipe.0.jsonl")
    (folder / "gone.0.jsonl").symlink_to(project / "nowhere")
    result = run()
    assert result.exit_code == 1
    assert result.stdout.count("✗ ") == 4
    assert len(document()[1]["problems"]) == 3


ODD_IDS = [
    "",
    "..",
    "../" * 3_000,
    "a\0b",
    "A",
    "a",
    "\u212a",
    "\ud800",
    "x" * 10_000,
    "\x1b]0;x\x07",
    "\u202egpj",
    "-x",
    "-",
]


def test_sessions_with_odd_ids_are_checked_and_shown(project: Path) -> None:
    for session in ODD_IDS:
        write(session)
    code, told = document()
    assert (code, len(told["segments"])) == (0, len(ODD_IDS))
    shown = CliRunner().invoke(commands, ["log"], catch_exceptions=False)
    assert (shown.exit_code, shown.stderr) == (0, "")
    assert not set(shown.stdout) & set("\0\x1b\x07\u202e")
    as_json = CliRunner().invoke(commands, ["log", "--json"], catch_exceptions=False)
    assert len(json.loads(as_json.stdout)["calls"]) == 2 * len(ODD_IDS)
    assert [path.name for path in project.iterdir()] == []


def test_nothing_of_a_file_reaches_the_terminal_raw() -> None:
    path = write("one")
    path.rename(path.with_name("one\x1b]0;owned\x07.0.jsonl"))
    path.with_name("x.0.jsonl").write_bytes(b"\x1b[2J\n\xff\n")
    for args in ((), ("--json",)):
        result = run(*args)
        assert result.exit_code == 1
        assert "\x1b" not in result.output
        assert "\x07" not in result.output
