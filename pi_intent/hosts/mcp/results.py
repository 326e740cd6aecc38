"""Read off an MCP result how its call ended, or whether it goes on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pi_intent.hosts.outcome import stated_outcome
from pi_intent.pipeline import failure
from pi_intent.protocols import Settlement

OUTCOME = "pi-intent/outcome"
"""The key of a result's `_meta` under which a tool itself may say what came of its call."""

type Unfinished = Literal["input_required", "task"]


def unfinished(result: object) -> Unfinished | None:
    """Whether a result only says that the call waits for a person, or that it goes on as a task."""
    if not isinstance(result, Mapping):
        return None
    if result.get("resultType") == "input_required":
        return "input_required"
    return "task" if task_id(result) is not None and "content" not in result else None


def task_id(result: Mapping[str, Any]) -> str | None:
    """Return the task that a result or a notification speaks of: inside `task`, or at its top."""
    task = result.get("task")
    found = task.get("taskId") if isinstance(task, Mapping) else result.get("taskId")
    return found if isinstance(found, str) else None


def task_status(result: Mapping[str, Any]) -> object:
    """Return how a task stands, where that is told."""
    task = result.get("task")
    return task.get("status") if isinstance(task, Mapping) else result.get("status")


def settlement_of(answer: Mapping[str, Any]) -> Settlement:
    """Say how a call ended that was answered with this message: by a result, or by an error."""
    if "error" in answer:
        error = answer["error"]
        said = error.get("message") if isinstance(error, Mapping) else None
        return failure("error", said if isinstance(said, str) else "the server answered with an error")
    result = answer.get("result")
    if not isinstance(result, Mapping):
        return Settlement(status="ok", is_error=False, result=result)
    text = _text(result.get("content"))
    is_error = result.get("isError") is True
    meta = result.get("_meta")
    outcome, patch = stated_outcome(meta.get(OUTCOME) if isinstance(meta, Mapping) else None)
    return Settlement(
        status="error" if is_error else "ok",
        is_error=is_error,
        result=result,
        error=text if is_error else None,
        outcome=outcome,
        outcome_patch=patch,
        bytes_out=len(text.encode("utf-8", "surrogatepass")),
    )


def _text(content: object) -> str:
    if not isinstance(content, list):
        return ""
    parts = [block.get("text") for block in content if isinstance(block, Mapping) and block.get("type") == "text"]
    return "\n".join(part for part in parts if isinstance(part, str))
