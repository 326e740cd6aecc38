"""Where the socket lies, who may open it, and who clears it away."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from channel_desk import SECONDS, Desk, end, joined, start, wire

from pi_intent.channel import connect, live_channels

NOBODY = 65_534
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as another user")


class TestPlace:
    def test_the_folder_is_private_and_the_socket_goes_with_the_last_session(self, desk: Desk) -> None:
        first, second = desk.channel(), desk.channel()
        folder = desk.run / "pi-intent"
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert first.path == second.path
        assert live_channels(desk.root, desk.environ) == [first.path]
        reader = desk.reader(second)
        first.close()
        first.close()
        second.publish(start(1))
        assert reader.line() == wire(start(1))
        second.publish(end(1))
        second.close()
        assert [json.loads(line) for line in reader.rest().splitlines()] == [wire(end(1))]
        assert list(folder.iterdir()) == []
        assert (first.path, second.path) == (None, None)
        second.publish(start(2))  # to nobody
        again = desk.channel()
        assert joined(desk, again)

    def test_each_ledger_has_its_own(self, desk: Desk, short_path: Path) -> None:
        one, other = desk.channel(), desk.channel(short_path / "other")
        assert one.path != other.path
        assert live_channels(short_path / "other", desk.environ) == [other.path]

    def test_a_folder_that_is_a_link_is_not_followed(self, desk: Desk, short_path: Path) -> None:
        elsewhere = short_path / "elsewhere"
        elsewhere.mkdir()
        (desk.run / "pi-intent").symlink_to(elsewhere)
        channel = desk.channel()
        assert channel.path is not None
        assert channel.path.parent == short_path / f"pi-intent-{os.geteuid()}"
        assert list(elsewhere.iterdir()) == []

    @needs_root
    def test_a_folder_of_somebody_else_is_not_used(self, desk: Desk) -> None:
        folder = desk.run / "pi-intent"
        folder.mkdir(0o700)
        os.chown(folder, NOBODY, NOBODY)
        channel = desk.channel()
        assert channel.path is not None
        assert channel.path.parent != folder
        assert list(folder.iterdir()) == []
        (folder / channel.path.name).symlink_to(channel.path)
        assert live_channels(desk.root, desk.environ) == [channel.path]

    def test_an_open_folder_is_closed(self, desk: Desk) -> None:
        (desk.run / "pi-intent").mkdir()
        (desk.run / "pi-intent").chmod(0o777)
        assert desk.channel().path is not None
        assert stat.S_IMODE((desk.run / "pi-intent").stat().st_mode) == 0o700

    def test_a_path_that_is_too_long_for_a_socket_is_left_for_the_next_place(
        self, desk: Desk, short_path: Path
    ) -> None:
        long = short_path / ("x" * 100)
        long.mkdir()
        desk.environ["XDG_RUNTIME_DIR"] = str(long)
        channel = desk.channel()
        assert channel.path is not None
        assert channel.path.parent == short_path / f"pi-intent-{os.geteuid()}"
        assert live_channels(desk.root, desk.environ) == [channel.path]

    def test_opening_never_raises_and_calls_go_on_without(self, desk: Desk) -> None:
        channel = desk.channel(Path("no\0path"))
        assert channel.path is None
        assert channel.problem is not None
        assert channel.problem.startswith("nobody can watch this session live (ValueError: ")
        channel.publish(start(1))
        channel.close()

    @needs_root
    def test_another_user_is_refused_even_where_the_folder_lets_it_in(self, desk: Desk) -> None:
        channel = desk.channel()
        channel.publish(start(1))
        assert channel.path is not None
        channel.path.parent.chmod(0o711)
        channel.path.chmod(0o777)
        script = """
import os, socket, sys
os.setuid(int(sys.argv[1]))
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[2])
print(s.recv(9999))
"""
        # From within the folder, because the ones above it let nobody else in.
        theirs, ours = (
            subprocess.run(
                [sys.executable, "-c", script, str(user), channel.path.name],
                cwd=channel.path.parent,
                capture_output=True,
                text=True,
                timeout=SECONDS,
                check=False,
            )
            for user in (NOBODY, os.geteuid())
        )
        assert (theirs.stdout, theirs.stderr) == ("b''\n", "")
        assert "See what is there" in ours.stdout


OTHER = """
import os, sys
from pathlib import Path
from pi_intent.channel import Channel
from pi_intent.redaction import Redactor
from pi_intent.events import ToolExecutionStart
channel = Channel.open(Path(sys.argv[1]), redactor=Redactor(b""), environ=os.environ, withholds=lambda tool: False)
same = dict(session_id="s", agent_id="main", group_id="g", seq=1, host="tau")
channel.publish(ToolExecutionStart(call_id="1", tool_call_id="1", tool_name="bash", args={},
    intent_source="absent", **same))
