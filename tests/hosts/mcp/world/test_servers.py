"""Real servers behind the proxy, for real clients that are no agents: what is listed, refused and done."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from mcp_world import FIRST, SECOND, SERVERS, THIRD, Desk

from pi_intent.contract.inject import remove_intent

REFUSAL = "Nothing was executed: `intent` is missing. Call {tool} again with `intent` first"
INSPECTOR_SAW_AN_ERROR = 5
ERAS = [*((name, "auto") for name in SERVERS), ("git", "legacy")]


def ask_sdk(desk: Desk, command: list[str], mode: str, *calls: tuple[str, Any]) -> Any:
    """Let the Python SDK's client list and call."""
    script = Path(__file__).with_name("sdk_client.py")
    task = {
        "command": command,
        "mode": mode,
        "calls": [{"name": name, "arguments": arguments} for name, arguments in calls],
    }
    done = desk.run([str(desk.world.python), str(script), json.dumps(task)])
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def said(desk: Desk) -> list[tuple[str | None, str | None, str | None]]:
    """The tool, the intent and the status of each call in the ledger, in order."""
    return [
        (call.call and call.call.tool, call.call and call.call.intent, call.done and call.done.status)
        for call in desk.ledger
    ]


@pytest.mark.parametrize(("name", "mode"), ERAS)
def test_the_sdk_lists_every_tool_with_an_intent_and_is_refused_without_one(desk: Desk, name: str, mode: str) -> None:
    server = SERVERS[name]
    first, second, third = (server.arguments(desk, word) for word in (FIRST, SECOND, THIRD))
    answer = ask_sdk(
        desk,
        desk.wrapped(server),
        mode,
        (server.tool, {"intent": "Try the first word", **first}),
        (server.tool, second),
        (server.tool, {**third, "intent": "Try the third word", "rationale": "The second was refused"}),
    )

    for schema in answer["tools"].values():
        assert next(iter(schema["properties"])) == "intent"
        assert schema["required"][0] == "intent"
    refusal = answer["results"][1]
    assert [result["isError"] for result in answer["results"]] == [False, True, False]
    assert refusal["text"].startswith(REFUSAL.format(tool=server.tool))
    assert server.done(desk) == [FIRST, THIRD]
    assert [call["arguments"] for call in desk.reached(server)] == [first, third]
    assert said(desk) == [
        (server.tool, "Try the first word", "ok"),
        (server.tool, None, "rejected"),
        (server.tool, "Try the third word", "ok"),
    ]
    assert {call.call and call.call.tool_source for call in desk.ledger} == {name}


@pytest.mark.parametrize(("name", "mode"), ERAS)
def test_the_sdk_sees_the_same_server_behind_the_proxy(desk: Desk, name: str, mode: str) -> None:
    server = SERVERS[name]
    direct = ask_sdk(desk, desk.recorded(server), mode)
    wrapped = ask_sdk(desk, desk.wrapped(server), mode)

    bare = {tool: remove_intent(schema) for tool, schema in wrapped["tools"].items()}
    assert json.dumps(wrapped | {"tools": bare}) == json.dumps(direct)


def ask_inspector(desk: Desk, server: str, method: str, *options: str) -> tuple[int, Any]:
    """Let the Inspector's command line do one thing."""
    command = [str(desk.world.inspector), "--cli", *desk.wrapped(SERVERS[server]), "--method", method, *options]
    done = desk.run(command)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


@pytest.mark.parametrize("name", SERVERS)
def test_the_inspector_is_refused_without_an_intent_and_goes_on_with_one(desk: Desk, name: str) -> None:
    server = SERVERS[name]

    def call(word: str, *intent: str) -> tuple[int, Any]:
        given = server.arguments(desk, word).items()
        written = [f"{key}={value if isinstance(value, str) else json.dumps(value)}" for key, value in given]
        return ask_inspector(desk, name, "tools/call", "--tool-name", server.tool, "--tool-arg", *intent, *written)

    refused = call(FIRST)
    done = call(SECOND, "intent=Try the second word")

    assert (refused[0], refused[1]["isError"]) == (INSPECTOR_SAW_AN_ERROR, True)
    assert refused[1]["content"][0]["text"].startswith(REFUSAL.format(tool=server.tool))
    assert (done[0], done[1].get("isError", False)) == (0, False)
    assert server.done(desk) == [SECOND]
    assert said(desk) == [(server.tool, None, "rejected"), (server.tool, "Try the second word", "ok")]
