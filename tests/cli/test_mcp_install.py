"""`pi-intent mcp install`, `uninstall` and `status`: what they print, and how they exit."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from client_configs import CLAUDE, CODEX, CURSOR, SAMPLES, Desk, desk

from pi_intent.hosts.mcp.clients.client import ClientName
from pi_intent.hosts.mcp.clients.launcher import own_launcher

SECONDS = 60


@pytest.fixture
def here(tmp_path: Path) -> Desk:
    return desk(tmp_path)


def pi_intent(here: Desk, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-B", "-m", "pi_intent.cli.main", "mcp", *arguments]
    everything = {**here.surroundings.environ, "LANG": "C.UTF-8", **environ}
    return subprocess.run(command, env=everything, cwd=here.project, capture_output=True, text=True, timeout=SECONDS)


def without_place(stderr: str) -> list[str]:
    """Return what was complained about, but for this very checkout lying in a folder for temporary files."""
    return [line for line in stderr.splitlines() if not line.startswith("Warning: pi-intent itself lies in")]


def own_command() -> str:
    launcher = own_launcher()
    return " ".join((launcher.command, *launcher.arguments))


def test_installing_tells_of_each_server_and_uninstalling_brings_back_every_byte(here: Desk) -> None:
    path = here.own("claude")
    before = here.write(path, CLAUDE)
    done = pi_intent(here, "install", "--client", "claude")
    assert (done.returncode, without_place(done.stderr)) == (0, [])
    assert (
        done.stdout
        == f"""Claude Code, {path}
  ✓ github (user): wrapped
  ✓ notes (user): wrapped
  ✓ bare (user): wrapped
  ✗ sentry (user): left as it is: it is remote (http): there is no process to start through pi-intent
  ✓ db (local): wrapped
  Not confirmed by Claude Code: there is no claude command on PATH.
Claude Code starts them so from its next session on.
"""
    )
    assert json.loads(path.read_text())["mcpServers"]["bare"]["command"] == own_launcher().command
    again = pi_intent(here, "install", "--client", "claude")
    assert (again.returncode, again.stdout.splitlines()[-1]) == (0, "  Nothing to do.")
    done = pi_intent(here, "uninstall", "--client", "claude")
    assert (done.returncode, done.stderr) == (0, "")
    assert path.read_bytes() == before


@pytest.mark.parametrize("client", SAMPLES)
def test_a_dry_run_shows_the_lines_and_changes_nothing(here: Desk, client: ClientName) -> None:
    path = here.own(client)
    before = here.write(path, SAMPLES[client])
    done = pi_intent(here, "install", "--client", client, "--dry-run")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert f"--- {path}" in lines
    taken = [line[1:].strip() for line in lines if line.startswith("-") and not line.startswith("---")]
    assert taken
    assert [line for line in taken if " ".join(line.split()) not in " ".join(before.decode().split())] == []
    assert path.read_bytes() == before


def test_the_diff_is_what_a_person_expects(here: Desk) -> None:
    path = here.own("codex")
    here.write(path, 'a = 1\n[mcp_servers.x]\n  command = "npx" # why\n')
    done = pi_intent(here, "install", "--client", "codex", "--dry-run", "--executable", "/opt/pi-intent")
    assert (
        done.stdout
        == f"""Codex, {path}
  ✓ x (user): would be wrapped
