"""`log`, `show` and `stats` tell what a person was asked about a call and what was decided."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from ledger_events import a_question, a_start, an_end
from terminal_run import on_a_terminal

from pi_intent.cli.main import commands
from pi_intent.ledger.journal import SessionJournal
from pi_intent.ledger.location import find_ledger
from pi_intent.ledger.record import SessionInfo
from pi_intent.protocols import CallContext, Settlement
from pi_intent.settings.load import user_file
from pi_intent.types import Status

NOON = 1_896_091_200.0  # 2030-01-31T12:00:00Z
DIGEST = "hmac:" + "0" * 32
HOSTILE = "Look\x1b]0;owned\x07 [bold]at[/bold] [@click=app.quit]this[/]\nand \u202ethat"
REASONS = ("tier exec", "deletes: rm -rf build")


class Session:
    """Writes calls with what was asked about them, a second between one record and the next."""

    def __init__(self, project: Path) -> None:
        self.now = NOON
        info = SessionInfo(session="s-1", host="tau", agent="main", cwd="/p", version="0")
        self.journal = SessionJournal(
            find_ledger(project, os.environ), info, environ={}, on_problem=pytest.fail, clock=self.clock
        )

    def clock(self) -> float:
        self.now += 1
        return self.now

    def call(
        self,
        call_id: str,
        *decisions: dict[str, Any],
        status: Status | None = "ok",
        intent: str = "Tidy up",
        command: str = "rm -rf build",
    ) -> None:
        ids: dict[str, Any] = {"call_id": call_id.ljust(26, "0"), "session_id": "s-1", "group_id": call_id}
        start = a_start(**ids, seq=1, args={"command": command}, intent=intent)
        self.journal.opened(start, CallContext(turn=1, policy="require", profile="lean", bytes_in=1))
        for said in decisions:
            self.journal.decided(a_question(ids["call_id"], **{"reasons": REASONS, "digest": DIGEST} | said))
        if status is not None:
            end = an_end(**ids, seq=2, status=status, is_error=status != "ok")
            self.journal.closed(end, Settlement(status=status, is_error=status != "ok"))


ASKED: dict[str, Any] = {}
SHOWN = "bash, in /p\n$ rm -rf build\nThe agent says, unverified:\n> Tidy up"


@pytest.fixture(autouse=True)
def project(shop: Path, utc: None) -> Path:
    return shop


@pytest.fixture
def told(project: Path) -> None:
    session = Session(project)
    session.call("PLAIN")
    session.call("ONCE", ASKED, {"approved": True, "by": "person", "scope": "once", "shown": SHOWN})
    session.call("GRANT", {"approved": True, "by": "grant", "scope": "session"})
    session.call("NOTE", ASKED, {"approved": False, "by": "person", "note": "Not on a Friday"}, status="denied")
    session.call("NOBODY", {"approved": False, "by": "nobody"}, status="denied")
    session.call("LATER", ASKED, status="denied")
    session.call("DIED", ASKED, status=None)
    session.journal.close()


def run(*args: str) -> Result:
    result = CliRunner().invoke(commands, args, catch_exceptions=False)
    assert result.exit_code == 0
    return result


def asked_lines(*args: str) -> list[str]:
    return [line.strip() for line in run("log", "--no-notes", *args).stdout.splitlines() if "asked" in line]


def test_log_tells_it_in_one_line_under_the_action(told: None) -> None:
    because = "asked: tier exec, deletes (rm -rf build)"
    assert asked_lines() == [
        f"{because} · approved once by a person",
        f"{because} · approved: this exact call was approved before",
        f'{because} · denied by a person: "Not on a Friday"',
        f"{because} · nobody to ask",
        f"{because} · waits for an answer",
        f"{because} · no answer: the process ended",
    ]
    lines = run("log", "--no-notes").stdout.splitlines()
    at = next(number for number, line in enumerate(lines) if "approved once" in line)
    assert [line[10:] for line in lines[at - 2 : at + 2]] == [
        "Tidy up",
        "bash $ rm -rf build",
        f"{because} · approved once by a person",
        "✓ ok · 14 ms",
    ]


def test_what_was_ruled_on_is_not_told_as_asked(project: Path) -> None:
    session = Session(project)
    said = {"reasons": ("touches money: the settings say so",), "approved": False, "by": "permission"}
    session.call("MONEY", said, status="denied")
    session.journal.close()
    lines = [line.strip() for line in run("log", "--no-notes").stdout.splitlines()]
    assert "ruled on: touches money (the settings say so) · denied: what it touches is not permitted" in lines
    assert asked_lines() == []


@pytest.mark.parametrize(
    ("options", "found"),
    [
        (["--asked"], ["ONCE", "GRANT", "NOTE", "NOBODY", "LATER", "DIED"]),
        (["--decided", "approved"], ["ONCE", "GRANT"]),
        (["--decided", "denied"], ["NOTE", "NOBODY"]),
        (["--decided", "waiting"], ["LATER", "DIED"]),
        (["--decided", "waiting", "--decided", "approved", "--status", "denied"], ["LATER"]),
        (["--asked", "--limit", "2"], ["LATER", "DIED"]),
    ],
)
def test_log_finds_calls_by_what_was_decided(told: None, options: list[str], found: list[str]) -> None:
    document = json.loads(run("log", *options, "--json").stdout)
    assert [call["id"].rstrip("0") for call in document["calls"]] == found


def test_a_running_call_that_is_asked_about_waits_for_a_person(project: Path) -> None:
    session = Session(project)
    session.call("NOW", ASKED, status=None)
    lines = [line.strip() for line in run("log", "--no-notes").stdout.splitlines()]
    assert lines[-2:] == [
        "asked: tier exec, deletes (rm -rf build) · waits for an answer",
        "▸ waiting for a person",
    ]
    session.journal.close()


def test_json_has_the_records(told: None) -> None:
    calls = {call["id"].rstrip("0"): call for call in json.loads(run("log", "--json").stdout)["calls"]}
    assert calls["PLAIN"]["decisions"] == []
    asked, answer = calls["ONCE"]["decisions"]
    assert (asked["t"], asked["approved"], asked["reasons"]) == ("decision", None, [*REASONS])
    assert (answer["approved"], answer["by"], answer["scope"], answer["shown"]) == (True, "person", "once", SHOWN)
    shown = json.loads(run("show", "ONCE".ljust(26, "0"), "--json").stdout)
    assert shown["decisions"] == [asked, answer]
    assert [(record["t"], record["holds"]) for record in shown["records"]] == [
        ("call", True),
        ("decision", True),
        ("decision", True),
        ("done", True),
    ]


def section(lines: Sequence[str], title: str) -> list[str]:
    start = lines.index(title) + 1
    return list(lines[start : lines.index("", start)])


def test_show_tells_all_of_it_after_the_literal_action(told: None) -> None:
    lines = run("show", "ONCE".ljust(26, "0")).stdout.splitlines()
    assert lines.index("  $ rm -rf build") < lines.index("What was asked about it") < lines.index("What came of it")
    assert section(lines, "What was asked about it") == [
        "  asked because tier exec",
        "                deletes (rm -rf build)",
        f"  call digest   {DIGEST} (of tool, supplier, folder and arguments)",
        "  asked         Thu 2030-01-31 12:00:05.000 UTC",
        "  decided       Thu 2030-01-31 12:00:06.000",
        "                approved once by a person, after 1.0 s",
        "  on the screen, here without secrets and long contents",
        "  | bash, in /p",
        "  | $ rm -rf build",
        "  | The agent says, unverified:",
        "  | > Tidy up",
    ]
    assert sum("decision" in line and line.endswith("its hash fits") for line in lines) == 2


def test_show_tells_a_note_and_a_call_that_waits(told: None) -> None:
    noted = section(run("show", "NOTE".ljust(26, "0")).stdout.splitlines(), "What was asked about it")
    assert noted[-2:] == [
        "                denied by a person, after 1.0 s",
        "  note          Not on a Friday",
    ]
    waiting = section(run("show", "LATER".ljust(26, "0")).stdout.splitlines(), "What was asked about it")
    assert waiting[-1] == "  decided       waits for an answer"


def test_a_call_that_was_asked_about_again_says_so(project: Path) -> None:
    session = Session(project)
    yes: dict[str, Any] = {"approved": True, "by": "person", "scope": "once"}
    no: dict[str, Any] = {"approved": False, "by": "person", "number": 2}
    session.call("AGAIN", ASKED, yes, {"number": 2}, no, status="denied")
    session.journal.close()
    assert asked_lines() == ["asked 2 times: tier exec, deletes (rm -rf build) · denied by a person"]
    lines = section(run("show", "AGAIN".ljust(26, "0")).stdout.splitlines(), "What was asked about it")
    assert [line.strip() for line in lines if "question" in line] == ["question      1 of 2", "question      2 of 2"]


def test_where_nobody_was_asked_it_says_what_there_is(project: Path) -> None:
    session = Session(project)
    session.call("PLAIN")
    assert run("log", "--asked").stderr == (
        "No call fits --asked; nobody was asked about any call here "
        f"(to be asked, set ask or check_in in {user_file(os.environ)}).\n"
    )
    session.call("NOTE", ASKED, {"approved": False, "by": "person"}, status="denied")
    session.journal.close()
    assert run("log", "--decided", "approved").stderr == "No call fits --decided 'approved'; there are 1 denied.\n"


def test_nothing_that_others_wrote_reaches_the_terminal_as_it_is(project: Path) -> None:
    session = Session(project)
    reasons = (f"{HOSTILE}: {HOSTILE}", HOSTILE)
    answer: dict[str, Any] = {
        "approved": False,
        "by": "person",
        "note": HOSTILE,
        "shown": f"$ {HOSTILE}\n  {HOSTILE}",
    }
    session.call("BAD", {"reasons": reasons}, {"reasons": reasons} | answer, status="denied")
    session.journal.close()
    for args in (("log", "--no-notes"), ("show", "BAD".ljust(26, "0")), ("stats",)):
        for plain in (run(*args).stdout, on_a_terminal(*args, PAGER="cat", NO_COLOR="1", COLUMNS="60")):
            assert "\x1b]" not in plain
            assert "\x07" not in plain
            assert "\u202e" not in plain
    shown = run("show", "BAD".ljust(26, "0")).stdout
    assert "[bold]at[/bold] [@click=app.quit]this[/]" in shown


def test_on_a_narrow_terminal_it_folds(told: None) -> None:
    for columns in (60, 80):
        text = on_a_terminal("log", "--no-notes", PAGER="cat", NO_COLOR="1", COLUMNS=str(columns))
        plain = re.sub(r"\x1b\[[0-9;]*m", "", text)
        assert 50 < max(map(len, plain.splitlines())) <= columns
        assert not re.search(r"\x1b\[3\d", text)  # NO_COLOR
        assert "approved: this exact call was approved before" in " ".join(plain.split())


def test_stats_counts_it(told: None) -> None:
    text = run("stats", "--no-notes").stdout
    lines = [line.rstrip() for line in text.splitlines()]
    start = lines.index("Asked about, or ruled on, before they ran: 86 %, 6 of 7 calls")
    assert [[*line.split()][:: len(line.split()) - 1] for line in lines[start + 1 : start + 4]] == [
        ["approved", "2"],
        ["denied", "2"],
        ["waiting", "2"],
    ]
    assert [" ".join(line.split()) for line in lines[start + 4 : start + 10]] == [
        "half of the 2 answers came within 1.0 s",
        "by rule: asked, approved, denied, waiting",
        "deletes 6 2 2 2",
        "tier exec 6 2 2 2",
        "by tool: asked, approved, denied, waiting",
        "bash 6 2 2 2",
    ]
    document = json.loads(run("stats", "--json").stdout)["check_ins"]
    assert document["calls"] == {"n": 6, "of": 7}
    assert document["answers"] == {"asked": 6, "approved": 2, "denied": 2, "waiting": 2}
    assert document["by"] == {"person": 2, "grant": 1, "nobody": 1}
    assert (document["answered"], document["median_ms"]) == (2, 1000)


def test_stats_says_nothing_of_it_where_nobody_was_asked(project: Path) -> None:
    session = Session(project)
    session.call("PLAIN")
    session.journal.close()
    assert "asked:" not in run("stats").stdout
    assert json.loads(run("stats", "--json").stdout)["check_ins"]["calls"] == {"n": 0, "of": 1}


def test_two_commands_that_differ_in_their_spaces_are_told_apart(project: Path) -> None:
    session = Session(project)
    for number, command in enumerate(('rm "a b"', 'rm "a  b"', 'rm "a\tb" ', f"rm {'x' * 60}  y   z")):
        session.call(
            f"N{number}", {"reasons": (f"deletes: {command}",), "approved": True, "by": "grant"}, command=command
        )
    session.journal.close()
    shown = ['rm "a b"', 'rm "a  b"', 'rm "a⟨TAB⟩b"⟨SPACE⟩', f"rm {'x' * 60}  y   z"]
    lines = [line[10:] for line in run("log", "--no-notes").stdout.splitlines()]
    assert [line for line in lines if line.startswith("bash")] == [f"bash $ {command}" for command in shown]
    assert re.findall(r"deletes \((.*)\) ·", "\n".join(lines)) == shown
    for number, command in enumerate(shown):
        told = run("show", f"N{number}".ljust(26, "0")).stdout.splitlines()
        assert told[told.index("What was to run") + 1] == f"  $ {command}"
        assert f"  asked because deletes ({command})" in told
    for looked_for, found in (('"a b"', "N0"), ('"a  b"', "N1"), (r"x {2}y {3}z$", "N3")):
        calls = json.loads(run("log", "--grep", looked_for, "--json").stdout)["calls"]
        assert [call["id"].rstrip("0") or "N0" for call in calls] == [found.rstrip("0") or "N0"]
    # Where a line is broken at several spaces, they stand where they show.
    told = on_a_terminal("show", "N3".ljust(26, "0"), PAGER="cat", COLUMNS="66", NO_COLOR="1")
    assert f"  $ rm\n    {'x' * 60}\n      y   z\n" in re.sub(r"\x1b\[[0-9;]*m|\r", "", told)
