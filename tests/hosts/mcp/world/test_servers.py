"""Real servers behind the proxy, for real clients that are no agents: what is listed, refused and done."""

from __future__ import annotations

import json
from typing import Any

import pytest
from mcp_world import FIRST, SECOND, SERVERS, THIRD, Desk, Server

pytestmark = pytest.mark.one_python

REFUSAL = "Nothing was executed: `intent` is missing. Call {tool} again with `intent` first"
INSPECTOR_SAW_AN_ERROR = 5


def without_intent(schema: dict[str, Any]) -> dict[str, Any]:
    """What the server had said: our two properties come first, and only the one is required."""
    (intent, rationale), properties = list(schema["properties"])[:2], dict(list(schema["properties"].items())[2:])
    required = schema["required"]
    assert (intent, rationale, required[0], "rationale" in required) == ("intent", "rationale", "intent", False)
    rest = {key: value for key, value in schema.items() if key != "required"}
    return {**rest, "properties": properties} | ({"required": required[1:]} if required[1:] else {})


def said(desk: Desk, server: Server) -> list[tuple[str | None, str | None]]:
    """The intent and the status of each call in the ledger, in order; they are all of this server's tool."""
    for call in desk.ledger:
        assert call.call is not None
        assert (call.call.tool, call.call.tool_source, call.call.host) == (server.tool, server.name, "mcp")
    return [(call.call and call.call.intent, call.done and call.done.status) for call in desk.ledger]


@pytest.mark.parametrize(("name", "mode"), [*((name, "auto") for name in SERVERS), ("git", "legacy")])
def test_the_sdk_lists_is_refused_and_recovers(desk: Desk, name: str, mode: str) -> None:
    server = SERVERS[name]
    first, second, third = (server.arguments(desk, word) for word in (FIRST, SECOND, THIRD))
    calls = [
        {"intent": "Try the first word", **first},
        second,
        {**third, "intent": "Try the third word", "rationale": "The second was refused"},
    ]
    made = [{"name": server.tool, "arguments": arguments} for arguments in calls]
    direct, wrapped = desk.ask_sdk(
        {"command": desk.recorded(server), "mode": mode, "calls": []},
        {"command": desk.wrapped(server), "mode": mode, "calls": made},
    )

    bare = [[tool, without_intent(schema)] for tool, schema in wrapped["tools"]]
    assert {**wrapped, "tools": bare, "results": []} == direct
    assert [result["isError"] for result in wrapped["results"]] == [False, True, False]
    assert wrapped["results"][1]["text"].startswith(REFUSAL.format(tool=server.tool))
    assert server.done(desk) == [FIRST, THIRD]
    assert [parameters["arguments"] for parameters in desk.reached(server)] == [first, third]
    assert said(desk, server) == [("Try the first word", "ok"), (None, "rejected"), ("Try the third word", "ok")]


def ask_inspector(desk: Desk, server: Server, word: str, *intent: str) -> tuple[int, Any]:
    """Let the Inspector's command line call the server's tool: its exit code, and the result."""
    given = server.arguments(desk, word).items()
    written = [f"{key}={value if isinstance(value, str) else json.dumps(value)}" for key, value in given]
    # By a file: the Inspector takes a `--server` on its command line for its own, wherever it stands.
    command, *arguments = desk.wrapped(server)
    config = desk.root / "inspector.json"
    config.write_text(json.dumps({"mcpServers": {server.name: {"command": command, "args": arguments}}}))
    call = ["--method", "tools/call", "--tool-name", server.tool, "--tool-arg", *intent, *written]
    inspector = [str(desk.world.inspector), "--cli", "--config", str(config), "--server", server.name]
    done = desk.run([*inspector, *call])
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


@pytest.mark.parametrize("name", SERVERS)
def test_the_inspector_is_refused_without_an_intent_and_goes_on_with_one(desk: Desk, name: str) -> None:
    server = SERVERS[name]
    refused = ask_inspector(desk, server, FIRST)
    done = ask_inspector(desk, server, SECOND, "intent=Try the second word")

    assert (refused[0], refused[1]["isError"]) == (INSPECTOR_SAW_AN_ERROR, True)
    assert refused[1]["content"][0]["text"].startswith(REFUSAL.format(tool=server.tool))
    assert (done[0], done[1].get("isError", False)) == (0, False)
    assert server.done(desk) == [SECOND]
    assert said(desk, server) == [(None, "rejected"), ("Try the second word", "ok")]
