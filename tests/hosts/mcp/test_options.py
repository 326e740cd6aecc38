"""The proxy's own command line ends where the server's begins."""

from __future__ import annotations

import pytest

from pi_intent.hosts.mcp.options import WrapOptions, WrongUsage, read_options, server_name


@pytest.mark.parametrize(
    ("words", "options"),
    [
        (["srv"], WrapOptions(("srv",))),
        (["srv", "--policy", "x", "-h"], WrapOptions(("srv", "--policy", "x", "-h"))),
        (["--", "srv", "--", "a"], WrapOptions(("srv", "--", "a"))),
        (["--policy", "require", "srv"], WrapOptions(("srv",), policy="require")),
        (["--policy=omit", "--policy=derive", "srv"], WrapOptions(("srv",), policy="derive")),
        (
            ["--tools", "a*", "--tools=b", "--exempt", "c", "--server", "s", "srv", "x"],
            WrapOptions(("srv", "x"), tools=("a*", "b"), exempt=("c",), server="s"),
        ),
    ],
)
def test_options_are_read_up_to_the_command(words: list[str], options: WrapOptions):
    assert read_options(words) == options


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ([], "the command that starts the server is missing"),
        (["--"], "the command that starts the server is missing"),
        (["--policy"], "--policy needs a value"),
        (["--policy", "maybe", "srv"], "--policy must be one of"),
        (["--polcy", "require", "srv"], "there is no option --polcy"),
        (["-x", "srv"], "there is no option -x"),
    ],
)
def test_a_wrong_command_line_is_one_sentence(words: list[str], why: str):
    with pytest.raises(WrongUsage, match=why):
        read_options(words)


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("npx -y @modelcontextprotocol/server-everything", "server-everything"),
        ("npx @acme/tools@1.2 --flag", "tools"),
        ("uvx mcp-server-git --repository .", "mcp-server-git"),
        ("python3.12 -m mcp_server_time", "mcp_server_time"),
        ("node /opt/x/build/index.js", "index"),
        ("/usr/local/bin/my-server", "my-server"),
        ("npx", "npx"),
        ("python", "python"),
    ],
)
def test_a_server_is_called_after_its_program(command: str, name: str):
    assert server_name(command.split()) == name
