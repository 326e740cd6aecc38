"""`pi-intent mcp status`: how each MCP server of each client is started, and why."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path

import click

from pi_intent.cli.console import json_text
from pi_intent.cli.mcp_choosing import CLIENT, only_option, project_option, scope_option
from pi_intent.cli.mcp_tools import Asking
from pi_intent.cli.telling import tell, wrong_usage
from pi_intent.hosts.mcp.clients.client import ClientName, Scope, Surroundings
from pi_intent.hosts.mcp.clients.known import CLIENTS
from pi_intent.hosts.mcp.clients.reading import (
    ClientStanding,
    PlaceStanding,
    ServerStanding,
    Standing,
    is_off,
    standing,
)
from pi_intent.hosts.mcp.clients.secrets import Hidden
from pi_intent.hosts.mcp.clients.tools import ToolsFound
from pi_intent.labels.printable import printable

_WIDTH = 1000
_WORDS: dict[Standing, str] = {
    "wrapped": "✓ {}: wrapped",
    "broken": "✗ {}: wrapped, but it cannot start",
    "unwrapped": "· {}: not wrapped",
    "unwrappable": "✗ {}: cannot be wrapped",
}
_LOOK = '"pi-intent schema --mcp COMMAND…" starts one that you trust, and shows its tools'


@click.command(short_help="Tell which servers are wrapped, and why others are not.")
@click.option("--client", "names", multiple=True, type=CLIENT, help="Only this client.  [default: all]")
@scope_option("all")
@only_option
@project_option
@click.option("--tools", is_flag=True, help="Also start your own servers, to tell which tools carry no intent.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead.")
def status(
    names: tuple[ClientName, ...],
    scopes: tuple[Scope, ...],
    only: tuple[str, ...],
    project: Path,
    tools: bool,
    as_json: bool,
) -> None:
    """Tell which MCP servers are started through pi-intent, and why others are not.

    Reads the configs of Claude Code, Codex, Cursor and VS Code, and changes nothing. With --tools it starts each
    server for a moment, by itself and without its client; without it, none. It never starts one that comes with the
    project, because that is whatever whoever wrote the project put there, nor one that is disabled or cannot start:
    "pi-intent schema --mcp COMMAND…" shows the tools of one that you trust.

    Exits with 1 where a config cannot be read or a wrapped server cannot start.
    """
    surroundings = Surroundings(environ=os.environ, directory=project.resolve())
    found = [standing(CLIENTS[name], surroundings, scopes=scopes) for name in names or CLIENTS]
    _know(found, only)
    found = [_only(one, only) for one in found]
    servers = [server for one in found for place in one.places for server in place.servers]
    hidden = Hidden.of_servers(os.environ, [server.server for server in servers])
    report = _Report(surroundings, hidden, is_filtered=bool(scopes or only))
    if tools:
        with Asking(surroundings, found) as asking:
            report.run(found, asking, as_json)
    else:
        report.run(found, None, as_json)
    if any(place.error for one in found for place in one.places) or any(one.standing == "broken" for one in servers):
        raise SystemExit(1)


def _know(found: Sequence[ClientStanding], only: Sequence[str]) -> None:
    """Refuse names that nothing has; where a file cannot be read, they may be in there."""
    places = [place for one in found for place in one.places]
    names = {server.name for place in places for server in place.servers}
    names |= {other.name for one in found for other in one.elsewhere}
    for name in only:
        if name in names or any(place.error for place in places):
            continue
        nearest = get_close_matches(name, sorted(names), n=1)
        known = f"they are {', '.join(sorted(names))}" if names else "there is none"
        hint = f"did you mean {nearest[0]!r}?" if nearest else f"{known}."
        raise wrong_usage(printable(f"there is no server {name!r} here; {hint}", width=_WIDTH))


def _only(found: ClientStanding, only: Sequence[str]) -> ClientStanding:
    if not only:
        return found
    places = [
        replace(place, servers=tuple(server for server in place.servers if server.name in only))
        for place in found.places
    ]
    elsewhere = tuple(other for other in found.elsewhere if other.name in only)
    return replace(found, places=tuple(places), elsewhere=elsewhere)


class _Report:
    """What is told of the clients, each server as soon as it is known."""

    def __init__(self, surroundings: Surroundings, hidden: Hidden, *, is_filtered: bool) -> None:
        self._off = is_off(surroundings)
        self._hidden = hidden
        self._is_filtered = is_filtered

    def run(self, found: Sequence[ClientStanding], asking: Asking | None, as_json: bool) -> None:
        if as_json:
            clients = [_document(one, asking) for one in found]
            click.echo(json_text(self._hidden.document({"switchedOff": self._off, "clients": clients}), indent=2))
            return
        if self._off:
            tell("PI_INTENT=off is set here: pi-intent is switched off in every server that gets it.")
        for one in found:
            self._tell(one, asking)

    def _tell(self, found: ClientStanding, asking: Asking | None) -> None:
        told = [place for place in found.places if place.servers or place.error]
        if self._is_filtered and not told and not found.elsewhere:
            return
        tell(found.client.title)
        for error in dict.fromkeys(place.error for place in told if place.error):
            paths = [self._safe(str(place.place.path)) for place in told]
            tell(f"  ✗ {self._safe(error)}", whole=paths)
        for place in told:
            if place.error:
                continue
            path = self._safe(str(place.place.path))
            project = self._safe(str(place.place.project))
            whose = f" for {project}" if place.place.scope == "local" else ""
            tell(f"  {place.place.scope}, {path}{whose}", whole=[path, project])
            for server in place.servers:
                self._tell_server(found, place, server)
                if asking is not None:
                    self._tell_tools(server, asking.answer(server))
        for other in found.elsewhere:
            tell(f"  ✗ {self._safe(other.name)} ({self._safe(other.source)}): cannot be wrapped: {other.reason}")
        if not told and not found.elsewhere:
            paths = [*dict.fromkeys(self._safe(str(place.place.path)) for place in found.places)]
            tell(f"  no servers; looked at {', '.join(paths)}", whole=paths)

    def _tell_server(self, found: ClientStanding, place: PlaceStanding, server: ServerStanding) -> None:
        reason = f": {self._safe(server.reason)}" if server.reason else ""
        if server.is_mendable:
            scope = " --scope project" if place.place.is_shared else ""
            reason += f'; "pi-intent mcp install --client {found.client.name}{scope}" mends it'
        elif server.standing == "broken":
            reason += "; write the server's command there, or take the entry out"
        if server.is_off and not self._off:
            reason += "; switched off by PI_INTENT=off in its env"
        tell(
            f"    {_WORDS[server.standing].format(self._safe(server.name))}{reason}",
            whole=[self._safe(server.launcher)],
        )

    def _tell_tools(self, server: ServerStanding, found: ToolsFound) -> None:
        if server.standing in ("broken", "unwrappable"):
            return  # the line above says why
        if found.not_started:
            tell(f"      not started: {self._safe(found.not_started)}; {_LOOK}")
        elif found.tools is None:
            tell(f"      its tools are not known: {self._safe(found.unknown)}")
        else:
            without = [tool for tool in found.tools if tool.without is not None]
            tell(f"      {_count(server, len(found.tools), len(without))}")
            for tool in without:
                tell(f"      ✗ {self._safe(tool.name)}: {self._safe(tool.without or '')}")

    def _safe(self, text: str) -> str:
        return printable(self._hidden.text(text), width=_WIDTH)


def _count(server: ServerStanding, tools: int, without: int) -> str:
    """Say how many tools there are and carry an intent, or would if the server's calls came through pi-intent."""
    count = f"{tools} tool{'' if tools == 1 else 's'}"
    if not tools:
        return count
    if server.standing == "wrapped" and not server.is_off:
        return f"{count}, {f'{without} of them without an intent' if without else 'none without an intent'}"
    condition = "switched on" if server.standing == "wrapped" else "wrapped"
    return (
        f"{count}; if it were {condition}, {f'{without} of them' if without else 'none'} would be without an intent"
    )


def _document(found: ClientStanding, asking: Asking | None) -> dict[str, object]:
    return {
        "client": found.client.name,
        "places": [
            {
                "scope": place.place.scope,
                "path": str(place.place.path),
                "project": str(place.place.project) if place.place.project is not None else None,
                "exists": place.exists,
                "error": place.error or None,
                "servers": [_server_document(server, asking) for server in place.servers],
            }
            for place in found.places
        ],
        "elsewhere": [{"name": one.name, "source": one.source, "reason": one.reason} for one in found.elsewhere],
    }


def _server_document(server: ServerStanding, asking: Asking | None) -> dict[str, object]:
    document: dict[str, object] = {
        "name": server.name,
        "standing": server.standing,
        "reason": server.reason or None,
        "launcher": server.launcher or None,
        "switchedOff": server.is_off,
    }
    if asking is None:
        return document
    found = asking.answer(server)
    if found.tools is not None:
        document["tools"] = [{"name": tool.name, "withoutIntent": tool.without} for tool in found.tools]
    else:
        document["toolsUnknown"] = f"not started: {found.not_started}" if found.not_started else found.unknown
    return document
