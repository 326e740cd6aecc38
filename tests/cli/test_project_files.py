"""Whether a file that a rationale names is there: asked for sessions of this project, and never outside of it."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from ledger_events import a_start, an_end

from pi_intent.cli.main import commands
from pi_intent.cli.project_files import ProjectFiles
from pi_intent.ledger.index import open_index
from pi_intent.ledger.journal import SessionJournal
from pi_intent.ledger.location import find_ledger
from pi_intent.ledger.record import SessionInfo
from pi_intent.protocols import CallContext, Settlement


def git(folder: Path, *args: str) -> None:
    who = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    subprocess.run(("git", "-C", str(folder), *who, *args), check=True, capture_output=True, timeout=60)


@pytest.fixture
def project(shop: Path) -> Path:
    """A repository with a file in a folder, and the same in another work tree of it."""
    git(shop, "init")
    (shop / "src").mkdir()
    (shop / "src" / "pay.py").write_text("")
    (shop / "app" / "lib").mkdir(parents=True)
    (shop / "app" / "lib" / "x.py").write_text("")
    git(shop, "add", ".")
    git(shop, "commit", "-m", "x")
    git(shop, "worktree", "add", "../tree")
    return shop


def write(cwd: Path, calls: Sequence[dict[str, Any]], session: str = "s") -> None:
    """Record calls of a session that worked in a folder, in the ledger of the folder that we are in."""
    info = SessionInfo(session=session, host="tau", agent="main", cwd=str(cwd), version="0")
    journal = SessionJournal(find_ledger(Path(), os.environ), info, environ={}, on_problem=pytest.fail)
    for number, said in enumerate(calls):
        ids = {"call_id": f"{session}{number:025}", "group_id": f"g{number}", "session_id": session, "seq": number}
        journal.opened(a_start(**ids | said), CallContext(turn=number, policy="require", profile="lean", bytes_in=1))
        end = an_end(**ids, tool_name=said["tool_name"], status="ok")
        journal.closed(end, Settlement(status="ok", is_error=False))
    journal.close()


def looked_at(cwd: Path) -> ProjectFiles:
    """Return what answers for session `s`, which worked in a folder."""
    write(cwd, [SEARCH])
    location = find_ledger(Path(), os.environ)
    with open_index(location.root) as index:
        return ProjectFiles(location, index.sessions())


def gone(files: ProjectFiles, *paths: str) -> list[str]:
    return [path for path in paths if not files.may_be_there("s", path)]


def test_a_path_is_looked_for_from_the_folder_of_the_session_and_from_the_top(project: Path) -> None:
    files = looked_at(project / "app")
    there = ("lib/x.py", "src/pay.py", "app/lib/x.py", "./lib/x.py", "../src/pay.py", str(project / "src/pay.py"))
    missing = ("lib/y.py", "src/new.py", "app/lib/y.py", "../src/new.py", str(project / "src/new.py"), "src/a/b.py")
    assert gone(files, *there, *missing) == [*missing]


def test_what_may_be_short_for_another_path_or_lie_elsewhere_is_not_judged(project: Path, tmp_path: Path) -> None:
    files = looked_at(project)
    elsewhere = ("pydantic/fields.py", "lib/y.py", "../other/a.py", str(tmp_path / "no" / "a.py"), "/etc/none/a.py")
    odd = ("src/\0.py", "src/\ud800/b.py", "src/" + "x" * 5000 + ".py", ".git/none/a.py", "//", "")
    assert gone(files, *elsewhere, *odd) == []


def test_no_link_is_followed(project: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (project / "src" / "away").symlink_to(tmp_path / "outside")
    (project / "src" / "broken.py").symlink_to("nowhere.py")
    assert gone(looked_at(project), "src/away/a.py", "src/away/b/c.py", "src/broken.py", "src/pay.py/x.py") == []


def test_another_work_tree_of_the_repository_is_looked_at_itself(project: Path, tmp_path: Path) -> None:
    (tmp_path / "tree" / "src" / "pay.py").rename(tmp_path / "tree" / "src" / "paid.py")
    assert gone(looked_at(tmp_path / "tree"), "src/pay.py", "src/paid.py") == ["src/pay.py"]


def test_a_session_of_another_folder_is_not_judged(project: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    (other / "src").mkdir(parents=True)
    for cwd in (other, tmp_path / "gone", Path("relative"), tmp_path):
        assert gone(looked_at(cwd), "src/new.py") == []
    git(other, "init")
    assert gone(looked_at(other), "src/new.py") == []
    assert not looked_at(project).may_be_there("s", "src/new.py")  # where that was another session's, too
    assert looked_at(project).may_be_there("nobody's", "src/new.py")


def test_outside_git_the_folder_is_the_project(shop: Path, tmp_path: Path) -> None:
    (shop / "src").mkdir()
    (tmp_path / "src").mkdir()
    assert gone(looked_at(tmp_path), "src/new.py") == []
    assert gone(looked_at(shop / "src"), "src/new.py", "../other/new.py") == ["src/new.py"]


SEARCH = {"tool_name": "bash", "args": {"command": "grep -rn bound ."}, "intent": "Find who sets the bound"}
EDIT = {"tool_name": "edit", "args": {"path": "src/pay.py", "edits": []}, "intent": "Raise the bound"}
READ = {"tool_name": "read", "args": {"path": "src/new.py"}, "intent": "See what is left of the bound"}


def run(*args: str) -> str:
    result = CliRunner().invoke(commands, args, catch_exceptions=False)
    assert (result.exit_code, result.stderr) == (0, "")
    return result.stdout


def test_log_show_and_stats_tell_of_a_file_that_is_not_there(project: Path) -> None:
    lower = {**EDIT, "intent": "Lower the bound", "rationale": "app/lib/x.py:3 says so"}
    write(project, [SEARCH, {**EDIT, "rationale": "src/new.py:3 sets it"}, lower])
    told = 'note: unseen-evidence: the rationale points at "src/new.py:3", which is not there now'
    assert run("log").count("note:") == run("log").count(told) == 1
    assert told in run("show", f"s{1:025}")
    assert json.loads(run("stats", "--json"))["notes"] == {"unseen-evidence": 1}
    (project / "src" / "new.py").write_text("")
    assert "note:" not in run("log")


def test_a_file_that_the_session_reads_later_was_there(project: Path) -> None:
    write(project, [SEARCH, {**EDIT, "rationale": "src/new.py:3 sets it"}, READ])
    assert "note:" not in run("log")
    assert json.loads(run("stats", "--json"))["notes"] == {}


def test_a_session_of_another_folder_gets_no_such_note(project: Path, tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    write(tmp_path, [SEARCH, {**EDIT, "rationale": "src/new.py:3 sets it"}])
    assert "note:" not in run("log")


@pytest.mark.parametrize(
    "command",
    [
        "rm -rf src/gen",
        "git mv src/old lib/new",
        "rm src/st*.py",
        "find src -name '*_pb2.py' -delete",
        "git ls-files src | xargs rm",
        "python -c \"import os; os.remove('src/new.py')\"",
        "git checkout main",
        "git stash -u",
        "git clean -fdx",
        "make clean",
        "npm run clean",
    ],
)
def test_a_session_that_may_have_removed_it_gets_no_such_note(project: Path, command: str) -> None:
    removing = {"tool_name": "bash", "args": {"command": command}, "intent": "Leave only what is used"}
    write(project, [SEARCH, {**EDIT, "rationale": "src/new.py:3 sets it"}, removing])
    assert "is not there now" not in run("log")
