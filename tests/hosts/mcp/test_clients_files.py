"""A config is replaced in one step, as it was in all but its content, or left alone with one sentence."""

from __future__ import annotations

import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from client_configs import CLAUDE, SAMPLES, Desk, desk, entries, meaning

from pi_intent.hosts.mcp.clients.client import ClientName
from pi_intent.hosts.mcp.clients.files import Changed, read, replace

NOBODY = 65534
SECONDS = 60


@pytest.fixture
def here(tmp_path: Path) -> Desk:
    return desk(tmp_path)


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


# Refusals


@pytest.mark.parametrize(
    ("client", "content", "says"),
    [
        ("claude", '{"mcpServers": {"a": {"command": "x"}}', "ends before what it opened is closed (line 1)"),
        ("claude", '{"mcpServers": {\n"a": {"command" "x"}}}', "is not valid JSON: "),
        ("claude", '{"a": 1} {"b": 2}', "is not valid JSON: "),
        ("claude", '{"a": 01}', "is not valid JSON: "),
        ("claude", '{"a": tru}', "is not valid JSON: "),
        ("claude", "{'a': 1}", "is not valid JSON: "),
        ("claude", '{"a": "x\ny"}', "is not valid JSON: "),
        ("vscode", '{"servers": {} /* no end', "has a comment that does not end (line 1)"),
        ("vscode", '{"servers": [\n,]}', "is not valid JSON: "),
        ("vscode", '{"servers": []}', "has no object as servers (line 1)"),
        ("vscode", "[]", "has no object as its top level (line 1)"),
        ("cursor", f"{'[' * 500}{']' * 500}", "is nested more than 400 deep"),
        ("cursor", '{"mcpServers": {}, "mcpServers": {}}', "has 'mcpServers' twice in its top level (line 1)"),
        ("cursor", '{"mcpServers": {"a": {},\n"a": {}}}', "has 'a' twice in mcpServers (line 2)"),
        ("cursor", '{"mcpServers": {"a": {"command": "x", "command": "y"}}}', "has 'command' twice in mcpServers"),
        ("cursor", b'{"mcpServers": {"\xff": {}}}', "is not UTF-8 text: save it as UTF-8 and try again"),
        ("cursor", '{"mcpServers": {}}'.encode("utf-16"), "is not UTF-8 text: save it as UTF-8 and try again"),
        ("codex", "[mcp_servers.a]\ncommand = x", "is not valid TOML: Invalid value (line 2)"),
        ("codex", '[mcp_servers.a]\ncommand = "x"\ncommand = "y"', "is not valid TOML: Cannot overwrite a value"),
        ("codex", "[mcp_servers.a]\n[mcp_servers.a]\n", "is not valid TOML: Cannot declare"),
        ("codex", "mcp_servers = []", "has no table as mcp_servers"),
        ("codex", f"a = {'[' * 100_000}{']' * 100_000}", "is nested too deeply"),
        ("codex", f"a{'.a' * 100} = 1", "has more than 64 dots in a key (line 1)"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("verb", ["install", "uninstall"])
def test_what_cannot_be_read_is_refused_in_a_sentence_and_left(
    here: Desk, client: ClientName, content: str | bytes, says: str, verb: str
) -> None:
    path = here.own(client)
    before = here.write(path, content)
    sentence = here.error("install" if verb == "install" else "uninstall", client)
    assert sentence.startswith(f"{path} ")
    assert says in sentence
    assert "\n" not in sentence
    assert path.read_bytes() == before
    assert names(path.parent) == {path.name} | ({"project"} if path.parent == here.home else set())


def test_a_file_that_is_read_only_is_left_alone_whoever_asks(here: Desk) -> None:
    path = here.own("claude")
    before = here.write(path, CLAUDE)
    path.chmod(0o444)
    assert here.error("install", "claude") == f"{path} is read-only, and was left alone: make it writable first"
    assert path.read_bytes() == before
    assert names(here.home) == {".claude.json", "project"}


@pytest.fixture
def as_nobody() -> Iterator[Path]:
    """Run as a user without any rights, with a folder that this user can reach; as oneself where that is no root."""
    folder = Path(tempfile.mkdtemp(prefix="pi-intent-test-"))
    folder.chmod(0o755)
    is_root = os.geteuid() == 0
    try:
        if is_root:
            os.chown(folder, NOBODY, NOBODY)
            os.setegid(NOBODY)
            os.seteuid(NOBODY)
        yield folder
    finally:
        if is_root:
            os.seteuid(0)
            os.setegid(0)
        for path in [folder, *folder.rglob("*")]:
            if path.is_dir():
                path.chmod(0o755)
        shutil.rmtree(folder)


def test_a_folder_that_is_read_only_is_a_sentence(as_nobody: Path) -> None:
    here = desk(as_nobody)
    path = here.own("cursor")
    before = here.write(path, SAMPLES["cursor"])
    path.parent.chmod(0o555)
    assert here.error("install", "cursor").startswith(f"{path} cannot be written (Permission denied): check who owns")
    assert path.read_bytes() == before
    assert names(path.parent) == {"mcp.json"}


def test_a_file_that_may_not_be_read_is_a_sentence(as_nobody: Path) -> None:
    here = desk(as_nobody)
    path = here.own("cursor")
    here.write(path, SAMPLES["cursor"])
    path.chmod(0)
    assert here.error("install", "cursor") == (
        f"{path} cannot be read (Permission denied): check who owns it and its folder"
    )


@pytest.mark.skipif(os.geteuid() != 0, reason="only the superuser can give a file away")
def test_a_file_of_another_user_is_not_taken_from_them(as_nobody: Path) -> None:
    here = desk(as_nobody)
    path = here.own("cursor")
    before = here.write(path, SAMPLES["cursor"])
    path.chmod(0o666)
    os.seteuid(0)
    os.chown(path, 1234, 1234)
    os.seteuid(NOBODY)
    assert "belongs to another user or group, and was left alone" in here.error("install", "cursor")
    assert path.read_bytes() == before
    assert names(path.parent) == {"mcp.json"}


def test_a_file_with_a_second_name_is_not_torn_from_it(here: Desk) -> None:
    path = here.own("cursor")
    before = here.write(path, SAMPLES["cursor"])
    (here.home / "dotfiles.json").hardlink_to(path)
    assert "has a second name (a hard link)" in here.error("install", "cursor")
    assert path.read_bytes() == before


def test_a_folder_or_a_pipe_in_its_place_is_a_sentence_and_nobody_waits(here: Desk) -> None:
    path = here.own("cursor")
    path.mkdir(parents=True)
    assert here.error("install", "cursor") == f"{path} is a folder: move it away"
    path.rmdir()
    os.mkfifo(path)
    assert here.error("install", "cursor") == f"{path} is no file: move it away"


# Links, modes, owners


@pytest.mark.parametrize("relative", [True, False])
def test_through_a_link_the_file_itself_is_rewritten_and_the_link_stays(here: Desk, relative: bool) -> None:
    real = here.home / "dotfiles" / "cursor.json"
    before = here.write(real, SAMPLES["cursor"])
    path = here.own("cursor")
    path.parent.mkdir()
    target = os.path.relpath(real, path.parent) if relative else str(real)
    middle = path.parent / "middle.json"
    middle.symlink_to(target)
    path.symlink_to("middle.json")
    here.run("install", "cursor")
    assert real.read_bytes() != before
    assert (os.readlink(path), os.readlink(middle)) == ("middle.json", target)
    assert names(path.parent) == {"mcp.json", "middle.json"}
    here.run("uninstall", "cursor")
    assert real.read_bytes() == before
    assert path.is_symlink()


def test_links_that_lead_nowhere_are_a_sentence(here: Desk) -> None:
    path = here.own("cursor")
    path.parent.mkdir()
    path.symlink_to("gone.json")
    assert here.error("install", "cursor") == f"{path} is a link to gone.json, which is not there: mend or remove it"
    path.unlink()
    path.symlink_to("mcp.json")
    assert here.error("install", "cursor") == f"{path} is a link that leads back to itself: mend or remove it"


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o755])
def test_mode_and_owner_stay_as_they_were(here: Desk, mode: int) -> None:
    path = here.own("claude")
    here.write(path, CLAUDE)
    path.chmod(mode)
    if os.geteuid() == 0:
        os.chown(path, 1234, 4321)
    before = path.stat()
    here.run("install", "claude")
    after = path.stat()
    assert after.st_ino != before.st_ino
    assert (stat.S_IMODE(after.st_mode), after.st_uid, after.st_gid) == (mode, before.st_uid, before.st_gid)


def test_extended_attributes_stay(here: Desk) -> None:
    path = here.own("claude")
    here.write(path, CLAUDE)
    try:
        os.setxattr(path, "user.note", b"mine")
    except (AttributeError, OSError):
        pytest.skip("no extended attributes here")
    here.run("install", "claude")
    assert os.getxattr(path, "user.note") == b"mine"


def test_a_huge_config_is_changed_like_any_other(here: Desk) -> None:
    path = here.own("claude")
    history = [{"display": f"prompt {number} {{[", "pastedContents": {"1": "x" * 200}} for number in range(12_000)]
    whole = json.loads(CLAUDE) | {"projects": {str(here.project): {"history": history}}}
    before = here.write(path, json.dumps(whole, indent=2))
    assert len(before) > 3_000_000
    here.run("install", "claude")
    assert entries(json.loads(path.read_text()))["bare"]["args"] == ["mcp", "wrap", "--server=bare", "bare-server"]
    here.run("uninstall", "claude")
    assert path.read_bytes() == before


def test_what_is_larger_than_any_config_is_not_read(here: Desk) -> None:
    path = here.own("cursor")
    here.write(path, "{}")
    os.truncate(path, 65 * 1024 * 1024)
    assert here.error("install", "cursor") == f"{path} is larger than 64 MiB, and was left alone"


def test_a_dry_run_writes_nothing_anywhere(here: Desk) -> None:
    for client, text in SAMPLES.items():
        path = here.own(client)
        before = here.write(path, text)
        was = path.stat()
        (result,) = here.run("install", client, dry_run=True).files
        assert result.action == "changed"
        assert path.read_bytes() == before
        assert (path.stat().st_ino, path.stat().st_mtime_ns) == (was.st_ino, was.st_mtime_ns)


# Others who write


def test_a_file_that_changed_since_it_was_read_is_not_overwritten(here: Desk) -> None:
    path = here.own("cursor")
    here.write(path, "{}")
    snapshot = read(path)
    assert snapshot is not None
    path.write_text('{"mine": 1}')
    with pytest.raises(Changed):
        replace(snapshot, b"ours", client_locks=False)
    assert path.read_text() == '{"mine": 1}'
    path.unlink()
    with pytest.raises(Changed):
        replace(snapshot, b"ours", client_locks=False)
    assert names(path.parent) == set()


def test_nothing_is_lost_to_a_client_that_rewrites_its_config_all_the_time_under_its_lock(here: Desk) -> None:
    path = here.own("claude")
    here.write(path, CLAUDE)
    lock = path.with_name(".claude.json.lock")
    writes, done = 0, threading.Event()

    def rewrite() -> None:
        nonlocal writes
        while not done.is_set():
            try:
                lock.mkdir()
            except FileExistsError:
                continue
            try:
                whole = json.loads(path.read_text())
                whole["numStartups"] += 1
                new = path.with_name(".claude.json.tmp")
                new.write_text(json.dumps(whole, indent=2))
                new.replace(path)
                writes += 1
            finally:
                lock.rmdir()

    client = threading.Thread(target=rewrite)
    client.start()
    try:
        actions = [here.run(verb, "claude").files[0] for verb in ("install", "uninstall", "install") * 3]
    finally:
        done.set()
        client.join(SECONDS)
    errors = {result.error for result in actions if result.action == "failed"}
    assert all("keeps being changed by another program" in error for error in errors)
    whole = json.loads(path.read_text())
    assert whole["numStartups"] == 42 + writes
    assert names(here.home) == {".claude.json", "project"}
    here.run("uninstall", "claude")
    assert entries(json.loads(path.read_text())) == entries(meaning(CLAUDE, "claude"))


def test_a_lock_that_a_dead_client_left_is_taken_over(here: Desk) -> None:
    path = here.own("claude")
    here.write(path, CLAUDE)
    lock = path.with_name(".claude.json.lock")
    lock.mkdir()
    os.utime(lock, (1, 1))
    assert here.run("install", "claude").files[0].action == "changed"
    assert not lock.exists()


_KILLED = """
import os, signal, sys
from pathlib import Path
from pi_intent.hosts.mcp.clients.files import read, replace
snapshot = read(Path(sys.argv[1]))
def stop(name, arguments):
    if name == sys.argv[2] and (name != "open" or str(arguments[0]).endswith(tuple("0123456789abcdef"))):
        os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(stop)
replace(snapshot, b"new" * 100_000, client_locks=False)
"""


@pytest.mark.parametrize("step", ["open", "os.chmod", "os.rename"])
def test_killed_at_any_step_it_leaves_the_file_as_it_was(here: Desk, step: str) -> None:
    path = here.own("cursor")
    before = here.write(path, SAMPLES["cursor"])
    command = [sys.executable, "-c", _KILLED, str(path), step]
    assert subprocess.run(command, timeout=SECONDS).returncode == -signal.SIGKILL
    assert path.read_bytes() == before
    assert here.run("install", "cursor").files[0].action == "changed"


def test_two_of_us_at_once_leave_a_config_that_is_whole(here: Desk) -> None:
    path = here.own("cursor")
    before = here.write(path, SAMPLES["cursor"])
    barrier = threading.Barrier(4)

    def both() -> None:
        barrier.wait(SECONDS)
        here.run("install", "cursor")

    threads = [threading.Thread(target=both) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SECONDS)
    assert names(path.parent) == {"mcp.json"}
    here.run("uninstall", "cursor")
    assert path.read_bytes() == before


def test_a_disk_that_is_full_is_a_sentence(here: Desk) -> None:
    path = here.own("cursor")
    here.write(path, "{}")
    snapshot = read(path)
    assert snapshot is not None
    code = (
        "import resource, signal, sys; from pathlib import Path\n"
        "from pi_intent.hosts.mcp.clients.files import read, replace\n"
        "from pi_intent.errors import HostError\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "try: replace(read(Path(sys.argv[1])), b'x' * 5000, client_locks=False)\n"
        "except HostError as error: print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-B", "-c", code, str(path)], capture_output=True, text=True, timeout=SECONDS
    )
    assert done.stdout.startswith(f"{path} cannot be written (File too large)")
    assert path.read_text() == "{}"
    assert names(path.parent) == {"mcp.json"}
