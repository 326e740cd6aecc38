"""After a change the client's own command is asked, and what it does not understand is put back."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

import pytest
from client_configs import CLAUDE, CODEX, OURS, Desk, desk, ends

from pi_intent.hosts.mcp.clients.client import ClientName
from pi_intent.hosts.mcp.clients.known import CLIENTS

# Commands that read a config as the real ones do and print what they print; each notes the folder it ran in.
LISTS = """
import json, os
from pathlib import Path
Path(HERE, "asked").open("a").write(os.getcwd() + "\\n")
servers = json.loads(Path(".mcp.json").read_text())["mcpServers"]
BEFORE
for name, server in servers.items():
    print(f"{name}: {server['command']} {' '.join(server.get('args', []))} - Pending approval")
"""
GETS = """
import json, os, sys, tomllib
from pathlib import Path
Path(HERE, "asked").open("a").write(os.getcwd() + "\\n")
assert sys.argv[1:5] == ["mcp", "get", "--json", "--"], sys.argv
servers = tomllib.loads(Path(os.environ["HOME"], ".codex", "config.toml").read_text())["mcp_servers"]
BEFORE
server = servers[sys.argv[5]]
print(json.dumps({"transport": {"command": server["command"], "args": server.get("args", [])}}))
"""
REFUSES = "assert 'wrap' not in str(servers)"
FORGETS = "servers = {name: one for name, one in servers.items() if 'wrap' not in str(one)}; servers or sys.exit(0)"

PROGRAMS: dict[ClientName, str] = {"claude": LISTS, "codex": GETS}
TEXTS: dict[ClientName, str] = {"claude": CLAUDE, "codex": CODEX}
ASKED: dict[ClientName, str] = {"claude": "claude mcp list", "codex": "codex mcp get"}
TITLES: dict[ClientName, str] = {"claude": "Claude Code", "codex": "Codex"}


@pytest.fixture
def here(tmp_path: Path) -> Desk:
    return desk(tmp_path)


def command(here: Desk, client: ClientName, before: str = "") -> Path:
    folder = Path(here.surroundings.environ["PATH"])
    folder.mkdir(exist_ok=True)
    program = PROGRAMS[client].replace("HERE", repr(str(folder))).replace("BEFORE", before)
    (folder / client).write_text(f"#!{sys.executable}\nimport sys\n{program}")
    (folder / client).chmod(0o755)
    return folder


@pytest.mark.parametrize("client", PROGRAMS)
def test_a_client_that_understands_is_named_and_the_change_stays(here: Desk, client: ClientName) -> None:
    folder = command(here, client)
    path = here.own(client)
    before = here.write(path, TEXTS[client])
    (result,) = here.run("install", client, verify=True).files
    assert (result.action, result.verified, result.unverified) == ("changed", ASKED[client], "")
    assert path.read_bytes() == result.after.encode() != before
    assert {OURS.command} == {one.after[0] for one in result.servers if one.is_changed}
    assert (folder / "asked").read_text().splitlines()
    (result,) = here.run("uninstall", client, verify=True).files
    assert (result.action, result.verified, result.unverified) == ("changed", ASKED[client], "")
    assert path.read_bytes() == before


@pytest.mark.parametrize("how", [REFUSES, FORGETS], ids=["refuses", "forgets"])
@pytest.mark.parametrize("client", PROGRAMS)
def test_what_it_does_not_understand_is_put_back_byte_for_byte(here: Desk, client: ClientName, how: str) -> None:
    command(here, client, how)
    path = here.own(client)
    before = here.write(path, TEXTS[client])
    (result,) = here.run("install", client, verify=True).files
    assert result.action == "failed"
    assert result.error.startswith(f"{path} was put back as it was, because {TITLES[client]} did not understand ")
    assert result.error.endswith("; --no-verify does without asking it")
    assert path.read_bytes() == before
    assert here.run("install", client, verify=False).files[0].action == "changed"


@pytest.mark.parametrize("client", PROGRAMS)
def test_a_command_that_does_not_work_at_all_proves_nothing_and_stops_nothing(here: Desk, client: ClientName) -> None:
    token = "ghp_" + "a1B2c3D4" * 5
    said = f"WARNING: no\\n\\x1b[31mError: in {token}\\n\\nCaused by:\\n  model = 5"
    command(here, client, f"print('{said}', file=sys.stderr); sys.exit(3)")
    here.write(here.own(client), TEXTS[client])
    (result,) = here.run("install", client, verify=True).files
    assert (result.action, result.verified) == ("changed", "")
    assert token not in result.unverified
    assert result.unverified.startswith(
        f"{ASKED[client]} fails with exit code 3, saying: Error: in [redacted:github:"
    )
    assert result.unverified.endswith(
        "] Caused by: model = 5; it did so before the change, which therefore cannot be confirmed"
    )


@pytest.mark.parametrize("client", PROGRAMS)
def test_a_command_that_fails_without_a_word_is_told_by_its_exit_code(here: Desk, client: ClientName) -> None:
    command(here, client, "sys.exit(3)")
    here.write(here.own(client), TEXTS[client])
    (result,) = here.run("install", client, verify=True).files
    assert result.unverified.startswith(f"{ASKED[client]} fails with exit code 3, and does not say why; ")


@pytest.mark.parametrize("client", PROGRAMS)
def test_what_it_says_against_a_change_is_quoted(here: Desk, client: ClientName) -> None:
    command(here, client, "'wrap' in str(servers) and sys.exit('no such thing')")
    here.write(here.own(client), TEXTS[client])
    error = here.error("install", client, verify=True)
    assert f"({ASKED[client]} fails with exit code 1, saying: no such thing); --no-verify does without" in error


@pytest.mark.parametrize("client", PROGRAMS)
def test_where_there_is_no_command_it_is_said_that_nobody_confirmed(here: Desk, client: ClientName) -> None:
    here.write(here.own(client), TEXTS[client])
    (result,) = here.run("install", client, verify=True).files
    assert result.unverified == f"there is no {client} command on PATH"


def test_a_server_that_the_client_has_from_elsewhere_too_is_not_called_confirmed(here: Desk) -> None:
    command(here, "codex", "servers['docs'] = {'command': 'project-docs'}")
    here.write(here.own("codex"), CODEX)
    (result,) = here.run("install", "codex", verify=True).files
    assert (result.action, result.verified) == ("changed", "codex mcp get")
    assert result.unverified == "codex mcp get does not show docs as the file has it"


def test_a_file_that_changes_before_it_can_be_put_back_keeps_that_change(here: Desk) -> None:
    path = here.own("codex")
    edit = f"path = Path({str(path)!r}); 'wrap' in str(servers) and path.write_text(path.read_text() + '# mine'); "
    command(here, "codex", edit + REFUSES)
    here.write(path, CODEX)
    (result,) = here.run("install", "codex", verify=True).files
    assert result.action == "failed"
    assert "was changed by another program just now, so it was not put back" in result.error
    assert "# mine" in path.read_text()


def test_no_server_is_started_and_no_copy_of_a_config_stays(here: Desk, tmp_path: Path) -> None:
    folder = command(here, "claude")
    mark = tmp_path / "started"
    here.write(here.own("claude"), json.dumps({"mcpServers": {"a": {"command": "touch", "args": [str(mark)]}}}))
    assert here.run("install", "claude", verify=True).files[0].verified
    assert not mark.exists()
    ran_in = [Path(line) for line in (folder / "asked").read_text().splitlines()]
    assert [path.exists() for path in ran_in] == [False, False]


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="needs Linux to wait for a process of another")
@pytest.mark.parametrize("client", PROGRAMS)
def test_a_command_that_hangs_is_ended_in_time_with_what_it_started(here: Desk, client: ClientName) -> None:
    noted = here.home / "pid"
    hang = "import subprocess, time; child = subprocess.Popen(['/bin/sleep', '60']); "
    command(here, client, f"{hang}Path({str(noted)!r}).write_text(str(child.pid)); time.sleep(60)")
    path = here.own(client)
    text = here.write(path, TEXTS[client]).decode()
    place = CLIENTS[client].places(here.surroundings)[0]
    began = time.monotonic()
    name = "notes" if client == "claude" else "docs"
    look = CLIENTS[client].look(here.surroundings, place, text, [name], timeout=2)
    assert time.monotonic() - began < 20
    assert look.not_asked == f"{ASKED[client]} gave no answer within 2 seconds"
    assert ends(int(noted.read_text()))
