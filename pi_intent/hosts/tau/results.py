"""Read off a Tau tool's result how its call ended."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tau_agent.tools import AgentToolResult

from pi_intent.events import FileChange
from pi_intent.hosts.outcome import stated_outcome
from pi_intent.protocols import Settlement
from pi_intent.types import JSONObject, Status

BLOCKED = "Tool call blocked: "  # how Tau answers for a `tool_call` hook that blocks; the result has no details
ABORTED = frozenset({"Operation aborted", "Tool call interrupted by user"})  # Tau's words for calls it skips


def settlement_of(
    tool_name: str,
    result: AgentToolResult,
    *,
    arguments: JSONObject,
    reached: bool | None,
    files: tuple[FileChange, ...] = (),
    ran_args: JSONObject | None = None,
) -> Settlement:
    """Say how a call with these arguments ended, which Tau reported without an error.

    `reached` tells whether the tool itself ran; None where we could not see that, as when another extension supplies
    the tool.
    """
    details: Mapping[str, Any] = result.details if isinstance(result.details, Mapping) else {}
    text = result.text
    blocked = reached is not True and result.details is None and text.startswith(BLOCKED)
    status: Status = "denied" if blocked else _status(details)
    outcome, patch = stated_outcome(details.get("pi_intent"))
    return Settlement(
        status=status,
        is_error=False,
        result=result,
        error=text if blocked else None,
        outcome=outcome,
        outcome_patch=patch,
        facts=_facts(tool_name, details, files, arguments, text) if status in ("ok", "error") else None,
        files=() if blocked else files,
        bytes_out=len(text.encode("utf-8", "surrogatepass")),
        ran_args=ran_args,
    )


def _status(details: Mapping[str, Any]) -> Status:
    if details.get("cancelled") is True:
        return "cancelled"
    if details.get("timed_out") is True:
        return "timeout"
    return "error" if details.get("exit_code") not in (None, 0) else "ok"


def _facts(
    tool_name: str, details: Mapping[str, Any], files: tuple[FileChange, ...], arguments: JSONObject, text: str
) -> str | None:
    """Say in a few words what can be read off the result; None where nothing can."""
    from pi_intent.facts import bash_facts, edit_facts, read_facts, write_facts  # with the first result, not at start

    match tool_name:
        case "bash" if isinstance(details.get("exit_code"), int):
            return bash_facts(details["exit_code"], text)
        case "edit" if isinstance(details.get("edits"), int):
            return edit_facts(details["edits"])
        case "write" if files and files[0].op != "delete":
            content = arguments.get("content")
            return write_facts(files[0].op, content if isinstance(content, str) else None)
        case "read" if isinstance(details.get("truncation"), Mapping):  # else it was an image
            lines, size = (details["truncation"].get(name) for name in ("output_lines", "output_bytes"))
            return read_facts(lines if isinstance(lines, int) else None, size if isinstance(size, int) else None)
        case _:
            return None
