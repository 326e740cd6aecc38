"""A conversation with an MCP server, held directly and through the proxy, and what differs between the two."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mcp_peer import Outcome, Peer, lines_of
from mcp_spelling import children, ordered, tokens, value_span, without

from pi_intent.contract.texts import INTENT_MARKER

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


def request(method: str, params: str | None = None, *, id: str = "1", answered: bool = True) -> Step:
    """Send a request whose id is spelled as given, and wait for its answer."""
    rest = "" if params is None else f',"params":{params}'
    return say(f'{{"jsonrpc":"2.0","id":{id},"method":"{method}"{rest}}}', *([f'"id":{id},'] if answered else []))


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
    id: str = "7",
    more: str = "",
    intent: bool = True,
    stated: str = f"{STATED},{REASONED}",
    last: bool = False,
    hears: tuple[str, ...] | None = None,
) -> Step:
    """Call a tool, through the proxy with an intent, and wait for the answer (or for what is given as `hears`)."""
    expected = (f'"id":{id},',) if hears is None else hears

    def step(peer: Peer, wrapped: bool) -> None:
        sent = with_intent(arguments, last=last, stated=stated) if wrapped and intent else arguments
        peer.send(call_line(name, sent, id=id, more=more))
        hear(*expected)(peer, wrapped)

    return step


def call_line(name: str, arguments: str, *, id: str = "7", more: str = "") -> bytes:
    spelled = json.dumps(name)
    text = f'{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":{spelled},"arguments":{arguments}{more}}}}}'
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


def handshake(version: str = "2025-06-18", *, lists: bool = True) -> tuple[Step, ...]:
    """The opening of the older eras, with a first list."""
    params = f'{{"protocolVersion":"{version}","capabilities":{{}},"clientInfo":{{"name":"raw","version":"1"}}}}'
    opening = (request("initialize", params, id='"init"'), notify("notifications/initialized"))
    return (*opening, request("tools/list", id='"list"')) if lists else opening


MODERN = (
    request("server/discover", f"{{{ENVELOPE}}}", id='"discover"'),
    request("tools/list", f"{{{ENVELOPE}}}", id='"list"'),
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
    command = scenario.command or server_command(scenario.options, Path("../record"))
    if wrapped:
        command = wrapped_command(command, *scenario.wrap)
    with Peer(command, cwd=project, env=environment(folder)) as peer:
        for step in scenario.steps:
            step(peer, wrapped)
        return Run(outcome=peer.finish(), received=record.read_bytes())


def differences(scenario: Scenario, direct: Run, wrapped: Run) -> list[str]:
    """Say everything that the proxy changed and should not have."""
    return [
        *_line_differences("client heard", direct.outcome.stdout, wrapped.outcome.stdout, scenario, _list_difference),
        *_line_differences("server received", direct.received, _asked(scenario, wrapped.received), scenario, _call_difference),
        *_stderr_difference(direct.outcome.stderr, wrapped.outcome.stderr),
        *(
            [f"exit code: {direct.outcome.code} became {wrapped.outcome.code}"]
            if direct.outcome.code != wrapped.outcome.code
            else []
        ),
    ]


def _stderr_difference(direct: bytes, wrapped: bytes) -> list[str]:
    theirs = b"".join(line for line in lines_of(wrapped) if not line.startswith(b"pi-intent"))
    return [] if theirs == direct else [f"stderr: {direct!r} became {theirs!r}"]


def _asked(scenario: Scenario, received: bytes) -> bytes:
    """Leave out the lists that the proxy asked for itself, where it may: their ids begin with its name."""
    own = re.compile(rb'"id":"pi-intent[^"]*","method":"tools/list"')
    return b"".join(line for line in lines_of(received) if not (scenario.asks and own.search(line)))


def escaped(text: str) -> str:
    """Spell the line separators as escapes, as the proxy does: some servers take them for the end of a line."""
    return text.replace("\u2028", r"\u2028").replace("\u2029", r"\u2029").replace("\x85", r"\u0085")


type _Difference = Callable[[Scenario, str, str], str | None]


def _line_differences(
    what: str, direct: bytes, wrapped: bytes, scenario: Scenario, judge: _Difference
) -> list[str]:
    before, after = lines_of(direct), lines_of(wrapped)
    found = [f"{what}: {len(before)} lines became {len(after)}"] if len(before) != len(after) else []
    for number, (original, changed) in enumerate(zip(before, after, strict=False), 1):
        if original == changed and judge is _call_difference:
            continue
        told = judge(scenario, _text(original), _text(changed))
        if told:
            found.append(f"{what}, line {number}: {told}: {original[:400]!r} became {changed[:400]!r}")
    return found


def _text(line: bytes) -> str:
    return line.decode("utf-8", "surrogateescape")


def _call_difference(scenario: Scenario, original: str, changed: str) -> str | None:
    """Judge a line that the server received: only white space inside the arguments of a call may differ."""
    original = escaped(original)
    if original == changed:
        return None
    spans = [value_span(text, "params", "arguments") for text in (original, changed)]
    if None in spans or value_span(original, "method") is None or "tools/call" not in original:
        return "it changed"
    if without(original, spans[0]) != without(changed, spans[1]):
        return "it changed outside its arguments"
    inside = [tokens(text[slice(*span)]) for text, span in zip((original, changed), spans, strict=True)]
    return None if inside[0] == inside[1] else "its arguments changed"


_LIST = re.compile(r'"tools"\s*:\s*\[')


def _list_difference(scenario: Scenario, original: str, changed: str) -> str | None:
    """Judge a line that the client heard: only the schemas of listed tools may differ, by our properties."""
    if original[:1] != "{" or not _LIST.search(original) or not any(text in original for text in scenario.lists):
        return None if original == changed else "it changed"
    if original == changed:
        schemas = [tool.get("inputSchema") for tool in json.loads(original)["result"]["tools"]]
        return "nothing was put in" if any(isinstance(schema, dict) for schema in schemas) and not scenario.same else None
    (before, theirs), (after, ours) = _taken_apart(original), _taken_apart(changed)
    if before != after:
        return "it changed outside the schemas"
    for (name, schema), (_, shown) in zip(theirs, ours, strict=True):
        if told := _schema_difference(scenario, name, schema, shown):
            return f"{told} ({name!r})"
    return None


def _taken_apart(text: str) -> tuple[str, list[tuple[str, str | None]]]:
    """Return a list of tools without its schemas, and each tool's name with its schema as it is written."""
    spans: list[tuple[int, int]] = []
    tools: list[tuple[str, str | None]] = []
    for span in children(text, value_span(text, "result", "tools") or (0, 0)).values():
        members = children(text, span)
        name, schema = members["name"], members.get("inputSchema")
        tools.append((json.loads(text[slice(*name)]), None if schema is None else text[slice(*schema)]))
        spans += [] if schema is None else [schema]
    return without(text, *spans), tools