sys.stdout.write(f"{channel.path}\\n"); sys.stdout.flush()
"""


@pytest.fixture
def others() -> Iterator[list[subprocess.Popen[str]]]:
    started: list[subprocess.Popen[str]] = []
    yield started
    for process in started:
        process.kill()
        process.wait(SECONDS)
        for stream in (process.stdin, process.stdout):
            assert stream is not None
            stream.close()


def other(desk: Desk, started: list[subprocess.Popen[str]], script: str) -> tuple[subprocess.Popen[str], Path]:
    command = [sys.executable, "-c", OTHER + script, str(desk.root)]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ | desk.environ
    )
    started.append(process)
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


def is_alive(path: Path) -> bool:
    peer = connect(path)
    if peer is not None:
        peer.close()
    return peer is not None


class TestProcesses:
    def test_the_socket_of_a_dead_one_is_removed_by_the_next_and_that_of_a_living_one_stays(
        self, desk: Desk, others: list[subprocess.Popen[str]]
    ) -> None:
        dead, left = other(desk, others, "os.kill(os.getpid(), 9)")
        assert dead.wait(SECONDS) == -signal.SIGKILL
        _, living = other(desk, others, "sys.stdin.read()")
        assert connect(left) is None
        channel = desk.channel()
        assert set(live_channels(desk.root, desk.environ)) == {living, channel.path}
        assert not left.exists()
        assert is_alive(living)

    def test_one_that_ends_without_closing_ends_and_leaves_its_readers(
        self, desk: Desk, others: list[subprocess.Popen[str]]
    ) -> None:
        process, path = other(desk, others, "sys.stdin.read()")
        peer = connect(path)
        assert peer is not None
        with peer:
            peer.settimeout(SECONDS)
            assert peer.recv(9999).startswith(b'{"type":"tool_execution_start"')
            assert process.stdin is not None
            process.stdin.close()
            assert process.wait(SECONDS) == 0
            assert peer.recv(1) == b""

    def test_a_forked_child_lets_go_and_the_parent_goes_on(
        self, desk: Desk, others: list[subprocess.Popen[str]]
    ) -> None:
        script = """
import warnings
warnings.simplefilter("ignore")
from pi_intent.events import GroupSummary
def say(text):
    channel.publish(GroupSummary(text=text, **same))
sys.stdin.readline()
child = os.fork()
if child == 0:
    say("child")
    sys.stdout.write(f"{channel.path}\\n"); sys.stdout.flush()
    channel.close()
    again = Channel.open(Path(sys.argv[1]), redactor=Redactor(b""), environ=os.environ, withholds=lambda tool: False)
    sys.stdout.write(f"{again.path}\\n"); sys.stdout.flush()
    again.close()
    sys.stdin.readline()
    os._exit(0)
say("parent")
sys.stdout.write(f"{child}\\n"); sys.stdout.flush()
sys.stdin.readline()
os.kill(os.getpid(), 9)
"""
        process, path = other(desk, others, script)
        peer = connect(path)
        assert peer is not None
        with peer, peer.makefile("rb") as file:
            peer.settimeout(SECONDS)
            assert json.loads(file.readline())["type"] == "tool_execution_start"
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write("\n")
            process.stdin.flush()
            printed = {process.stdout.readline().strip() for _ in range(3)}
            assert json.loads(file.readline())["text"] == "parent"
            child = next(int(word) for word in printed if word.isdigit())
            try:
                assert printed == {
                    str(child),
                    "None",
                    str(path.with_name(path.name.replace(str(process.pid), str(child)))),
                }
                assert is_alive(path)
                os.kill(process.pid, signal.SIGKILL)
                assert process.wait(SECONDS) == -signal.SIGKILL
                assert file.read() == b""  # the child holds no end of it
                assert connect(path) is None
            finally:
                with suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
