"""Read off what pydantic-ai got from a tool how its call ended."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, assert_never

from pydantic_ai.exceptions import ModelRetry, RunCancelled, ToolFailedError, ToolRetryError
from pydantic_ai.messages import ToolReturn, ToolReturnPart

from pi_intent.hosts.outcome import stated_outcome
from pi_intent.pipeline import failure
from pi_intent.protocols import Settlement
from pi_intent.types import Status


def returned(result: Any) -> Settlement:
    """Settle a call whose tool returned, whatever it returned."""
    value, details = (result.return_value, result.metadata) if isinstance(result, ToolReturn) else (result, None)
    outcome, patch = stated_outcome(details.get("pi_intent") if isinstance(details, Mapping) else None)
    return Settlement(
        status="ok", is_error=False, result=result, outcome=outcome, outcome_patch=patch, bytes_out=_size(value)
    )


def raised(error: Exception) -> Settlement:
    """Settle a call that ended with an exception, the tool's own request to be called again included."""
    if isinstance(error, RunCancelled):  # of an agent that the tool ran
        return failure("cancelled", _text(error))
    if isinstance(error, ToolRetryError | ToolFailedError):
        error = error.__cause__ if isinstance(error.__cause__, Exception) else error
    # A tool that ran out of its time is told to the model as any other request for another call.
    timed_out = isinstance(error, ModelRetry) and isinstance(error.__context__, TimeoutError)
    return failure("timeout" if timed_out else "error", _text(error))


def answered(part: ToolReturnPart) -> Settlement:
    """Settle a call that somebody else answered: a person who said no, or whoever ran it elsewhere."""
    status: Status
    match part.outcome:
        case "success":
            return returned(part.content)
        case "denied":
            status = "denied"
        case "interrupted":
            status = "interrupted"
        case "failed" | "retried":
            status = "error"
        case _:
            assert_never(part.outcome)
    return failure(status, part.model_response_str(wrap_if_error=False))


def _size(value: Any) -> int:
    """Measure a result as the model gets it; 0 where that would use it up, as an iterator."""
    if isinstance(value, str):
        return len(value.encode("utf-8", "surrogatepass"))
    try:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError):
        return 0
    return len(text.encode("utf-8", "surrogatepass"))


def _text(error: Exception) -> str:
    try:
        return str(error)
    except Exception:  # an exception class of a tool's
        return type(error).__name__