--- {path}
+++ {path}
@@ -3,1 +3,2 @@
-  command = "npx" # why
+  command = "/opt/pi-intent" # why
+  args = ["mcp", "wrap", "--server=x", "npx"]
"""
    )


def test_no_secret_among_the_arguments_is_printed(here: Desk) -> None:
    token = "ghp_" + "a1B2c3D4" * 5
    servers = {"a": {"command": "x", "args": ["--token", token], "env": {"TOKEN": token}}}
    here.write(here.own("cursor"), json.dumps({"mcpServers": servers}))
    for arguments in (["--dry-run"], ["--dry-run", "--json"], ["--json"]):
        done = pi_intent(here, "install", "--client", "cursor", *arguments)
        assert done.returncode == 0
        assert token not in done.stdout + done.stderr
    assert token in here.own("cursor").read_text()


def test_names_that_would_control_the_terminal_are_made_safe(here: Desk) -> None:
    servers = {"a\x1b]0;owned\x07": {"url": "x"}, "b": {"command": "y\x1b[31m"}}
    here.write(here.own("cursor"), json.dumps({"mcpServers": servers}))
    for arguments in (["install", "--client", "cursor", "--dry-run"], ["status"], ["status", "--json"]):
        done = pi_intent(here, *arguments)
        assert "\x1b" not in done.stdout + done.stderr


def test_json_is_one_document(here: Desk) -> None:
    path = here.own("codex")
    here.write(path, '[mcp_servers.x]\ncommand = "npx"\n[mcp_servers.y]\nurl = "https://mcp.example.com"\n')
    done = pi_intent(here, "install", "--client", "codex", "--json", "--executable", "/opt/pi-intent")
    assert json.loads(done.stdout) == {
        "client": "codex",
        "action": "install",
        "dryRun": False,
        "files": [
            {
                "path": str(path),
                "action": "changed",
                "servers": [
                    {
                        "name": "x",
                        "scope": "user",
                        "state": "wrapped",
                        "before": ["npx"],
                        "after": ["/opt/pi-intent", "mcp", "wrap", "--server=x", "npx"],
                    },
                    {
                        "name": "y",
                        "scope": "user",
                        "state": "left",
                        "reason": "it is remote (url): there is no process to start",
                    },
                ],
                "verifiedBy": None,
                "notVerified": "there is no codex command on PATH",
            }
        ],
        "lookedAt": [str(path)],
        "elsewhere": [],
        "notes": [],
        "warnings": [],
    }


def test_a_file_that_cannot_be_changed_is_one_sentence_and_an_exit_code(here: Desk) -> None:
    path = here.own("cursor")
    before = here.write(path, '{"mcpServers": {}, "mcpServers": {}}')
    sentence = f"{path} has 'mcpServers' twice in its top level (line 1): correct it there; nothing in it was changed"
    done = pi_intent(here, "install", "--client", "cursor")
    assert (done.returncode, done.stdout, done.stderr) == (1, "", f"Error: {sentence}\n")
    done = pi_intent(here, "install", "--client", "cursor", "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["files"] == [{"path": str(path), "action": "failed", "error": sentence}]
    assert path.read_bytes() == before


def test_no_config_says_where_it_looked_and_is_no_failure(here: Desk) -> None:
    done = pi_intent(here, "install", "--client", "cursor")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"Nothing to do: Cursor has no config here; looked for {here.own('cursor')}.\n"


def test_a_name_that_no_config_has_is_a_wrong_command_line(here: Desk) -> None:
    here.write(here.own("cursor"), CURSOR)
    done = pi_intent(here, "install", "--client", "cursor", "--only", "fles")
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == "Error: Cursor has no server 'fles'; did you mean 'files'?"
    done = pi_intent(here, "install", "--client", "cursor", "--only", "fles", "--json")
    assert (done.returncode, json.loads(done.stdout)["client"]) == (2, "cursor")


@pytest.mark.parametrize("executable", ["uvx pi-intent", "/opt/wrapper", ""])
def test_a_name_that_would_not_be_known_again_is_not_written(here: Desk, executable: str) -> None:
    before = here.write(here.own("cursor"), CURSOR)
    done = pi_intent(here, "install", "--client", "cursor", "--executable", executable)
    assert (done.returncode, done.stderr.splitlines()[-1]) == (
        2,
        "Error: --executable must be pi-intent or a path that ends in /pi-intent",
    )
    assert here.own("cursor").read_bytes() == before


def test_a_server_that_was_named_and_cannot_be_wrapped_is_a_no(here: Desk) -> None:
    here.write(here.own("cursor"), CURSOR)
    assert pi_intent(here, "install", "--client", "cursor", "--only", "remote").returncode == 1
    assert pi_intent(here, "install", "--client", "cursor").returncode == 0


def test_a_shared_file_gets_no_path_of_this_machine_and_that_is_said(here: Desk) -> None:
    path = here.shared("vscode")
    here.write(path, '{"servers": {"a": {"command": "x"}}}')
    done = pi_intent(here, "install", "--client", "vscode", "--scope", "project")
    assert json.loads(path.read_text())["servers"]["a"]["command"] == "pi-intent"
    assert without_place(done.stderr) == [
        "Warning: others get this file with the project, and pi-intent must be on the PATH of each of them, "
        "or their client cannot start these servers."
    ]


def test_another_project_can_be_named(here: Desk, tmp_path: Path) -> None:
    other = tmp_path / "other"
    here.write(other / ".cursor" / "mcp.json", '{"mcpServers": {"a": {"command": "x"}}}')
    done = pi_intent(here, "install", "--client", "cursor", "--scope", "project", "--project", str(other))
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, f"Cursor, {other}/.cursor/mcp.json")


def test_a_terminal_without_our_signs_gets_others(here: Desk) -> None:
    here.write(here.own("codex"), CODEX)
    done = pi_intent(here, "status", "--client", "codex", PYTHONIOENCODING="ascii")
    assert done.returncode == 0
    assert "- docs: not wrapped" in done.stdout


# Status


def test_status_tells_of_every_client_and_changes_nothing(here: Desk) -> None:
    before = here.write(here.own("claude"), CLAUDE)
    pi_intent(here, "install", "--client", "claude", "--only", "github")
    wrapped = here.own("claude").read_bytes()
    here.write(here.own("codex"), '[mcp_servers.x]\ncommand = "npx"\n')
    done = pi_intent(here, "status")
    assert (done.returncode, done.stderr) == (0, "")
    assert (
        done.stdout
        == f"""Claude Code
  user, {here.own("claude")}
    ✓ github: wrapped
    · notes: not wrapped
    · bare: not wrapped
    ✗ sentry: cannot be wrapped: it is remote (http): there is no process to start through pi-intent
  local, {here.own("claude")} for {here.project}
    · db: not wrapped
