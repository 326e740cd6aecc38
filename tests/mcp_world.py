"""Real MCP servers and clients, and a desk where their effects are counted.

`.ci/mcp_world FOLDER` installs them, `PI_INTENT_MCP_WORLD=FOLDER` says where. A call's one variable part is a word:
the server leaves a trace of it, so that what was really done reads the same for every server.
"""

from __future__ import annotations

import json
import os
import signal
import socketserver
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from ledger_schema import assert_records_fit

from pi_intent.ledger.calls import LedgerCall, read_ledger
from pi_intent.ledger.location import find_ledger

VARIABLE = "PI_INTENT_MCP_WORLD"
SECONDS = 60
"""How long a client may take: ten times what it needs on a busy machine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """Where the programs stand."""

    folder: Path

    @property
    def python(self) -> Path:
        """The interpreter that has the Python SDK of MCP."""
        return self.folder / "python" / "bin" / "python"

    @property
    def claude(self) -> Path:
        return self.folder / "npm" / "node_modules" / ".bin" / "claude"

    @property
    def codex(self) -> Path:
        """The program itself: the one on the path starts it, and would die without it."""
        (program,) = (self.folder / "npm" / "node_modules" / "@openai").glob("codex-*/vendor/*/bin/codex")
        return program

    @property
    def inspector(self) -> Path:
        return self.folder / "npm" / "node_modules" / ".bin" / "mcp-inspector"

    def npm_server(self, name: str) -> list[str]:
        """The command of one of the reference servers for Node."""
        package = self.folder / "npm" / "node_modules" / "@modelcontextprotocol" / f"server-{name}"
        return ["node", str(package / "dist" / "index.js")]

    def python_server(self, name: str) -> list[str]:
        """The command of one of the reference servers for Python."""
        return [str(self.folder / "python" / "bin" / f"mcp-server-{name}")]


def installed_world() -> World | None:
    """Return where the programs stand; None where nobody has said so."""
    folder = os.environ.get(VARIABLE)
    return World(folder=Path(folder).resolve()) if folder else None


@dataclass(slots=True)
class Desk:
    """A project in git, a home that is nobody's, a page that counts its readers."""

    world: World
    root: Path
    page: str = ""
    read: list[str] = field(default_factory=list)
    """The words that the page was asked for."""
    starter: list[str] = field(default_factory=list)
    """What starts each proxy, where it is not the client itself."""

    def __post_init__(self) -> None:
        for folder in (self.project, self.home):
            folder.mkdir()
        self.run(["git", "init", "-q", "-b", "main"])
        self.run(["git", "commit", "-q", "--allow-empty", "-m", "Begin"])

    @property
    def project(self) -> Path:
        return self.root / "project"

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def environment(self) -> dict[str, str]:
        """What every program here runs in: nothing of the user's, and loopback only."""
        person = {
            f"GIT_{who}_{what}": "nobody@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
        }
        xdg = {
            f"XDG_{name}_HOME": str(self.home / "xdg" / name.lower()) for name in ("CONFIG", "STATE", "CACHE", "DATA")
        }
        return {
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "HOME": str(self.home),
            "NO_PROXY": "127.0.0.1",
            "GIT_CEILING_DIRECTORIES": str(self.root),
            "GIT_CONFIG_NOSYSTEM": "1",
            **person,
            **xdg,
        }

    @property
    def ledger(self) -> list[LedgerCall]:
        """The calls of the project's ledger, in order."""
        location = find_ledger(self.project, self.environment)
        reading = read_ledger(location.root)
        assert reading.problems == []
        assert_records_fit(location.segments.glob("*.jsonl"))
        return reading.calls

    @contextmanager
    def running(self, command: list[str], **more_environment: str) -> Iterator[subprocess.Popen[str]]:
        """Start a program in the project; what is left of its process group in the end is killed."""
        process = subprocess.Popen(
            command,
            cwd=self.project,
            env=self.environment | more_environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        try:
            yield process
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate()

    def run(self, command: list[str], **more_environment: str) -> subprocess.CompletedProcess[str]:
        """Run a program in the project until it ends by itself."""
        with self.running(command, **more_environment) as process:
            out, errors = process.communicate(timeout=SECONDS)
        return subprocess.CompletedProcess(command, process.returncode, out, errors)

    def ask_sdk(self, *tasks: dict[str, Any]) -> list[Any]:
        """Let the Python SDK's client carry out tasks, as `sdk_client.py` reads and answers them."""
        script = Path(__file__).parent / "hosts" / "mcp" / "world" / "sdk_client.py"
        done = self.run([str(self.world.python), str(script), json.dumps(tasks)])
        assert done.returncode == 0, done.stderr
        answers: list[Any] = json.loads(done.stdout)
        return answers

    def reached(self, server: Server) -> list[Any]:
        """The parameters of the calls that came through to a server that is recorded."""
        record = self._record(server)
        lines = record.read_bytes().splitlines() if record.exists() else []
        messages = [json.loads(line) for line in lines]
        return [message["params"] for message in messages if message.get("method") == "tools/call"]

    def recorded(self, server: Server) -> list[str]:
        """The command of a server with a recorder before it: `tee` passes every byte on at once.

        The process that is started becomes the server itself, so that a signal meets the server.
        """
        return ["bash", "-c", 'exec "$@" < <(exec tee -a "$0")', str(self._record(server)), *server.command(self)]

    def wrapped(self, server: Server) -> list[str]:
        """The command that a client is given: the proxy, and behind it the recorded server."""
        program = str(Path(sys.executable).with_name("pi-intent"))
        wrap = [program, "mcp", "wrap", "--policy", "require", "--server", server.name]
        return [*self.starter, *wrap, *self.recorded(server)]

    def _record(self, server: Server) -> Path:
        return self.root / f"{server.name}.jsonl"


@contextmanager
def desk_in(world: World, root: Path) -> Iterator[Desk]:
    """Set a desk up in an empty folder."""
    desk = Desk(world, root)

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            word = self.path.removeprefix("/")
            desk.read.append(word)
            body = f"Page {word}".encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/plain")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is the base class's
            pass

    class Pages(ThreadingHTTPServer):
        daemon_threads = True

        def server_bind(self) -> None:
            socketserver.TCPServer.server_bind(self)  # without asking the resolver for a name

    with Pages(("127.0.0.1", 0), Page) as pages:
        thread = threading.Thread(target=pages.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        desk.page = f"http://127.0.0.1:{pages.server_address[1]}"
        yield desk
        pages.shutdown()
        thread.join()


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A server, the call that is made of it with a word, and how one sees which words it has carried out."""

    name: str
    command: Callable[[Desk], list[str]]
    tool: str
    arguments: Callable[[Desk, str], dict[str, Any]]
    done: Callable[[Desk], list[str]]


def _entities(desk: Desk) -> list[str]:
    lines = (desk.root / "memory").read_text().splitlines() if (desk.root / "memory").exists() else []
    return [json.loads(line)["name"] for line in lines]


def _branches(desk: Desk) -> list[str]:
    listed = desk.run(["git", "for-each-ref", "--format=%(refname:short)", "--sort=refname", "refs/heads"]).stdout
    return [name for name in listed.split() if name != "main"]


def _reached(name: str, key: str) -> Callable[[Desk], list[str]]:
    return lambda desk: [parameters["arguments"][key] for parameters in desk.reached(SERVERS[name])]


SERVERS = {
    server.name: server
    for server in (
        Server(
            name="everything",
            command=lambda desk: desk.world.npm_server("everything"),
            tool="echo",
            arguments=lambda desk, word: {"message": word},
            done=_reached("everything", "message"),  # nothing else is left of it
        ),
        Server(
            name="filesystem",
            command=lambda desk: [*desk.world.npm_server("filesystem"), str(desk.project)],
            tool="write_file",
            arguments=lambda desk, word: {"path": str(desk.project / f"{word}.txt"), "content": word},
            done=lambda desk: sorted(path.read_text() for path in desk.project.glob("*.txt")),
        ),
        Server(
            name="memory",
            command=lambda desk: [
                "env",
                f"MEMORY_FILE_PATH={desk.root / 'memory'}",
                *desk.world.npm_server("memory"),
            ],
            tool="create_entities",
            arguments=lambda desk, word: {"entities": [{"name": word, "entityType": "word", "observations": []}]},
            done=_entities,
        ),
        Server(
            name="git",
            command=lambda desk: [*desk.world.python_server("git"), "--repository", str(desk.project)],
            tool="git_create_branch",
            arguments=lambda desk, word: {"repo_path": str(desk.project), "branch_name": word},
            done=_branches,
        ),
        Server(
            name="time",
            command=lambda desk: [*desk.world.python_server("time"), "--local-timezone", "UTC"],
            tool="get_current_time",
            arguments=lambda desk, word: {"timezone": word},
            done=_reached("time", "timezone"),  # nothing else is left of it
        ),
        Server(
            name="fetch",
            command=lambda desk: [*desk.world.python_server("fetch"), "--ignore-robots-txt", "--allow-private-ips"],
            tool="fetch",
            arguments=lambda desk, word: {"url": f"{desk.page}/{word}", "raw": True},
            done=lambda desk: desk.read,
        ),
    )
}
FIRST, SECOND, THIRD = "CET", "EET", "MET"
"""Words that every server can do something with, in the order of the alphabet: they are time zones, too."""
