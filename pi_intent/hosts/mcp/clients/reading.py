"""Say how each server of a client is started now, and what its tools could carry."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pi_intent.defaults import inject_intent
from pi_intent.errors import HostError, InjectionSkipped
from pi_intent.hosts.mcp.clients.client import Client, Elsewhere, Place, Surroundings
from pi_intent.hosts.mcp.clients.files import read, refusal
from pi_intent.hosts.mcp.clients.plan import is_gone, refused, servers_of
from pi_intent.hosts.mcp.clients.text import Malformed, Server
from pi_intent.hosts.mcp.clients.wrapping import real_line, wrapped
from pi_intent.hosts.mcp.listing import list_tools

Standing = Literal["wrapped", "broken", "unwrapped", "unwrappable"]
"""`broken`: wrapped by a pi-intent that is not there · `unwrapped`: could be wrapped and is not."""

_TOOLS_SECONDS = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolStanding:
    """A tool, and why it carries no intent; None where it does."""

    name: str
    without: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerStanding:
    """A server, how it stands, and why. `tools` where they were asked for, `no_tools` why they cannot be told."""

    name: str
    standing: Standing
    reason: str = ""
    launcher: str = ""
    tools: tuple[ToolStanding, ...] | None = None
    no_tools: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceStanding:
    """One set of servers; `error` where its file cannot be read."""

    place: Place
    exists: bool
    servers: tuple[ServerStanding, ...] = ()
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientStanding:
    """Everything of one client."""

    client: Client
    places: tuple[PlaceStanding, ...]
    elsewhere: tuple[Elsewhere, ...]


ToolsOf = Callable[[Sequence[str], Server], list[dict[str, object]]]


def standing(client: Client, surroundings: Surroundings, *, tools: bool = False) -> ClientStanding:
    """Read a client's configs. `tools` starts every server that can be wrapped, without its client, and ends it."""
    places: list[PlaceStanding] = []
    for place in client.places(surroundings):
        try:
            snapshot = read(place.path)
            if snapshot is None:
                places.append(PlaceStanding(place=place, exists=False))
                continue
            servers = servers_of(place, snapshot.text())
        except Malformed as error:
            places.append(PlaceStanding(place=place, exists=True, error=str(refusal(place.path, error.sentence))))
        except HostError as error:
            places.append(PlaceStanding(place=place, exists=True, error=str(error)))
        else:
            told = tuple(_server(client, surroundings, place, server, tools) for server in servers)
            places.append(PlaceStanding(place=place, exists=True, servers=told))
    return ClientStanding(client=client, places=tuple(places), elsewhere=tuple(client.elsewhere(surroundings)))


def _server(client: Client, surroundings: Surroundings, place: Place, server: Server, tools: bool) -> ServerStanding:
    found = wrapped(server)
    how: Standing
    if found is not None:
        how, launcher = ("broken" if is_gone(found) else "wrapped"), found.launcher
        reason = f"{launcher} is not there any more" if is_gone(found) else found.why
    else:
        reason, launcher = refused(client, server) or "", ""
        how = "unwrappable" if reason else "unwrapped"
    listed: tuple[ToolStanding, ...] | None = None
    no_tools = ""
    if tools and how != "unwrappable":
        try:
            listed = _tools(client, surroundings, place, server)
        except HostError as error:
            no_tools = str(error)
    return ServerStanding(
        name=server.name, standing=how, reason=reason, launcher=launcher, tools=listed, no_tools=no_tools
    )


def _tools(client: Client, surroundings: Surroundings, place: Place, server: Server) -> tuple[ToolStanding, ...]:
    line = real_line(server)
    if not line:
        raise HostError("its command cannot be told from that of pi-intent")
    cwd = server.fields.get("cwd")
    if any("${" in word for word in (*line, *server.environ.values(), str(cwd))):
        raise HostError(f"it has variables that only {client.title} fills in, so it was not started")
    if "envFile" in server.fields:
        raise HostError(f"it has an environment file that only {client.title} reads, so it was not started")
    described = list_tools(
        line,
        environ={**surroundings.environ, **server.environ},
        cwd=Path(place.project or surroundings.directory, cwd) if isinstance(cwd, str) else place.project,
        timeout=_TOOLS_SECONDS,
    )
    return tuple(
        ToolStanding(name=str(tool.get("name")), without=_without(tool.get("inputSchema"))) for tool in described
    )


def _without(schema: object) -> str | None:
    if not isinstance(schema, dict):
        return "it has no schema of its arguments"
    try:
        inject_intent(schema)
    except InjectionSkipped as skipped:
        return str(skipped)
    return None
