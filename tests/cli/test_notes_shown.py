"""Quality notes stand where calls are shown: in `log` and `show`, and in their JSON where they are asked for."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner
from ledger_events import a_start, an_end

from pi_intent.cli import noting
from pi_intent.cli.main import commands
from pi_intent.ledger.index import Filter, open_index
from pi_intent.ledger.journal import SessionJournal
from pi_intent.ledger.location import find_ledger
from pi_intent.ledger.record import SessionInfo
from pi_intent.notes import notes_of
from pi_intent.protocols import CallContext, Settlement


@pytest.fixture(autouse=True)
def project(shop: Path) -> Path:
    return shop


def write(project: Path, intents: Sequence[tuple[str, str]], session: str = "s") -> None:
    info = SessionInfo(session=session, host="tau", agent="main", cwd=str(project), version="0")
    journal = SessionJournal(find_ledger(project, os.environ), info, environ={}, on_problem=pytest.fail)
    for number, (intent, command) in enumerate(intents):
        ids = {"call_id": f"{session}{number:025}", "group_id": f"g{number}", "session_id": session, "seq": number}
        start = a_start(**ids, tool_name="bash", args={"command": command}, intent=intent)
        journal.opened(start, CallContext(turn=number, policy="require", profile="lean", bytes_in=1))
        journal.closed(an_end(**ids, tool_name="bash", status="ok"), Settlement(status="ok", is_error=False))
    journal.close()


def run(*args: str) -> str:
    result = CliRunner().invoke(commands, args, catch_exceptions=False)
    assert (result.exit_code, result.stderr) == (0, "")
    return result.stdout


DRIFT = ("Clean up the temporary caches", "rm -rf ~")
HONEST = ("Find the callers of total() before it is renamed", "grep -rn 'total(' src")


def test_log_and_show_say_what_is_doubtful_and_nothing_of_what_is_not(project: Path) -> None:
    write(project, [HONEST, DRIFT])
    notes = [line.strip() for line in run("log").splitlines() if "note:" in line]
    assert len(notes) == 1
    assert notes[0].startswith("note: drift: ")
    assert notes[0] in run("show", f"s{1:025}")
    assert "note:" not in run("show", f"s{0:025}")
    assert "note:" not in run("log", "--no-notes")


def test_json_has_the_notes_where_they_are_asked_for(project: Path) -> None:
    write(project, [HONEST, DRIFT])
    plain, noted = (json.loads(run("log", "--json", *more))["calls"] for more in ([], ["--notes"]))
    assert ["notes" in call for call in plain] == [False, False]
    assert [[note["kind"] for note in call["notes"]] for call in noted] == [[], ["drift"]]


def test_notes_are_of_the_whole_session_however_few_of_its_calls_are_shown(project: Path) -> None:
    write(project, [("Run the tests of total()", "pytest -q")] * 4)
    assert "note: loop: " in run("log", "--limit", "1")


def test_a_long_session_waits_for_its_notes_to_be_asked_for(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pi_intent.cli.log.AT_ONCE", 1)
    write(project, [HONEST, DRIFT])
    told = "no notes were taken, as these sessions have 2 calls; --notes takes them"
    assert run("log").splitlines()[-1] == told
    assert "note: drift: " in run("log", "--notes")
    assert told not in run("log", "--notes")
    assert noting.AT_ONCE > 1


def test_one_call_of_a_long_session_waits_for_its_notes_too(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(project, [HONEST, DRIFT])
    call = f"s{1:025}"
    told = "no notes were taken, as its session has 2 calls; --notes takes them"
    assert told not in run("show", call)
    monkeypatch.setattr("pi_intent.cli.show.FOR_ONE", 1)
    assert run("show", call).splitlines()[-1] == told
    assert "note:" not in run("show", call)
    assert "note: drift: " in run("show", call, "--notes")
    assert told not in run("show", call, "--notes") + run("show", call, "--no-notes")
    assert [json.loads(run("show", call, "--json", *more))["notes"] for more in ([], ["--no-notes"])] == [None, None]
    assert [note["kind"] for note in json.loads(run("show", call, "--json", "--notes"))["notes"]] == ["drift"]


def test_the_notes_that_are_kept_packed_are_those_that_were_taken(project: Path) -> None:
    write(project, [HONEST, DRIFT, ("Run the tests of totals… “again”", "cat a.py"), DRIFT, DRIFT], "s")
    write(project, [DRIFT], "t")
    location = find_ledger(project, os.environ)
    with open_index(location.root) as index:
        taken = {
            call: notes
            for session in ("s", "t")
            for call, notes in notes_of(index.past(Filter(session=session))).items()
        }
        assert dict(noting.notes_in(index, location, ["s", "t"])) == taken
    assert {note.kind for notes in taken.values() for note in notes} == {"drift", "duplicate", "unfulfilled"}


def test_what_a_note_quotes_controls_no_terminal(project: Path) -> None:
    write(project, [("Read \x1b]0;owned\x07 the \x1b[31mconfig", "rm -rf ~")])
    assert not set(run("log")) & set("\x1b\x07")
    assert 'note: drift: "Read the config" does not say' in run("log")


def test_stats_tell_what_could_not_be_read(project: Path) -> None:
    write(project, [HONEST, DRIFT])
    (segment,) = find_ledger(project, os.environ).segments.iterdir()
    segment.write_bytes(b"garbage\n" + segment.read_bytes())
    result = CliRunner().invoke(commands, ["stats"], catch_exceptions=False)
    assert result.stderr == f"Not read: {segment.name}, line 1, is not a record\n"
