"""`pi-intent mcp status`: how each MCP server of each client is started, and why."""

from __future__ import annotations

import os
from pathlib import Path
from typing import get_args

import click

from pi_intent.cli.console import json_text
from pi_intent.cli.mcp_install import project_option
from pi_intent.hosts.mcp.clients.client import ClientName, Surroundings
from pi_intent.hosts.mcp.clients.known import CLIENTS
from pi_intent.hosts.mcp.clients.reading import ClientStanding, PlaceStanding, ServerStanding, Standing, standing
from pi_intent.labels.printable import printable

_WIDTH = 400
_WORDS: dict[Standing, str] = {
    "wrapped": "✓ {}: wrapped",
    "broken": "✗ {}: wrapped, but it cannot start",
    "unwrapped": "· {}: not wrapped",
    "unwrappable": "✗ {}: cannot be wrapped",
}


@click.command(short_help="Tell which servers are wrapped, and why others are not.")
@click.option(
    "--client",
    "names",
    multiple=True,
    type=click.Choice(get_args(ClientName)),
    help="Only this client.  [default: all]",
)
@project_option
@click.option("--tools", is_flag=True, help="Also start each server, to tell which of its tools carry no intent.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead.")
def status(names: tuple[ClientName, ...], project: Path, tools: bool, as_json: bool) -> None:
    """Tell which MCP servers are started through pi-intent, and why others are not.

    Reads the configs of Claude Code, Codex, Cursor and VS Code, and changes nothing. With --tools it starts each
    server for a moment, by itself and without its client; without it, none.

    Exits with 1 where a config cannot be read or a wrapped server cannot start.
    """
    surroundings = Surroundings(environ=os.environ, directory=project.resolve())
    found = [standing(CLIENTS[name], surroundings, tools=tools) for name in names or CLIENTS]
    if as_json:
        click.echo(json_text({"clients": [_document(one) for one in found]}, indent=2))
    else:
        for one in found:
            _tell(one)
    places = [place for one in found for place in one.places]
    if any(place.error or any(server.standing == "broken" for server in place.servers) for place in places):
        raise SystemExit(1)


def _tell(found: ClientStanding) -> None:
    print(found.client.title)
    told = [place for place in found.places if place.servers or place.error]
    for place in told:
        print(f"  {place.place.scope}, {_safe(str(place.place.path))}{_project(place)}")
        if place.error:
            print(f"    ✗ {_safe(place.error)}")
        for server in place.servers:
            _tell_server(server)
    for one in found.elsewhere:
        print(f"  ✗ {_safe(one.name)} ({_safe(one.source)}): cannot be wrapped: {one.reason}")
    if not told and not found.elsewhere:
        paths = dict.fromkeys(_safe(str(place.place.path)) for place in found.places)
        print(f"  no servers; looked at {', '.join(paths)}")


def _project(place: PlaceStanding) -> str:
    return f" for {_safe(str(place.place.project))}" if place.place.scope == "local" else ""


def _tell_server(server: ServerStanding) -> None:
    reason = f": {_safe(server.reason)}" if server.reason else ""
    if server.standing == "broken":
        reason += '; "pi-intent mcp install" mends it'
    print(f"    {_WORDS[server.standing].format(_safe(server.name))}{reason}")
    if server.no_tools:
        print(f"      its tools are not known: {_safe(server.no_tools)}")
    if server.tools is None:
        return
    without = [tool for tool in server.tools if tool.without is not None]
    print(f"      {len(server.tools)} tools, {len(without)} of them without an intent")
    for tool in without:
        print(f"      ✗ {_safe(tool.name)}: {_safe(tool.without or '')}")


def _safe(text: str) -> str:
    return printable(text, width=_WIDTH)


def _document(found: ClientStanding) -> dict[str, object]:
    return {
        "client": found.client.name,
        "places": [
            {
                "scope": place.place.scope,
                "path": str(place.place.path),
                "project": str(place.place.project) if place.place.project is not None else None,
                "exists": place.exists,
                "error": place.error or None,
                "servers": [_server_document(server) for server in place.servers],
            }
            for place in found.places
        ],
        "elsewhere": [{"name": one.name, "source": one.source, "reason": one.reason} for one in found.elsewhere],
    }


def _server_document(server: ServerStanding) -> dict[str, object]:
    document: dict[str, object] = {
        "name": server.name,
        "standing": server.standing,
        "reason": server.reason or None,
        "launcher": server.launcher or None,
    }
    if server.tools is not None:
        document["tools"] = [{"name": tool.name, "withoutIntent": tool.without} for tool in server.tools]
    if server.no_tools:
        document["toolsUnknown"] = server.no_tools
    return document
