"""Install, edit by hand, uninstall: of a client's config only the command lines change, and they come back."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from client_configs import CLAUDE, OURS, SAMPLES, SHARED, WRAPPED, Desk, as_wrapped, desk, entries, meaning

from pi_intent.hosts.mcp.clients.client import ClientName

LAYOUTS: dict[str, Callable[[str], str]] = {
    "as it is": lambda text: text,
    "CRLF": lambda text: text.replace("\n", "\r\n"),
    "byte order mark": lambda text: f"\ufeff{text}",
    "no final newline": lambda text: text.rstrip("\n"),
    "many final newlines": lambda text: f"{text}\n\n \n",
    "tabs": lambda text: text.replace("  ", "\t"),
    "another alphabet": lambda text: (
        text.replace("not-a-token", "日本語").replace("first", "première").replace("API key", "Schlüssel")
    ),
}
EVERY = [pytest.param(client, layout, id=f"{client}, {layout}") for client in SAMPLES for layout in LAYOUTS]


@pytest.fixture
def here(tmp_path: Path) -> Desk:
    return desk(tmp_path)


@pytest.mark.parametrize(("client", "layout"), EVERY)
def test_installing_changes_the_command_lines_and_nothing_else_means_anything_else(
    here: Desk, client: ClientName, layout: str
) -> None:
    path = here.own(client)
    before = here.write(path, LAYOUTS[layout](SAMPLES[client])).decode()
    (result,) = here.run("install", client).files
    assert result.action == "changed"
    assert {one.name for one in result.servers if one.state == "wrapped"} == {*WRAPPED[client]}
    assert meaning(path.read_bytes().decode(), client) == as_wrapped(meaning(before, client), client)


@pytest.mark.parametrize(("client", "layout"), EVERY)
def test_what_was_not_touched_in_between_comes_back_byte_for_byte(
    here: Desk, client: ClientName, layout: str
) -> None:
    path = here.own(client)
    before = here.write(path, LAYOUTS[layout](SAMPLES[client]))
    here.run("install", client)
    once = path.read_bytes()
    assert once != before
    assert [file.action for file in here.run("install", client).files] == ["unchanged"]
    assert path.read_bytes() == once
    here.run("uninstall", client)
    assert path.read_bytes() == before
    assert [file.action for file in here.run("uninstall", client).files] == ["unchanged"]
    assert path.read_bytes() == before


@pytest.mark.parametrize("client", SAMPLES)
def test_every_line_that_stays_is_the_same_line(here: Desk, client: ClientName) -> None:
    path = here.own(client)
    before = here.write(path, SAMPLES[client]).decode().splitlines(keepends=True)
    here.run("install", client)
    after = path.read_bytes().decode().splitlines(keepends=True)
    unchanged = [line for line in before if "command" not in line and "args" not in line and "-y" not in line]
    kept = iter(after)
    assert all(line in kept for line in unchanged if '"run"' not in line)


# Edits by hand


def edited(here: Desk, client: ClientName, edit: Callable[[str], str]) -> tuple[str, str]:
    """Install, edit, uninstall; return what the config was with the same edit alone, and what it is."""
    path = here.own(client)
    before = here.write(path, SAMPLES[client]).decode()
    here.run("install", client)
    installed = path.read_bytes().decode()
    assert edit(installed) != installed
    path.write_bytes(edit(installed).encode())
    here.run("uninstall", client)
    return edit(before), path.read_bytes().decode()


EDITS: dict[str, tuple[ClientName, Callable[[str], str]]] = {
    "a server more": ("claude", lambda text: text.replace('"sentry": {', '"new": {"command": "n"},\n"sentry": {')),
    "an argument more": ("claude", lambda text: text.replace('server-github"', 'server-github", "--read-only"')),
    "an argument less": ("cursor", lambda text: text.replace(',"."', "")),
    "another value": ("claude", lambda text: text.replace("not-a-token", "another")),
    "a server less": ("vscode", lambda text: re.sub('"boxed": {.*},', "", text)),
    "a comment": ("vscode", lambda text: text.replace('"servers": {', '"servers": { // mine')),
    "a comment after the command": ("codex", lambda text: text.replace("# node", "# node, of course")),
    "a line in a table": ("codex", lambda text: text.replace("startup_timeout_sec = 20", "enabled = true")),
    "a table more": ("codex", lambda text: f'{text}\n[mcp_servers2.x]\ncommand = "y"\n'),
}  # fmt: skip


@pytest.mark.parametrize("edit", EDITS)
def test_what_was_edited_in_between_stays_and_only_our_words_go(here: Desk, edit: str) -> None:
    client, by_hand = EDITS[edit]
    expected, found = edited(here, client, by_hand)
    assert found == expected


def test_a_client_that_lays_its_file_out_anew_loses_nothing(here: Desk) -> None:
    def lay_out(text: str) -> str:
        return json.dumps(json.loads(text), indent=2, ensure_ascii=False)

    expected, found = edited(here, "claude", lay_out)
    assert found == expected


def test_a_comment_that_somebody_put_between_our_words_is_kept(here: Desk) -> None:
    path = here.own("cursor")
    here.write(path, '{"mcpServers": {"a": {"command": "npx", "args": ["-y", "x"]}}}')
    here.run("install", "cursor")
    text = path.read_text().replace('"wrap",', '"wrap", /* why, */ ').replace('"mcp",', '"mcp", // intents\n')
    path.write_text(text)
    here.run("uninstall", "cursor")
    assert "// intents\n" in path.read_text()
    assert "/* why, */" in path.read_text()
    assert entries(meaning(path.read_text(), "cursor")) == {"a": {"command": "npx", "args": ["-y", "x"]}}


def test_arguments_given_to_a_server_that_had_none_stay_as_its_list(here: Desk) -> None:
    path = here.own("claude")
    here.write(path, '{"mcpServers": {"a": {"command": "npx"}}}')
    here.run("install", "claude")
    path.write_text(path.read_text().replace('"npx"]', '"npx", "--fast"]'))
    here.run("uninstall", "claude")
    assert path.read_text() == '{"mcpServers": {"a": {"command": "npx", "args": ["--fast"]}}}'


def test_options_that_somebody_gave_the_proxy_stay_on_the_next_install_and_go_with_the_last(here: Desk) -> None:
    path = here.own("claude")
    before = here.write(path, CLAUDE)
    here.run("install", "claude")
    path.write_text(path.read_text().replace('"wrap",', '"wrap", "--policy", "require", "--tools=read_*",'))
    strict = path.read_bytes()
    here.run("install", "claude")
    assert path.read_bytes() == strict
    here.run("uninstall", "claude")
    assert meaning(path.read_text(), "claude") == meaning(before.decode(), "claude")


@pytest.mark.parametrize(
    ("entry", "bare"),
    [
        ('{"command": "pi-intent", "args": ["mcp", "wrap", "a", "-y"]}', '{"command": "a", "args": ["-y"]}'),
        (
            '{"command": "/v/bin/python3.13", "args": ["-m", "pi_intent", "mcp", "wrap", "--", "x"]}',
            '{"command": "x", "args": []}',
        ),
        ('{"args": ["mcp","wrap","--server=a","x"], "command": "pi-intent"}', '{"command": "x"}'),
        (
            '{"command": "pi-intent", "args": ["mcp", "wrap", "/v/pi-intent", "mcp", "wrap", "--server", "b", "x"]}',
            '{"command": "x", "args": []}',
        ),
    ],
)  # fmt: skip
def test_a_server_that_was_wrapped_by_hand_is_known_and_unwrapped(here: Desk, entry: str, bare: str) -> None:
    path = here.own("cursor")
    before = here.write(path, f'{{"mcpServers": {{"a": {entry}}}}}')
    assert here.run("install", "cursor").files[0].servers[0].state == "already"
    assert path.read_bytes() == before
    here.run("uninstall", "cursor")
    assert entries(meaning(path.read_text(), "cursor"))["a"] == json.loads(bare)


@pytest.mark.parametrize(
    "entry",
    [
        '{"command": "uvx", "args": ["pi-intent@1.0", "mcp", "wrap", "npx", "x"]}',
        '{"command": "sh", "args": ["-c", "exec pi-intent mcp wrap npx x"]}',
        '{"command": "pi-intent", "args": ["mcp", "wrap", "--unheard-of", "1", "npx"]}',
        '{"command": "pi-intent", "args": ["mcp", "wrap"]}',
    ],
)
def test_a_form_whose_undoing_could_lose_something_is_left_with_a_reason(here: Desk, entry: str) -> None:
    path = here.own("cursor")
    before = here.write(path, f'{{"mcpServers": {{"a": {entry}}}}}')
    assert here.run("install", "cursor").files[0].servers[0].state == "already"
    (server,) = here.run("uninstall", "cursor").files[0].servers
    assert server.state == "left"
    assert server.reason.endswith(": take that out by hand")
    assert path.read_bytes() == before


def test_a_pi_intent_that_is_gone_is_replaced_by_the_present_one_and_the_rest_stays(
    here: Desk, tmp_path: Path
) -> None:
    path = here.own("claude")
    before = here.write(path, CLAUDE)
    here.run("install", "claude")
    (tmp_path / "bin").mkdir()
    present = tmp_path / "bin" / "pi-intent"
    present.touch()
    moved = type(OURS)(command=str(present))
    (result,) = here.run("install", "claude", launcher=moved).files
    assert {one.state for one in result.servers} == {"relaunched", "left"}
    assert meaning(path.read_text(), "claude") == as_wrapped(
        meaning(before.decode(), "claude"), "claude", str(present)
    )
    assert here.run("install", "claude", launcher=OURS).files[0].action == "unchanged"  # that one is there
    here.run("uninstall", "claude")
    assert path.read_bytes() == before


# What is not wrapped


REASONS: dict[ClientName, dict[str, str]] = {
    "claude": {"sentry": "it is remote (http): there is no process to start through pi-intent"},
    "cursor": {
        "remote": "it is remote (url): there is no process to start",
        "line": "its command is a whole command line: split it into command and args",
        "home": "its command begins with ~, which stands for a home folder there only: write the whole path",
    },
    "vscode": {
        "boxed": "VS Code runs it in a sandbox, from which pi-intent could not write its ledger",
        "mine": "it is under development: VS Code's debugger starts its command itself",
        "web": "it is remote (http): there is no process to start through pi-intent",
    },
    "codex": {
        "remote": "it is remote (url): there is no process to start",
        "far": "it runs in another environment, where there is no pi-intent",
        "farther": "it runs in another environment, where there is no pi-intent",
    },
}


@pytest.mark.parametrize("client", SAMPLES)
def test_what_cannot_be_wrapped_is_named_with_the_reason(here: Desk, client: ClientName) -> None:
    here.write(here.own(client), SAMPLES[client])
    (result,) = here.run("install", client).files
    assert {one.name: one.reason for one in result.servers if one.state == "left"} == REASONS[client]


@pytest.mark.parametrize(
    ("name", "entry", "reason"),
    [
        ("a", '{"command": 3}', "its command is not a text"),
        ("a", '{"command": "x", "args": "y"}', "its args are not a list of texts"),
        ("a", '{"command": "x", "args": ["y", 1]}', "its args are not a list of texts"),
        ("a", '{"command": "x", "args": null}', "its args are not a list of texts"),
        ("a", '{"command": ""}', "its command is empty"),
        ("a", '{"command": "/opt/pi-intent", "args": ["log"]}', "its command is pi-intent itself"),
        ("a", '{"command": "-x"}', "its command begins with -, which would be read as an option"),
        ("a", "[]", "its entry is not an object"),
        ("a", "{}", "it has no command"),
        ("-a", '{"command": "x"}', "its name cannot be passed on as an argument: give it another one"),
        ("${a}", '{"command": "x"}', "its name cannot be passed on as an argument: give it another one"),
        ("\\ud800", '{"command": "x"}', "its name cannot be passed on as an argument: give it another one"),
    ],
)
def test_an_entry_that_is_odd_is_left_alone(here: Desk, name: str, entry: str, reason: str) -> None:
    before = here.write(here.own("cursor"), f'{{"mcpServers": {{"{name}": {entry}}}}}')
    (server,) = here.run("install", "cursor").files[0].servers
    assert (server.state, server.reason) == ("left", reason)
    assert here.own("cursor").read_bytes() == before


def test_a_command_with_a_space_in_its_path_is_a_path_where_there_is_such_a_file(here: Desk) -> None:
    program = here.home / "my tools" / "server"
    here.write(program, "")
    path = here.own("cursor")
    here.write(path, json.dumps({"mcpServers": {"a": {"command": str(program)}}}))
    here.run("install", "cursor")
    assert entries(json.loads(path.read_text()))["a"]["args"] == ["mcp", "wrap", "--server=a", str(program)]


@pytest.mark.parametrize("text", ["", "// nothing yet\n", "{}", '{"mcpServers": {}}', '{"mcpServers": {\n}}\n'])
def test_a_config_without_servers_is_nothing_to_do(here: Desk, text: str) -> None:
    here.write(here.own("cursor"), text)
    (result,) = here.run("install", "cursor").files
    assert (result.action, result.servers) == ("unchanged", ())


# Scopes


def test_files_that_others_share_are_left_alone_unless_asked_for_and_get_no_path_of_this_machine(here: Desk) -> None:
    shared = here.shared("claude")
    before = here.write(shared, '{"mcpServers": {"team": {"command": "npx", "args": ["t"]}}}')
    here.write(here.own("claude"), CLAUDE)
    report = here.run("install", "claude")
    assert shared.read_bytes() == before
    assert report.hints == (
        f"{shared} is shared with everyone who has the project and was left alone (team): "
        "add --scope project to install there",
    )
    here.run("install", "claude", scopes=("project",))
    assert entries(json.loads(shared.read_text()))["team"] == {
        "command": SHARED.command,
        "args": ["mcp", "wrap", "--server", "team", "npx", "t"],
    }
    here.run("uninstall", "claude", scopes=("project",))
    assert shared.read_bytes() == before


def test_only_the_servers_that_were_named_are_touched(here: Desk) -> None:
    path = here.own("claude")
    here.write(path, CLAUDE)
    here.run("install", "claude", only=("notes", "db"))
    found = entries(json.loads(path.read_text()))
    assert {name for name, entry in found.items() if entry.get("command") == OURS.command} == {"notes", "db"}


def test_one_scope_of_a_file_that_holds_two_can_be_asked_for(here: Desk) -> None:
    path = here.own("claude")
    here.write(path, CLAUDE)
    here.run("install", "claude", scopes=("local",))
    found = entries(json.loads(path.read_text()))
    assert {name for name, entry in found.items() if entry.get("command") == OURS.command} == {"db"}
