"""The live channel tells whoever watches, over real sockets, and nothing of it can hold up or hurt a call."""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from pi_intent.channel import MOST_READERS, QUEUED_LINES, Channel, connect, live_channels
from pi_intent.events import (
    CheckInDecision,
    CheckInRequest,
    FileChange,
    GroupSummary,
    OutcomePatch,
    ToolEvent,
    ToolExecutionEnd,
    ToolExecutionStart,
    ToolExecutionUpdate,
    ToolIntentUpdate,
    event_to_json,
)
from pi_intent.redaction import Redactor

SECONDS = 20  # no wait is longer
CANARY = "hunter2-correct-horse"
PHRASE = "violet umbrella sandwich factory"
NOBODY = 65_534
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as another user")


def identity(number: int = 1, **more: Any) -> dict[str, Any]:
    return {
        "call_id": f"{number:026d}",
        "tool_call_id": f"tool-{number}",
        "session_id": "s-1",
        "agent_id": "main",
        "group_id": "g-1",
        "seq": number,
        "host": "tau",
        "tool_name": "bash",
    } | more


def start(number: int = 1, intent: str = "See what is there", **more: Any) -> ToolExecutionStart:
    fields = {"args": {"command": "ls"}, "intent_source": "model"} | more
    return ToolExecutionStart(**identity(number), intent=intent, **fields)


def end(number: int = 1, **more: Any) -> ToolExecutionEnd:
    return ToolExecutionEnd(**identity(number), **{"status": "ok", "is_error": False, "duration_ms": 1} | more)


def growing(intent: str, *, complete: bool = False, **more: Any) -> ToolIntentUpdate:
    return ToolIntentUpdate(**identity(**more), intent=intent, complete=complete)


class Desk:
    """A runtime folder, a ledger, and the channels and readers on it."""

    def __init__(self, folder: Path) -> None:
        self.run = folder / "run"
        self.run.mkdir()
        self.root = folder / "ledger"
        self.environ = {"XDG_RUNTIME_DIR": str(self.run), "TMPDIR": str(folder), "DEPLOY_PASSWORD": CANARY}
        self.environ["SIGNING_PASSPHRASE"] = PHRASE
        self.withheld: set[str] = set()
        self._opened: list[Channel | Reader] = []

    def channel(self, root: Path | None = None) -> Channel:
        channel = Channel.open(
            root or self.root,
            redactor=Redactor(b"key", self.environ),
            environ=self.environ,
            withholds=self.withheld.__contains__,
        )
        self._opened.append(channel)
        return channel

    def reader(self, channel: Channel) -> Reader:
        """Return a reader that the channel knows of: it has been told of a call that is in flight."""
        assert channel.path is not None
        peer = connect(channel.path)
        assert peer is not None
        peer.settimeout(SECONDS)
        reader = Reader(peer)
        self._opened.append(reader)
        return reader

    def close(self) -> None:
        for opened in self._opened:
            opened.close()


class Reader:
    def __init__(self, peer: socket.socket) -> None:
        self.peer = peer
        self._file = peer.makefile("rb")

    def close(self) -> None:
        self._file.close()
        self.peer.close()

    def line(self) -> dict[str, Any]:
        """Return the next line, {} at the end."""
        line = self._file.readline()
        return json.loads(line) if line else {}

    def lines(self, count: int) -> list[dict[str, Any]]:
        return [self.line() for _ in range(count)]

    def rest(self) -> bytes:
        return self._file.read()


@pytest.fixture
def short_path() -> Iterator[Path]:
    """A folder whose name leaves room for that of a socket."""
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="pi-") as folder:
        yield Path(folder)


@pytest.fixture
def desk(short_path: Path) -> Iterator[Desk]:
    made = Desk(short_path)
    yield made
    made.close()


def joined(desk: Desk, channel: Channel) -> Reader:
    """Return a reader that the server has accepted."""
    channel.publish(start(0))
    reader = desk.reader(channel)
    assert reader.line()["callId"] == f"{0:026d}"
    channel.publish(end(0))
    assert reader.line()["type"] == "tool_execution_end"
    return reader


def wire(event: ToolEvent) -> dict[str, Any]:
    return json.loads(event_to_json(event))


def sent(desk: Desk, *events: ToolEvent) -> list[dict[str, Any]]:
    """What a reader gets of events, up to the end of the channel."""
    channel = desk.channel()
    reader = joined(desk, channel)
    for event in events:
        channel.publish(event)
    channel.close()
    return [json.loads(line) for line in reader.rest().splitlines()]


