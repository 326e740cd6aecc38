"""Tau's own file of a session that ran with pi-intent adds nothing of what pi-intent recorded."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from tau_agent.session import JsonlSessionStorage
from tau_desk import Desk, calls

from pi_intent.ledger.calls import calls as ledger_calls
from pi_intent.ledger.location import LedgerLocation, find_ledger
from pi_intent.sessions.into_ledger import import_session, import_target
from pi_intent.sessions.report import FileReport
from pi_intent.settings import Settings

ID = "0123456789abcdef0123456789abcdef"


def taken_in(location: LedgerLocation, path: Path) -> FileReport:
    with import_target(location, environ=os.environ) as target:
        return import_session(target, Settings(), path)


async def test_calls_that_were_recorded_while_they_happened_are_recognised_in_the_file(desk: Desk):
    path = desk.home / "sessions" / "project-abc" / f"{ID}.jsonl"
    path.parent.mkdir(parents=True)
    edit = {"oldText": "one", "newText": "two", "intent": "an old habit"}
    turns = [
        calls(
            (
                "write",
                {"intent": "Begin the file", "rationale": "Asked for it.", "path": "a.txt", "content": "one\n"},
            ),
            ("bash", {"intent": "Count lines", "command": "wc -l a.txt", "description": "counts"}),
        ),
        calls(
            (
                "edit",
                {"intent": "Fix", "path": "a.txt", "edits": [edit]},
            )
        ),
        calls(("read", {"path": "a.txt"}), ("read", {"intent": "Look", "path": "a.txt", "limit": 5})),
        calls(("bash", {"_raw_arguments": "no json"}), ("nope", {"intent": "Try", "a": 1})),
    ]
    await desk.run(*turns, storage=JsonlSessionStorage(path), session_id=ID)
    location = find_ledger(desk.project, os.environ)
    recorded = {call.id for call in ledger_calls(location.root)}
    # A tool that does not exist never reached pi-intent; Tau's file is all that tells of it.
    report = taken_in(location, path)
    assert (report.sessions, report.calls, report.recorded) == ((ID,), 7, 6)
    assert (report.still_running, report.new_calls) == (1, 0)
    await desk.sessions[0].aclose()
    report = taken_in(location, path)
    assert (report.calls, report.recorded, report.new_calls, report.new_ends) == (7, 6, 1, 1)
    (new,) = [call.call for call in ledger_calls(location.root) if call.id not in recorded]
    assert new is not None
    assert (new.tool, new.session, new.flags) == ("nope", ID, ("imported",))


async def test_a_call_that_waits_for_its_turn_while_its_session_is_imported_stands_in_the_ledger_once(desk: Desk):
    path = desk.home / "sessions" / "project-abc" / f"{ID}.jsonl"
    path.parent.mkdir(parents=True)
    command = f"{sys.executable} -m pi_intent import {path} --json"
    turns = [calls(("bash", {"intent": "Import", "command": command}), ("bash", {"intent": "Wait", "command": "ls"}))]
    ends = await desk.run(*turns, storage=JsonlSessionStorage(path), session_id=ID)
    (told,) = json.loads(ends[0].result.text)["files"]
    assert (told["recorded"], told["stillRunning"], told["newCalls"]) == (1, 1, 0)
    await desk.sessions[0].aclose()
    location = find_ledger(desk.project, os.environ)
    report = taken_in(location, path)
    assert (report.recorded, report.still_running, report.new_calls) == (2, 0, 0)
    assert [call.call.intent for call in ledger_calls(location.root) if call.call] == ["Import", "Wait"]
