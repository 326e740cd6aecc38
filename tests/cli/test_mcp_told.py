"""What `pi-intent mcp` tells: of whose servers, without whose secrets, in which words, and how lines break."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from client_configs import CLAUDE, Desk, desk
from terminal_run import run_on_a_terminal

from pi_intent.hosts.mcp.clients.client import ClientName

SECONDS = 60
TOKEN = "ghp_" + "a1B2c3D4" * 5
PLAIN = "hunter2plainword"

SERVER = """
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    if request["method"] == "initialize":
        value = {"capabilities": {"tools": {}}}
    elif request["method"] == "tools/list":
        schema = {"type": "object", "properties": {"path": {"type": "string"}}}
        value = {"tools": [{"name": name, "inputSchema": schema} for name in ("read", "write")]}
    else:
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": value}), flush=True)
"""


@pytest.fixture
def here(tmp_path: Path) -> Desk:
    return desk(tmp_path)


def started(here: Desk, *arguments: str, **environ: str) -> list[str]:
    return [sys.executable, "-B", "-m", "pi_intent.cli.main", "mcp", *arguments]


def pi_intent(here: Desk, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    everything = {**here.surroundings.environ, "LANG": "C.UTF-8", **environ}
    return subprocess.run(
        started(here, *arguments), env=everything, cwd=here.project, capture_output=True, text=True, timeout=SECONDS
    )


def on_a_terminal(here: Desk, *arguments: str) -> str:
    """Return what a terminal of 80 columns gets, both streams of it."""
    environ = {**here.surroundings.environ, "LANG": "C.UTF-8", "COLUMNS": "80"}
    read, _ = run_on_a_terminal(started(here, *arguments), environ, cwd=here.project)
    return read.replace("\r\n", "\n")


def servers(here: Desk, path: Path, /, **entries: object) -> None:
    key = "servers" if ".vscode" in str(path) or "Code" in str(path) else "mcpServers"
    here.write(path, json.dumps({key: entries}))


def leaves(mark: Path) -> dict[str, object]:
    return {"command": sys.executable, "args": ["-c", f"open({str(mark)!r}, 'w')"]}


def good(here: Desk) -> dict[str, object]:
    here.write(here.home / "server.py", SERVER)
    return {"command": sys.executable, "args": [str(here.home / "server.py")]}


# Whose servers are started


@pytest.mark.parametrize("client", ["claude", "cursor", "vscode"])
def test_no_server_of_a_project_is_started_to_look_at_its_tools(here: Desk, client: ClientName) -> None:
    mark = here.home / "started"
    servers(here, here.shared(client), theirs=leaves(mark))
    done = pi_intent(here, "status", "--client", client, "--tools")
    assert not mark.exists()
    assert done.stdout.splitlines()[-1] == (
        "      not started: it comes with the project; "
        '"pi-intent schema --mcp COMMAND…" starts one that you trust, and shows its tools'
    )
    done = pi_intent(here, "status", "--client", client, "--tools", "--json")
    assert not mark.exists()
    assert "not started: it comes with the project" in done.stdout


def test_no_server_that_is_disabled_is_started(here: Desk) -> None:
    mark = here.home / "started"
    servers(here, here.own("cursor"), one={**leaves(mark), "disabled": True})
    here.write(
        here.own("codex"),
        f"[mcp_servers.two]\ncommand = {sys.executable!r}\nargs = ['-c', \"open('{mark}', 'w')\"]\nenabled = false\n",
    )
    project = {"disabledMcpServers": ["three"], "mcpServers": {"three": leaves(mark)}}
    here.write(here.own("claude"), json.dumps({"projects": {str(here.project): project}}))
    done = pi_intent(here, "status", "--tools")
    assert not mark.exists()
    assert done.stdout.count("      not started: it is disabled; ") == 3


def test_nor_one_that_cannot_start_and_a_wrapped_one_without_a_command_cannot(here: Desk) -> None:
    mark = here.home / "started"
    gone = {"command": "/nowhere/pi-intent", "args": ["mcp", "wrap", *map(str, ["touch", mark])]}
    empty = {"command": "pi-intent", "args": ["mcp", "wrap", "--server", "x"]}
    servers(here, here.own("cursor"), gone=gone, empty=empty)
    done = pi_intent(here, "status", "--client", "cursor", "--tools")
    assert (done.returncode, done.stdout.splitlines()[2:]) == (
        1,
        [
            "    ✗ gone: wrapped, but it cannot start: /nowhere/pi-intent is not there any more; "
            '"pi-intent mcp install --client cursor" mends it',
            "    ✗ empty: wrapped, but it cannot start: no command follows pi-intent mcp wrap; "
            "write the server's command there, or take the entry out",
        ],
    )
    assert not mark.exists()


def test_the_help_says_what_is_never_started(here: Desk) -> None:
    said = " ".join(pi_intent(here, "status", "--help").stdout.split())
    assert "It never starts one that comes with the project" in said
    assert "nor one that is disabled" in said


# What is told


def test_what_is_told_of_tools_holds_for_servers_that_are_not_wrapped_and_for_those_that_are(here: Desk) -> None:
    plain = good(here)
    wrapped = {"command": "pi-intent", "args": ["mcp", "wrap", plain["command"], *[str(here.home / "server.py")]]}
    off = {**wrapped, "env": {"PI_INTENT": "off"}}
    servers(here, here.own("cursor"), plain=plain, wrapped=wrapped, off=off)
    done = pi_intent(here, "status", "--client", "cursor", "--tools")
    assert (done.returncode, done.stdout.splitlines()[2:]) == (
        0,
        [
            "    · plain: not wrapped",
            "      2 tools; if it were wrapped, none would be without an intent",
            "    ✓ wrapped: wrapped",
            "      2 tools, none without an intent",
            "    ✓ off: wrapped; switched off by PI_INTENT=off in its env",
            "      2 tools; if it were switched on, none would be without an intent",
        ],
    )


def test_that_everything_is_switched_off_is_said_first(here: Desk) -> None:
    servers(here, here.own("cursor"), a={"command": "pi-intent", "args": ["mcp", "wrap", "x"]})
    first, *_ = pi_intent(here, "status", PI_INTENT="off").stdout.splitlines()
    assert first == "PI_INTENT=off is set here: pi-intent is switched off in every server that gets it."
    assert json.loads(pi_intent(here, "status", "--json", PI_INTENT="off").stdout)["switchedOff"] is True
    assert json.loads(pi_intent(here, "status", "--json").stdout)["switchedOff"] is False


def test_one_server_or_one_scope_can_be_asked_for(here: Desk) -> None:
    servers(here, here.own("cursor"), a={"command": "x"}, b={"command": "y"})
    servers(here, here.shared("cursor"), c={"command": "x"})
    assert pi_intent(here, "status", "--only", "b").stdout.splitlines()[2:] == ["    · b: not wrapped"]
    assert pi_intent(here, "status", "--scope", "project").stdout.splitlines() == [
        "Cursor",
        f"  project, {here.shared('cursor')}",
        "    · c: not wrapped",
    ]
    done = pi_intent(here, "status", "--only", "cc")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[-1] == "Error: there is no server 'cc' here; did you mean 'c'?"


def test_each_server_is_told_before_the_next_has_answered(here: Desk) -> None:
    os.mkfifo(here.home / "go")
    slow = {"command": sys.executable, "args": ["-c", f"open({str(here.home / 'go')!r}).read()"]}
    servers(here, here.own("cursor"), fast=good(here), slow=slow)
    environ = {**here.surroundings.environ, "LANG": "C.UTF-8"}
    process = subprocess.Popen(
        started(here, "status", "--client", "cursor", "--tools"),
        env=environ, cwd=here.project, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    lines = [process.stdout.readline() for _ in range(5)]  # the last of them stands there while `slow` waits
    assert lines[3] == "      2 tools; if it were wrapped, none would be without an intent\n"
    assert lines[4] == "    · slow: not wrapped\n"
    with (here.home / "go").open("w"):
        pass
    rest, _ = process.communicate(timeout=SECONDS)
    assert rest.startswith("      its tools are not known: the server ")


def test_servers_are_asked_at_the_same_time_and_a_terminal_is_told_who_is_waited_for(here: Desk) -> None:
    # Each waits for the other to have been started: one after the other, neither would ever end.
    for name in ("one", "two"):
        os.mkfifo(here.home / name)
    meets = "import sys, time; {}; time.sleep(1.5); sys.exit('met')"
    one = meets.format(f"open({str(here.home / 'one')!r}, 'w'); open({str(here.home / 'two')!r})")
    two = meets.format(f"open({str(here.home / 'one')!r}); open({str(here.home / 'two')!r}, 'w')")
    entries = {name: {"command": sys.executable, "args": ["-c", text]} for name, text in (("a", one), ("b", two))}
    servers(here, here.own("cursor"), **entries)
    began = time.monotonic()
    told = on_a_terminal(here, "status", "--client", "cursor", "--tools")
    assert time.monotonic() - began < 25
    assert told.count("met") >= 2
    assert "      asking a for its tools…" in told.splitlines()


# Secrets


def test_no_secret_is_told_whatever_happens_to_a_server(here: Desk) -> None:
    fails = "import os, sys; sys.exit(' '.join([*sys.argv[1:], os.environ['API_TOKEN']]))"
    env = {"API_TOKEN": "value0f1the2environment"}
    arguments = ["-c", fails, "--token", PLAIN, TOKEN]
    servers(
        here, here.own("cursor"),
        fails={"command": sys.executable, "args": arguments, "env": env},
        gone={"command": "/nowhere/server", "args": arguments, "env": env},
    )  # fmt: skip
    for told in (
        pi_intent(here, "status", "--tools", "--client", "cursor"),
        pi_intent(here, "status", "--tools", "--client", "cursor", "--json"),
        pi_intent(here, "install", "cursor", "--dry-run"),
        pi_intent(here, "install", "cursor", "--dry-run", "--json"),
        pi_intent(here, "install", "cursor", "--json"),
    ):
        assert [secret for secret in (PLAIN, TOKEN, env["API_TOKEN"]) if secret in told.stdout + told.stderr] == []
        assert "[redacted:" in told.stdout


def test_no_part_of_a_secret_is_told_of_a_malformed_file(here: Desk) -> None:
    here.write(here.own("cursor"), '{"mcpServers": {"a": ' + TOKEN)
    told = pi_intent(here, "status", "--client", "cursor").stdout
    assert "is not valid JSON: 'g' does not belong there (line 1): correct it there" in told
    assert "ghp" not in told


# The diff


def test_the_diff_shows_every_space_and_tab_and_spells_out_what_is_not_seen(here: Desk) -> None:
    here.write(
        here.own("codex"), '[mcp_servers.a]\n\tcommand  =\t"x"  #  a\u00a0b \u200b  c\r\n  args = ["a  \tb"]\r\n'
    )
    done = pi_intent(here, "install", "codex", "--dry-run", "--executable", "/opt/pi-intent")
    assert [line for line in done.stdout.splitlines() if line.startswith(("-", "+"))][2:] == [
        '-\tcommand  =\t"x"  #  a\\xa0b \\u200b  c',
        '-  args = ["a  \tb"]',
        '+\tcommand  =\t"/opt/pi-intent"  #  a\\xa0b \\u200b  c',
        '+  args = ["mcp", "wrap", "--server", "a", "x", "a  \tb"]',
    ]


# Words


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["install"], "say whose servers: pi-intent mcp install --client NAME; "),
        (["install", "claud"], "there is no client 'claud'; did you mean claude?"),
        (["uninstall", "--client", "zzz"], "there is no client 'zzz'; they are claude, codex, cursor, vscode."),
        (["install", "codex", "--scope", "projet"], "there is no scope 'projet'; did you mean project?"),
        (["install", "codex", "--client", "cursor"], "codex and --client cursor are two clients: give one"),
        (["install", "codex", "--dryrun"], "did you mean '--dry-run'?"),
        (["status", "--jsn"], "did you mean '--json'?"),
    ],
)
def test_a_wrong_word_is_told_with_the_right_one(here: Desk, arguments: list[str], says: str) -> None:
    done = pi_intent(here, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert says.lower() in done.stderr.splitlines()[-1].lower()


def test_a_client_can_be_named_without_its_option(here: Desk) -> None:
    servers(here, here.own("cursor"), a={"command": "x"})
    assert pi_intent(here, "install", "cursor").stdout.splitlines()[1] == "  ✓ a (user): wrapped"
    assert pi_intent(here, "uninstall", "cursor").stdout.splitlines()[1] == "  ✓ a (user): no longer wrapped"


def test_the_same_mistake_in_a_file_of_two_scopes_is_told_once(here: Desk) -> None:
    path = here.own("claude")
    here.write(path, '{"mcpServers" {}}')
    done = pi_intent(here, "status", "--client", "claude")
    assert (done.returncode, done.stdout) == (
        1,
        f"Claude Code\n  ✗ {path} is not valid JSON: '{{' does not belong there (line 1): correct it there\n",
    )


def test_a_profile_without_the_server_that_was_named_is_not_spoken_of(here: Desk) -> None:
    profile = here.own("vscode").parent / "profiles" / "p1" / "mcp.json"
    servers(here, here.own("vscode"), **{name: {"command": "x"} for name in "abcd"})
    servers(here, profile, p={"command": "x"})
    done = pi_intent(here, "install", "vscode", "--only", "p", "--dry-run")
    assert str(profile) in done.stdout
    assert "there are no servers" not in done.stdout
    assert str(here.own("vscode")) not in done.stdout


def test_a_path_of_windows_is_no_command_line(here: Desk) -> None:
    servers(
        here, here.own("cursor"),
        path={"command": r"C:\Program Files\x.exe"}, line={"command": r"C:\Program Files\x.exe --all"},
    )  # fmt: skip
    told = pi_intent(here, "status", "--client", "cursor").stdout.splitlines()[2:]
    assert told == [
        "    · path: not wrapped",
        "    ✗ line: cannot be wrapped: its command is a whole command line: split it into command and args",
    ]


def test_a_terminal_gets_lines_that_are_broken_at_words_and_paths_whole(tmp_path: Path) -> None:
    here = desk(tmp_path / "a folder with spaces in its name that is long")
    here.write(here.own("claude"), CLAUDE)
    for arguments in (
        ["status"],
        ["install", "claude", "--only", "github"],
        ["install", "claude", "--only", "sentry"],
    ):
        lines = on_a_terminal(here, *arguments).splitlines()
        assert any(str(here.own("claude")) in line for line in lines)
        assert [line for line in lines if len(line) > 80 and str(here.home) not in line] == []
