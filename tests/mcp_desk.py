"""A proxy between two lists of lines, for tests that tell what it does with each message."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from pi_intent.descriptions import model_texts
from pi_intent.events import ToolExecutionEnd, ToolExecutionStart
from pi_intent.hosts.mcp.calls import Calls
from pi_intent.hosts.mcp.holding import Holding
from pi_intent.hosts.mcp.options import read_options
from pi_intent.hosts.mcp.policy import ServerPolicy
from pi_intent.hosts.mcp.proxy import Proxy
from pi_intent.hosts.mcp.tools import Tools
from pi_intent.pipeline import Pipeline
from pi_intent.protocols import CallContext, Decision, Settlement
from pi_intent.sinks import FanOut, MemorySink
from pi_intent.types import Host, JSONObject

ECHO = {"name": "echo", "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}}}


CWD = Path("/srv/shop")
"""Where calls run, as far as a person is told."""


class Decisions:
    """A journal that keeps the decisions alone."""

    def __init__(self) -> None:
        self.made: list[Decision] = []

    def opened(self, start: ToolExecutionStart, context: CallContext) -> None:
        pass

    def decided(self, decision: Decision) -> None:
        self.made.append(decision)

    def closed(self, end: ToolExecutionEnd, settlement: Settlement) -> None:
        pass


class Session(NamedTuple):
    """What gates know of the session at a desk."""

    pipeline: Pipeline
    cwd: Path
    host: Host = "mcp"
    artifacts: None = None

    def digest(self, data: bytes) -> str:
        return f"{len(data)} bytes"

    def learn(self, secrets: Iterable[str]) -> None:
        raise AssertionError("nothing gets credentials here")

    def redacted(self, text: str) -> str:
        return text

    def kept_arguments(self, arguments: JSONObject) -> JSONObject:
        return arguments

    def tell_once(self, message: str) -> None:
        raise AssertionError(message)


class Desk:
    """A proxy between two lists of lines, with a clock that a test sets."""

    def __init__(self, *words: str, environ: dict[str, str] | None = None) -> None:
        self.client: list[str] = []
        self.server: list[str] = []
        self.told: list[str] = []
        self.hello: list[str | None] = []
        self.now = 0.0
        self.events = MemorySink()
        self.decisions = Decisions()
        sinks = FanOut()
        sinks.subscribe(self.events)
        ids = iter(range(1000))
        pipeline = Pipeline(
            session_id="s",
            host="mcp",
            texts=model_texts(),
            sinks=sinks,
            clock=lambda: int(self.now * 1e9),
            new_id=lambda: f"id{next(ids)}",
            journal=self.decisions,
        )
        options = read_options([*words, "x"])
        server = options.server or "srv"
        policy = ServerPolicy(options, server, environ or {}, tell=self.told.append)
        tools = Tools(
            texts=model_texts(),
            settings_for=policy.settings_for,
            may_require=policy.may_require,
            on_skipped=lambda name, why: self.told.append(f"{name}: {why}"),
        )
        holding = None
        if policy.settings.can_ask:
            holding = Holding(
                session=Session(pipeline, CWD),
                settings=lambda: policy.settings,
                texts=model_texts(),
                to_client=lambda line: self.client.append(line.decode()),
                tell=self.told.append,
                own_id="asks-",
            )
        self.proxy = Proxy(
            tools=tools,
            calls=Calls(pipeline=lambda: pipeline, server=server, clock=lambda: self.now),
            texts=model_texts(),
            to_client=lambda line: self.client.append(line.decode()),
            to_server=lambda line: self.server.append(line.decode()),
            tell=self.told.append,
            on_hello=self.hello.append,
            own_id="ours-",
            clock=lambda: self.now,
            holding=holding,
        )

    def ask(self, number: Any, method: str, **params: Any) -> None:
        self.proxy.from_client(line({"jsonrpc": "2.0", "id": number, "method": method, "params": params}))

    def call(self, number: Any, name: str = "echo", **arguments: Any) -> None:
        self.ask(number, "tools/call", name=name, arguments=arguments)

    def answer(self, number: Any, **result: Any) -> None:
        self.proxy.from_server(line({"jsonrpc": "2.0", "id": number, "result": result}))

    def list_tools(self, *tools: Any, number: Any = "list") -> list[Any]:
        self.ask(number, "tools/list")
        self.answer(number, tools=[*tools])
        shown: list[Any] = json.loads(self.client[-1])["result"]["tools"]
        self.client.clear()
        self.server.clear()
        return shown

    def sent(self) -> list[Any]:
        return [json.loads(text) for text in self.server]

    def said(self) -> list[Any]:
        return [json.loads(text) for text in self.client]

    def ends(self) -> list[str]:
        return [event.status for event in self.events if isinstance(event, ToolExecutionEnd)]

    def starts(self) -> list[ToolExecutionStart]:
        return [event for event in self.events if isinstance(event, ToolExecutionStart)]


def line(message: Any) -> bytes:
    return json.dumps(message).encode() + b"\n"
