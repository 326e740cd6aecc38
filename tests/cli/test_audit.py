"""`pi-intent audit` tells a reviewer what was asked and decided, what ran without, and what that does not prove."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from ledger_events import a_question, a_start, an_end
from markdown_it import MarkdownIt
from syrupy.assertion import SnapshotAssertion
from terminal_run import on_a_terminal

from pi_intent.cli.main import commands
from pi_intent.labels.printable import escape_markdown
from pi_intent.ledger.audit import CHECKED_AT_ONCE
from pi_intent.ledger.journal import SessionJournal
from pi_intent.ledger.location import find_ledger
from pi_intent.ledger.record import SessionInfo
from pi_intent.protocols import CallContext, Settlement

NOON = 1_896_091_200.0  # 2030-01-31T12:00:00Z
DIGEST = "hmac:" + "0" * 32
YES: dict[str, Any] = {"approved": True, "by": "person", "scope": "once"}
NO: dict[str, Any] = {"approved": False, "by": "person"}
ASKED: dict[str, Any] = {}
SHOWN = "\n".join(
    [
        "Wants to run bash in /p",
        "$ rm -rf build",
        "Asked because of:",
        "> deletes: rm -rf build",
        "Read before:",
        "> build/index.html: read two calls ago, and it has been ",
        "| changed since",
        "> src/pay.py: read",
        "The evidence it names:",
        "> retry.py:12: read, and it is there",
    ]
)
HOSTILE = (
    "Look\x1b]0;owned\x07 <img src=x onerror=alert(1)> [click](javascript:alert(1)) ![p](http://h/p.png) @you #1\n"
    "# Approved\n\n- **denied** | `code` ``two`` :bug: https://h.example/ www.h.example \u202ethat <!-- $x$ ~~y~~"
)


class Session:
    """Writes calls with what was asked about them, ten seconds between one record and the next."""

    def __init__(self, project: Path, session: str = "s-1") -> None:
        self.now = NOON
        self.session = session
        self.count = 0
        info = SessionInfo(session=session, host="tau", agent="main", cwd="/p", version="0")
        self.journal = SessionJournal(
            find_ledger(project, os.environ), info, environ={}, on_problem=pytest.fail, clock=self.clock
        )

    def clock(self) -> float:
        self.now += 10
        return self.now

    def call(self, call_id: str, *decisions: dict[str, Any], **said: Any) -> None:
        self.count += 1
        ids: dict[str, Any] = {"call_id": call_id.ljust(26, "0"), "session_id": self.session, "group_id": call_id}
        status = said.pop("status", "ok")
        facts, ran_args = said.pop("facts", None), said.pop("ran_args", None)
        redact_args = said.pop("redact_args", False)
        start = {"args": {"command": "rm -rf build"}, "intent": "Tidy up", "seq": self.count} | said
        context = CallContext(turn=1, policy="require", profile="lean", bytes_in=1, redact_args=redact_args)
        self.journal.opened(a_start(**ids | start), context)
        for decision in decisions:
            reasons = ("tier exec", "deletes: rm -rf build")
            self.journal.decided(a_question(ids["call_id"], **{"reasons": reasons, "digest": DIGEST} | decision))
        if status is not None:
            end = an_end(**ids, seq=99, status=status, is_error=status != "ok", facts=facts)
            settlement = Settlement(status=status, is_error=status != "ok", ran_args=ran_args)
            self.journal.closed(end, settlement)


@pytest.fixture(autouse=True)
def project(shop: Path, utc: None) -> Path:
    return shop


@pytest.fixture
def told(project: Path) -> None:
    session = Session(project)
    session.call("LOOK", tool_name="read", args={"path": "src/pay.py"}, intent="See the retry loop")
    session.call(
        "FIX", tool_name="edit", args={"path": "src/pay.py"}, intent="Stop after three", facts="1 replacement"
    )
    session.call("TEST", args={"command": "pytest -q"}, intent="Verify it", status="error", facts="exit 1")
    session.call("HUSH", args={"command": "deploy"}, redact_args=True)
    session.call("ONCE", ASKED, YES | {"shown": SHOWN}, facts="exit 0", rationale="retry.py:12")
    session.call("CHANGED", ASKED, YES, ran_args={"command": "rm -rf dist"})
    session.call("GRANT", {"approved": True, "by": "grant", "scope": "session"}, intent=None, intent_source="absent")
    session.call("NOTE", ASKED, NO | {"note": "Not on a Friday"}, status="denied")
    session.call("NOBODY", {"approved": False, "by": "nobody"}, status="denied")
    session.call("AGAIN", ASKED, YES, {"number": 2}, NO | {"number": 2}, status="denied")
    session.call("LATER", ASKED, status="denied")
    session.call("TOOL", ASKED, YES, tool_name="deploy", tool_source="ops", args={"env": "prod", "n": [1, "a b"]})
    session.call("REFUSED", status="rejected", intent=None, intent_source="absent")
    session.call("BLOCKED", status="denied")
    session.call("OPEN", args={"command": "sleep 99"}, status=None)
    session.call("TAKEN", args={"command": "make"}, flags=("imported",))
    session.journal.close()


def audit(*args: str, code: int = 0) -> Result:
    result = CliRunner().invoke(commands, ["audit", *args], catch_exceptions=False)
    assert result.exit_code == code, result.output
    return result


def document(*args: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(audit("--json", *args).stdout)
    return found


def ids(calls: list[dict[str, Any]]) -> list[str]:
    return [call["id"].rstrip("0") for call in calls]


def shown(text: str, project: Path) -> str:
    return text.replace(str(project), "/home/me/shop").replace(escape_markdown(str(project)), "/home/me/shop")


def test_the_report_as_a_reviewer_reads_it(told: None, project: Path, snapshot: SnapshotAssertion) -> None:
    assert shown(audit().stdout, project) == snapshot


def test_the_report_as_markdown(told: None, project: Path, snapshot: SnapshotAssertion) -> None:
    assert shown(audit("--md").stdout, project) == snapshot


def test_json_has_everything_and_each_call_in_one_place(told: None) -> None:
    found = document()
    assert [*found] == [
        *("ledger", "session", "since", "summary", "waiting", "denied", "approved", "unasked", "verify", "limits"),
        "problems",
    ]
    assert ids(found["waiting"]) == ["LATER"]
    assert ids(found["denied"]) == ["NOTE", "NOBODY", "AGAIN"]
    assert ids(found["approved"]) == ["ONCE", "CHANGED", "GRANT", "TOOL"]
    assert {tier: ids(calls) for tier, calls in found["unasked"].items()} == {
        "exec": ["TEST", "HUSH", "OPEN"],
        "write": ["FIX"],
    }
    assert found["approved"][0]["decisions"][1]["shown"] == SHOWN
    summary = found["summary"]
    answers = {"asked": 8, "approved": 4, "denied": 3, "waiting": 1}
    assert summary == {
        "calls": 16,
        "sessions": 1,
        "first": "2030-01-31T12:00:20.000Z",
        "last": summary["last"],
        "asked": {"calls": 8, "waiting": 1, "denied": 3, "approved": 4},
        "by": {"person": 5, "grant": 1, "nobody": 1},
        "rules": {"deletes": answers, "tier exec": answers},
        "tools": {
            "bash": {"asked": 7, "approved": 3, "denied": 3, "waiting": 1},
            "ops/deploy": {"asked": 1, "approved": 1, "denied": 0, "waiting": 0},
        },
        "answered": 6,
        "medianMs": 10_000,
        "unasked": {"read": 1, "write": 1, "exec": 3},
        "rejected": 1,
        "blocked": 1,
        "imported": 1,
        "unknown": 0,
    }
    parts = [summary["asked"]["calls"], *summary["unasked"].values()]
    parts += [summary[name] for name in ("rejected", "blocked", "imported", "unknown")]
    assert sum(parts) == summary["calls"]
    verify = found["verify"]
    assert (verify["files"], verify["holds"], verify["bad"], verify["first"]) == (1, True, 0, [])


def test_the_literal_action_comes_first_and_what_the_agent_said_last(told: None) -> None:
    for text in (audit().stdout, audit("--md").stdout):
        blocks = re.split(r"\n\s*\n(?=\d\d:)|\n(?=- \*\*)", text)
        told_of = [part for part in blocks if "unverified" in part and "asked because of" in part]
        assert len(told_of) == 7  # one of the eight stated nothing
        for part in told_of:
            action = re.search(r"rm -rf build|deploy", part)
            assert action is not None
            assert action.start() < part.index("asked because of") < part.index("the agent said, unverified:")


def test_a_call_that_ran_although_it_was_denied_is_pointed_out(project: Path) -> None:
    session = Session(project)
    session.call("EVEN", ASKED, NO, status="ok", facts="exit 0")
    session.journal.close()
    assert "and yet: ✓ ok · exit 0 · 14 ms" in audit().stdout
    assert "**and yet: ✓ ok · exit 0 · 14 ms**" in audit("--md").stdout


def test_calls_that_were_not_asked_about_are_bounded_and_it_says_how_many_more(project: Path) -> None:
    session = Session(project)
    for number in range(60):
        session.call(f"W{number:02}", tool_name="write", args={"path": f"src/{number}.py"})
    session.call("E", args={"command": "make"})
    session.journal.close()
    text = audit().stdout
    assert (
        "Ran, or may have, without being asked: write (60)\n10 earlier ones are not shown; --limit 0 shows all\n"
        in text
    )
    assert "src/9.py" not in text
    assert [f"write src/{number}.py" in text for number in (10, 59)] == [True, True]
    assert "10 earlier ones are not shown; `--limit 0` shows all." in audit("--md").stdout
    everything = audit("--limit", "0").stdout
    assert "write src/0.py" in everything
    assert "not shown" not in everything
    assert ids(document("--limit", "2")["unasked"]["write"]) == ["W58", "W59"]
    assert len(document()["unasked"]["write"]) == 60


def test_a_session_and_a_time_can_be_chosen(told: None, project: Path) -> None:
    other = Session(project, "t-2")
    other.now = NOON + 86_400
    other.call("ELSE", ASKED, YES)
    other.journal.close()
    assert document("--session", "t")["summary"]["calls"] == 1
    assert ids(document("--since", "2030-02-01")["approved"]) == ["ELSE"]
    assert document("--session", "s-1", "--since", "2030-02-01")["summary"]["calls"] == 0
    text = audit("--session", "t-2", "--since", "2030-02-01").stdout
    assert text.splitlines()[1:3] == ["session t-2", "since 2030-02-01"]
    assert audit("--session", "s-1", "--since", "2030-02-01").stderr == (
        "No call fits --session and --since together; leave one out.\n"
    )
    assert "the nearest are" in audit("--session", "s-2", code=1).stderr
    assert audit("--since", "never", code=2).stdout == ""
    assert "leave one out" in audit("--md", "--json", code=2).stderr
    assert "--session is empty" in audit("--session", "", code=2).stderr


def test_where_nobody_was_asked_it_says_what_ran_and_is_no_failure(project: Path) -> None:
    assert "No call is recorded here yet" in audit().stderr
    assert document()["summary"]["calls"] == 0
    assert document()["verify"] == {"files": 0, "bytes": 0, "holds": None, "bad": 0, "first": []}
    session = Session(project)
    session.call("TEST", args={"command": "pytest -q"})
    session.journal.close()
    text = audit().stdout
    assert re.search(r"asked about, or ruled on, before they ran +0\n", text)
    assert "Ran, or may have, without being asked: exec (1)" in text


def test_what_does_not_hold_is_said_and_the_exit_code_is_that_of_verify_alone(told: None, project: Path) -> None:
    (path,) = find_ledger(project, os.environ).segments.iterdir()
    path.write_bytes(path.read_bytes().replace(b"Not on a Friday", b"Go on, do it ok"))
    text = audit().stdout
    assert "✗ 1 of the 1 file of these calls cannot be trusted" in text
    at = next(n for n, line in enumerate(path.read_bytes().splitlines(), start=1) if b"do it ok" in line)
    assert f"{path.name}, line {at}, was changed" in text
    assert "was changed" in audit("--md").stdout
    assert document()["verify"]["first"] == [
        {"name": path.name, "line": at, "text": "was changed: its hash does not fit what stands there"}
    ]
    assert CliRunner().invoke(commands, ["verify"]).exit_code == 1


def test_what_would_take_long_to_check_is_left_to_verify(told: None, project: Path) -> None:
    (path,) = find_ledger(project, os.environ).segments.iterdir()
    with path.open("ab") as file:
        file.write(b"x" * (CHECKED_AT_ONCE + 1) + b"\n")
    result = audit()
    assert 'The 16 MB in the 1 file of these calls were not checked here: run "pi-intent verify".' in result.stdout
    assert "longer than" in result.stderr
    assert document()["verify"]["holds"] is None


def test_nothing_that_others_wrote_means_anything_in_the_markdown(project: Path) -> None:
    session = Session(project)
    said: dict[str, Any] = {"intent": HOSTILE, "tool_name": HOSTILE, "agent_id": HOSTILE}
    reasons = (f"{HOSTILE}: {HOSTILE}", HOSTILE)
    session.call("BAD", {"reasons": reasons}, NO | {"reasons": reasons, "note": HOSTILE}, **said, args={"a": HOSTILE})
    session.call("RAW", ASKED, YES, intent=HOSTILE, args={"command": HOSTILE}, facts=HOSTILE, status="error")
    session.call("UNASKED", intent=HOSTILE, args={"command": f"`` {HOSTILE} `"}, facts=HOSTILE)
    session.journal.close()
    text = audit("--md").stdout
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f\u202e]", text)
    tokens = MarkdownIt("gfm-like", {"linkify": False, "html": True}).parse(text)
    inline = [child for token in tokens for child in token.children or ()]
    kinds = {child.type for child in inline}
    assert kinds <= {"text", "code_inline", "strong_open", "strong_close", "softbreak", "hardbreak", "html_inline"}
    assert {child.content for child in inline if child.type == "html_inline"} == {"<!-- -->"}
    assert not [token for token in tokens if token.type == "html_block"]
    headings = [tokens[at + 1].content for at, token in enumerate(tokens) if token.type == "heading_open"]
    assert [heading.split("(")[0].strip() for heading in headings[1:]] == [
        "Summary",
        "Denied",
        "Approved, and what came of it",
        "Ran, or may have, without being asked",
        "exec",
        "What this does not prove",
    ]
    for child in inline:
        if child.type == "text":
            assert not re.search(r"@\w|#\d", child.content)
    assert not re.search(r"(?<!\\)://|www\.", re.sub("(`+) ?.+? ?\\1(?!`)", "", text))
    code = [child.content for child in inline if child.type == "code_inline"]
    assert any(content.startswith("Look⟨ESC⟩]0;owned⟨BEL⟩ <img src=x onerror=alert(1)>") for content in code)
    assert any(content.startswith("`` Look") and content.endswith("`") for content in code)


def test_nothing_that_others_wrote_reaches_the_terminal_as_it_is(project: Path) -> None:
    session = Session(project)
    reasons = (f"{HOSTILE}: {HOSTILE}", HOSTILE)
    session.call("BAD", {"reasons": reasons}, NO | {"reasons": reasons, "note": HOSTILE}, intent=HOSTILE)
    session.call("RAW", tool_name=HOSTILE, intent=HOSTILE, args={"x": HOSTILE}, facts=HOSTILE)
    session.journal.close()
    for text in (audit().stdout, on_a_terminal("audit", PAGER="cat", COLUMNS="60"), audit("--json").stdout):
        assert "\x1b]" not in text
        assert "\x07" not in text
        assert "\u202e" not in text


def test_a_terminal_gets_it_folded_in_colours_and_through_the_pager(told: None) -> None:
    for columns in (60, 80):
        text = on_a_terminal("audit", PAGER="cat", COLUMNS=str(columns))
        plain = re.sub(r"\x1b\[[0-9;]*m", "", text)
        assert "\x1b[32m" in text
        assert max(map(len, plain.splitlines())) <= columns
        assert re.search(r"deploy +1 +1 +0 +0", plain)
    narrow = re.sub(r"\x1b\[[0-9;]*m|\r", "", on_a_terminal("audit", PAGER="cat", COLUMNS="40"))
    assert max(map(len, narrow.splitlines())) <= 40
    assert re.search(r"^ *ops/deploy: asked 1, approved 1$", narrow, re.MULTILINE)
    assert re.search(r"^ +1 denied without a question", narrow, re.MULTILINE)
    assert not re.search(r"\x1b\[3\d", on_a_terminal("audit", PAGER="cat", NO_COLOR="1"))
    paged = on_a_terminal("audit", PAGER="sed s/^/paged:/")
    assert paged.count("paged:") > 24


def test_a_call_whose_beginning_is_missing_is_counted_and_shown(told: None, project: Path) -> None:
    (path,) = find_ledger(project, os.environ).segments.iterdir()
    lines = path.read_bytes().splitlines(keepends=True)
    gone = [line for line in lines if b'"t":"call"' not in line or b"NOTE000" not in line]
    gone = [line for line in gone if b'"t":"call"' not in line or b"TEST000" not in line]
    path.write_bytes(b"".join(gone))
    found = document()
    assert found["summary"]["unknown"] == 1
    assert found["summary"]["asked"] == {"calls": 8, "waiting": 1, "denied": 3, "approved": 4}
    assert "the record of its beginning is missing" in audit().stdout
    assert "without a record of their beginning" in audit().stdout


def test_two_commands_that_differ_in_their_spaces_are_told_apart(project: Path) -> None:
    session = Session(project)
    commands_run = ('rm "a b"', 'rm "a  b"', "  rm -rf  build ", "rm `a  b`")
    for number, command in enumerate(commands_run):
        session.call(f"N{number}", YES | {"reasons": (f"deletes: {command}",)}, args={"command": command})
    session.call("RAN", YES, ran_args={"command": 'rm "c  d"'})
    session.journal.close()
    shown = ['rm "a b"', 'rm "a  b"', "  rm -rf  build⟨SPACE⟩", "rm `a  b`"]
    lines = audit().stdout.splitlines()
    assert [line[15:] for line in lines if re.match(r"[\d:]{8}  bash ", line)][:4] == shown
    assert [line.partition("deletes ")[2] for line in lines if "of deletes (" in line] == [
        f"({one})" for one in shown
    ]
    assert any(line.endswith('ran as: rm "c  d"') for line in lines)
    tokens = MarkdownIt("gfm-like", {"linkify": False, "html": True}).parse(audit("--md").stdout)
    code = [child.content for token in tokens for child in token.children or () if child.type == "code_inline"]
    assert [code.count(command) for command in shown] == [2, 2, 2, 2]
    assert code.count('rm "c  d"') == 1


def test_every_rule_has_its_row(project: Path) -> None:
    session = Session(project)
    rules = [f"rule {number:02}" for number in range(12)]
    for number, rule in enumerate(rules):
        session.call(f"N{number:02}", YES | {"reasons": (rule,)})
    session.journal.close()
    text, markdown = audit().stdout, audit("--md").stdout
    for rule in rules:
        assert re.search(rf"^ +{rule} +1 +1 +0 +0$", text, re.MULTILINE)
        assert f"| {rule} | 1 | 1 | 0 | 0 |" in markdown
    assert "more" not in text.partition("Approved,")[0]
