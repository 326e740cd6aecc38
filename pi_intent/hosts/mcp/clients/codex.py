"""Codex: servers of the user, and of a project that the user trusts."""

from __future__ import annotations

import json
import time
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from pi_intent.hosts.mcp.clients.asking import ask, on_path
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

_SERVERS = ("mcp_servers",)
_MANAGED = ("/etc/codex/config.toml", "/etc/codex/managed_config.toml")


class Codex:
    """Codex (measured on 0.171)."""

    name: Final[ClientName] = "codex"
    title: Final = "Codex"
    scopes: Final[tuple[Scope, ...]] = ("user", "project")

    def places(self, surroundings: Surroundings) -> list[Place]:
        """Return the user's servers and the project's."""
        own = _folder(surroundings) / "config.toml"
        shared = in_projects(surroundings.folders(), ".codex/config.toml", _SERVERS, not_this=[own])
        return [Place(scope="user", path=own, keys=_SERVERS, shape="toml"), *shared]

    def elsewhere(self, surroundings: Surroundings) -> list[Elsewhere]:
        """Return what is set for the whole machine."""
        return [
            Elsewhere(name=name, source=path, reason="it is set for the whole machine, by whoever manages it")
            for path in _MANAGED
            for name in _names(Path(path))
        ]

    def disabled(self, surroundings: Surroundings) -> frozenset[str]:
        """It says so in the entries."""
        return frozenset()

    def why_not(self, server: Server) -> str | None:
        """One that runs in an environment elsewhere has no pi-intent there."""
        # An older Codex called it experimental.
        if any(server.fields.get(key, "local") != "local" for key in ("environment_id", "experimental_environment")):
            return "it runs in another environment, where there is no pi-intent"
        return tilde(server)

    def look(
        self, surroundings: Surroundings, place: Place, text: str, names: Sequence[str], *, timeout: float
    ) -> Look:
        """Ask it for one server after the other: a list of all would also ask remote ones about their login."""
        command = on_path("codex", surroundings.environ)
        if command is None:
            return Look(not_asked="there is no codex command on PATH")
        end = time.monotonic() + timeout
        cwd = place.project or place.path.parent
        lines: dict[str, tuple[str, ...]] = {}
        why = ""
        for name in names:
            left = end - time.monotonic()
            if left <= 0:
                break
            got = ask(
                [command, "mcp", "get", "--json", "--", name],
                environ=surroundings.environ,
                cwd=cwd,
                timeout=left,
            )
            line = _line(got.text)
            why = why or got.why
            if line is not None:
                lines[name] = line
        if lines:
            return Look(lines=lines, asked="codex mcp get")
        return Look(not_asked=f"codex mcp get {why or 'gave an answer that pi-intent does not know'}", failed=True)


def _line(answer: str | None) -> tuple[str, ...] | None:
    try:
        transport = json.loads(answer or "")["transport"]
        return (str(transport["command"]), *map(str, transport["args"]))
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def _folder(surroundings: Surroundings) -> Path:
    chosen = surroundings.environ.get("CODEX_HOME")
    return Path(chosen) if chosen else surroundings.home / ".codex"


def _names(path: Path) -> list[str]:
    try:
        servers = tomllib.loads(path.read_text(encoding="utf-8")).get("mcp_servers")
    except (OSError, ValueError, RecursionError):
        return []
    return [*servers] if isinstance(servers, dict) else []
