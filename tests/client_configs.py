"""Configs of MCP clients as people have them, and a second, independent reading of them."""

from __future__ import annotations

import json
import os
import re
import select
import tomllib
from dataclasses import dataclass
from pathlib import Path

from pi_intent.hosts.mcp.clients.changing import Report, Request, Verb, change
from pi_intent.hosts.mcp.clients.client import ClientName, Scope, Surroundings
from pi_intent.hosts.mcp.clients.known import CLIENTS
from pi_intent.hosts.mcp.clients.wrapping import Launcher

OURS = Launcher(command="/opt/tools/bin/pi-intent")
SHARED = Launcher(command="pi-intent")

CLAUDE = """{
  "numStartups": 42,
  "tipsHistory": {"new-user-warmup": 3},
  "mcpServers": {
    "github": {
      "type": "stdio",
      "command": "npx",
      "args": [
        "-y",
        "@modelcontextprotocol/server-github"
      ],
      "env": {
        "GITHUB_TOKEN": "not-a-token"
      }
    },
    "notes": {
      "command": "notes-server",
      "args": []
    },
    "bare": {
      "command": "bare-server"
    },
    "sentry": {
      "type": "http",
      "url": "https://mcp.example.com/mcp"
    }
  },
  "projects": {
    "PROJECT": {
      "allowedTools": [],
      "history": [{"display": "say \\"mcpServers\\": {} // really", "pastedContents": {}}],
      "mcpServers": {
        "db": {
          "type": "stdio",
          "command": "uvx",
          "args": ["mcp-server-sqlite", "--db-path", "${HOME}/a b.db"],
          "env": {}
        }
      }
    },
    "/somewhere/else": {"mcpServers": {"other": {"command": "other-server", "args": ["x"]}}}
  },
  "bigNumber": 123456789012345678901234567890.50,
  "odd": "\\u00e9\\/\\ud83d\\ude00"
}"""

CURSOR = """// my servers
{
\t"mcpServers" : {
\t\t/* the first one, "command": "no" */
\t\t"files": { "command": "node", "args": [ "${workspaceFolder}/server.js" , "--root","." ], "disabled" : true },
\t\t   "odd one": {"args":["a"],"env":{},"command":"n\\u006fde"}, // after it
\t\t"remote": { "url": "https://mcp.example.com/sse", "headers": {"X": "y"} },
\t\t"line": { "command": "npx -y whole-line" },
\t\t"home": { "command": "~/bin/server" },
\t},
}
"""

VSCODE = """{
    // Inputs are asked for once
    "inputs": [
        { "type": "promptString", "id": "key", "description": "API key", "password": true },
    ],
    "servers": {
        "perplexity": {
            "type": "stdio",
            "command": "docker", // not podman
            "args": [
                // interactive
                "run", "-i", "--rm",
                "-e", "KEY=${input:key}",
                "mcp/perplexity", /* last */
            ],
            "envFile": "${workspaceFolder}/.env"
        },
        "bare": {
            "command": "bare-server" // no arguments
        },
        "home": { "command": "~/bin/server", "cwd": "${userHome}" },
        "boxed": { "command": "boxed-server", "sandboxEnabled": true },
        "mine": { "command": "node", "args": ["s.js"], "dev": { "watch": "**/*.js", "debug": { "type": "node" } } },
        "web": { "type": "http", "url": "https://mcp.example.com/mcp" }
    }
}
"""

CODEX = """# Codex
model = "gpt-5" # the usual

[mcp_servers.docs]
command = "npx" # node
args = [
    "-y", # yes
    'docs-server',
]
startup_timeout_sec = 20

  [mcp_servers."two words"]
  command = 'two'   # no arguments

  [mcp_servers."two words".env]
  TOKEN = "not-a-token"

[mcp_servers.remote]
url = "https://mcp.example.com/mcp"
bearer_token_env_var = "TOKEN"

[mcp_servers.far]
command = "far-server"
environment_id = "remote"

[mcp_servers.farther]
command = "far-server"
experimental_environment = "remote"

[profiles.fast]
model = "gpt-5-mini"

[[notices]]
command = "not a server"
args = []

[mcp_servers]
inline = { command = "in", args = [], env = { A = "1" } }
inline2 = {enabled = false, command = \"""in2\"""}
dotted.command = "dot"
"""

SAMPLES: dict[ClientName, str] = {"claude": CLAUDE, "cursor": CURSOR, "vscode": VSCODE, "codex": CODEX}