class TestReaders:
    def test_one_gets_every_event_as_it_is_on_the_wire_also_transient_ones(self, desk: Desk) -> None:
        events = [
            growing("See what"),
            growing("See what is there", complete=True),
            start(),
            CheckInRequest(**identity(), request="ls"),
            CheckInDecision(**identity(), approved=True, by="user"),
            ToolExecutionUpdate(**identity(), args={"command": "ls"}, backgrounded=True),
            end(facts="exit 0", outcome="Saw it", files=(FileChange(path="a", op="modify", pre="hmac:1"),)),
            GroupSummary(session_id="s-1", agent_id="main", group_id="g-1", seq=9, host="tau", text="Looked around"),
        ]
        expected = [wire(event) for event in events]
        expected[0]["intent"] = "See"  # the last word may go on
        assert sent(desk, *events) == expected

    def test_a_late_one_is_told_what_is_being_written_until_it_has_begun(self, desk: Desk) -> None:
        channel = desk.channel()
        channel.publish(growing("Look at the plan", complete=True, number=1))
        channel.publish(growing("Look at the log", complete=True, number=2))
        channel.publish(end(2, status="interrupted", is_error=True))
        first = desk.reader(channel)
        told = first.line()
        assert (told["type"], told["intent"]) == ("tool_intent_update", "Look at the plan")
        channel.publish(start(1, "Look at the plan"))
        assert first.line()["type"] == "tool_execution_start"
        second = desk.reader(channel)
        assert second.line() == wire(start(1, "Look at the plan"))
        channel.publish(end(1))
        assert second.line() == wire(end(1))

    def test_a_late_one_is_told_what_is_in_flight_and_no_more(self, desk: Desk) -> None:
        channel = desk.channel()
        for event in (start(1), start(2), end(1), start(3)):
            channel.publish(event)
        reader = desk.reader(channel)
        assert reader.lines(2) == [wire(start(2)), wire(start(3))]
        channel.publish(end(2))
        assert reader.line() == wire(end(2))

    def test_one_that_leaves_is_forgotten_and_the_others_go_on(self, desk: Desk) -> None:
        channel = desk.channel()
        leaving, staying = joined(desk, channel), joined(desk, channel)
        leaving.peer.shutdown(socket.SHUT_RDWR)
        for number in range(1, 200):
            channel.publish(start(number))
        # The one that left got the start and end that the second one joined on, or nothing any more.
        assert [line["callId"] for line in staying.lines(199)] == [f"{number:026d}" for number in range(1, 200)]
        assert channel._server is not None
        assert len(channel._server.readers) == 1

    def test_many_get_the_same_and_one_too_many_nothing(self, desk: Desk) -> None:
        channel = desk.channel()
        readers = [joined(desk, channel) for _ in range(MOST_READERS)]
        assert desk.reader(channel).rest() == b""
        channel.publish(start(7))
        channel.close()
        assert {reader.rest().splitlines()[-1] for reader in readers} == {event_to_json(start(7)).encode()}

    def test_what_one_sends_is_ignored(self, desk: Desk) -> None:
        channel = desk.channel()
        reader = joined(desk, channel)
        reader.peer.setblocking(False)
        with suppress(BlockingIOError):
            while True:  # until nothing more fits
                reader.peer.send(b"x" * 65_536)
        reader.peer.settimeout(SECONDS)
        channel.publish(start(1))
        assert reader.line() == wire(start(1))

    def test_one_that_only_closes_its_own_side_still_reads(self, desk: Desk) -> None:
        channel = desk.channel()
        reader = joined(desk, channel)
        reader.peer.shutdown(socket.SHUT_WR)
        channel.publish(start(1))
        assert reader.line() == wire(start(1))

    def test_one_that_never_reads_holds_up_nobody_and_is_told_what_it_missed(self, desk: Desk) -> None:
        channel = desk.channel()
        slow, quick = joined(desk, channel), joined(desk, channel)
        slow.lines(2)  # of the call on which the other one joined
        number, told = 5 * QUEUED_LINES, 0
        for first in range(0, number, 500):  # far beyond what the kernel and the queue take together
            for at in range(first, first + 500):
                channel.publish(start(at, "x" * 900))
            told += len(quick.lines(500))
        assert told == number
        channel.publish(start(number))
        assert quick.line() == wire(start(number))
        got = []
        while (line := slow.line())["type"] != "dropped":
            got.append(line)
        assert [line["seq"] for line in got] == list(range(len(got)))
        assert len(got) >= QUEUED_LINES
        assert line == {"type": "dropped", "count": number + 1 - len(got)}
        channel.publish(end(number))
        assert slow.line() == wire(end(number))


