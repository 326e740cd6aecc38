"""A conversation with an MCP server, held directly and through the proxy, and what differs between the two."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from mcp_peer import Outcome, Peer
from user_config import write_config

SERVER = Path(__file__).parent / "hosts" / "mcp" / "hostile_server.py"
STATED = '"intent":"Find what the proxy loses"'
REASONED = '"rationale":"The brief asks for it"'
ENVELOPE = (
    '"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},'
    '"io.modelcontextprotocol/clientInfo":{"name":"raw","version":"1"}}'
)

type Step = Callable[[Peer, bool], None]
"""One move of the client, given whether it speaks through the proxy."""


def say(text: str | bytes, *expected: str) -> Step:
    """Send the line as it is, in both runs, and wait for a line with each of the texts expected."""
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape") + b"\n"

    def step(peer: Peer, wrapped: bool) -> None:
        peer.send(data)
        hear(*expected)(peer, wrapped)

    return step


def hear(*expected: str, where: str = "stdout") -> Step:
    def step(peer: Peer, wrapped: bool) -> None:
        for text in expected:
            peer.wait_for(text.encode("utf-8", "surrogateescape"), where=where)

    return step


def request(method: str, params: str | None = None, *, spelt: str = "1", answered: bool = True) -> Step:
    """Send a request whose id is spelt as given, and wait for its answer."""
    rest = "" if params is None else f',"params":{params}'
    expected = (f'"id":{spelt},',) if answered else ()
    return say(f'{{"jsonrpc":"2.0","id":{spelt},"method":"{method}"{rest}}}', *expected)


def notify(method: str, params: str | None = None) -> Step:
    rest = "" if params is None else f',"params":{params}'
    return say(f'{{"jsonrpc":"2.0","method":"{method}"{rest}}}')


def with_intent(arguments: str, *, last: bool = False, stated: str = f"{STATED},{REASONED}") -> str:
    """Put an intent into the text of an object, every other byte as it was."""
    inner = arguments.strip()[1:-1]
    comma = "," if inner.strip() else ""
    return f"{{{inner}{comma}{stated}}}" if last else f"{{{stated}{comma}{inner}}}"


def call(
    name: str,
    arguments: str = "{}",
    *,
    spelt: str = "7",
    more: str = "",
    intent: bool = True,
    stated: str = f"{STATED},{REASONED}",
    last: bool = False,
    hears: tuple[str, ...] | None = None,
) -> Step:
    """Call a tool, through the proxy with an intent, and wait for the answer (or for what is given as `hears`)."""
    expected = (f'"id":{spelt},',) if hears is None else hears

    def step(peer: Peer, wrapped: bool) -> None:
        sent = with_intent(arguments, last=last, stated=stated) if wrapped and intent else arguments
        peer.send(call_line(name, sent, spelt=spelt, more=more))
        hear(*expected)(peer, wrapped)

    return step


def call_line(name: str, arguments: str, *, spelt: str = "7", more: str = "") -> bytes:
    params = f'{{"name":{json.dumps(name)},"arguments":{arguments}{more}}}'
    text = f'{{"jsonrpc":"2.0","id":{spelt},"method":"tools/call","params":{params}}}'
    return text.encode("utf-8", "surrogateescape") + b"\n"


def raw(text: str | bytes, repeat: int = 1) -> str:
    """Spell the arguments of the tools that write bytes as they are told."""
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")
    return f'{{"hex":"{data.hex()}","repeat":{repeat}}}'


def both(direct: str, wrapped: str, *expected: str) -> Step:
    """Send one line or the other, for what the other steps cannot word."""

    def step(peer: Peer, through_proxy: bool) -> None:
        say(wrapped if through_proxy else direct, *expected)(peer, through_proxy)

    return step


def trickle(text: str, *expected: str) -> Step:
    """Send a line in pieces of one byte."""

    def step(peer: Peer, wrapped: bool) -> None:
        for byte in f"{text}\n".encode():
            peer.send(bytes([byte]))
        hear(*expected)(peer, wrapped)

    return step


def end(peer: Peer, wrapped: bool) -> None:
    """Wait until the program ends by itself, its input still open."""
    peer.outcome()


def send_signal(number: int) -> Step:
    return lambda peer, wrapped: peer.signal(number)


@cache
def handshake(version: str = "2025-06-18", *, lists: bool = True) -> tuple[Step, ...]:
    """The opening of the older eras, with a first list; the same steps each time."""
    params = f'{{"protocolVersion":"{version}","capabilities":{{}},"clientInfo":{{"name":"raw","version":"1"}}}}'
    opening = (request("initialize", params, spelt='"init"'), notify("notifications/initialized"))
    return (*opening, request("tools/list", spelt='"list"')) if lists else opening


MODERN = (
    request("server/discover", f"{{{ENVELOPE}}}", spelt='"discover"'),
    request("tools/list", f"{{{ENVELOPE}}}", spelt='"list"'),
)
"""The opening of the era without a handshake."""


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """A conversation: how the server is started, and what the client does."""

    name: str
    steps: tuple[Step, ...]
    options: Mapping[str, Any] = field(default_factory=dict)
    command: tuple[str, ...] = ()
    """Another program than the hostile server."""
    wrap: tuple[str, ...] = ("--server", "hostile")
    """The proxy's own options."""
    same: frozenset[str] = frozenset()
    """Tools whose schema must come through untouched."""
    changed_inside: frozenset[str] = frozenset()
    """Tools whose schema carries our properties, and more of it than its root has changed."""
    either: frozenset[str] = frozenset()
    """Tools that are listed twice, so that each schema may be the one or the other."""
    asks: bool = False
    """Whether the proxy has reason to ask the server for its tools itself."""
    settings: str = ""
    """The text of the person's own file of settings."""
    lists: tuple[str, ...] = ('"id":"list',)
    """What stands in the answers to the client's own requests for lists of tools."""


@dataclass(frozen=True, kw_only=True)
class Run:
    """One conversation held: what the client heard, and every byte that the server received."""

    outcome: Outcome
    received: bytes


def environment(home: Path) -> dict[str, str]:
    """The environment of a user with an empty home."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL", "TMPDIR") if name in os.environ}
    return {**kept, "HOME": str(home), "ODD": "a=b\tü", "GIT_CEILING_DIRECTORIES": str(home)}


def server_command(options: Mapping[str, Any], record: Path) -> tuple[str, ...]:
    return (sys.executable, "-S", "-E", str(SERVER), json.dumps({**options, "record": str(record)}))


def wrapped_command(command: tuple[str, ...], *options: str) -> tuple[str, ...]:
    return (sys.executable, "-m", "pi_intent", "mcp", "wrap", *options, *command)


def hold_twice(scenario: Scenario, folder: Path) -> tuple[Run, Run]:
    """Hold the conversation directly and then through the proxy, in one place: the server is told where it is."""
    return hold(scenario, folder / "home", wrapped=False), hold(scenario, folder / "home", wrapped=True)


def hold(scenario: Scenario, folder: Path, *, wrapped: bool) -> Run:
    """Hold the conversation once, in a project and a home of its own."""
    project, record = folder / "project", folder / "record"
    project.mkdir(parents=True, exist_ok=True)
    record.write_bytes(b"")
    if scenario.settings:
        write_config(folder / ".config", scenario.settings)
    command = scenario.command or server_command(scenario.options, Path("../record"))
    if wrapped:
        command = wrapped_command(command, *scenario.wrap)
    with Peer(command, cwd=project, env=environment(folder)) as peer:
        for step in scenario.steps:
            step(peer, wrapped)
        return Run(outcome=peer.finish(), received=record.read_bytes())
