"""What `pi-intent schema --mcp` shows is what a client of the server gets through the proxy."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SERVER = """
import json, sys
OWN = {"type": "object", "properties": {"q": {}}, "required": ["q"]}
TOOLS = [
    {"name": "find", "description": "Finds \\x1b[31m", "inputSchema": OWN},
    {"name": "any", "inputSchema": True},
    {"name": "left_alone", "inputSchema": {"type": "object"}},
]
for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        listed = {"tools": TOOLS} if message["method"] == "tools/list" else {}
        result = listed or {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {}}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""


@pytest.fixture
def server(tmp_path: Path) -> list[str]:
    (tmp_path / "server.py").write_text(SERVER)
    return [sys.executable, str(tmp_path / "server.py")]


def run(folder: Path, *words: str, given: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pi_intent", *words],
        capture_output=True,
        text=True,
        input=given,
        cwd=folder,
        env={"HOME": str(folder), "NO_COLOR": "1"},
        timeout=60,
        check=False,
    )


def test_it_is_what_the_proxy_shows(tmp_path: Path, server: list[str]):
    words = ["--policy", "require", "--exempt", "left_alone", *server]
    done = run(tmp_path, "schema", "--json", "--diff", "--mcp", *words)
    assert (done.returncode, done.stderr) == (0, "")
    document: dict[str, Any] = json.loads(done.stdout)
    request = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}) + "\n"
    listed = json.loads(run(tmp_path, "mcp", "wrap", *words, given=request).stdout)["result"]["tools"]
    extra = ("original", "tokens", "added", "noIntentBecause")
    shown = [{key: tool[key] for key in tool if key not in extra} for tool in document["tools"]]
    assert json.dumps(shown) == json.dumps(listed)
    find, anything, alone = document["tools"]
    assert find["original"] == {"type": "object", "properties": {"q": {}}, "required": ["q"]}
    assert find["noIntentBecause"] is None
    assert 60 <= find["added"] <= 75
    assert (anything["added"], anything["noIntentBecause"]) == (
        0,
        "the schema is true or false, which has no properties",
    )
    assert (alone["added"], alone["noIntentBecause"]) == (0, "the settings leave it alone")


def test_a_person_sees_the_difference_and_what_it_costs(tmp_path: Path, server: list[str]):
    done = run(tmp_path, "schema", "--tool", "find", "--mcp", "--diff", *server)
    assert done.returncode == 0
    assert "tokens" in done.stdout
    assert '+    "intent": {' in done.stdout
    assert "left_alone" not in done.stdout
    whole = run(tmp_path, "schema", "--mcp", *server).stdout
    assert "\x1b" not in whole
    assert "no intent: the schema is true or false" in whole


@pytest.mark.parametrize(
    ("words", "code", "why"),
    [
        (["--mcp"], 2, "the command that starts the server is missing"),
        (["--mcp", "no-such-server"], 1, "cannot be started"),
        (["--mcp", sys.executable, "-c", "1"], 1, "ended before it answered"),
        (["--diff"], 2, "are for --mcp"),
        (["server"], 2, "are for --mcp"),
    ],
)
def test_what_cannot_be_shown_is_said_in_a_sentence(tmp_path: Path, words: list[str], code: int, why: str):
    done = run(tmp_path, "schema", *words)
    assert (done.returncode, done.stdout) == (code, "")
    assert why in done.stderr
    assert "Traceback" not in done.stderr


def test_a_tool_that_is_not_there_is_named_beside_those_that_are(tmp_path: Path, server: list[str]):
    done = run(tmp_path, "schema", "--tool", "fnd", "--mcp", *server)
    assert done.returncode == 2
    assert "it has find, any, left_alone" in done.stderr
