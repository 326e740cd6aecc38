"""Check-ins between a raw client and the hostile server, over pipes: what the ledger keeps, and how sessions end."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from ledger_schema import assert_records_fit
from mcp_peer import Outcome, Peer, lines_of
from mcp_scenarios import environment, server_command, wrapped_command
from user_config import write_config

from pi_intent.hosts.mcp.questions import DENY, ONCE
from pi_intent.ledger.calls import calls

MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}},
}
ASKS = 'ask = "write"\n[tools]\n"hostile/die" = { tier = "read" }\n"hostile/ask" = { tier = "read" }\n'


class Talk:
    """A client that can show forms, and what it knows of the ledger."""

    def __init__(self, peer: Peer, folder: Path, *, modern: bool) -> None:
        self.peer = peer
        self.folder = folder
        self.modern = modern
        self.made: dict[object, dict[str, Any]] = {}
        if not modern:
            capabilities = {"elicitation": {}}
            self.request("init", "initialize", {"protocolVersion": "2025-11-25", "capabilities": capabilities})
            self.send({"method": "notifications/initialized"})
        self.request("list", "tools/list", {})

    def send(self, message: Mapping[str, Any]) -> None:
        self.peer.send(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def request(self, number: object, method: str, params: dict[str, Any], *, hears: str | None = None) -> Any:
        if self.modern:
            params = {**params, "_meta": MODERN}
        self.made[number] = params
        self.send({"id": number, "method": method, "params": params})
        return self.hear(hears or f'"id":{json.dumps(number)},')

    def hear(self, text: str) -> Any:
        return json.loads(self.peer.wait_for(text.encode()))

    def call(self, number: object, name: str, **arguments: Any) -> tuple[str, str]:
        """Make a call that is asked about; return the key of the question and its text."""
        params = {"name": name, "arguments": arguments}
        message = self.request(number, "tools/call", params, hears="elicitation/create")
        if not self.modern:
            return message["id"], message["params"]["message"]
        (asked,) = message["result"]["inputRequests"].values()
        return message["result"]["requestState"], asked["params"]["message"]

    def choose(self, number: object, key: str, decision: str) -> Any:
        """Answer a question about the call `number`; return what comes of the call."""
        result = {"action": "accept", "content": {"decision": decision}}
        if not self.modern:
            self.send({"id": key, "result": result})
            return self.hear(f'"id":{json.dumps(number)},')
        again = {**self.made[number], "inputResponses": {"pi-intent": result}, "requestState": key}
        return self.request(f"{number} again", "tools/call", again)

    def ledger(self) -> list[tuple[str, str, list[tuple[bool | None, str | None]]]]:
        """Each call: its tool, how it ended, and the decisions on it."""
        root = self.folder / "project" / ".git" / "pi-intent"
        assert_records_fit((root / "ledger").glob("*.jsonl"))
        return [
            (
                call.call.tool if call.call else "",
                call.done.status if call.done else call.state,
                [(decision.approved, decision.by) for decision in call.decisions],
            )
            for call in calls(root)
        ]

    def reached(self) -> list[Any]:
        """The calls that the server got."""
        messages = [json.loads(line) for line in lines_of((self.folder / "record").read_bytes())]
        return [message for message in messages if message.get("method") == "tools/call"]


type Start = Callable[..., Talk]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    peers: list[Peer] = []

    def started(*, modern: bool = False, **options: Any) -> Talk:
        project = tmp_path / "project"
        subprocess.run(["git", "init", "-q", str(project)], check=True)
        write_config(tmp_path / ".config", ASKS)
        command = wrapped_command(server_command(options, tmp_path / "record"), "--server", "hostile")
        peers.append(Peer(command, cwd=project, env=environment(tmp_path)))
        return Talk(peers[0], tmp_path, modern=modern)

    yield started
    for peer in peers:
        with peer:
            pass


@pytest.mark.parametrize("modern", [False, True], ids=["handshake", "modern"])
def test_the_ledger_keeps_what_was_asked_and_what_was_answered(start: Start, modern: bool):
    talk = start(modern=modern)
    key, _ = talk.call(1, "echo", intent="See it", text="x")
    answer = talk.choose(1, key, ONCE)
    assert answer["result"]["content"] == [{"type": "text", "text": '{"text":"x"}'}]
    key, text = talk.call(2, "echo", text="y" * 20_000)
    assert len(text) > 20_000
    assert talk.choose(2, key, DENY)["result"]["isError"] is True
    assert talk.peer.finish().code == 0
    (sent,) = talk.reached()
    assert {"name": "echo", "arguments": {"text": "x"}}.items() <= sent["params"].items()
    assert b"pi-intent" not in (talk.folder / "record").read_bytes()
    assert talk.ledger() == [
        ("echo", "ok", [(None, None), (True, "application")]),
        ("echo", "denied", [(None, None), (False, "application")]),
    ]


def ended_while_asked(talk: Talk, outcome: Outcome) -> None:
    """The call was ended once, the question taken back, and the server never saw it."""
    said = [json.loads(line) for line in outcome.lines]
    (question,) = [message for message in said if message.get("method") == "elicitation/create"]
    withdrawn = [message for message in said if message.get("method") == "notifications/cancelled"]
    assert [message["params"]["requestId"] for message in withdrawn] == [question["id"]]
    (answer,) = [message for message in said if message.get("id") == 1]
    assert "Nothing was executed" in answer["result"]["content"][0]["text"]
    assert "echo" not in [sent["params"]["name"] for sent in talk.reached()]
    assert talk.ledger()[0] == ("echo", "interrupted", [(None, None), (False, "cancelled")])


@pytest.mark.parametrize(
    ("how", "code"), [({"how": "exit", "code": 7}, 7), ({"how": "signal", "code": int(signal.SIGKILL)}, 128 + 9)]
)
def test_a_server_that_dies_while_somebody_is_asked(start: Start, how: dict[str, Any], code: int):
    talk = start()
    talk.call(1, "echo", text="x")
    talk.send({"id": 2, "method": "tools/call", "params": {"name": "die", "arguments": how}})
    outcome = talk.peer.outcome()
    assert outcome.code == code
    ended_while_asked(talk, outcome)


@pytest.mark.parametrize("how", ["deaf", "mute"])
def test_a_server_that_neither_hears_nor_speaks_while_somebody_is_asked(start: Start, how: str):
    talk = start()
    talk.call(1, "echo", text="x")
    talk.send({"id": 2, "method": "tools/call", "params": {"name": "die", "arguments": {"how": how}}})
    talk.send({"id": 3, "method": "ping"})  # what a deaf one does not take tells that it is
    ended_while_asked(talk, talk.peer.outcome())


def test_a_client_that_ends_while_it_asks(start: Start):
    talk = start()
    talk.call(1, "echo", text="x")
    ended_while_asked(talk, talk.peer.finish())


def test_a_client_that_ends_while_it_asks_is_answered_before_the_last_of_the_server(start: Start):
    talk = start(at_end="late")
    talk.call(1, "echo", text="x")
    said = talk.peer.finish().stdout
    assert 0 < said.index(b'"isError":true') < said.index(b'"late"')


def test_a_signal_while_somebody_is_asked(start: Start):
    talk = start()
    talk.call(1, "echo", text="x")
    talk.peer.signal(signal.SIGTERM)
    outcome = talk.peer.outcome()
    assert outcome.code == 128 + signal.SIGTERM
    ended_while_asked(talk, outcome)


def test_a_client_of_the_later_era_that_never_comes_back(start: Start):
    talk = start(modern=True)
    talk.call(1, "echo", text="x")
    assert talk.peer.finish().code == 0
    assert talk.ledger() == [("echo", "interrupted", [(None, None), (False, "cancelled")])]


def test_a_servers_own_questions_go_their_way_beside_ours(start: Start):
    talk = start()
    key, _ = talk.call(1, "echo", text="x")
    answer = {"action": "accept", "content": {"decision": ONCE}}
    for number, alike in enumerate((1, "1", f"{key}0", key.upper()), start=2):
        theirs = {"id": alike, "method": "elicitation/create", "params": {"message": f"Question {number}?"}}
        heard = talk.request(number, "tools/call", {"name": "ask", "arguments": theirs}, hears=f"Question {number}?")
        assert heard == {"jsonrpc": "2.0", **theirs}
        talk.send({"id": alike, "result": answer})
        told = json.loads(talk.hear(f'"id":{number},')["result"]["content"][0]["text"])
        assert told == {"jsonrpc": "2.0", "id": alike, "result": answer}
    assert talk.choose(1, key, ONCE)["result"]["content"] == [{"type": "text", "text": '{"text":"x"}'}]


@pytest.mark.parametrize(
    ("settings", "is_loaded"),
    [("", False), ('policy = "require"\n', False), ('[tools]\n"x" = { tier = "read" }\n', False), (ASKS, True)],
)
def test_nothing_of_it_is_loaded_where_nobody_is_asked(tmp_path: Path, settings: str, is_loaded: bool):
    write_config(tmp_path / ".config", settings)
    command = (sys.executable, "-X", "importtime", *wrapped_command(("/bin/true",))[1:])
    done = subprocess.run(
        command, cwd=tmp_path, env=environment(tmp_path), capture_output=True, timeout=60, text=True, check=True
    )
    modules = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "pi_intent.hosts.mcp.pump" in modules
    for name in ("gating", "gates.check_in", "hosts.mcp.holding", "hosts.mcp.questions", "render.check_in"):
        assert (f"pi_intent.{name}" in modules) == is_loaded, name
    assert not {"asyncio", "anyio", "rich"} & modules
