"""`pi-intent import` takes in what is named, offers what it finds, and says what became of it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from ledger_schema import assert_records_fit
from session_texts import claude_session, pi_session, write

from pi_intent.cli.main import commands
from pi_intent.ledger.calls import calls
from pi_intent.ledger.journal import SessionJournal
from pi_intent.ledger.location import find_ledger
from pi_intent.ledger.record import SessionInfo


@pytest.fixture(autouse=True)
def project(importing: Path) -> Path:
    return importing


def keep_in_home(project: Path, home: Path) -> None:
    """Put sessions where their agents do: two of this project, one of another."""
    write(home / ".pi/agent/sessions/--shop--/2030_0198-pi.jsonl", pi_session(project))
    write(home / ".claude/projects/-shop/5f0e-claude.jsonl", claude_session(project / "src"))
    write(home / ".claude/projects/-other/0.jsonl", claude_session(project.parent / "other", "another"))
    write(home / ".codex/sessions/2030/01/31/rollout-broken.jsonl", "no session\n")


def run(*args: str, stdin: str = "") -> Result:
    return CliRunner().invoke(commands, ["import", *args], input=stdin, catch_exceptions=False)


def document(*args: str) -> dict[str, Any]:
    result = run("--json", *args)
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def ledger_files() -> dict[Path, bytes]:
    root = find_ledger(Path(), os.environ).root
    return {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_what_is_named_goes_in_and_what_came_of_it_is_said(project: Path, tmp_path: Path) -> None:
    one = write(tmp_path / "pi.jsonl", pi_session(project))
    two = write(tmp_path / "claude.jsonl", claude_session(project))
    result = run(str(one), str(two))
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.splitlines() == [
        f"Read into the ledger of {project}:",
        "  pi           1 session, 2 calls: 2 new, 2 with an intent",
        "  Claude Code  1 session, 2 calls: 2 new, 2 with an intent, 1 rejected",
        'Next: "pi-intent log" shows them, "pi-intent stats" counts them.',
    ]
    kept = calls(find_ledger(project, os.environ).root)
    assert [(call.call.intent, call.call.flags, call.done.facts) for call in kept if call.call and call.done] == [
        ("Find what fails", ("imported",), "1 failed · exit 1"),
        ("make the  tests pass", ("imported", "copied"), None),
        ("List files", ("imported",), None),
        ("Nothing", ("imported",), None),
    ]
    assert_records_fit(path for path in ledger_files() if path.suffix == ".jsonl")


def test_log_shows_them_at_once_and_verify_holds(project: Path, tmp_path: Path) -> None:
    run(str(write(tmp_path / "pi.jsonl", pi_session(project))))
    shown = CliRunner().invoke(commands, ["log"], catch_exceptions=False)
    assert "Find what fails" in shown.stdout
    assert CliRunner().invoke(commands, ["verify"], catch_exceptions=False).exit_code == 0


def test_a_second_time_changes_nothing_and_says_so(project: Path, tmp_path: Path) -> None:
    path = write(tmp_path / "pi.jsonl", pi_session(project))
    run(str(path))
    before = ledger_files()
    result = run(str(path))
    assert result.stdout.splitlines()[1:] == [
        "  pi  1 session, 2 calls: 2 there before, 2 with an intent",
        "Nothing new: the ledger has all of it.",
    ]
    assert ledger_files() == before


@pytest.mark.parametrize("make", [pi_session, claude_session])
def test_any_beginning_and_then_the_whole_file_give_what_the_whole_gives(
    project: Path, tmp_path: Path, make: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = make(project).encode()

    def kept_of(*contents: bytes) -> set[tuple[str, ...]]:
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / f"state-{len(contents)}-{len(contents[0])}"))
        for content in contents:
            path = tmp_path / "s.jsonl"
            path.write_bytes(content)
            os.utime(path, (1_600_000_000, 1_600_000_000))
            run(str(path))
        kept = calls(find_ledger(Path(), os.environ).root)
        assert len(kept) == 2
        return {
            (call.id, *map(str, (call.call.intent, call.call.ts, call.call.seq, call.call.args, call.done.facts)))
            for call in kept
            if call.call and call.done
        }

    expected = kept_of(whole)
    assert len(expected) == 2
    for size in {*range(0, len(whole), 97), *(at + 1 for at, byte in enumerate(whole) if byte == 10)}:
        assert kept_of(whole[:size], whole) == expected


def test_what_may_still_be_running_is_said_and_left(project: Path, tmp_path: Path) -> None:
    info = SessionInfo(session="0198-pi", host="pi", agent="main", cwd=str(project), version="0")
    before = 1_500_000_000.0
    journal = SessionJournal.open(info, environ=os.environ, on_problem=pytest.fail, clock=lambda: before)
    path = write(tmp_path / "pi.jsonl", "".join(pi_session(project).splitlines(keepends=True)[:6]))
    assert run(str(path)).stdout.splitlines() == [
        f"Read into the ledger of {project}:",
        "  pi  1 session, 2 calls: 2 still running, 2 with an intent",
        "· 2 calls may still be running and are left out: import again when the session has ended",
        "Nothing else is new.",
    ]
    assert document(str(path))["files"][0]["stillRunning"] == 2
    journal.close()
    assert document(str(path))["files"][0]["newCalls"] == 2


def test_a_dry_run_says_what_would_be_new_and_writes_nothing(project: Path, tmp_path: Path) -> None:
    path = write(tmp_path / "pi.jsonl", pi_session(project))
    result = run(str(path), "--dry-run")
    assert result.stdout.splitlines() == [
        f"Would go into the ledger of {project}:",
        "  pi  1 session, 2 calls: 2 new, 2 with an intent",
        "Nothing was written. Without --dry-run it is.",
    ]
    assert not (tmp_path / "state").exists()


def test_times_that_cannot_be_true_are_counted_and_told(project: Path, tmp_path: Path) -> None:
    whole = pi_session(project)
    ahead = f"{datetime.now(UTC) + timedelta(days=3):%Y-%m-%dT%H:%M:%S.000Z}"
    soon = f"{datetime.now(UTC) + timedelta(hours=3):%Y-%m-%dT%H:%M:%S.000Z}"
    last = "2020-01-31T12:00:06.000Z"
    for name, wrong, count in (("a", ahead, 1), ("b", "0001-01-01T00:00:00Z", 1), ("c", "soon", 1), ("d", soon, 0)):
        path = write(tmp_path / f"{name}.jsonl", whole.replace(last, wrong))
        assert document(str(path), "--dry-run")["files"][0]["impossibleTimes"] == count
    said = run(str(tmp_path / "a.jsonl")).stdout.splitlines()
    assert "· 1 time that cannot be true: the nearest before it counts instead" in said


def test_what_two_files_hold_is_repeated_and_what_the_ledger_had_was_there_before(
    project: Path, tmp_path: Path
) -> None:
    paths = [str(write(tmp_path / f"{name}.jsonl", pi_session(project))) for name in "ab"]
    assert (
        run(*paths, "--dry-run").stdout.splitlines()[1].endswith("2 new, 2 repeated in these files, 4 with an intent")
    )
    assert run(*paths).stdout.splitlines()[1].endswith("2 new, 2 repeated in these files, 4 with an intent")
    assert run(*paths).stdout.splitlines()[1].endswith("4 there before, 4 with an intent")


def test_a_session_without_calls_and_a_folder_without_sessions_are_said_to_be_that(
    project: Path, tmp_path: Path
) -> None:
    path = write(tmp_path / "pi.jsonl", pi_session(project).splitlines(keepends=True)[0])
    assert run(str(path)).stdout.splitlines()[1:] == [
        "  pi  0 sessions, 0 calls",
        "· 1 session file with no calls in it",
        "Nothing to take in: there are no calls.",
    ]
    for folder in ("", str(project)):
        assert run(folder).stderr == f"Error: {project}: no session file in this folder\n"


def test_a_folder_is_searched_and_what_is_no_session_is_counted(project: Path, tmp_path: Path) -> None:
    folder = tmp_path / "sessions"
    write(folder / "a" / "pi.jsonl", pi_session(project))
    write(folder / "b" / "notes.jsonl", "{}\n")
    write(folder / "b" / "README.md", "# none\n")
    write(folder / "b" / "empty.jsonl", "")
    os.mkfifo(folder / "b" / "pipe.jsonl")
    (folder / "b" / "loop").symlink_to(folder)
    (folder / "b" / "gone.jsonl").symlink_to(folder / "nowhere")
    result = run(str(folder))
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.splitlines()[1:3] == [
        "  pi  1 session, 2 calls: 2 new, 2 with an intent",
        "· 2 files that are no session of an agent known here",
    ]


def test_what_is_named_and_no_session_is_one_sentence_each_and_the_others_go_in(
    project: Path, tmp_path: Path
) -> None:
    good = write(tmp_path / "pi.jsonl", pi_session(project))
    readme = write(tmp_path / "README.md", "# none\n")
    empty = write(tmp_path / "empty.jsonl", "")
    binary = tmp_path / "binary.jsonl"
    binary.write_bytes(b"\xff\xfe\x00" * 100)
    pipe = tmp_path / "pipe.jsonl"
    os.mkfifo(pipe)
    none = tmp_path / "no-sessions"
    none.mkdir()
    wrong = [readme, empty, binary, pipe, none, tmp_path / "gone.jsonl"]
    result = run(*map(str, wrong), str(good))
    assert result.exit_code == 1
    assert "2 new" in result.stdout
    sentences = result.stderr.splitlines()
    assert len(sentences) == len(wrong)
    for path, sentence in zip(wrong, sentences, strict=True):
        assert sentence.startswith((f"Error: {path} ", f"Error: {path}: "))
    assert document(str(readme))["failed"] == [sentences[0].removeprefix("Error: ")]


def test_a_file_that_cannot_be_read_is_told_in_a_folder_too(project: Path, tmp_path: Path) -> None:
    write(tmp_path / "sessions" / "pi.jsonl", pi_session(project))
    # A file that nobody can read from its beginning, not even root.
    (tmp_path / "sessions" / "broken.jsonl").symlink_to("/proc/self/mem")
    result = run(str(tmp_path / "sessions"))
    assert (result.exit_code, "2 new" in result.stdout) == (1, True)
    assert result.stderr == f"Error: {tmp_path}/sessions/broken.jsonl cannot be read: Input/output error\n"


def test_a_link_to_a_session_is_read(project: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.jsonl"
    link.symlink_to(write(tmp_path / "pi.jsonl", pi_session(project)))
    assert document(str(link))["files"][0]["newCalls"] == 2


def test_torn_glued_and_foreign_lines_are_told_and_the_rest_goes_in(project: Path, tmp_path: Path) -> None:
    first, *rest = pi_session(project).splitlines()
    text = "\n".join([first, '{"type":"message","id', *rest[:3], '{"type":"made_up"}' + rest[3], *rest[4:]])
    path = write(tmp_path / "pi.jsonl", text)
    found = document(str(path))["files"][0]
    assert (found["calls"], found["newCalls"], found["newEnds"]) == (2, 2, 2)
    assert (found["unreadLines"], found["unread"][0]["line"]) == (2, 2)
    shown = run(str(path)).stdout
    assert f"· line 2 holds something that is not whole JSON (1 more in this file): {path}" in shown


def test_without_a_path_the_sessions_of_this_project_are_listed_and_off_a_terminal_no_more(
    project: Path, tmp_path: Path
) -> None:
    keep_in_home(project, tmp_path / "home")
    result = run()
    assert result.exit_code == 0
    listed = result.stdout.splitlines()
    assert listed[0] == f"Sessions of this project ({project}):"
    row = r"  (pi         |Claude Code)  1 session  1\.\d kB  last used \d{4}-\d\d-\d\d \d\d:\d\d"
    assert [bool(re.fullmatch(row, line)) for line in listed[1:3]] == [True, True]
    assert listed[-1] == '"pi-intent import --yes" imports them; add --dry-run to see first what would be new.'
    assert result.stderr == "1 session file of other projects: import them there, or name them here.\n"
    assert not (tmp_path / "state").exists()


@pytest.mark.parametrize(("answer", "taken_in"), [("\n", 4), ("n\n", 0)])
def test_on_a_terminal_it_asks_before_it_imports(project: Path, tmp_path: Path, answer: str, taken_in: int) -> None:
    keep_in_home(project, tmp_path / "home")
    ours, theirs = os.openpty()
    try:
        os.write(ours, answer.encode())
        command = [sys.executable, "-m", "pi_intent", "import"]
        done = subprocess.run(command, stdin=theirs, stdout=theirs, stderr=theirs, timeout=60)
    finally:
        os.close(theirs)
    shown = b""
    with os.fdopen(ours, "rb", buffering=0) as screen, suppress(OSError):  # how a terminal says that it is closed
        while piece := screen.read(65_536):
            shown += piece
    assert done.returncode == 0
    assert b"Import them? [Y/n]: " in shown
    assert len(calls(find_ledger(project, os.environ).root)) == taken_in


def test_with_yes_what_is_found_goes_in(project: Path, tmp_path: Path) -> None:
    keep_in_home(project, tmp_path / "home")
    result = run("--yes")
    assert result.exit_code == 0
    assert result.stdout.splitlines()[-1] == 'Next: "pi-intent log" shows them, "pi-intent stats" counts them.'
    assert {call.call.session for call in calls(find_ledger(project, os.environ).root) if call.call} == {
        "0198-pi",
        "5f0e-claude",
    }


def test_json_without_a_path_lists_each_file(project: Path, tmp_path: Path) -> None:
    keep_in_home(project, tmp_path / "home")
    found = document()
    assert found["elsewhere"] == 1
    assert [(one["dialect"], one["session"], one["cwd"]) for one in found["found"]] == [
        ("pi", "0198-pi", str(project)),
        ("claude-code", "5f0e-claude", str(project / "src")),
    ]
    assert document("--yes")["files"][0]["newCalls"] == 2


def test_the_places_follow_the_variables_of_the_agents(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "moved/claude/projects/-shop/s.jsonl", claude_session(project))
    write(tmp_path / "moved/pi/sessions/--shop--/s.jsonl", pi_session(project))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "moved/claude"))
    monkeypatch.setenv("PI_CODING_AGENT_DIR", str(tmp_path / "moved/pi"))
    assert [one["session"] for one in document()["found"]] == ["0198-pi", "5f0e-claude"]


def test_a_session_in_another_work_tree_is_of_this_project(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def git(*args: str) -> None:
        subprocess.run(["git", "-c", "user.name=n", "-c", "user.email=e@x", *args], check=True, capture_output=True)

    git("init", "-q", ".")
    git("commit", "-q", "--allow-empty", "-m", "Begin")
    git("worktree", "add", "-q", str(tmp_path / "shop-fix"))
    write(tmp_path / "home/.pi/agent/sessions/--x--/s.jsonl", pi_session(tmp_path / "shop-fix" / "src"))
    assert [one["session"] for one in document()["found"]] == ["0198-pi"]


def test_where_no_session_is_found_that_is_said_and_is_no_failure(project: Path) -> None:
    result = run()
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == (
        "No session of this project was found (no agent keeps any in the usual places). "
        "Name a file or a folder to import it.\n"
    )


def test_a_session_of_another_folder_goes_in_and_that_is_said(project: Path, tmp_path: Path) -> None:
    path = write(tmp_path / "pi.jsonl", pi_session(tmp_path / "other"))
    assert (
        f"· Some of it was done outside this project, in {tmp_path / 'other'}: paths there stay as they are"
        in run(str(path)).stdout
    )


@pytest.mark.parametrize("named", ["\0", "/a\0b", "\ud800", "/" + "x" * 300, "/" + "a/" * 5000, "~", "C:\\shop"])
def test_a_folder_that_cannot_be_one_is_one_outside_this_project(project: Path, tmp_path: Path, named: str) -> None:
    text = pi_session(Path("/gone")).replace('"/gone"', json.dumps(named))
    path = write(tmp_path / "home/.pi/agent/sessions/s.jsonl", text)
    result = run(str(path))
    assert (result.exit_code, "2 new" in result.stdout, "outside this project" in result.stdout) == (0, True, True)
    assert document(str(path))["files"][0]["folders"] == [named]
    assert document()["elsewhere"] == 1


@pytest.mark.parametrize("named", [".", "src", ".."])
def test_a_relative_folder_is_not_taken_for_one_of_where_the_import_runs(
    project: Path, tmp_path: Path, named: str
) -> None:
    write(tmp_path / "home/.pi/agent/sessions/s.jsonl", pi_session(Path(named)))
    assert (document()["found"], document()["elsewhere"]) == ([], 1)


def test_redact_args_of_the_project_holds_even_where_pi_intent_is_switched_off(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(project / ".pi-intent.toml", "redact_args = true\n")
    monkeypatch.setenv("PI_INTENT", "off")
    run(str(write(tmp_path / "pi.jsonl", pi_session(project))))
    assert {call.call.intent for call in calls(find_ledger(project, os.environ).root) if call.call} == {"[withheld]"}


def test_secrets_of_the_environment_and_known_shapes_reach_no_file(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOP_TOKEN", "correct-horse-battery-9")
    shaped = "ghp_" + "Ab3dEf6hIj" * 3 + "LmN0pQ"
    text = pi_session(project, "s-correct-horse-battery-9")
    text = text.replace("Find what fails", f"Use {shaped} now").replace("pytest -q", f"curl -u me:{shaped} x")
    text = text.replace("1 failed in", "correct-horse-\\nbattery-9 failed in").replace("call_1", f"call_{shaped}")
    result = run(str(write(tmp_path / "correct-horse-battery-9.jsonl", text)))
    assert "2 new" in result.stdout
    for path, content in ledger_files().items():
        assert "horse" not in str(path)
        if path.name != "key":
            assert b"horse" not in content
            assert shaped[4:].encode() not in content


def test_of_a_patch_the_names_of_files_are_kept_and_not_what_stands_in_them(project: Path, tmp_path: Path) -> None:
    patch = f"*** Begin Patch\n*** Update File: {project}/src/pay.py\n@@\n-Jane, 12 Elm St\n+Joe\n*** End Patch"
    at = {"timestamp": "2020-01-31T12:00:00.000Z"}
    call = {"type": "custom_tool_call", "name": "apply_patch", "input": patch, "call_id": "c1"}
    entries = [
        {**at, "type": "session_meta", "payload": {"id": "0198-codex", "cwd": str(project)}},
        {**at, "type": "response_item", "payload": call},
    ]
    run(str(write(tmp_path / "rollout.jsonl", "".join(json.dumps(entry) + "\n" for entry in entries))))
    assert not any(b"Elm" in content for content in ledger_files().values())
    shown = CliRunner().invoke(commands, ["log", "--path", "src/pay.py"], catch_exceptions=False).stdout
    assert "apply_patch src/pay.py" in shown


def test_hostile_text_reaches_no_terminal(project: Path, tmp_path: Path) -> None:
    path = write(tmp_path / "pi.jsonl", pi_session(Path("/\x1b]0;owned\x07")) + '{"type":"\\u001b[31mred"}\n')
    result = run(str(path))
    assert "\x1b" not in result.output
    assert result.exit_code == 0


def test_a_full_disk_is_one_sentence_and_the_next_import_goes_on(project: Path, tmp_path: Path) -> None:
    path = write(tmp_path / "pi.jsonl", pi_session(project))
    limited = (
        "import resource, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1500, 1500))\n"
        "sys.argv = ['pi-intent', 'import', sys.argv[1]]\n"
        "from pi_intent.cli.main import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", limited, str(path)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert done.stderr.startswith("Error: the ledger ")
    assert "import again" in done.stderr
    assert done.stderr.count("\n") == 1
    assert document(str(path))["files"][0]["calls"] == 2
    kept = calls(find_ledger(project, os.environ).root)
    assert [call.state for call in kept] == ["settled", "settled"]
    assert CliRunner().invoke(commands, ["verify"], catch_exceptions=False).exit_code == 0
