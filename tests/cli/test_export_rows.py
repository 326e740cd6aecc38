"""`pi-intent export jsonl` and `csv` give every call of the ledger to other programs, whole and harmless."""

from __future__ import annotations

import csv
import io
import json
import os
import stat
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from clocks import Ticking
from ledger_events import a_question, a_start, an_end

from pi_intent.cli.export_rows import COLUMNS, Rows
from pi_intent.cli.main import commands
from pi_intent.events import FileChange, OutcomePatch
from pi_intent.ledger.calls import LedgerCall
from pi_intent.ledger.entries import CallEntry, DoneEntry
from pi_intent.ledger.journal import SessionJournal
from pi_intent.ledger.location import find_ledger
from pi_intent.ledger.record import SessionInfo
from pi_intent.protocols import CallContext, Settlement
from pi_intent.redaction import Redactor

BEGAN = 1_893_456_000.0
"""2030, in seconds."""
CONTEXT = CallContext(turn=1, policy="require", profile="lean", bytes_in=1)
KEYS = [
    *("id", "state", "session", "host", "agent", "group", "turn", "seq", "parent", "toolCallId", "ts", "tool"),
    *("toolSource", "intent", "intentSource", "rationale", "args", "argsDigest", "policy", "profile", "flags"),
    *("model", "head", "endTs", "status", "isError", "ms", "codes", "outcome", "outcomePatch", "facts", "error"),
    *("files", "ranArgs", "bytesIn", "bytesOut", "decisions"),
]


@pytest.fixture(autouse=True)
def project(shop: Path) -> Path:
    return shop


@pytest.fixture
def journal() -> Iterator[SessionJournal]:
    info = SessionInfo(session="s-1", host="tau", agent="main", cwd="/", version="0")
    location = find_ledger(Path(), os.environ)
    journal = SessionJournal(location, info, environ={}, on_problem=pytest.fail, clock=Ticking(BEGAN))
    yield journal
    journal.close()


def call_of(journal: SessionJournal, number: int, *, context: CallContext = CONTEXT, **particular: Any) -> str:
    """Record a call that went well."""
    call_id = f"01J8{number:022d}"
    journal.opened(a_start(call_id=call_id, seq=2 * number, **particular), context)
    journal.closed(an_end(call_id=call_id, seq=2 * number + 1), Settlement(status="ok", is_error=False))
    return call_id


def run(*args: str) -> Result:
    return CliRunner().invoke(commands, ["export", *args], catch_exceptions=False)


def lines(*args: str) -> list[dict[str, Any]]:
    result = run("jsonl", *args)
    assert (result.exit_code, result.stderr) == (0, "")
    return [json.loads(line, parse_constant=pytest.fail) for line in result.stdout.splitlines()]