WRAPPED: dict[ClientName, dict[str, list[str]]] = {
    "claude": {
        "github": ["npx", "-y", "@modelcontextprotocol/server-github"],
        "notes": ["notes-server"],
        "bare": ["bare-server"],
        "db": ["uvx", "mcp-server-sqlite", "--db-path", "${HOME}/a b.db"],
    },
    "cursor": {
        "files": ["node", "${workspaceFolder}/server.js", "--root", "."],
        "odd one": ["node", "a"],
    },
    "vscode": {
        "perplexity": ["docker", "run", "-i", "--rm", "-e", "KEY=${input:key}", "mcp/perplexity"],
        "bare": ["bare-server"],
        "home": ["~/bin/server"],
    },
    "codex": {
        "docs": ["npx", "-y", "docs-server"],
        "two words": ["two"],
        "inline": ["in"],
        "inline2": ["in2"],
        "dotted": ["dot"],
    },
}
"""The servers of the samples that can be wrapped, with their command lines."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """A home with a project in it, in which nothing but what a test puts there exists."""

    surroundings: Surroundings

    @property
    def home(self) -> Path:
        return self.surroundings.home

    @property
    def project(self) -> Path:
        return self.surroundings.directory

    def own(self, client: ClientName) -> Path:
        """The user's config of a client."""
        return next(place.path for place in CLIENTS[client].places(self.surroundings) if place.scope == "user")

    def shared(self, client: ClientName) -> Path:
        """The project's config of a client."""
        return next(place.path for place in CLIENTS[client].places(self.surroundings) if place.scope == "project")

    def write(self, path: Path, text: str | bytes) -> bytes:
        path.parent.mkdir(parents=True, exist_ok=True)
        data = text if isinstance(text, bytes) else text.replace("PROJECT", str(self.project)).encode()
        path.write_bytes(data)
        return data

    def run(
        self,
        verb: Verb,
        client: ClientName,
        *,
        scopes: tuple[Scope, ...] = (),
        only: tuple[str, ...] = (),
        dry_run: bool = False,
        verify: bool = False,
        launcher: Launcher = OURS,
    ) -> Report:
        request = Request(
            verb=verb, launchers=(launcher, SHARED), scopes=scopes, only=only, dry_run=dry_run, verify=verify
        )
        return change(CLIENTS[client], self.surroundings, request)

    def error(self, verb: Verb, client: ClientName, *, verify: bool = False) -> str:
        """Return the one sentence that a run refuses with."""
        (file,) = self.run(verb, client, verify=verify).files
        assert file.action == "failed"
        return file.error


def desk(folder: Path, platform: str = "linux") -> Desk:
    project = folder / "home" / "project"
    (project / ".git").mkdir(parents=True)
    environ = {"HOME": str(folder / "home"), "PATH": str(folder / "bin")}
    return Desk(surroundings=Surroundings(environ=environ, directory=project, platform=platform))


def ends(pid: int) -> bool:
    """Whether a process has ended, or does so soon: a killed one takes a moment."""
    try:
        watched = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([watched], [], [], 20)[0])
    finally:
        os.close(watched)


_NOISE = re.compile(r'("(?:[^"\\]|\\.)*")|//[^\r\n]*|/\*.*?\*/', re.DOTALL)
_LAST_COMMA = re.compile(r'("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])')


def meaning(text: str, client: ClientName) -> dict[str, object]:
    """Read a config in another way than the code under test does."""
    text = text.removeprefix("\ufeff")
    if client == "codex":
        return tomllib.loads(text)
    bare = _LAST_COMMA.sub(lambda found: found[1] or "", _NOISE.sub(lambda found: found[1] or " ", text))
    read: dict[str, object] = json.loads(bare)
    return read


def entries(read: object) -> dict[str, dict[str, object]]:
    """Return every server of a config by name, of whatever scope."""
    found: dict[str, dict[str, object]] = {}
    if isinstance(read, dict):
        for key, value in read.items():
            if key in ("mcpServers", "mcp_servers", "servers") and isinstance(value, dict):
                found |= value
            else:
                found |= entries(value)
    return found


def as_wrapped(read: dict[str, object], client: ClientName, command: str = OURS.command) -> dict[str, object]:
    """Return what a sample means once all is wrapped that can be."""
    expected = json.loads(json.dumps(read))
    for name, entry in entries(expected).items():
        if name in WRAPPED[client]:
            server = [f"--server={name}"] if "args" not in entry else ["--server", name]
            entry["args"] = ["mcp", "wrap", *server, *WRAPPED[client][name]]
            entry["command"] = command
    return expected
