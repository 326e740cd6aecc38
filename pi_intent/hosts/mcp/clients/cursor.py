"""Cursor: servers of the user and of a project."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pi_intent.hosts.mcp.clients.client import (
    ClientName,
    Elsewhere,
    Look,
    Place,
    Scope,
    Surroundings,
    in_projects,
    tilde,
)
from pi_intent.hosts.mcp.clients.text import Server

_SERVERS = ("mcpServers",)


class Cursor:
    """Cursor, the editor and its command-line agent, which read the same files."""

    name: Final[ClientName] = "cursor"
    title: Final = "Cursor"
    scopes: Final[tuple[Scope, ...]] = ("user", "project")

    def places(self, surroundings: Surroundings) -> list[Place]:
        """Return the user's servers and the project's."""
        own = surroundings.home / ".cursor" / "mcp.json"
        return [
            Place(scope="user", path=own, keys=_SERVERS),
            *in_projects(surroundings.folders(), ".cursor/mcp.json", _SERVERS, not_this=[own]),
        ]

    def elsewhere(self, surroundings: Surroundings) -> list[Elsewhere]:
        """What its extensions register stands in no file."""
        return []

    def disabled(self, surroundings: Surroundings) -> frozenset[str]:
        """What it has switched off itself stands in no file that others can read."""
        return frozenset()

    def why_not(self, server: Server) -> str | None:
        """It replaces variables in arguments as it does in commands."""
        return tilde(server)

    def look(
        self, surroundings: Surroundings, place: Place, text: str, names: Sequence[str], *, timeout: float
    ) -> Look:
        """It has no command that reads a config without starting servers."""
        return Look(not_asked="Cursor has no command that shows a server without starting it")
