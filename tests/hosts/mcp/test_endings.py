"""However a proxied session ends, no process is left and the ledger says what became of each call."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pi_intent.ledger.calls import calls

SERVER = """
import json, os, signal, sys, time
habits = sys.argv[1].split(",")
if "ignores-term" in habits:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if "has-children" in habits:
    import subprocess
    subprocess.Popen(["sleep", "300"])
print(json.dumps({"pids": os.getpid()}), flush=True)
for line in sys.stdin:
    message = json.loads(line)
    match message.get("params", {}).get("name"):
        case "die":
            os.kill(os.getpid(), signal.SIGKILL)
        case "leave":
            sys.exit(7)
        case "late":
            time.sleep(2.5)
    if message.get("params", {}).get("name") != "never":
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": {"content": []}}), flush=True)
if "stays" in habits:
    time.sleep(300)
"""


class Session:
    """A wrapped server that has said hello."""

    def __init__(self, folder: Path, habits: str) -> None:
        server = folder / "server.py"
        server.write_text(SERVER)
        environ = {**os.environ, "HOME": str(folder), "XDG_CONFIG_HOME": str(folder), "GIT_CEILING_DIRECTORIES": "/"}
        self.folder = folder
        self.process = subprocess.Popen(
            [sys.executable, "-m", "pi_intent", "mcp", "wrap", sys.executable, str(server), habits],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            env=environ,
        )
        assert self.process.stdout is not None
        self.server = int(json.loads(self.process.stdout.readline())["pids"])

    def call(self, name: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(
            json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name}}).encode() + b"\n"
        )
        self.process.stdin.flush()

    def answer(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        found: dict[str, Any] = json.loads(self.process.stdout.readline())
        return found

    def wait_for_the_record(self) -> None:
        """Until the ledger has the call that was sent."""
        wait_until(lambda: any(b'"t":"call"' in path.read_bytes() for path in self.segments()))

    def segments(self) -> list[Path]:
        return list((self.folder / ".git" / "pi-intent" / "ledger").glob("*.jsonl"))

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()

    def ends(self) -> list[tuple[str, str]]:
        found = calls(self.folder / ".git" / "pi-intent")
        return [
            (call.call.tool if call.call else "", call.done.status if call.done else call.state) for call in found
        ]


def wait_until(condition: Any) -> None:
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def group_is_gone(leader: int) -> bool:
    try:
        os.killpg(leader, 0)
    except ProcessLookupError:
        return True
    return False


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Any]:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    sessions: list[Session] = []

    def started(habits: str = "none") -> Session:
        sessions.append(Session(tmp_path, habits))
        return sessions[-1]

    yield started
    for session in sessions:
        with session.process:
            session.process.kill()
        wait_until(lambda session=session: group_is_gone(session.server))


@pytest.mark.parametrize(
    ("habits", "code"), [("none", 0), ("stays", -signal.SIGTERM), ("stays,ignores-term", -signal.SIGKILL)]
)
def test_the_end_of_input_ends_the_server(start: Any, habits: str, code: int):
    session = start(habits)
    session.close()
    assert session.process.wait(20) == code
    assert group_is_gone(session.server)
    assert session.segments() == []  # nothing was called


def test_an_answer_that_is_late_comes_after_the_end_of_input(start: Any):
    session = start()
    session.call("late")
    session.close()
    assert session.answer() == {"jsonrpc": "2.0", "id": 1, "result": {"content": []}}
    assert session.process.wait(20) == 0
    assert session.ends() == [("late", "ok")]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1])
def test_a_signal_reaches_the_server_and_the_proxy_ends_as_it_does(start: Any, number: int):
    session = start()
    session.call("never")
    session.wait_for_the_record()
    session.process.send_signal(number)
    assert session.process.wait(20) == -number
    assert group_is_gone(session.server)
    assert session.ends() == [("never", "interrupted")]


def test_a_server_that_ignores_sigterm_is_killed_after_a_grace(start: Any):
    session = start("ignores-term")
    session.process.terminate()
    assert session.process.wait(20) == -signal.SIGKILL
    assert group_is_gone(session.server)


def test_a_server_that_is_killed_leaves_its_call_interrupted(start: Any):
    session = start()
    session.call("die")
    assert session.process.wait(20) == -signal.SIGKILL
    assert session.ends() == [("die", "interrupted")]


def test_the_servers_own_exit_code_is_the_proxys(start: Any):
    session = start("has-children")
    session.call("leave")
    assert session.process.wait(20) == 7
    wait_until(lambda: group_is_gone(session.server))  # what it has started is for the system to bury
    assert session.ends() == [("leave", "interrupted")]


@pytest.mark.parametrize("habits", ["none", "stays,ignores-term", "has-children"])
def test_a_proxy_that_is_killed_takes_the_server_with_it(start: Any, habits: str):
    session = start(habits)
    session.call("never")
    session.wait_for_the_record()
    session.process.kill()
    session.process.wait()
    wait_until(lambda: group_is_gone(session.server))
    assert session.ends() == [("never", "open")]


def test_a_client_that_stops_reading_ends_the_session(start: Any):
    session = start("stays")
    session.process.stdout.close()
    assert session.process.wait(20) == -signal.SIGTERM
    assert group_is_gone(session.server)


@pytest.mark.parametrize(
    ("command", "code", "why"),
    [
        ("no-such-program-anywhere", 127, "there is no program"),
        ("npx -y thing", 127, "one by one, unquoted"),
        ("/etc", 126, "Permission denied"),
    ],
)
def test_a_server_that_cannot_be_started_is_one_sentence(tmp_path: Path, command: str, code: int, why: str):
    done = subprocess.run(
        [sys.executable, "-m", "pi_intent", "mcp", "wrap", command],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=20,
        check=False,
    )
    assert (done.returncode, done.stdout) == (code, "")
    assert why in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_switched_off_there_is_no_proxy(tmp_path: Path):
    code = "import os; print(os.getppid())"
    process = subprocess.Popen(
        [sys.executable, "-m", "pi_intent", "mcp", "wrap", sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        cwd=tmp_path,
        env={**os.environ, "PI_INTENT": "off"},
    )
    out, _ = process.communicate(timeout=20)
    assert int(out) == os.getpid()


def over_sockets(folder: Path, habits: str) -> tuple[subprocess.Popen[bytes], socket.socket, int]:
    """Start a session the way Node does: with a pair of sockets for each stream."""
    ours, theirs = socket.socketpair()
    (folder / "server.py").write_text(SERVER)
    process = subprocess.Popen(
        [sys.executable, "-m", "pi_intent", "mcp", "wrap", sys.executable, str(folder / "server.py"), habits],
        stdin=theirs,
        stdout=theirs,
        stderr=subprocess.DEVNULL,
        cwd=folder,
    )
    theirs.close()
    ours.settimeout(20)
    return process, ours, int(json.loads(ours.recv(4096))["pids"])


def test_a_client_that_is_gone_is_noticed_on_sockets_too(tmp_path: Path):
    process, client, server = over_sockets(tmp_path, "stays")
    client.sendall(b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"never"}}\n')
    client.close()
    try:
        assert process.wait(20) == -signal.SIGTERM
    finally:
        process.kill()
    wait_until(lambda: group_is_gone(server))


def wrapped(code: str, folder: Path, *, bufsize: int = -1) -> subprocess.Popen[bytes]:
    """Start the proxy before a server that is a piece of Python."""
    return subprocess.Popen(
        [sys.executable, "-m", "pi_intent", "mcp", "wrap", sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=folder,
        bufsize=bufsize,
    )


def test_what_a_server_said_last_waits_for_a_slow_client(tmp_path: Path):
    size = 1_000_000
    code = f"import sys; sys.stdout.write('x' * {size} + chr(10))"
    process = wrapped(code, tmp_path)
    with process:
        try:
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(3)  # longer than any grace
            out, _ = process.communicate(timeout=20)
        finally:
            process.kill()
    assert (len(out), process.returncode) == (size + 1, 0)


def test_a_large_message_takes_no_longer_than_its_size(tmp_path: Path):
    """A copy for each piece that is taken would make minutes of this one."""
    code = "import sys; n = sum(len(line) for line in sys.stdin.buffer); print(n)"
    line = json.dumps({"jsonrpc": "2.0", "method": "x", "params": "y" * 64_000_000}).encode() + b"\n"
    done = subprocess.run(
        [sys.executable, "-m", "pi_intent", "mcp", "wrap", sys.executable, "-c", code],
        input=line,
        capture_output=True,
        cwd=tmp_path,
        timeout=60,
        check=True,
    )
    assert int(done.stdout) == len(line)


def test_a_server_whose_errors_go_where_its_answers_go_keeps_its_streams_as_they_were(tmp_path: Path):
    code = "import os; print(os.get_blocking(2))"
    done = subprocess.run(
        [sys.executable, "-m", "pi_intent", "mcp", "wrap", sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=tmp_path,
        timeout=20,
        check=True,
    )
    assert done.stdout == b"True\n"


def test_the_last_of_what_a_server_said_is_read_however_slow_the_client_is(tmp_path: Path):
    lines = 43_500  # as many as the proxy holds, and some more that stay in the pipe
    code = f"import sys; sys.stdout.write(('x' * 99 + chr(10)) * {lines})"
    process = wrapped(code, tmp_path, bufsize=0)
    with process:
        try:
            assert process.stdout is not None
            got = len(process.stdout.read(1000))
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(3)  # longer than any grace
            got += len(process.communicate(timeout=20)[0])
        finally:
            process.kill()
    assert (got, process.returncode) == (100 * lines, 0)


def test_sigterm_ends_a_session_whose_client_does_not_read(tmp_path: Path):
    code = "import sys, time; sys.stdout.write('x' * 900_000 + chr(10)); sys.stdout.flush(); time.sleep(300)"
    process = wrapped(code, tmp_path)
    with process:
        try:
            assert process.stdout is not None
            process.stdout.read(1000)
            process.terminate()
            assert process.wait(20) == -signal.SIGTERM
        finally:
            process.kill()


def test_a_server_that_never_reads_does_not_outlive_its_client(tmp_path: Path):
    code = "import os, time; print(os.getpid(), flush=True); time.sleep(300)"
    process = wrapped(code, tmp_path)
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        server = int(process.stdout.readline())
        process.stdin.write(json.dumps({"jsonrpc": "2.0", "method": "x", "params": "y" * 500_000}).encode() + b"\n")
        process.stdin.flush()
        process.stdin.close()
        process.stdout.close()
        assert process.wait(20) == -signal.SIGTERM
        wait_until(lambda: group_is_gone(server))
    finally:
        process.kill()
