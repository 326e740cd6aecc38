"""Ask a server for its tools, if it is one that may be started: not what a project brought along or is disabled."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from pathlib import Path

from pi_intent.defaults import inject_intent
from pi_intent.errors import HostError, InjectionSkipped
from pi_intent.hosts.mcp.clients.client import Client, Place, Surroundings
from pi_intent.hosts.mcp.clients.reading import ServerStanding
from pi_intent.hosts.mcp.clients.wrapping import real_line
from pi_intent.hosts.mcp.listing import list_tools

_TOOLS_SECONDS = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolStanding:
    """A tool, and why it could carry no intent; None where it could."""

    name: str
    without: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolsFound:
    """The tools of a server, or why there are none to tell of: `not_started` on purpose, or `unknown`."""

    tools: tuple[ToolStanding, ...] | None = None
    not_started: str = ""
    unknown: str = ""


def why_not_started(client: Client, place: Place, found: ServerStanding) -> str | None:
    """Say why a server is not to be started only to look at it, None where it may be.

    Whoever has a fresh clone has not agreed to run what its files name; only the client knows what was approved.
    """
    server = found.server
    if found.standing == "unwrappable":
        return "it cannot be wrapped"
    if found.standing == "broken":
        return "it cannot start as it stands"
    if place.is_shared:
        return "it comes with the project"
    if found.is_disabled:
        return "it is disabled"
    if any("${" in word for word in (*real_line(server), *server.environ.values(), str(server.fields.get("cwd")))):
        return f"it has variables that only {client.title} fills in"
    if "envFile" in server.fields:
        return f"it has an environment file that only {client.title} reads"
    return None if real_line(server) else "its command cannot be told from that of pi-intent"


def tools_of(
    client: Client, surroundings: Surroundings, place: Place, found: ServerStanding, stop: threading.Event
) -> ToolsFound:
    """Start a server without its client, ask it for its tools, and end it; `stop` ends it early. Never raises."""
    why = why_not_started(client, place, found)
    if why is not None:
        return ToolsFound(not_started=why)
    cwd = found.server.fields.get("cwd")
    try:
        described = list_tools(
            real_line(found.server),
            environ={**surroundings.environ, **found.server.environ},
            cwd=Path(place.project or surroundings.directory, cwd) if isinstance(cwd, str) else place.project,
            timeout=_TOOLS_SECONDS,
            stop=stop,
        )
    except HostError as error:
        return ToolsFound(unknown=str(error))
    return ToolsFound(
        tools=tuple(
            ToolStanding(name=str(tool.get("name")), without=_without(tool.get("inputSchema"))) for tool in described
        )
    )


def _without(schema: object) -> str | None:
    if not isinstance(schema, dict):
        return "it has no schema of its arguments"
    try:
        inject_intent(schema)
    except InjectionSkipped as skipped:
        return str(skipped)
    return None
