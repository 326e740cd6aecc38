"""The rows of the contract: the four tools of a pi-style agent and the arguments their models see."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import NamedTuple

from pi_intent.types import JSONValue

INTENT = "intent"
RATIONALE = "rationale"


class ToolRow(NamedTuple):
    """One tool of the contract.

    `required` and `optional` are the tool's own arguments, in the order the model sees them; `target` names the one
    that says what a call is aimed at; `replaces` names fields of a host's own tool that the intent stands in for, and
    that therefore go.
    """

    name: str
    required: tuple[str, ...]
    optional: tuple[str, ...] = ()
    target: str = "path"
    replaces: tuple[str, ...] = ()


ROWS: dict[str, ToolRow] = {
    row.name: row
    for row in (
        ToolRow(name="read", required=("path",), optional=("offset", "limit")),
        ToolRow(name="write", required=("path", "content")),
        ToolRow(name="edit", required=("path", "edits")),
        ToolRow(
            name="bash", required=("command",), optional=("timeout",), target="command", replaces=("description",)
        ),
    )
}
"""The tools we shadow, by name."""


PATHS = ("path", "file_path", "filePath", "notebook_path")
"""What agents call the argument that names a file."""

_TARGETS = ("command", *PATHS, "cmd", "pattern", "url", "query")


def target_argument(tool_name: str, arguments: Mapping[str, JSONValue]) -> JSONValue:
    """Return what a call is aimed at: its command or path, by what its tool goes by and not by what else was sent.

    Of a tool that is not ours, what agents usually call such an argument.
    """
    row = ROWS.get(tool_name)
    if row is not None:
        return arguments.get(row.target)
    return next((arguments[name] for name in _TARGETS if name in arguments), None)


def action_text(tool_name: str, arguments: Mapping[str, JSONValue]) -> str:
    """Return the literal words of what a call does, as far as a record keeps them: its target, else its arguments."""
    match target_argument(tool_name, arguments):
        case str(text):
            return text
        case {"bytes": int(size)}:
            return f"({size} bytes, not kept)"
        case _:
            return json.dumps(arguments, ensure_ascii=False) if arguments else ""


def full_name(tool_name: str, tool_source: str | None) -> str:
    """Return a tool's name, with that of its server or extension before it where one supplied it."""
    return tool_name if tool_source is None else f"{tool_source}/{tool_name}"


def replaced_fields(tool_name: str) -> tuple[str, ...]:
    """Return the host's own fields that the intent stands in for."""
    row = ROWS.get(tool_name)
    return row.replaces if row else ()
