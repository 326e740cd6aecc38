"""Where a call would run, and what it can be judged by: never by what the model says of it."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from pi_intent.types import Host


class Situation(NamedTuple):
    """A call without its arguments and without its words: no intent and no rationale reaches whoever judges it.

    `cwd` is the absolute folder it would run in, `project` the top of the work tree around that; `tool_source` is the
    server or extension that supplied the tool, None for the host itself.
    """

    tool_name: str
    tool_source: str | None
    cwd: str
    project: str | None
    host: Host
    session_id: str
    agent_id: str = "main"
    model: str | None = None


class Surroundings(Protocol):
    """What can be looked up on the disk around a call. Nothing here raises, and nothing is changed.

    `resolve` follows the links of an absolute path; `expand` puts the home folder in the place of `~`;
    `exists` and `text` take a path as a tool gets it, from the working directory; `text` is what stands in a file
    now, None where it cannot be read or is large.
    """

    def resolve(self, path: str) -> str: ...

    def expand(self, path: str) -> str: ...

    def exists(self, path: str) -> bool: ...

    def text(self, path: str) -> str | None: ...