Codex
  user, {here.own("codex")}
    · x: not wrapped
Cursor
  no servers; looked at {here.own("cursor")}, {here.shared("cursor")}
VS Code
  no servers; looked at {here.own("vscode")}, {here.shared("vscode")}
"""
    )
    assert here.own("claude").read_bytes() == wrapped != before


def test_status_says_no_where_a_wrapped_server_cannot_start(here: Desk) -> None:
    entry = {"command": "/nowhere/pi-intent", "args": ["mcp", "wrap", "x"]}
    here.write(here.own("cursor"), json.dumps({"mcpServers": {"a": entry}}))
    done = pi_intent(here, "status", "--client", "cursor")
    assert done.returncode == 1
    assert done.stdout.splitlines()[-1] == (
        "    ✗ a: wrapped, but it cannot start: /nowhere/pi-intent is not there any more; "
        '"pi-intent mcp install --client cursor" mends it'
    )


SERVER = """
import json, os, sys
for line in sys.stdin:
    request = json.loads(line)
    if request["method"] == "initialize":
        value = {"capabilities": {"tools": {}}}
    elif request["method"] == "tools/list":
        own = {"type": "object", "properties": {"intent": {"type": "string"}}}
        plain = {"type": "object", "properties": {"path": {"type": "string"}}}
        tools = {os.environ["NAME"]: plain, "search": own}
        value = {"tools": [{"name": name, "inputSchema": schema} for name, schema in tools.items()]}
    else:
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": value}), flush=True)
"""


def test_status_tells_which_tools_carry_no_intent_where_it_is_asked_to_start_the_servers(here: Desk) -> None:
    script = here.home / "server.py"
    here.write(script, SERVER)
    env = {"NAME": "read"}
    servers = {
        "plain": {"command": sys.executable, "args": [str(script)], "env": env},
        "wrapped": {"command": "pi-intent", "args": ["mcp", "wrap", sys.executable, str(script)], "env": env},
        "variable": {"command": sys.executable, "args": ["${workspaceFolder}/x"]},
        "gone": {"command": "/nowhere/server"},
    }
    here.write(here.own("cursor"), json.dumps({"mcpServers": servers}))
    quiet = json.loads(pi_intent(here, "status", "--client", "cursor", "--json").stdout)
    assert all("tools" not in server for place in quiet["clients"][0]["places"] for server in place["servers"])
    done = pi_intent(here, "status", "--client", "cursor", "--tools", "--json")
    told = {server["name"]: server for server in json.loads(done.stdout)["clients"][0]["places"][0]["servers"]}
    for name in ("plain", "wrapped"):
        read, search = told[name]["tools"]
        assert read == {"name": "read", "withoutIntent": None}
        assert search["name"] == "search"
        assert search["withoutIntent"]
    assert told["variable"]["toolsUnknown"] == "not started: it has variables that only Cursor fills in"
    assert "/nowhere/server cannot be started" in told["gone"]["toolsUnknown"]
    text = pi_intent(here, "status", "--client", "cursor", "--tools").stdout
    assert "      2 tools, 1 of them without an intent" in text.splitlines()
    assert "      2 tools; if it were wrapped, 1 of them would be without an intent" in text.splitlines()


def test_the_group_alone_tells_of_its_commands_and_a_wrong_one_of_the_nearest(here: Desk) -> None:
    done = pi_intent(here)
    assert (done.returncode, done.stderr) == (0, "")
    listed = [line.split()[0] for line in done.stdout.partition("Commands:\n")[2].splitlines()]
    assert {"install", "uninstall", "status"} <= {*listed}
    done = pi_intent(here, "instal")
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == "Error: there is no command mcp 'instal'; did you mean install?"
