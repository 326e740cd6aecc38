"""Where the ledger of a project lies, and which commit its work tree stands on."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from pi_intent.ledger.location import LedgerLocation, find_ledger, make_private_folder, read_head


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path / "home"),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CEILING_DIRECTORIES": str(tmp_path),
    }


def git(folder: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=n", "-c", "user.email=n@example.org", "-c", "commit.gpgsign=false")
    clean = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1"}
    command = ("git", *identity, "-C", str(folder), *arguments)
    return subprocess.run(command, check=True, capture_output=True, text=True, env=clean, timeout=30).stdout.strip()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    return folder


def commit(folder: Path) -> str:
    git(folder, "commit", "-q", "--allow-empty", "-m", "more")
    return git(folder, "rev-parse", "HEAD")


def test_a_ledger_lies_inside_the_git_folder_whatever_the_subfolder(project: Path, environ: dict[str, str]) -> None:
    inside = project / "a" / "b"
    inside.mkdir(parents=True)
    expected = LedgerLocation(root=project / ".git" / "pi-intent", project=project, git_dir=project / ".git")
    assert find_ledger(project, environ) == expected
    assert find_ledger(inside, environ) == expected
    assert not expected.root.exists()


def test_work_trees_share_the_ledger_and_have_heads_of_their_own(project: Path, environ: dict[str, str]) -> None:
    first = commit(project)
    linked = project.parent / "linked"
    git(project, "worktree", "add", "-q", "-b", "side", str(linked))
    second = commit(linked)
    here, there = find_ledger(project, environ), find_ledger(linked, environ)
    assert there == LedgerLocation(root=here.root, project=linked, git_dir=project / ".git" / "worktrees" / "linked")
    assert (read_head(project / ".git"), read_head(project / ".git" / "worktrees" / "linked")) == (first, second)


def test_a_bare_repository_has_a_ledger_and_no_project(tmp_path: Path, environ: dict[str, str]) -> None:
    bare = tmp_path / "bare.git"
    bare.mkdir()
    git(bare, "init", "-q", "--bare")
    assert find_ledger(bare, environ) == LedgerLocation(root=bare / "pi-intent", project=None, git_dir=bare)


def test_the_folder_decides_and_not_a_repository_named_by_the_environment(
    project: Path, tmp_path: Path, environ: dict[str, str]
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "-q")
    found = find_ledger(project, environ | {"GIT_DIR": str(other / ".git"), "GIT_WORK_TREE": str(other)})
    assert found.project == project


def test_outside_git_a_ledger_lies_in_the_state_folder_and_says_why(tmp_path: Path, environ: dict[str, str]) -> None:
    folder = tmp_path / "my notes, 2"
    folder.mkdir()
    found = find_ledger(folder, environ)
    assert found.root.parent == tmp_path / "home" / ".local" / "state" / "pi-intent"
    assert found.root.name.startswith("my-notes-2-")
    assert found.project == folder
    assert found.note == f"{folder} is in no git repository: the ledger lies in {found.root}"
    assert find_ledger(folder, environ) == found


def test_the_state_folder_follows_xdg_unless_it_is_relative(tmp_path: Path, environ: dict[str, str]) -> None:
    chosen = find_ledger(tmp_path, environ | {"XDG_STATE_HOME": str(tmp_path / "state")})
    ignored = find_ledger(tmp_path, environ | {"XDG_STATE_HOME": "state"})
    assert chosen.root.parent == tmp_path / "state" / "pi-intent"
    assert ignored.root.parent == tmp_path / "home" / ".local" / "state" / "pi-intent"


def test_folders_of_one_name_have_ledgers_of_their_own(tmp_path: Path, environ: dict[str, str]) -> None:
    folders = [tmp_path / "a" / "same", tmp_path / "b" / "same"]
    for folder in folders:
        folder.mkdir(parents=True)
    assert len({find_ledger(folder, environ).root for folder in folders}) == 2


def test_a_repository_that_git_distrusts_has_its_ledger_in_the_state_folder(
    project: Path, environ: dict[str, str]
) -> None:
    inside = project / "sub"
    inside.mkdir()
    distrust = environ | {"GIT_TEST_ASSUME_DIFFERENT_OWNER": "1"}  # git's own switch for its own tests of this
    found = find_ledger(inside, distrust)
    assert found.project == project
    assert found.root.parent.name == "pi-intent"
    assert found.root == find_ledger(project, distrust).root
    assert found.note == (
        f"git distrusts the repository, because it belongs to another user: the ledger lies in {found.root}"
    )


def find_as_nobody(cwd: Path, home: Path) -> list[str]:
    """Look for the ledger as a user who owns nothing; where the tests have no right to that, as ourselves."""
    script = (
        "import os, sys; from pathlib import Path; from pi_intent.ledger.location import find_ledger;"
        "os.geteuid() or (os.setgroups([]), os.setgid(65534), os.setuid(65534));"
        "found = find_ledger(Path(sys.argv[1]), {'PATH': sys.argv[3], 'HOME': sys.argv[2]});"
        "print(found.root); print(found.note)"
    )
    command = (sys.executable, "-B", "-c", script, str(cwd), str(home), os.environ["PATH"])
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd="/", timeout=60)
    return done.stdout.splitlines()


def test_a_git_folder_that_cannot_be_written_to_has_its_ledger_in_the_state_folder(open_folder: Path) -> None:
    git(open_folder, "init", "-q")
    if os.geteuid() == 0:
        for path in (open_folder, *open_folder.rglob("*")):
            os.chown(path, 65534, 65534)  # git trusts its owner
    (open_folder / ".git").chmod(0o555)
    root, note = find_as_nobody(open_folder, open_folder / "home")
    assert root.startswith(str(open_folder / "home" / ".local" / "state" / "pi-intent" / open_folder.name))
    assert note == f"{open_folder / '.git'} cannot be written to: the ledger lies in {root}"
    (open_folder / ".git").chmod(0o755)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_repository_of_another_user_is_recognised_as_such(open_folder: Path) -> None:
    git(open_folder, "init", "-q")
    assert find_as_nobody(open_folder, open_folder)[1].startswith("git distrusts the repository")


def test_without_git_a_ledger_lies_in_the_state_folder(project: Path, environ: dict[str, str]) -> None:
    found = find_ledger(project, environ | {"PATH": "/nonexistent"})
    assert (found.project, found.note) == (project, f"git is not installed: the ledger lies in {found.root}")


def test_a_folder_that_is_gone_still_has_a_place_for_its_ledger(tmp_path: Path, environ: dict[str, str]) -> None:
    gone = tmp_path / "gone"
    found = find_ledger(gone, environ)
    assert found.note == f"{gone} is not a folder any more: the ledger lies in {found.root}"
    assert found.project is None


def test_a_git_that_hangs_or_babbles_does_not_cost_the_ledger(project: Path, environ: dict[str, str]) -> None:
    programs = project.parent / "bin"
    programs.mkdir()
    fake = programs / "git"
    fake.write_text("#!/bin/sh\necho one\n")
    fake.chmod(0o755)
    found = find_ledger(project, environ | {"PATH": str(programs)})
    assert found.project == project
    assert found.note is not None
    assert found.note.startswith("git cannot say where the repository is (its answer cannot be read)")


def test_private_folders_are_private_whatever_the_umask(tmp_path: Path) -> None:
    script = (
        "import os, sys; from pathlib import Path; from pi_intent.ledger.location import make_private_folder;"
        "os.umask(int(sys.argv[2], 8)); make_private_folder(Path(sys.argv[1]))"
    )
    for umask in ("0", "777"):
        folder = tmp_path / umask / "deep" / "er"
        command = (sys.executable, "-B", "-c", script, str(folder), umask)
        subprocess.run(command, check=True, timeout=60)
        modes = [stat.S_IMODE(path.stat().st_mode) for path in (folder, folder.parent, folder.parent.parent)]
        assert modes == [0o700, 0o700, 0o700]
    loose = tmp_path / "loose"
    loose.mkdir(mode=0o755)
    make_private_folder(loose)
    assert stat.S_IMODE(loose.stat().st_mode) == 0o700


def test_head_is_read_from_loose_packed_and_detached_references(project: Path) -> None:
    git_dir = project / ".git"
    assert read_head(git_dir) is None  # no commit yet
    first = commit(project)
    assert read_head(git_dir) == first
    git(project, "branch", "not-main-but-longer")
    git(project, "pack-refs", "--all", "--prune")
    assert not (git_dir / "refs" / "heads" / "main").exists()
    assert read_head(git_dir) == first
    second = commit(project)  # a loose reference again, which wins over the packed one
    assert read_head(git_dir) == second
    git(project, "pack-refs", "--all", "--prune")
    assert read_head(git_dir) == second
    git(project, "checkout", "-q", "--detach", first)
    assert read_head(git_dir) == first
    git(project, "checkout", "-q", "--orphan", "fresh")
    assert read_head(git_dir) is None


def test_a_branch_that_stands_for_another_one_is_followed(project: Path) -> None:
    first = commit(project)
    git(project, "symbolic-ref", "refs/heads/alias", "refs/heads/main")
    git(project, "symbolic-ref", "HEAD", "refs/heads/alias")
    assert read_head(project / ".git") == first


@pytest.mark.parametrize(
    "content", ["", "ref: ../../secret", "ref: refs/heads/../../x", "ref:", "0123", "\0", "ref: refs/\0"]
)
def test_a_head_that_makes_no_sense_is_no_commit(tmp_path: Path, content: str) -> None:
    (tmp_path / "HEAD").write_text(content)
    assert read_head(tmp_path) is None
    assert read_head(tmp_path / "nowhere") is None
