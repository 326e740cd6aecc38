"""`pi-intent log` tells what was done and why, from whatever the ledger's files hold."""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import subprocess
import sys
import time
from dataclasses import replace
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from clocks import Standing
from ledger_schema import assert_records_fit
from rich.cells import cell_len
from rich.console import Console
from syrupy.assertion import SnapshotAssertion

from pi_intent.cli.log import session_groups
from pi_intent.cli.main import commands
from pi_intent.cli.paging import show
from pi_intent.events import OutcomePatch, ToolExecutionEnd, ToolExecutionStart
from pi_intent.ids import ulid
from pi_intent.ledger.index import Filter, Stretch, open_index
from pi_intent.ledger.journal import SessionJournal
from pi_intent.ledger.location import find_ledger
from pi_intent.ledger.record import SessionInfo
from pi_intent.protocols import CallContext, Settlement
from pi_intent.render.timeline import folded, timeline

NOON = 1_896_091_200.0  # 2030-01-31T12:00:00Z
PROJECT = "/home/me/shop"
HOSTILE = "Look\x1b]0;owned\x07 [bold]at[/bold] [@click=app.quit]this[/]\nand \u202ethat"
FIELDS: dict[str, Any] = {"agent_id": "main", "host": "tau", "tool_call_id": "tool-call-0"}


class Writer:
    """Writes one session's ledger the way a host does, at fixed times and with fixed ids."""

    def __init__(self, project: Path, session: str, begins: float = NOON, **info: Any) -> None:
        self.clock = Standing(begins)
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
        entropy = hashlib.sha256(f"{self.session} {self._number}".encode()).digest()
        call_id = ulid(int(self.clock.now * 1000), entropy)
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
        segment = self.journal.path
        self.journal.close()
        assert self.problems == []
        assert_records_fit([] if segment is None else [segment])


@pytest.fixture(autouse=True)
def project(shop: Path, utc: None) -> Path:
    return shop


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


def drawn(width: int, **options: Any) -> str:
    """The timeline as a terminal of this width shows it."""
    console = Console(
        file=io.StringIO(), force_terminal=True, width=width, markup=False, emoji=False, highlight=False, **options
    )
    with open_index(find_ledger(Path(), os.environ).root) as index:
        counts = index.counts()
        groups = session_groups(index, Filter(), Stretch(), counts, counts)
        show(console, folded(console, timeline(groups, zone=UTC)))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def segments(project: Path) -> list[Path]:
    return sorted(find_ledger(project, os.environ).segments.iterdir())


def test_a_pipe_gets_whole_plain_lines(project: Path, snapshot: SnapshotAssertion) -> None:
    write_story(project)
    result = log()
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == snapshot
    assert "\x1b" not in result.stdout


@pytest.mark.parametrize("width", [80, 40])
def test_a_terminal_gets_folded_lines(width: int, project: Path, snapshot: SnapshotAssertion) -> None:
    write_story(project)
    shown = drawn(width, no_color=True, color_system=None)
    assert shown == snapshot
    assert max(cell_len(line) for line in shown.splitlines()) <= width


