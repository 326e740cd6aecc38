"""VS Code: servers of the user's profiles and of a workspace folder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from pi_intent.hosts.mcp.clients.client import ClientName, Elsewhere, Look, Place, Scope, Surroundings, in_projects
from pi_intent.hosts.mcp.clients.text import Server

_SERVERS = ("servers",)
_EDITIONS = ("Code", "Code - Insiders", "VSCodium")


class VSCode:
    """VS Code, its Insiders edition and VSCodium."""

    name: Final[ClientName] = "vscode"
    title: Final = "VS Code"
    scopes: Final[tuple[Scope, ...]] = ("user", "project")

    def places(self, surroundings: Surroundings) -> list[Place]:
        """Return the user's servers in every profile that has some, and the workspace folder's."""
        usual, *others = _user_files(surroundings)
        files = [usual, *(path for path in others if path.exists())]
        return [
            *(Place(scope="user", path=path, keys=_SERVERS) for path in files),
            *in_projects(surroundings.folders(), ".vscode/mcp.json", _SERVERS),
        ]

    def elsewhere(self, surroundings: Surroundings) -> list[Elsewhere]:
        """What its extensions register stands in no file."""
        return []

    def disabled(self, surroundings: Surroundings) -> frozenset[str]:
        """What it has switched off itself stands in no file that others can read."""
        return frozenset()

    def why_not(self, server: Server) -> str | None:
        """It replaces variables and home folders in arguments as it does in commands."""
        if server.fields.get("sandboxEnabled") is True:
            return "VS Code runs it in a sandbox, from which pi-intent could not write its ledger"
        if "dev" in server.fields:
            return "it is under development: VS Code's debugger starts its command itself"
        return None

    def look(
        self, surroundings: Surroundings, place: Place, text: str, names: Sequence[str], *, timeout: float
    ) -> Look:
        """It has no command that shows a server."""
        return Look(not_asked="VS Code has no command that shows a server")


def _user_files(surroundings: Surroundings) -> Iterator[Path]:
    environ = surroundings.environ
    folders = []
    if environ.get("VSCODE_PORTABLE"):
        folders.append(Path(environ["VSCODE_PORTABLE"], "user-data", "User"))
    if surroundings.platform == "darwin":
        data = surroundings.home / "Library" / "Application Support"
    else:
        data = Path(environ.get("XDG_CONFIG_HOME") or surroundings.home / ".config")
    folders += [data / edition / "User" for edition in _EDITIONS]
    for folder in folders:
        yield folder / "mcp.json"
        profiles = folder / "profiles"
        if profiles.is_dir():
            yield from (profile / "mcp.json" for profile in sorted(profiles.iterdir()))
