"""What a client of MCP servers is to us: where its configs are, what it cannot take, and how it can be asked."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from pi_intent.hosts.mcp.clients.text import Server

Scope = Literal["user", "local", "project"]
ClientName = Literal["claude", "codex", "cursor", "vscode"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """Where a client would run: its environment, the project's directory, the operating system."""

    environ: Mapping[str, str]
    directory: Path
    platform: str = sys.platform

    @property
    def home(self) -> Path:
        """The home folder of that environment."""
        return Path(self.environ.get("HOME") or Path.home())

    def folders(self) -> Iterator[Path]:
        """Yield the directory and those above it, up to the root of its repository; outside of one, only itself."""
        above = [self.directory, *self.directory.parents]
        roots = [folder for folder in above if (folder / ".git").exists()]
        yield from above[: above.index(roots[0]) + 1] if roots else above[:1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One set of servers in one file: under which keys it lies, and whether others get the file through git.

    `project` is whose set it is where a file holds those of many. `client_locks`: the client rewrites the file while
    it runs, under a lock.
    """

    scope: Scope
    path: Path
    keys: tuple[str, ...]
    shape: Literal["json", "toml"] = "json"
    project: Path | None = None
    client_locks: bool = False

    @property
    def is_shared(self) -> bool:
        """Whether others get the file, too."""
        return self.scope == "project"


@dataclass(frozen=True, slots=True, kw_only=True)
class Elsewhere:
    """A server that the client has from somewhere that is not ours to change, and why."""

    name: str
    source: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What a client's own command says: the command lines of the servers that it knows, or why there are none.

    `failed`: it was asked, and did not answer; `not_asked` then says what it did instead.
    """

    lines: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    asked: str = ""
    not_asked: str = ""
    failed: bool = False


class Client(Protocol):
    """One MCP client.

    - `places`: the sets of servers it reads, whether the files are there or not, in the order in which to name them.
    - `elsewhere`: servers that it has from plugins or from whoever manages the machine; what cannot be read is left
      out. Never raises.
    - `disabled`: names of servers that it does not start, where that stands elsewhere than in their entries. Never
      raises.
    - `why_not`: why this client would not start a server through pi-intent as it starts it now.
    - `look`: what its own command makes of a config, without starting a server and within `timeout` seconds in all.
      Never raises. `text` is the content of the file of `place`; the file holds it, too.
    """

    @property
    def name(self) -> ClientName: ...

    @property
    def title(self) -> str: ...

    @property
    def scopes(self) -> tuple[Scope, ...]: ...

    def places(self, surroundings: Surroundings) -> list[Place]: ...

    def elsewhere(self, surroundings: Surroundings) -> list[Elsewhere]: ...

    def disabled(self, surroundings: Surroundings) -> frozenset[str]: ...

    def why_not(self, server: Server) -> str | None: ...

    def look(
        self, surroundings: Surroundings, place: Place, text: str, names: Sequence[str], *, timeout: float
    ) -> Look: ...


def in_projects(
    folders: Iterable[Path], name: str, keys: tuple[str, ...], *, not_this: Sequence[Path] = ()
) -> list[Place]:
    """Return the shared sets of a project: a file of that name in its folders, but not the user's own files."""
    others = {os.path.realpath(path) for path in not_this}
    shape: Literal["json", "toml"] = "toml" if name.endswith(".toml") else "json"
    places = [
        Place(scope="project", path=folder / name, keys=keys, shape=shape, project=folder) for folder in folders
    ]
    here = [place for place in places if os.path.realpath(place.path) not in others]
    return [place for index, place in enumerate(here) if index == 0 or os.path.lexists(place.path)]


def tilde(server: Server) -> str | None:
    """Say that a command begins with a home folder that is perhaps written out nowhere else."""
    if (server.command or "").startswith("~"):
        return "its command begins with ~, which stands for a home folder there only: write the whole path"
    return None
