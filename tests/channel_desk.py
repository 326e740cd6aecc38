"""Channels in folders of their own, and who reads them."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

from pi_intent.channel import Channel, connect
from pi_intent.events import (
    ToolEvent,
    ToolExecutionEnd,
    ToolExecutionStart,
    ToolIntentUpdate,
    event_to_json,
)
from pi_intent.redaction import Redactor

SECONDS = 20  # no wait is longer
CANARY = "hunter2-correct-horse"
PHRASE = "violet umbrella sandwich factory"


def identity(number: int = 1, **more: Any) -> dict[str, Any]:
    return {
        "call_id": f"{number:026d}",
        "tool_call_id": f"tool-{number}",
        "session_id": "s-1",
        "agent_id": "main",
        "group_id": "g-1",
        "seq": number,
        "host": "tau",
        "tool_name": "bash",
    } | more


def start(number: int = 1, intent: str = "See what is there", **more: Any) -> ToolExecutionStart:
    fields = {"args": {"command": "ls"}, "intent_source": "model"} | more
    return ToolExecutionStart(**identity(number), intent=intent, **fields)


def end(number: int = 1, **more: Any) -> ToolExecutionEnd:
    return ToolExecutionEnd(**identity(number), **{"status": "ok", "is_error": False, "duration_ms": 1} | more)


def growing(intent: str, *, complete: bool = False, **more: Any) -> ToolIntentUpdate:
    return ToolIntentUpdate(**identity(**more), intent=intent, complete=complete)


class Desk:
    """A runtime folder, a ledger, and the channels and readers on it."""

    def __init__(self, folder: Path) -> None:
        self.run = folder / "run"
        self.run.mkdir()
        self.root = folder / "ledger"
        self.environ = {"XDG_RUNTIME_DIR": str(self.run), "TMPDIR": str(folder), "DEPLOY_PASSWORD": CANARY}
        self.environ["SIGNING_PASSPHRASE"] = PHRASE
        self.withheld: set[str] = set()
        self._opened: list[Channel | Reader] = []

    def channel(self, root: Path | None = None) -> Channel:
        channel = Channel.open(
            root or self.root,
            redactor=Redactor(b"key", self.environ),
            environ=self.environ,
            withholds=self.withheld.__contains__,
        )
        self._opened.append(channel)
        return channel

    def reader(self, channel: Channel) -> Reader:
        """Return a reader that the channel knows of: it has been told of a call that is in flight."""
        assert channel.path is not None
        peer = connect(channel.path)
        assert peer is not None
        peer.settimeout(SECONDS)
        reader = Reader(peer)
        self._opened.append(reader)
        return reader

    def close(self) -> None:
        for opened in self._opened:
            opened.close()


class Reader:
    def __init__(self, peer: socket.socket) -> None:
        self.peer = peer
        self._file = peer.makefile("rb")

    def close(self) -> None:
        self._file.close()
        self.peer.close()

    def line(self) -> dict[str, Any]:
        """Return the next line, {} at the end."""
        line = self._file.readline()
        return json.loads(line) if line else {}

    def lines(self, count: int) -> list[dict[str, Any]]:
        return [self.line() for _ in range(count)]

    def rest(self) -> bytes:
        return self._file.read()


def joined(desk: Desk, channel: Channel) -> Reader:
    """Return a reader that the server has accepted."""
    channel.publish(start(0))
    reader = desk.reader(channel)
    assert reader.line()["callId"] == f"{0:026d}"
    channel.publish(end(0))
    assert reader.line()["type"] == "tool_execution_end"
    return reader


def wire(event: ToolEvent) -> dict[str, Any]:
    return json.loads(event_to_json(event))


def sent(desk: Desk, *events: ToolEvent) -> list[dict[str, Any]]:
    """What a reader gets of events, up to the end of the channel."""
    channel = desk.channel()
    reader = joined(desk, channel)
    for event in events:
        channel.publish(event)
    channel.close()
    return [json.loads(line) for line in reader.rest().splitlines()]