def test_colours_are_for_terminals_that_want_them(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_story(project)
    assert "\x1b[32m✓ ok · 120 lines · 14 ms\x1b[0m" in drawn(80, color_system="standard")
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[3" not in drawn(80, color_system="standard").replace("\x1b[3m", "")  # italics are no colour


@pytest.mark.parametrize("width", [1, 9, 12])
def test_a_terminal_of_a_few_columns_is_no_reason_to_fail(width: int, project: Path) -> None:
    write_story(project)
    assert "12:00:00" in drawn(width).replace("\n", "")


def test_what_a_model_wrote_is_shown_and_never_obeyed(project: Path) -> None:
    writer = Writer(project, "s")
    evil = dict.fromkeys(("facts", "outcome"), HOSTILE)
    writer.end(writer.begin(HOSTILE, {"path": HOSTILE}, HOSTILE, rationale=HOSTILE, agent_id=HOSTILE), **evil)
    writer.end(writer.begin("bash", {"command": HOSTILE}, tool_source=HOSTILE), "error", error=HOSTILE)
    writer.done()
    plain = log().stdout
    for shown in (plain, drawn(80, color_system=None, no_color=True)):
        assert "[@click=app.quit]this[/] and that" in " ".join(shown.split())
        assert not set(shown) & set("\x07\u202e")
    assert "\x1b" not in plain
    # A sequence is dropped from a label, and spelt out in what ran.
    assert "  Look [bold]at[/bold] [@click=app.quit]this[/] and that\n" in plain
    assert "bash $ Look⟨ESC⟩]0;owned⟨BEL⟩ [bold]at[/bold] [@click=app.quit]this[/] ⏎ and ⟨U+202E⟩that\n" in plain


def test_json_is_one_document_with_the_records_of_the_ledger(project: Path) -> None:
    write_story(project)
    result = log("--json")
    document = json.loads(result.stdout)
    assert (result.exit_code, result.stderr) == (0, "")
    assert [*document] == ["ledger", "calls", "problems"]
    assert document["ledger"] == str(find_ledger(project, os.environ).segments)
    assert document["problems"] == []
    records = [json.loads(line) for path in segments(project) for line in path.read_text().splitlines()]
    begun = sorted((record for record in records if record["t"] == "call"), key=lambda record: record["ts"])
    ended = {record["id"]: record for record in records if record["t"] == "done"}
    assert document["calls"] == [
        {
            "id": call["id"],
            "state": "settled" if call["id"] in ended else "open",
            "call": call,
            "done": ended.get(call["id"]),
            "decisions": [],
        }
        for call in begun
    ]
    assert [*document["calls"][0]["call"]] == [*begun[0]]
    patches = [call["done"] and call["done"]["outcomePatch"] for call in document["calls"]]
    assert {"from": "write", "to": "wrote"} in patches


def test_json_has_every_call_unless_a_limit_is_asked_for(project: Path) -> None:
    writer = Writer(project, "s")
    for number in range(60):
        writer.end(writer.begin("read", {"path": f"{number}.py"}, f"Step {number}"))
    writer.done()
    for args, count in (((), 60), (("--limit", "0"), 60), (("--limit", "3"), 3), (("--limit", "99"), 60)):
        calls = json.loads(log("--json", *args).stdout)["calls"]
        assert [call["call"]["intent"] for call in calls] == [f"Step {number}" for number in range(60)][-count:]


def test_the_last_fifty_calls_are_shown_and_the_others_counted(project: Path) -> None:
    for session, begins in (("a", NOON), ("b", NOON + 1000)):
        writer = Writer(project, session, begins)
        for number in range(30):
            writer.end(writer.begin("read", {"path": f"{number}.py"}, f"Step {session}{number}"))
        writer.done()
    default, whole, two = log().stdout, log("--limit", "0").stdout, log("--limit", "2").stdout
    assert default.startswith("10 earlier calls are not shown; --limit 0 shows all\n\nsession a\n")
    assert "30 calls, the last 20 shown" in default
    assert [line.split()[-1] for line in default.splitlines() if "Step" in line] == [
        *(f"a{number}" for number in range(10, 30)),
        *(f"b{number}" for number in range(30)),
    ]
    assert whole.count("Step") == 60
    assert "shown" not in whole
    assert two.splitlines()[2:4] == [
        "session b",
        f"tau 0.4.8 · Thu 2030-01-31 12:16 UTC · 30 calls, the last 2 shown · {PROJECT}",
    ]
    assert log("--limit", "59").stdout.startswith("1 earlier call is not shown")


def test_the_session_with_the_newest_call_comes_last(project: Path) -> None:
    late, early = Writer(project, "late", NOON), Writer(project, "early", NOON + 10)
    early.end(early.begin("read", {"path": "a"}, "One"))
    late.clock.now += 60
    late.end(late.begin("read", {"path": "b"}, "Two"))
    for writer in (late, early):
        writer.done()
    assert [line for line in log().stdout.splitlines() if line.startswith("session")] == [
        "session early",
        "session late",
    ]


def test_a_call_that_runs_is_told_from_one_that_was_left(project: Path) -> None:
    writer = Writer(project, "s")
    writer.begin("bash", {"command": "sleep 9"}, "Wait")
    assert log("--no-notes").stdout.splitlines()[-1].strip() == "▸ running"
    assert json.loads(log("--json").stdout)["calls"][0]["state"] == "running"
    writer.done()
    assert log("--no-notes").stdout.splitlines()[-1].strip() == "? open: the process ended under it"


@pytest.mark.parametrize("wanted", ["01abc-first", "01abc-f", "01abc-first-and-longer", "02"])
def test_a_session_is_found_by_its_id_or_the_beginning_of_it(wanted: str, project: Path) -> None:
    for session in ("01abc-first", "01abc-first-and-longer", "02xyz"):
        writer = Writer(project, session)
        writer.end(writer.begin("read", {"path": "a"}, f"Of {session}"))
        writer.done()
    result = log("--session", wanted)
    if wanted == "01abc-f":
        assert (result.exit_code, result.stdout) == (1, "")
        assert result.stderr == (
            "Error: 2 sessions begin with 01abc-f: 01abc-first-and-longer, 01abc-first; give more of the id\n"
        )
        return
    name = {"02": "02xyz"}.get(wanted, wanted)
    assert (result.exit_code, result.stderr) == (0, "")
    assert [line for line in result.stdout.splitlines() if line.startswith("session")] == [f"session {name}"]
    assert result.stdout.count("Of ") == 1
    assert [call["call"]["session"] for call in json.loads(log("--session", wanted, "--json").stdout)["calls"]] == [
        name
    ]


def test_a_session_that_is_not_there_fails_with_the_nearest(project: Path) -> None:
    where = find_ledger(project, os.environ).segments
    for args in ((), ("--json",)):
        result = log("--session", "x", *args)
        assert (result.exit_code, result.stdout) == (1, "")
        assert result.stderr == f"Error: there is no session x: no session is recorded in {where}\n"
    for number in range(7):
        writer = Writer(project, f"run-{number}", NOON + number)
        writer.end(writer.begin("read", {"path": "a"}, "Look"))
        writer.done()
    result = log("--session", "ram-3")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith(f"Error: there is no session ram-3 in {where}; the nearest are run-3, ")
    result = log("--session", "qqqqqqq")
    assert result.stderr.endswith("; the latest are run-6, run-5, run-4, run-3, run-2 and 2 more\n")


def test_a_project_without_a_ledger_is_no_failure_and_says_where_it_looked(project: Path) -> None:
    where = find_ledger(project, os.environ)
    result = log()
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == (
        f"No call is recorded here yet ({project} is in no git repository: the ledger lies in {where.root}). "
        'Let an agent with pi-intent work here, take in what agents did before with "pi-intent import", '
        'or watch "pi-intent demo".\n'
    )
    result = log("--json")
    assert (result.exit_code, result.stderr) == (0, "")
    assert json.loads(result.stdout) == {"ledger": str(where.segments), "calls": [], "problems": []}
    assert not where.root.exists()


def test_a_session_without_calls_is_told_from_no_session(project: Path) -> None:
    writer = Writer(project, "s")
    writer.journal.opened(start_of_nothing(writer), CallContext(turn=1, policy="require", profile="lean", bytes_in=0))
    writer.done()
    path = segments(project)[0]
    path.write_bytes(path.read_bytes().splitlines(keepends=True)[0])
    result = log()
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr.startswith("Sessions began here, but no call was recorded (")
    assert log("--session", "s").exit_code == 0


def start_of_nothing(writer: Writer) -> ToolExecutionStart:
    ids = {"session_id": writer.session, "call_id": "0" * 26, "group_id": "g", "seq": 1}
    return ToolExecutionStart(**FIELDS | ids, tool_name="read", args={}, intent_source="absent")


def test_what_cannot_be_read_is_told_once_on_standard_error(project: Path) -> None:
    for session in ("a", "b"):
        writer = Writer(project, session)
        writer.end(writer.begin("read", {"path": "a"}, "Look"))
        writer.end(writer.begin("read", {"path": "b"}, "Look again"))
        writer.done()
    first, second = segments(project)
    lines = first.read_bytes().splitlines(keepends=True)
    decision = b'{"v":1,"t":"remark","id":"x"}\n'
    first.write_bytes(b"".join([lines[0], b"torn\n", lines[2], *lines[3:], decision, b'{"v":1,"t":"ca']))
    result = log("--no-notes")
    assert result.exit_code == 0
    assert "the record of its beginning is missing" in result.stdout
    assert result.stdout.count("Look again") == 2
    assert result.stderr.splitlines() == [
        f"Not read: {first.name}, line 2, is not a record",
        f"Not read: {first.name}, line {len(lines) + 2}, was cut off while it was written",
        "Skipped: 1 of the kind remark (version 1), which this pi-intent does not know",
    ]
    document = json.loads(log("--json").stdout)
    assert [(problem["path"], problem["line"]) for problem in document["problems"]] == [
        (str(first), 2),
        (str(first), len(lines) + 2),
    ]
    orphan = next(call for call in document["calls"] if call["call"] is None)
    assert (orphan["state"], orphan["done"]["status"]) == ("settled", "ok")
    assert "Not read" not in log("--session", "b").stderr
    assert log("--session", "a").stdout.count("beginning is missing") == 1
    second.write_bytes(second.read_bytes() + b"torn\n" * 30)
    told = log().stderr.splitlines()
    assert len([line for line in told if line.startswith("Not read")]) == 11
    assert "Not read: 22 more; --json lists all of them" in told


def test_times_that_nobody_can_read_are_no_reason_to_fail(project: Path) -> None:
    writer = Writer(project, "s")
    writer.end(writer.begin("read", {"path": "a"}, "Look"))
    writer.done()
    (path,) = segments(project)
    path.write_bytes(path.read_bytes().replace(b"2030-01-31T12:00:00.000Z", b"0001-01-01T00:00:00+14:00"))
    assert "--:--:--  Look" in log().stdout


def test_the_local_time_zone_is_used_and_named_once(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_story(project)
    monkeypatch.setenv("TZ", "UTC-5:30")  # east of Greenwich, as POSIX writes it
    time.tzset()
    said = log().stdout
    assert "17:30:02  Find out" in said
    assert "Fri 2030-02-01\n" in said
    assert said.count("session ") == 2
    assert re.findall(r"Thu 2030-01-31 \d\d:\d\d UTC\S*", said) == ["Thu 2030-01-31 17:31 UTC+05:30"]
    assert said.count("UTC") == 1
    assert json.loads(log("--json").stdout)["calls"][0]["call"]["ts"] == "2030-01-31T12:00:00.000Z"


def test_the_zone_is_named_again_where_the_clocks_change(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = Writer(project, "s", 1_901_149_000.0)  # 2030-03-31T00:56:40Z
    for number in range(3):
        writer.end(writer.begin("read", {"path": f"{number}.py"}, f"Step {number}"))
        writer.clock.now += 300
    writer.done()
    monkeypatch.setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3")
    time.tzset()
    lines = [line for line in log().stdout.splitlines() if "Step" in line or "2030" in line]
    assert [line.partition(" · ")[2][:32] or line for line in lines] == [
        "Sun 2030-03-31 01:56 UTC+01:00 ·",
        "01:56:40  Step 0",
        "Sun 2030-03-31 UTC+02:00",
        "03:01:42  Step 1",
        "03:06:44  Step 2",
    ]


def test_a_repository_has_its_ledger_beside_its_objects(project: Path) -> None:
    subprocess.run(["git", "init", "-q", str(project)], check=True, timeout=30)
    write_story(project)
    (project / "sub").mkdir()
    shown = subprocess.run(
        [sys.executable, "-m", "pi_intent", "log", "--limit", "1"],
        cwd=project / "sub",
        capture_output=True,
        timeout=30,
        check=True,
        env=os.environ | {"PYTHONIOENCODING": "ascii"},
    )
    assert (project / ".git" / "pi-intent" / "ledger").is_dir()
    assert shown.stdout.decode("ascii").splitlines()[-4:] == [
        "Fri 2030-02-01",
        "00:02:18  Find other callers",
        'XTYJ6G68  github/search {"q": "retry"}',
        "          ? open: the process ended under it",
    ]
