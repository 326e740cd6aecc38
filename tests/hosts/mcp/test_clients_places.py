"""Each client's configs are looked for where that client looks for them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from client_configs import OURS, Desk, desk

from pi_intent.errors import HostError
from pi_intent.hosts.mcp.clients.changing import UnknownServer
from pi_intent.hosts.mcp.clients.client import ClientName, Surroundings
from pi_intent.hosts.mcp.clients.known import CLIENTS
from pi_intent.hosts.mcp.clients.launcher import own_launcher
from pi_intent.hosts.mcp.clients.reading import standing


@pytest.fixture
def here(tmp_path: Path) -> Desk:
    return desk(tmp_path)


def looked_at(client: ClientName, surroundings: Surroundings) -> list[tuple[str, str]]:
    """Return scope and path of each set, with the path from the home folder."""
    found = [
        (place.scope, str(place.path.relative_to(surroundings.home)))
        for place in CLIENTS[client].places(surroundings)
    ]
    return [*dict.fromkeys(found)]


def within(here: Desk, **environ: str) -> Surroundings:
    return replace(here.surroundings, environ={**here.surroundings.environ, **environ})


def test_claude_code(here: Desk) -> None:
    own = [("user", ".claude.json"), ("local", ".claude.json")]
    assert looked_at("claude", here.surroundings) == [*own, ("project", "project/.mcp.json")]
    chosen = within(here, CLAUDE_CONFIG_DIR=str(here.home / "cc"))
    assert looked_at("claude", chosen)[0] == ("user", "cc/.claude.json")
    here.write(here.home / ".claude" / ".config.json", "{}")
    assert looked_at("claude", here.surroundings)[0] == ("user", ".claude/.config.json")


def test_claude_code_knows_servers_of_the_repository_and_of_the_folder_it_is_in(here: Desk) -> None:
    inner = here.project / "src" / "deep"
    inner.mkdir(parents=True)
    here.write(here.project / ".mcp.json", "{}")
    places = CLIENTS["claude"].places(replace(here.surroundings, directory=inner))
    folders = [inner, inner.parent, here.project]
    assert [place.keys[1] for place in places if place.scope == "local"] == [str(folder) for folder in folders]
    assert [place.path for place in places if place.scope == "project"] == [
        inner / ".mcp.json",
        here.project / ".mcp.json",
    ]


def test_claude_code_knows_a_worktree_by_its_repository_and_shared_files_up_to_the_root(here: Desk) -> None:
    tree, git = here.home / "tree", here.project / ".git" / "worktrees" / "tree"
    here.write(git / "commondir", "../..\n")
    here.write(tree / ".git", f"gitdir: {git}\n")
    here.write(here.home / ".mcp.json", "{}")
    places = CLIENTS["claude"].places(replace(here.surroundings, directory=tree))
    assert [place.keys[1] for place in places if place.scope == "local"] == [str(tree), str(here.project)]
    assert [place.path for place in places if place.scope == "project"] == [
        tree / ".mcp.json",
        here.home / ".mcp.json",
    ]


def test_codex(here: Desk) -> None:
    shared = ("project", "project/.codex/config.toml")
    assert looked_at("codex", here.surroundings) == [("user", ".codex/config.toml"), shared]
    chosen = within(here, CODEX_HOME=str(here.home / "cx"))
    assert looked_at("codex", chosen) == [("user", "cx/config.toml"), shared]


def test_cursor(here: Desk) -> None:
    assert looked_at("cursor", here.surroundings) == [
        ("user", ".cursor/mcp.json"),
        ("project", "project/.cursor/mcp.json"),
    ]


def test_vs_code(here: Desk) -> None:
    shared = ("project", "project/.vscode/mcp.json")
    assert looked_at("vscode", here.surroundings) == [("user", ".config/Code/User/mcp.json"), shared]
    for name in ("Code/User/profiles/-12ab/mcp.json", "Code - Insiders/User/mcp.json"):
        here.write(here.home / ".config" / name, "{}")
    assert looked_at("vscode", here.surroundings) == [
        ("user", ".config/Code/User/mcp.json"),
        ("user", ".config/Code/User/profiles/-12ab/mcp.json"),
        ("user", ".config/Code - Insiders/User/mcp.json"),
        shared,
    ]
    assert looked_at("vscode", within(here, XDG_CONFIG_HOME=str(here.home / "x")))[0][1] == "x/Code/User/mcp.json"
    assert looked_at("vscode", replace(here.surroundings, platform="darwin"))[0][1] == (
        "Library/Application Support/Code/User/mcp.json"
    )
    portable = within(here, VSCODE_PORTABLE=str(here.home / "p"))
    assert looked_at("vscode", portable)[0][1] == "p/user-data/User/mcp.json"


@pytest.mark.parametrize("client", ["cursor", "codex"])
def test_the_home_folder_as_a_project_has_no_shared_file_of_its_own(here: Desk, client: ClientName) -> None:
    at_home = replace(here.surroundings, directory=here.home)
    assert [place.scope for place in CLIENTS[client].places(at_home)] == ["user"]


def test_a_client_without_a_config_is_nothing_to_do_and_it_says_where_it_looked(here: Desk) -> None:
    report = here.run("install", "cursor")
    assert (report.files, report.looked_at) == ((), (here.home / ".cursor" / "mcp.json",))


# What is not ours to change


def test_servers_of_plugins_are_named_with_the_reason(here: Desk) -> None:
    plugin = here.home / "somewhere" / "plugin"
    here.write(plugin / ".mcp.json", '{"mcpServers": {"p1": {"command": "x"}}}')
    flat = here.home / "somewhere" / "flat"
    here.write(flat / ".mcp.json", '{"p2": {"command": "x"}}')
    inline = here.home / "somewhere" / "inline"
    here.write(inline / ".claude-plugin" / "plugin.json", '{"mcpServers": {"p3": {"command": "x"}}}')
    installed = {
        "version": 2,
        "plugins": {
            "a@shop": [{"installPath": str(plugin)}],
            "b@shop": [{"installPath": str(flat)}],
            "c@shop": [{"installPath": str(inline)}],
            "gone@shop": [{"installPath": str(here.home / "gone")}, "odd", None],
            "odd@shop": None,
        },
    }
    here.write(here.home / ".claude" / "plugins" / "installed_plugins.json", json.dumps(installed))
    reason = "it comes with a plugin, whose files every update replaces"
    found = here.run("install", "claude").elsewhere
    assert [(one.name, one.source, one.reason) for one in found] == [
        ("p1", "plugin a@shop", reason),
        ("p2", "plugin b@shop", reason),
        ("p3", "plugin c@shop", reason),
    ]


@pytest.mark.parametrize("content", ["", "[]", '{"plugins": []}', "{", "[" * 100_000])
def test_a_list_of_plugins_that_is_broken_harms_nothing(here: Desk, content: str) -> None:
    here.write(here.home / ".claude" / "plugins" / "installed_plugins.json", content)
    assert here.run("install", "claude").elsewhere == ()


# Names


@pytest.mark.parametrize(
    ("only", "says"),
    [
        ("gihub", "Cursor has no server 'gihub'; did you mean 'github'?"),
        ("zzz", "Cursor has no server 'zzz'; the servers are files, github, team."),
        ("team", "'team' is a server of another scope: add --scope project"),
    ],
)
def test_a_name_that_nothing_has_is_refused_with_the_nearest(here: Desk, only: str, says: str) -> None:
    before = here.write(here.own("cursor"), '{"mcpServers": {"github": {"command": "x"}, "files": {"command": "y"}}}')
    here.write(here.shared("cursor"), '{"mcpServers": {"team": {"command": "x"}}}')
    with pytest.raises(UnknownServer) as refused:
        here.run("install", "cursor", only=("files", only))
    assert str(refused.value) == says
    assert here.own("cursor").read_bytes() == before


def test_a_scope_that_a_client_does_not_have_is_refused(here: Desk) -> None:
    with pytest.raises(HostError, match=r"^Codex has no scope local: it has user and project$"):
        here.run("install", "codex", scopes=("local",))


# How pi-intent is started


def test_a_config_gets_the_script_beside_the_python_that_runs_us(tmp_path: Path) -> None:
    script = tmp_path / "pi-intent"
    script.touch(0o755)
    assert own_launcher(str(tmp_path / "python")).command == str(script)
    script.unlink()
    module = own_launcher(str(tmp_path / "python"))
    assert (module.command, module.arguments) == (str(tmp_path / "python"), ("-m", "pi_intent"))


def test_without_a_script_it_is_started_as_a_module_and_comes_back_all_the_same(here: Desk) -> None:
    path = here.own("cursor")
    before = here.write(path, '{"mcpServers": {"a": {"command": "x"}, "b": {"command": "x", "args": ["y"]}}}')
    module = type(OURS)(command="/opt/python3", arguments=("-m", "pi_intent"))
    here.run("install", "cursor", launcher=module)
    servers = json.loads(path.read_text())["mcpServers"]
    assert servers["b"] == {
        "command": "/opt/python3",
        "args": ["-m", "pi_intent", "mcp", "wrap", "--server", "b", "x", "y"],
    }
    here.run("uninstall", "cursor")
    assert path.read_bytes() == before


# Status


def test_the_standing_of_each_server_is_told_with_the_reason(here: Desk) -> None:
    servers = {
        "mine": {"command": "/nowhere/pi-intent", "args": ["mcp", "wrap", "x"]},
        "hand": {"command": "pi-intent", "args": ["mcp", "wrap", "x"]},
        "open": {"command": "x"},
        "web": {"url": "https://mcp.example.com"},
    }
    here.write(here.own("cursor"), json.dumps({"mcpServers": servers}))
    here.write(here.shared("cursor"), "{")
    own, shared = standing(CLIENTS["cursor"], here.surroundings).places
    assert [(one.name, one.standing, one.reason) for one in own.servers] == [
        ("mine", "broken", "/nowhere/pi-intent is not there any more"),
        ("hand", "wrapped", ""),
        ("open", "unwrapped", ""),
        ("web", "unwrappable", "it is remote (url): there is no process to start"),
    ]
    assert shared.error == f"{here.shared('cursor')} ends before what it opened is closed (line 1): correct it there"
