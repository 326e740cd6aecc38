"""`pi-intent show` tells everything about one call, and finds the one that is meant."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from ledger_events import a_start, an_end
from syrupy.assertion import SnapshotAssertion

from pi_intent.cli.main import commands
from pi_intent.events import FileChange, OutcomePatch
from pi_intent.ledger.journal import SessionJournal
from pi_intent.ledger.location import find_ledger
from pi_intent.ledger.record import SessionInfo
from pi_intent.protocols import CallContext, Settlement

NOON = 1_896_091_200.0  # 2030-01-31T12:00:00Z
HOSTILE = "Look\x1b]0;owned\x07 [bold]at\nthat\u202e"
IDS = ("01J8Z3M4Q5R6S7T8V9WXAAAAAA", "01J8Z3M4Q5R6S7T8V9WXBBBBBB", "01J8Z3M4Q5R6S7T8V9WXCCCCCC")


@pytest.fixture(autouse=True)
def project(shop: Path, utc: None) -> Path:
    return shop


def write(project: Path) -> Path:
    """Three calls of one message; the last one is left open."""
    location = find_ledger(project, os.environ)
    location.segments.mkdir(parents=True)
    (location.root / "key").write_bytes(b"k" * 32)
    (location.root / "key").chmod(0o600)
    info = SessionInfo(session="s", host="tau", agent="main", cwd=str(project), version="0")
    journal = SessionJournal(location, info, environ={}, on_problem=pytest.fail, clock=lambda: NOON)
    context = CallContext(turn=1, policy="require", profile="lean", bytes_in=10)
    calls: list[tuple[dict[str, Any], dict[str, Any] | None]] = [
        (
            {
                "tool_name": "edit",
                "args": {"path": "src/pay.py", "edits": [{"oldText": "5", "newText": "3"}]},
                "intent": "Stop after three attempts",
                "rationale": "tests/test_pay.py says so",
                "model": "a-model",
                "flags": ("copied",),
                "tool_call_id": "host-1",
            },
            {
                "status": "ok",
                "facts": "1 replacement",
                "outcome": "Stopped after three attempts",
                "outcome_patch": OutcomePatch(from_="Stop", to="Stopped"),
                "files": (FileChange(path="src/pay.py", op="modify", pre="hmac:0", post="hmac:1"),),
            },
        ),
        (
            {"tool_name": HOSTILE, "args": {"q": HOSTILE, "n": [1, 2]}, "intent": HOSTILE, "tool_source": "web"},
            {"status": "rejected", "is_error": True, "codes": ("intent_blank",)},
        ),
        ({"args": {"command": "pytest -q \\\n  tests"}, "intent": None, "intent_source": "absent"}, None),
    ]
    for number, (said, came) in enumerate(calls):
        ids = {"call_id": IDS[number], "session_id": "s", "seq": number}
        journal.opened(a_start(**ids | said), context)
        if came is not None:
            error = "Nothing ran" if came["status"] == "rejected" else None
            settlement = Settlement(status=came["status"], is_error=error is not None, error=error, bytes_out=96)
            journal.closed(an_end(**ids | came), settlement)
    path = journal.path
    journal.close()
    assert path is not None
    plain = path.with_name("s.000000000000.jsonl")
    path.rename(plain)
    return plain


def show(*args: str) -> Result:
    return CliRunner().invoke(commands, ["show", *args])


@pytest.mark.parametrize("call_id", IDS)
def test_everything_is_told(call_id: str, project: Path, snapshot: SnapshotAssertion) -> None:
    write(project)
    result = show(call_id)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == snapshot
    assert not set(result.stdout) & set("\x1b\x07\u202e")


@pytest.mark.parametrize("name", [IDS[0], IDS[0].lower(), IDS[0][:-5], "aaaaaa", "AAA", "host-1"])
def test_a_call_is_meant_by_its_id_by_either_end_of_it_and_by_the_hosts_id(name: str, project: Path) -> None:
    write(project)
    document = json.loads(show(name, "--json").stdout)
    assert document["id"] == IDS[0]


def test_what_is_not_one_call_is_a_sentence_with_the_nearest(project: Path) -> None:
    result = show("x")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == (
        f"Error: there is no call x: no call is recorded in {find_ledger(project, os.environ).segments}\n"
    )
    write(project)
    result = show(IDS[0][:10])
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == (
        f"Error: 3 calls may be meant by {IDS[0][:10]}: WXAAAAAA (Stop after three attempts), "
        "WXBBBBBB (Look [bold]at that), WXCCCCCC; give more of the id\n"
    )
    assert "the nearest are WXAAAAAA (Stop after three attempts)" in show("AAAABA").stderr
    assert "the latest are WXCCCCCC, WXBBBBBB (Look [bold]at that), WXAAAAAA" in show("?").stderr
    assert show("").exit_code == 2
    assert show("").stderr.endswith("Error: CALL is empty; pi-intent log shows the end of each id\n")


def test_json_has_the_records_where_they_stand_and_whether_they_hold(project: Path) -> None:
    path = write(project)
    document = json.loads(show(IDS[0], "--json").stdout)
    records = [json.loads(line) for line in path.read_bytes().splitlines()]
    assert document == {
        "id": IDS[0],
        "state": "settled",
        "call": records[1],
        "done": records[2],
        "decisions": [],
        "notes": [
            {
                "kind": "unseen-evidence",
                "text": 'the rationale points at "tests/test_pay.py", which no earlier call of the session read, '
                "wrote, searched or named",
            },
            {"kind": "copied", "text": "the intent is a text of pi-intent's or of the user's, word for word"},
        ],
        "records": [
            {"t": "call", "path": str(path), "line": 2, "holds": True},
            {"t": "done", "path": str(path), "line": 3, "holds": True},
        ],
        "message": [*IDS],
    }
    path.write_bytes(path.read_bytes().replace(b"Stop after three", b"Halt after three"))
    assert [record["holds"] for record in json.loads(show(IDS[0], "--json").stdout)["records"]] == [False, True]
    assert "line 2: its hash does not fit: it was changed" in show(IDS[0]).stdout


def test_a_call_whose_beginning_is_missing_is_shown_as_far_as_it_is_known(project: Path) -> None:
    path = write(project)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([lines[0], *lines[2:]]))
    said = show(IDS[0]).stdout
    assert said.startswith("the record of its beginning is missing\n  ✓ ok")
    assert "What was to run" not in said
    assert json.loads(show(IDS[0], "--json").stdout)["call"] is None