def table(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_a_call_is_one_line_with_all_that_the_ledger_holds_of_it(journal: SessionJournal) -> None:
    start = a_start(
        call_id="01J80000000000000000000000",
        seq=7,
        tool_name="edit",
        args={"path": "a.py"},
        intent="Prüfe es",
        rationale="the log",
        parent_tool_call_id="p-1",
        tool_source="docs",
        model="m",
        flags=("sent_as_text",),
    )
    journal.opened(start, CONTEXT._replace(turn=3, bytes_in=12))
    patch = OutcomePatch(from_="Prüfe", to="Geprüft")
    end = an_end(
        call_id=start.call_id,
        seq=8,
        tool_name="edit",
        status="error",
        is_error=True,
        outcome="It is so",
        outcome_patch=patch,
        facts="exit 1",
        files=(FileChange(path="a.py", op="modify", pre="hmac:1", post="hmac:2"),),
    )
    settlement = Settlement(status="error", is_error=True, error="no", bytes_out=2, ran_args={"path": "b.py"})
    journal.closed(end, settlement)
    (told,) = lines()
    assert list(told) == KEYS
    assert told == {
        "id": "01J80000000000000000000000",
        "state": "settled",
        "session": "s-1",
        "host": "tau",
        "agent": "main",
        "group": "g-1",
        "turn": 3,
        "seq": 7,
        "parent": "p-1",
        "toolCallId": "call_1",
        "ts": "2030-01-01T00:00:02.000Z",
        "tool": "edit",
        "toolSource": "docs",
        "intent": "Prüfe es",
        "intentSource": "model",
        "rationale": "the log",
        "args": {"path": "a.py"},
        "argsDigest": told["argsDigest"],
        "policy": "require",
        "profile": "lean",
        "flags": ["sent_as_text"],
        "model": "m",
        "head": None,
        "endTs": "2030-01-01T00:00:03.000Z",
        "status": "error",
        "isError": True,
        "ms": 14,
        "codes": [],
        "outcome": "It is so",
        "outcomePatch": {"from": "Prüfe", "to": "Geprüft"},
        "facts": "exit 1",
        "error": "no",
        "files": [{"path": "a.py", "op": "modify", "pre": "hmac:1", "post": "hmac:2"}],
        "ranArgs": {"path": "b.py"},
        "bytesIn": 12,
        "bytesOut": 2,
        "decisions": [],
    }
    assert told["argsDigest"].startswith("hmac:")


def test_a_call_without_an_end_and_an_end_without_a_call_have_the_same_keys(journal: SessionJournal) -> None:
    journal.opened(a_start(call_id="01J80000000000000000000001", seq=1), CONTEXT)
    journal.closed(an_end(call_id="01J80000000000000000000002", seq=2), Settlement(status="ok", is_error=False))
    running, ended = lines()
    assert [list(running), list(ended)] == [KEYS, KEYS]
    assert (running["state"], running["status"], running["endTs"]) == ("running", None, None)
    assert (ended["state"], ended["tool"], ended["status"]) == ("settled", None, "ok")
    journal.close()
    assert lines()[0]["state"] == "open"


def test_a_call_has_what_was_asked_about_it_and_decided(journal: SessionJournal) -> None:
    start = a_start(call_id="01J80000000000000000000001", seq=1)
    asked = a_question(start.call_id, reasons=("always",), digest="hmac:" + "0" * 32)
    secret = "gh" + "p_" + "aB3dE6gH9jK2mN5pQ8rS1tU4vW7xY0zAbC3d"
    journal.opened(start, CONTEXT)
    journal.decided(asked)
    journal.decided(asked._replace(approved=False, by="person", note=f"No, {secret}", shown="bash, in /p"))
    journal.closed(an_end(call_id=start.call_id, seq=2, status="denied"), Settlement(status="denied", is_error=True))
    (line,) = lines()
    same = {"number": 1, "reasons": ["always"], "digest": asked.digest}
    question, answer = line["decisions"]
    assert question == same | {"ts": "2030-01-01T00:00:03.000Z"} | dict.fromkeys(
        ("approved", "by", "scope", "note", "shown")
    )
    assert [*answer] == ["ts", "number", "reasons", "digest", "approved", "by", "scope", "note", "shown"]
    assert (answer["approved"], answer["by"], answer["shown"]) == (False, "person", "bash, in /p")
    assert answer["note"].startswith("No, [redacted:")
    (row,) = table(run("csv").stdout_bytes.decode())
    assert json.loads(row["decisions"]) == [question, answer]


def test_calls_come_in_the_order_in_which_they_began(journal: SessionJournal) -> None:
    names = [f"01J8{number:022d}" for number in range(4)]
    for number, name in enumerate(names):
        journal.opened(a_start(call_id=name, seq=number), CONTEXT)
    for number, name in enumerate(reversed(names)):
        journal.closed(an_end(call_id=name, seq=9 + number), Settlement(status="ok", is_error=False))
    assert [line["id"] for line in lines()] == names


def test_the_halves_of_a_call_in_two_files_are_joined(journal: SessionJournal) -> None:
    journal.opened(a_start(call_id="01J80000000000000000000001", seq=1), CONTEXT)
    assert journal.path is not None
    journal.path.rename(journal.path.with_name("z.jsonl"))  # a new file is begun
    journal.closed(an_end(call_id="01J80000000000000000000001", seq=2), Settlement(status="ok", is_error=False))
    call_of(journal, 2)
    assert sorted((line["id"][-1], line["tool"], line["status"]) for line in lines()) == [
        ("1", "bash", "ok"),
        ("2", "bash", "ok"),
    ]


def test_only_the_session_and_the_time_that_are_asked_for(journal: SessionJournal) -> None:
    first, second = call_of(journal, 1), call_of(journal, 2)
    other = SessionInfo(session="other", host="pi", agent="main", cwd="/", version="0")
    with_other = SessionJournal(journal.location, other, environ={}, on_problem=pytest.fail, clock=Ticking(BEGAN))
    third = call_of(with_other, 3, session_id="other")
    with_other.close()
    assert {line["id"] for line in lines()} == {first, second, third}
    assert [line["id"] for line in lines("--session", "oth")] == [third]
    assert [line["id"] for line in lines("--session", "s-1", "--since", "2030-01-01T00:00:04Z")] == [second]
    assert {line["id"] for line in lines("--since", "2030-01-01T00:00:04Z")} == {second}
    assert (
        "there is no session nobody"
        in CliRunner().invoke(commands, ["export", "jsonl", "--session", "nobody"]).stderr
    )


@pytest.mark.parametrize("when", ["soon", "2030-13-01", "999999w", "2030-01-01; rm", "-1d", "1 fortnight ago"])
def test_what_is_no_time_is_one_sentence(when: str) -> None:
    result = CliRunner().invoke(commands, ["export", "jsonl", f"--since={when}"])
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"Invalid value for '--since': {when!r} is no time; it can be \"2 hours ago\", " in result.stderr


def test_a_table_has_the_same_columns_and_every_cell_as_text(journal: SessionJournal) -> None:
    call_of(journal, 1, intent='Say "why", then\ngo on', args={"path": "a.py", "limit": 3}, flags=("copied",))
    result = run("csv")
    assert (result.exit_code, result.stderr) == (0, "")
    header, line, end = result.stdout_bytes.decode().split("\r\n")
    assert header == ",".join(KEYS)
    assert "\n" not in line
    assert end == ""
    (row,) = table(result.stdout_bytes.decode())
    shown = {key: row[key] for key in ("intent", "args", "flags", "isError", "ms", "rationale", "status")}
    assert shown == {
        "intent": 'Say "why", then\\ngo on',
        "args": '{"path":"a.py","limit":3}',
        "flags": '["copied"]',
        "isError": "false",
        "ms": "14",
        "rationale": "",
        "status": "ok",
    }


@pytest.mark.parametrize(
    "text",
    [
        "=1+1",
        "=cmd|' /C calc'!A0",
        "+1",
        "-1",
        "@SUM(A1)",
        "\t=1",
        "  =1",
        "＝1",
    ],
)
def test_no_cell_is_a_formula(journal: SessionJournal, text: str) -> None:
    call_of(journal, 1, intent=text, rationale=text, tool_name=text, args={text: text})
    (row,) = table(run("csv").stdout_bytes.decode())
    assert {row[key][0] for key in ("intent", "rationale", "tool")} == {"'"}
    assert not any(value.lstrip("\t ").startswith(("=", "+", "-", "@", "＝")) for value in row.values())
    assert json.loads(run("jsonl").stdout)["intent"] == text


def test_what_a_terminal_would_obey_is_spelt_out_in_both(journal: SessionJournal) -> None:
    hostile = "ok\x1b]0;x\x07\x9b31m\r\u202eevil\u2028\ud800\x00"
    call_of(journal, 1, intent=hostile, args={"command": hostile})
    for name in ("jsonl", "csv"):
        text = run(name).stdout_bytes.decode()
        assert not set(text) & set("\x1b\x07\x9b\u202e\u2028\x00")
    assert json.loads(run("jsonl").stdout)["intent"] == hostile.replace("\ud800", "\ufffd")


def test_a_file_is_whole_readable_by_its_owner_alone_and_replaced_in_one_step(
    journal: SessionJournal, project: Path
) -> None:
    call_of(journal, 1, intent="Grüß Gott")
    for name, reader in (("jsonl", json.loads), ("csv", lambda text: table(text)[0])):
        target = project / f"out.{name}"
        target.write_text("old")
        target.chmod(0o644)
        result = run(name, "-o", str(target))
        assert (result.exit_code, result.stdout) == (0, "")
        assert result.stderr == f"1 call written to {target}\n"
        assert stat.S_IMODE(target.stat().st_mode) == 0o600
        assert reader(target.read_bytes().decode())["intent"] == "Grüß Gott"
    assert sorted(path.name for path in project.iterdir()) == ["out.csv", "out.jsonl"]


def test_a_file_that_cannot_be_written_is_one_sentence_and_the_old_one_stays(
    journal: SessionJournal, project: Path
) -> None:
    call_of(journal, 1)
    result = CliRunner().invoke(commands, ["export", "csv", "-o", str(project / "no" / "out.csv")])
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (1, "", 1)
    assert "could not be read or written" in result.stderr
    folder = CliRunner().invoke(commands, ["export", "csv", "-o", str(project)])
    assert (folder.exit_code, folder.stderr.count("\n")) == (1, 1)


def test_a_device_is_written_to_and_stays_a_device(journal: SessionJournal) -> None:
    call_of(journal, 1)
    assert run("csv", "-o", "/dev/null").exit_code == 0
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_texts_under_redact_args_stay_out(journal: SessionJournal) -> None:
    call_of(journal, 1, intent="hidden", args={"command": "hidden"}, context=CONTEXT._replace(redact_args=True))
    for name in ("jsonl", "csv"):
        assert "hidden" not in run(name).stdout
    assert lines()[0]["intent"] == "[withheld]"


def test_what_became_a_secret_after_it_was_recorded_is_taken_out(
    journal: SessionJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    canary = "kiwi-9f3b2c77-lantern"
    call_of(journal, 1, intent=f"Use {canary} now", args={"command": f"login {canary[:9]}\n{canary[9:]}"})
    assert canary in run("jsonl").stdout
    monkeypatch.setenv("SHOP_API_TOKEN", canary)
    for name in ("jsonl", "csv"):
        text = run(name).stdout
        assert canary not in text
        assert canary[9:] not in text
        assert "[redacted:env:" in text


def test_a_damaged_ledger_is_told_and_the_rest_exported(journal: SessionJournal) -> None:
    call_of(journal, 1)
    assert journal.path is not None
    deep = '{"a":' * 5000 + "1" + "}" * 5000
    with journal.path.open("a") as file:
        file.write('{"v":1,"t":"call"\nnot json\n' + deep + "\n")
    result = run("jsonl")
    assert (result.exit_code, len(result.stdout.splitlines())) == (0, 1)
    assert result.stderr.count("Not read: ") == 3


def test_a_hostile_record_is_still_json(journal: SessionJournal) -> None:
    call_of(journal, 1)
    assert journal.path is not None
    line = json.loads(journal.path.read_text().splitlines()[1])
    line |= {"id": "x" * 26, "seq": 10**40, "turn": -1, "args": {"n": 1e308, "deep": [[[[[]]]]]}, "ts": "whenever"}
    with journal.path.open("a") as file:
        file.write(json.dumps(line).replace("1e+308", "1e999") + "\n")
    found = lines()
    assert [entry["id"][:4] for entry in found] == ["01J8", "xxxx"]
    assert run("csv").exit_code == 0


def test_without_a_ledger_there_is_a_header_and_a_sentence_and_nothing_is_made(project: Path, tmp_path: Path) -> None:
    result = run("csv")
    assert (result.exit_code, result.stdout_bytes.decode()) == (0, ",".join(KEYS) + "\r\n")
    assert result.stderr.startswith("No call is recorded in ")
    assert run("jsonl").stdout == ""
    assert not (tmp_path / "state").exists()


def test_a_line_for_a_file_is_standard_output(project: Path) -> None:
    assert CliRunner().invoke(commands, ["export", "csv", "-o", "-"]).stdout.splitlines() == [",".join(KEYS)]
    assert not (project / "-").exists()


def test_a_secret_that_was_none_when_it_was_written_is_in_no_column() -> None:
    secret = "tulip-mango-42-kiosk"
    rows = Rows(Redactor(b"k" * 32, {"SHOP_TOKEN": secret}))
    begun = CallEntry(
        **dict.fromkeys((field.name for field in fields(CallEntry)), secret)
        | {"v": 1, "t": "call", "turn": 1, "seq": 1, "args": {secret: [secret]}, "flags": (secret,)}
        | {"intent_source": "model", "policy": "require", "profile": "lean"}
    )
    ended = DoneEntry(
        **dict.fromkeys((field.name for field in fields(DoneEntry)), secret)
        | {
            "v": 1,
            "t": "done",
            "status": "ok",
            "is_error": False,
            "ms": 1,
            "codes": (secret,),
            "flags": (secret,),
            "given": (),
        }
        | {"outcome_patch": OutcomePatch(from_=secret, to=secret), "ran_args": {"a": secret}, "bytes_in": 1}
        | {"files": (FileChange(path=secret, op="modify", pre=secret, post=None),), "bytes_out": 1}
    )
    call = LedgerCall(id="c", state="settled", path=Path("s.jsonl"), session=secret, call=begun, done=ended)
    assert secret not in json.dumps(rows.row(call))
    assert list(rows.row(call)) == list(COLUMNS)