def _schema_difference(scenario: Scenario, name: str, original: str | None, changed: str | None) -> str | None:
    if original is None or changed is None or name in scenario.same or (name in scenario.either and original == changed):
        return None if original == changed else "a schema changed that cannot carry an intent"
    properties = json.loads(changed).get("properties", {}) if changed.lstrip()[:1] == "{" else {}
    if next(iter(properties), None) != "intent" or INTENT_MARKER not in str(properties["intent"]):
        return "the intent is not the first property of a schema that can carry it"
    if name in scenario.changed_inside:
        return None
    return None if removed(original, changed) == members(original) else "more than our properties was added"


def members(text: str) -> dict[str, Any]:
    """Read an object whose own keys may stand in any order; further inside, order and spelling count."""
    return dict(ordered(text)[1:])


def removed(original: str, changed: str) -> dict[str, Any]:
    """Take our properties out of the root of a schema, and what had to come with them."""
    theirs = json.loads(original)
    result: dict[str, Any] = {}
    for key, value in members(changed).items():
        if key == "properties":
            value = (value[0], *(pair for pair in value[1:] if pair[0] not in ("intent", "rationale")))
        elif key == "required" and isinstance(value, list):
            value = [name for name in value if name != "intent"]
        if key not in theirs and (key, value) in (("properties", ("object",)), ("required", []), ("type", "object")):
            continue
        result[key] = value
    return result
