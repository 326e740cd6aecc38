"""Names of tools as people write them in rules; light, because settings are read at every start."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase

from pi_intent.contract.rows import full_name


def alike(name: str) -> str:
    """Return what a name is compared by: - and _ are alike, as hosts and servers disagree on them."""
    return name.replace("-", "_")


def tool_names(tool_name: str, tool_source: str | None) -> tuple[str, ...]:
    """Return what a tool is called: by its name, and by `source/name` where somebody supplied it."""
    return (tool_name,) if tool_source is None else (tool_name, full_name(tool_name, tool_source))


def covers(pattern: str, names: Iterable[str]) -> bool:
    """Say whether a name or glob covers one of the names."""
    # Only * and ? are wildcards: a set like [a-z] would not survive reading - as _.
    glob = alike(pattern).replace("[", "[[]")
    return any(fnmatchcase(alike(name), glob) for name in names)


def is_tool(pattern: str, tool_name: str, tool_source: str | None) -> bool:
    """Say whether a name or glob covers a tool."""
    return covers(pattern, tool_names(tool_name, tool_source))
