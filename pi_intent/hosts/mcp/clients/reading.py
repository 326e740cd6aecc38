"""Say how each server of a client is started now, without starting any."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from pi_intent.errors import HostError
from pi_intent.hosts.mcp.clients.client import Client, Elsewhere, Place, Scope, Surroundings
from pi_intent.hosts.mcp.clients.files import read, refusal
from pi_intent.hosts.mcp.clients.plan import is_gone, refused, servers_of
from pi_intent.hosts.mcp.clients.text import Malformed, Server
from pi_intent.hosts.mcp.clients.wrapping import wrapped

Standing = Literal["wrapped", "broken", "unwrapped", "unwrappable"]
"""`broken`: wrapped, and cannot start like that · `unwrapped`: could be wrapped and is not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerStanding:
    """A server, how it stands, and why.

    `is_mendable`: installing again mends what is broken · `is_off`: `PI_INTENT=off` reaches it · `is_disabled`: its
    client does not start it.
    """

    server: Server
    standing: Standing
    reason: str = ""
    launcher: str = ""
    is_mendable: bool = False
    is_off: bool = False
    is_disabled: bool = False

    @property
    def name(self) -> str:
        """The name of the server."""
        return self.server.name


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


def standing(client: Client, surroundings: Surroundings, *, scopes: Collection[Scope] = ()) -> ClientStanding:
    """Read a client's configs; `scopes` () stands for all, with what the client has from elsewhere."""
    places: list[PlaceStanding] = []
    off_elsewhere = client.disabled(surroundings)
    for place in client.places(surroundings):
        if scopes and place.scope not in scopes:
            continue
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
            told = tuple(_server(client, surroundings, server, off_elsewhere) for server in servers)
            places.append(PlaceStanding(place=place, exists=True, servers=told))
    elsewhere = () if scopes else tuple(client.elsewhere(surroundings))
    return ClientStanding(client=client, places=tuple(places), elsewhere=elsewhere)


def is_off(surroundings: Surroundings, server: Server | None = None) -> bool:
    """Whether `PI_INTENT=off` switches pi-intent off, for a server or at all."""
    environ = {**surroundings.environ, **(server.environ if server is not None else {})}
    return environ.get("PI_INTENT", "").strip().lower() == "off"


def _server(
    client: Client, surroundings: Surroundings, server: Server, off_elsewhere: Collection[str]
) -> ServerStanding:
    found = wrapped(server)
    how: Standing
    gone = False
    if found is not None:
        launcher, gone = found.launcher, is_gone(found)
        how = "broken" if gone or found.is_empty else "wrapped"
        reason = found.why or (f"{launcher} is not there any more" if gone else "")
    else:
        reason, launcher = refused(client, server) or "", ""
        how = "unwrappable" if reason else "unwrapped"
    return ServerStanding(
        server=server,
        standing=how,
        reason=reason,
        launcher=launcher,
        is_mendable=gone and found is not None and found.real is not None,
        is_off=found is not None and is_off(surroundings, server),
        is_disabled=server.fields.get("disabled") is True
        or server.fields.get("enabled") is False
        or server.name in off_elsewhere,
    )
