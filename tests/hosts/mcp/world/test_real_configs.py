"""The clients' own commands understand what `mcp install` writes, and find their own words back after `uninstall`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from mcp_world import SECONDS, Desk

pytestmark = pytest.mark.one_python


class Person:
    """Somebody with a home of their own and the clients on their path."""

    def __init__(self, desk: Desk, home: Path) -> None:
        self.home = home
        (home / ".codex").mkdir(parents=True)
        self.environ = {
            "HOME": str(home),
            "CODEX_HOME": str(home / ".codex"),
            "PATH": os.pathsep.join([str(desk.world.claude.parent), os.environ["PATH"]]),
            "DISABLE_AUTOUPDATER": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "HTTPS_PROXY": "http://127.0.0.1:9",
        }
        self.server = desk.world.npm_server("memory")

    def run(self, *command: str) -> str:
        done = subprocess.run(
            command, env=self.environ, cwd=self.home, capture_output=True, text=True, timeout=SECONDS, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def pi_intent(self, *words: str) -> Any:
        return json.loads(self.run(sys.executable, "-m", "pi_intent", "mcp", *words, "--json"))


def arguments(config: Path) -> Any:
    """What the one server of a config is started with."""
    text = config.read_text()
    read = json.loads(text)["mcpServers"] if config.suffix == ".json" else tomllib.loads(text)["mcp_servers"]
    return read["memory"]["args"]


@pytest.fixture
def person(desk: Desk, tmp_path: Path) -> Person:
    return Person(desk, tmp_path / "home")


@pytest.mark.parametrize(
    ("client", "config", "add"),
    [
        ("claude", ".claude.json", ["claude", "mcp", "add", "-s", "user", "memory", "--"]),
        ("codex", ".codex/config.toml", ["codex", "mcp", "add", "memory", "--"]),
    ],
)
def test_a_client_finds_its_server_wrapped_and_unwrapped(person: Person, client: str, config: str, add: list[str]):
    person.run(*add, *person.server)
    path = person.home / config
    before = path.read_bytes()
    (file,) = person.pi_intent("install", "--client", client)["files"]
    assert file["verifiedBy"]
    assert path.read_bytes() != before
    (file,) = person.pi_intent("install", "--client", client)["files"]
    assert file["action"] == "unchanged"
    assert arguments(path) == ["mcp", "wrap", "--server", "memory", *person.server]
    person.pi_intent("uninstall", "--client", client)
    assert path.read_bytes() == before


def test_codex_would_start_the_proxy(person: Person):
    person.run("codex", "mcp", "add", "memory", "--env", "A=1", "--", *person.server)
    person.pi_intent("install", "--client", "codex")
    seen = json.loads(person.run("codex", "mcp", "get", "memory", "--json"))["transport"]
    assert seen["args"] == ["mcp", "wrap", "--server", "memory", *person.server]
    assert seen["env"] == {"A": "1"}
    listed = subprocess.run(
        [seen["command"], *seen["args"]],
        input='{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":'
        '{},"clientInfo":{"name":"t","version":"1"}}}\n{"jsonrpc":"2.0","method":"notifications/initialized"}\n'
        '{"jsonrpc":"2.0","id":2,"method":"tools/list"}\n',
        env=person.environ,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=True,
    )
    (tools,) = [
        message["result"]["tools"]
        for message in map(json.loads, listed.stdout.splitlines())
        if message.get("id") == 2
    ]
    assert {next(iter(tool["inputSchema"]["properties"])) for tool in tools} == {"intent"}
