"""No secret reaches a file of the ledger, a file's name or a screen, whatever field of a record it came in."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_type_hints

import pytest
from canaries import CANARIES, VALUE, bare, leaks
from click.testing import CliRunner
from pydantic.alias_generators import to_camel

from pi_intent.cli.main import commands
from pi_intent.events import FileChange, OutcomePatch, ToolExecutionEnd, ToolExecutionStart
from pi_intent.ledger.calls import read_ledger
from pi_intent.ledger.entries import CallEntry, DecisionEntry, DoneEntry, SessionEntry
from pi_intent.ledger.index import open_index
from pi_intent.ledger.index.place import index_path
from pi_intent.ledger.journal import SessionJournal
from pi_intent.ledger.location import LedgerLocation, find_ledger
from pi_intent.ledger.record import SessionInfo
from pi_intent.protocols import CallContext, Decision, Settlement

TEXTS = (str, str | None)
DIGEST = "hmac:" + "0" * 32
OURS = frozenset({"v", "t", "id", "ts", "writer", "prev", "hash", "argsDigest", "head", "digest", "by", "scope"})
"""Texts of a record that nobody else has a say in."""
COMMANDS = (
    ("log", "--limit", "0", "--notes"),
    ("log", "--json", "--notes"),
    ("verify",),
    ("verify", "--json"),
    ("stats",),
    ("stats", "--json"),
    ("audit", "--limit", "0"),
    ("audit", "--md", "--limit", "0"),
    ("audit", "--json"),
    ("export", "jsonl"),
    ("export", "csv"),
)
PURGES = (
    ("purge", "--before", "1d", "--dry-run"),
    ("purge", "--before", "1d", "--dry-run", "--json"),
)


def filled(kind: type, text: str) -> dict[str, Any]:
    """A canary for every field of a class that holds any text, also for those that are added one day."""
    return {name: text for name, hint in get_type_hints(kind).items() if hint in TEXTS}


def write(location: LedgerLocation, number: int, form: str) -> None:
    """Write one session with one call that has the secret wherever a text can be."""
    project = location.project
    info = SessionInfo(**filled(SessionInfo, form) | {"cwd": f"{project}/{form}"})
    journal = SessionJournal(
        location, info, environ={"SERVICE_TOKEN": VALUE}, on_problem=pytest.fail, clock=lambda: 1.6e9
    )
    args: dict[str, Any] = {
        "path": f"{project}/{form}",
        "command": form,
        form: [{form: form}, form, 1],
        "content": form,
        "edits": [{"oldText": form}],
        "env": [{"name": "API_KEY", "value": form}],
        "headers": {"Authorization": f"Bearer {form}"},
        "long": form + "x" * 5000,
    }
    call_id = f"{number}: {form}"
    start = filled(ToolExecutionStart, form) | {
        "call_id": call_id,
        "seq": 0,
        "args": args,
        "intent_source": "model",
        "host": "tau",
    }
    journal.opened(ToolExecutionStart(**start), CallContext(turn=1, policy="require", profile="lean", bytes_in=1))
    asked = filled(Decision, form) | {"call_id": call_id, "number": 1, "reasons": (form, f"secrets: {form}")}
    for approved in (None, False):
        journal.decided(Decision(**asked | {"digest": DIGEST, "approved": approved}))
    end = filled(ToolExecutionEnd, form) | {
        "call_id": call_id,
        "seq": 1,
        "host": "tau",
        "status": "error",
        "is_error": True,
        "duration_ms": 1,
        "outcome_patch": OutcomePatch(from_=form, to=form),
        "files": (FileChange(path=f"{project}/{form}", op="modify", pre=DIGEST, post=DIGEST),),
        "result": form,
    }
    journal.closed(ToolExecutionEnd(**end), Settlement(status="error", is_error=True, error=form, ran_args=args))
    journal.close()
    assert journal.lost == 0


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("canaries") / "shop"
    folder.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(folder.parent / "state"))
        patch.setenv("GIT_CEILING_DIRECTORIES", str(folder.parent))
        patch.chdir(folder)
        location = find_ledger(folder, os.environ)
        for number, (_, form) in enumerate(CANARIES):
            write(location, number, form)
        yield folder


def assert_holds_no_canary(where: str, text: str) -> None:
    plain = bare(text)
    lowered = plain.lower()  # as the names of files are
    secrets = {secret for secret, _ in CANARIES}
    found = {part for secret in secrets for part in leaks(secret, plain) + leaks(secret.lower(), lowered)}
    assert found == set(), where


def test_no_file_and_no_name_of_a_file_has_a_secret(project: Path) -> None:
    paths = [path for path in project.parent.rglob("*") if path.name != "key"]
    files = [path for path in paths if path.suffix == ".jsonl"]
    assert len(files) == len(CANARIES)
    assert_holds_no_canary("a file", "\n".join(path.read_text("ascii") for path in files))
    assert_holds_no_canary("a name", "\n".join(map(str, paths)))


@pytest.mark.parametrize("command", [*COMMANDS, *PURGES], ids=" ".join)
def test_no_screen_has_a_secret(project: Path, command: tuple[str, ...]) -> None:
    result = CliRunner().invoke(commands, command, catch_exceptions=False)
    assert result.exit_code == 0
    assert_holds_no_canary(" ".join(command), result.output)


def test_nothing_that_is_shown_of_one_call_has_a_secret(project: Path) -> None:
    root = find_ledger(project, os.environ).root
    calls = sorted(read_ledger(root).calls, key=lambda call: call.path)
    for call in calls[:: max(1, len(calls) // 40)]:
        for command in (["show", call.id], ["show", call.id, "--json"]):
            result = CliRunner().invoke(commands, command, catch_exceptions=False)
            assert result.exit_code == 0
            assert_holds_no_canary(" ".join(command), result.output)


def test_the_index_has_no_secret(project: Path) -> None:
    root = find_ledger(project, os.environ).root
    with open_index(root) as index:
        assert sum(index.counts().values()) == len(CANARIES)
    assert_holds_no_canary("the index", index_path(root).read_bytes().decode("latin-1"))


def test_every_field_of_every_record_had_one(project: Path) -> None:
    reading = read_ledger(find_ledger(project, os.environ).root)
    assert (len(reading.sessions), len(reading.calls)) == (len(CANARIES), len(CANARIES))
    lines = [line for path in project.parent.rglob("*.jsonl") for line in path.read_text().splitlines()]
    kinds = {"session": SessionEntry, "call": CallEntry, "done": DoneEntry, "decision": DecisionEntry}
    for kind, entry in kinds.items():
        records = [json.loads(line) for line in lines if line.startswith(f'{{"v":1,"t":"{kind}"')]
        assert len(records) == len(CANARIES) * (2 if kind == "decision" else 1)
        reached = {name for record in records for name, value in record.items() if "[redacted:" in json.dumps(value)}
        assert all("[redacted:" in record["id"] for record in records) is (kind != "session")
        texts = {to_camel(name) for name, hint in get_type_hints(entry).items() if hint in TEXTS} - OURS
        if kind == "call":
            texts.remove("host")  # one of a closed set
        assert texts <= reached
        more = {"call": {"args"}, "done": {"outcomePatch", "files", "ranArgs"}, "decision": {"reasons"}}
        assert more.get(kind, set()) <= reached