class TestSecrets:
    def test_none_is_on_the_wire_in_any_field_of_any_event(self, desk: Desk) -> None:
        names = dict.fromkeys(("tool_call_id", "session_id", "agent_id", "group_id", "tool_name"), f"n {CANARY}")
        same = identity() | names
        text = f"because {CANARY} says so"
        events: list[ToolEvent] = [
            ToolIntentUpdate(**same, intent=text, complete=False),
            ToolIntentUpdate(**same, intent=text, complete=True),
            ToolExecutionStart(
                **same,
                args={"command": text, CANARY: {"deep": [text]}, "content": text * 10, "long": text * 2000},
                intent=text,
                intent_source="model",
                rationale=text,
                tool_source=text,
                parent_tool_call_id=text,
                model=text,
            ),
            ToolExecutionUpdate(**same, args={"command": text}, partial_result=text),
            ToolExecutionUpdate(**same, args={}, partial_result={"content": text}),
            CheckInRequest(**same, request=text),
            CheckInDecision(**same, approved=True, by=text, note=text),
            ToolExecutionEnd(
                **same,
                status="ok",
                is_error=False,
                duration_ms=1,
                result=text,
                outcome=text,
                outcome_patch=OutcomePatch(from_=text, to=text),
                facts=text,
                files=(FileChange(path=f"/tmp/{CANARY}", op="create"),),
            ),
            GroupSummary(session_id="s", agent_id="main", group_id="g", seq=2, host="tau", text=text),
        ]
        lines = sent(desk, *events)
        assert [line["type"] for line in lines] == [event.type for event in events]
        assert CANARY not in json.dumps(lines)
        assert CANARY[:7] not in json.dumps(lines)
        assert json.dumps(lines).count("[redacted:env:") >= 30

    @pytest.mark.parametrize(
        "secret",
        [
            CANARY,
            PHRASE,
            "sk-ant-api03-AbCdEf0123456789AbCdEf",
            "ghp_0123456789abcdefghijABCDEFGHIJ012345",
            "password='my dear old wooden boat'",
            "--password swordfish42",
            "Authorization: Bearer abcdef0123456789abcdef",
            "https://me:swordfish42@example.org/",
            "-----BEGIN PRIVATE KEY-----\nMIIEvQ\nIBADAN\nBgkqhkiG9w0BAQEFAASC\n-----END PRIVATE KEY-----",
            "ghp_0123456789\nabcdefghijABCDEFGHIJ012345\n",
            '"ghp_0123456789" + "abcdefghijABCDEFGHIJ012345"',
        ],
    )
    def test_nothing_of_one_shows_while_it_is_being_written(self, desk: Desk, secret: str) -> None:
        text = f"Find out whether {secret} is still used by anything in the tree"
        pieces = [growing(text[:size], seq=size) for size in range(len(text))]
        whole = sent(desk, growing(text, complete=True))[0]["intent"]
        assert "redacted" in whole
        shown = {line["intent"] for line in sent(desk, *pieces)}
        assert "Find out" in shown
        assert {intent for intent in shown if not whole.startswith(intent)} == set()

    @pytest.mark.parametrize(
        "text", ["Find out why the third test fails again", "第三のテストが失敗する理由を調べる"]
    )
    def test_ordinary_words_show_while_they_are_being_written(self, desk: Desk, text: str) -> None:
        shown = [line["intent"] for line in sent(desk, *(growing(text[:size]) for size in range(len(text))))]
        assert shown == sorted(shown, key=len)
        assert len(shown[-1]) > len(text) // 2
        assert text.startswith(shown[-1])

    def test_redact_args_withholds_every_text_of_a_call(self, desk: Desk) -> None:
        desk.withheld.add("bash")
        text = "a text to withhold"
        patch = OutcomePatch(from_=text, to=text)
        files = (FileChange(path=text, op="create"),)
        lines = sent(
            desk,
            growing(text),
            growing(text, complete=True),
            start(1, text, args={"command": text}, rationale=text, flags=("redact_args",)),
            ToolExecutionUpdate(**identity(), args={"command": text}, partial_result=text),
            CheckInRequest(**identity(), request=text),
            CheckInDecision(**identity(), approved=True, by="user", note=text),
            end(outcome=text, outcome_patch=patch, facts=text, files=files),
            GroupSummary(session_id="s-1", agent_id="main", group_id="g-1", seq=9, host="tau", text=text),
        )
        assert len(lines) == 6
        assert text not in json.dumps(lines)
        assert (lines[0]["intent"], lines[0]["args"], lines[4]["facts"]) == ("[withheld]", {}, "[withheld]")

    def test_texts_of_a_call_that_began_unseen_are_withheld(self, desk: Desk) -> None:
        (line,) = sent(desk, end(5, facts="exit 0"))
        assert line["facts"] == "[withheld]"

    def test_large_and_hostile_arguments_are_bounded(self, desk: Desk) -> None:
        deep: Any = []
        for _ in range(100_000):
            deep = [deep]
        lines = sent(
            desk,
            start(1, "x" * 100_000, args={"content": "x" * 1_000_000, "command": "ä" * 2000}),
            start(2, args={"command": deep}),
            start(3, args={"command": float("nan")}),
            start(4, args={f"k{number}": "x" * 2000 for number in range(100)}),
            start(5, "half \ud83d a pair"),
        )
        assert lines[0]["args"] == {"content": {"bytes": 1_000_000}, "command": {"bytes": 4000}}
        assert lines[0]["intent"].endswith("… [cut: 100000 characters in all]")
        assert [line["args"] for line in lines[1:4]] == [{}, {}, {}]
        assert [line["flags"] for line in lines[1:4]] == [["unserialisable"], ["unserialisable"], ["truncated"]]
        assert lines[4]["intent"] == "half \ufffd a pair"


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
