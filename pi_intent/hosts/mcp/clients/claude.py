"""Claude Code: servers of the user, of one project for this user, and of a project for everyone."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator, Sequence
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
from pi_intent.hosts.mcp.clients.json_config import json_servers
from pi_intent.hosts.mcp.clients.text import Server

_SERVERS = "mcpServers"
_LARGEST = 64 * 1024 * 1024
_UPDATED = "it comes with a plugin, whose files every update replaces"
_MANAGED = "whoever manages this machine set it, and Claude Code then takes no other"


class Claude:
    """Claude Code (measured on 2.1.197)."""

    name: Final[ClientName] = "claude"
    title: Final = "Claude Code"
    scopes: Final[tuple[Scope, ...]] = ("user", "local", "project")

    def places(self, surroundings: Surroundings) -> list[Place]:
        """Return the user's servers, those for this user in the project, and the project's own."""
        own = _own_file(surroundings)
        places = [Place(scope="user", path=own, keys=(_SERVERS,), client_locks=True)]
        # It files them under the root of the repository; an older one did under where it was started.
        places += [
            Place(
                scope="local",
                path=own,
                keys=("projects", str(folder), _SERVERS),
                project=folder,
                client_locks=True,
            )
            for folder in _filed_under(surroundings)
        ]
        everywhere = [surroundings.directory, *surroundings.directory.parents]
        return places + in_projects(everywhere, ".mcp.json", (_SERVERS,))

    def elsewhere(self, surroundings: Surroundings) -> list[Elsewhere]:
        """Return what plugins bring along and what is managed."""
        return [*_managed(surroundings), *_of_plugins(_folder(surroundings))]

    def disabled(self, surroundings: Surroundings) -> frozenset[str]:
        """Return what was switched off in its menu, which it keeps with the project."""
        kept = _read(_own_file(surroundings))
        projects = kept.get("projects") if isinstance(kept, dict) else None
        names: set[str] = set()
        for folder in _filed_under(surroundings):
            entry = projects.get(str(folder)) if isinstance(projects, dict) else None
            listed = entry.get("disabledMcpServers") if isinstance(entry, dict) else None
            names |= {name for name in listed if isinstance(name, str)} if isinstance(listed, list) else set()
        return frozenset(names)

    def why_not(self, server: Server) -> str | None:
        """It replaces variables in arguments as it does in commands, but no home folder."""
        return tilde(server)

    def look(
        self, surroundings: Surroundings, place: Place, text: str, names: Sequence[str], *, timeout: float
    ) -> Look:
        """Show the entries to it in a project that nobody has approved: it lists such servers and starts none."""
        command = on_path("claude", surroundings.environ)
        if command is None:
            return Look(not_asked="there is no claude command on PATH")
        if _managed_file(surroundings).exists():
            return Look(not_asked="the servers of this machine are managed")
        servers = {server.name: server for server in json_servers(text, place.keys) if server.name in names}
        entries = ",".join(
            f"{json.dumps(name)}:{text[server.span.start : server.span.end]}"
            for name, server in servers.items()
            if server.span is not None
        )
        with tempfile.TemporaryDirectory(prefix="pi-intent-", ignore_cleanup_errors=True) as folder:
            project, config = Path(folder, "project"), Path(folder, "config")
            project.mkdir()
            config.mkdir()
            # What stands there is a copy: tokens in it must not be readable for others, and the folder is not.
            (project / ".mcp.json").write_text(f'{{"{_SERVERS}":{{{entries}}}}}', encoding="utf-8")
            environ = {
                **surroundings.environ,
                "CLAUDE_CONFIG_DIR": str(config),
                "DISABLE_AUTOUPDATER": "1",
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            }
            listed = ask([command, "mcp", "list"], environ=environ, cwd=project, timeout=timeout)
        if listed.text is None:
            return Look(not_asked=f"claude mcp list {listed.why}", failed=True)
        lines = {name: server.line for name, server in servers.items() if _is_listed(server, listed.text)}
        return Look(lines=lines, asked="claude mcp list")


def _is_listed(server: Server, listed: str) -> bool:
    # Nothing but two spaces stands there for an empty list of arguments.
    command, arguments = server.line[0], " ".join(server.line[1:])
    return f"{server.name}: {command} {arguments} - " in listed


def _folder(surroundings: Surroundings) -> Path:
    chosen = surroundings.environ.get("CLAUDE_CONFIG_DIR")
    return Path(chosen) if chosen else surroundings.home / ".claude"


def _own_file(surroundings: Surroundings) -> Path:
    former = _folder(surroundings) / ".config.json"
    if former.exists():
        return former
    chosen = surroundings.environ.get("CLAUDE_CONFIG_DIR")
    return (Path(chosen) if chosen else surroundings.home) / ".claude.json"


def _filed_under(surroundings: Surroundings) -> list[Path]:
    """Return the folders of a project; of a worktree also the repository that it belongs to."""
    folders = [*surroundings.folders()]
    try:
        pointer = (folders[-1] / ".git").read_text(encoding="utf-8").removeprefix("gitdir:").strip()
        common = Path(pointer, (Path(pointer) / "commondir").read_text(encoding="utf-8").strip())
        folders.append(Path(os.path.realpath(common)).parent)
    except (OSError, ValueError):
        pass  # the repository itself, or none
    return folders


def _managed_file(surroundings: Surroundings) -> Path:
    folder = "/Library/Application Support/ClaudeCode" if surroundings.platform == "darwin" else "/etc/claude-code"
    return Path(folder, "managed-mcp.json")


def _managed(surroundings: Surroundings) -> Iterator[Elsewhere]:
    path = _managed_file(surroundings)
    for name in _names(path, wrapped_in_a_key=True):
        yield Elsewhere(name=name, source=str(path), reason=_MANAGED)


def _of_plugins(folder: Path) -> Iterator[Elsewhere]:
    installed = _read(folder / "plugins" / "installed_plugins.json")
    plugins = installed.get("plugins") if isinstance(installed, dict) else None
    for plugin, installs in plugins.items() if isinstance(plugins, dict) else ():
        for install in installs if isinstance(installs, list) else [installs]:
            where = install.get("installPath") if isinstance(install, dict) else None
            if not isinstance(where, str):
                continue
            named = _read(Path(where, ".claude-plugin", "plugin.json"))
            listed = named.get(_SERVERS) if isinstance(named, dict) else None
            names = [*listed] if isinstance(listed, dict) else []
            file = listed if isinstance(listed, str) else ".mcp.json"
            names += [name for name in _names(Path(where, file)) if name not in names]
            for name in names:
                yield Elsewhere(name=str(name), source=f"plugin {plugin}", reason=_UPDATED)


def _names(path: Path, *, wrapped_in_a_key: bool = False) -> list[str]:
    found = _read(path)
    if not isinstance(found, dict):
        return []
    servers = found.get(_SERVERS)
    if isinstance(servers, dict):
        return [*servers]
    return [] if wrapped_in_a_key else [name for name, entry in found.items() if isinstance(entry, dict)]


def _read(path: Path) -> object:
    try:
        if not path.is_file() or os.path.getsize(path) > _LARGEST:
            return None
        found: object = json.loads(path.read_bytes())
        return found
    except (OSError, ValueError, RecursionError):
        return None
