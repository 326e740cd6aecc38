"""A real client that asks a person for the proxy: the Python SDK's, with servers of both eras."""

from __future__ import annotations

from typing import Any

import pytest
from mcp_world import FIRST, SECOND, SERVERS, THIRD, Desk, Server

from pi_intent.hosts.mcp.questions import DENY, ONCE, SESSION

ERAS = [("git", "auto", "2026-07-28"), ("git", "legacy", "2025-11-25"), ("memory", "auto", "2025-11-25")]
LAST = "WET"


@pytest.fixture(autouse=True)
def asks(desk: Desk) -> None:
    (desk.project / ".pi-intent.toml").write_text('ask = "write"\n')


def chosen(decision: str, **note: str) -> dict[str, Any]:
    return {"action": "accept", "content": {"decision": decision, **note}}


def calls(desk: Desk, server: Server, *words: str) -> list[dict[str, Any]]:
    """One call for each word."""
    return [
        {"name": server.tool, "arguments": {"intent": f"Try {word}", **server.arguments(desk, word)}}
        for word in words
    ]


@pytest.mark.parametrize(("name", "mode", "protocol"), ERAS)
def test_a_person_approves_once_and_for_the_session_and_denies(
    desk: Desk, name: str, mode: str, protocol: str
) -> None:
    server = SERVERS[name]
    made = calls(desk, server, FIRST, SECOND, SECOND, THIRD, LAST)
    answers = [chosen(ONCE), chosen(SESSION), chosen(DENY, note="Not the third."), {"action": "cancel"}]
    (told,) = desk.ask_sdk({"command": desk.wrapped(server), "mode": mode, "calls": made, "answers": answers})

    assert told["protocol"] == protocol
    assert len(told["asked"]) == 4
    for message, word in zip(told["asked"], (FIRST, SECOND, THIRD, LAST), strict=True):
        assert message.startswith(f"Wants to run {server.tool} of {name} in /")
        assert f'"{word}"' in message
        assert f"> Try {word}" in message
    third, last = told["results"][3:]
    assert third["isError"]
    assert third["text"].endswith("The answer was: Not the third.")
    assert "Do not try it again in other words" in last["text"]
    assert [parameters["arguments"] for parameters in desk.reached(server)] == [
        server.arguments(desk, word) for word in (FIRST, SECOND, SECOND)
    ]
    assert server.done(desk)[:2] == [FIRST, SECOND]
    assert [[(one.approved, one.by) for one in call.decisions] for call in desk.ledger] == [
        [(None, None), (True, "application")],
        [(None, None), (True, "application")],
        [(True, "grant")],
        [(None, None), (False, "application")],
        [(None, None), (False, "application")],
    ]


@pytest.mark.parametrize(("name", "mode", "protocol"), ERAS)
def test_calls_at_the_same_time_are_each_asked_about(desk: Desk, name: str, mode: str, protocol: str) -> None:
    server = SERVERS[name]
    task = {"command": desk.wrapped(server), "mode": mode, "at_once": True}
    made = calls(desk, server, FIRST, SECOND, THIRD)
    (told,) = desk.ask_sdk({**task, "calls": made, "answers": [chosen(ONCE), chosen(ONCE), chosen(DENY)]})
    assert (told["protocol"], len(told["asked"])) == (protocol, 3)
    assert [result["isError"] for result in told["results"]].count(True) == 1
    assert len(desk.reached(server)) == 2


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_client_that_shows_no_forms_gets_no(desk: Desk, mode: str) -> None:
    server = SERVERS["git"]
    (told,) = desk.ask_sdk({"command": desk.wrapped(server), "mode": mode, "calls": calls(desk, server, FIRST)})
    assert "nobody can be asked in this session" in told["results"][0]["text"]
    assert server.done(desk) == []
