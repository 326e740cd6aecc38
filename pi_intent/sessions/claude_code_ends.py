"""Say how a call of Claude Code ended: by the flag and the text of its result, and what stands beside it."""

from __future__ import annotations

import re

from pi_intent.sessions.fields import mapping, said, size, word
from pi_intent.sessions.moments import milliseconds, stated_moment
from pi_intent.sessions.values import FoundResult
from pi_intent.types import JSONObject, Status

_BEGINNING = 1_000

# How the text of a failed call begins, in the order in which the first match wins. Other texts in `<tool_use_error>`
# are a tool's own complaint about a call that it did get.
_FAILURES: tuple[tuple[Status, re.Pattern[str]], ...] = (
    ("rejected", re.compile(r"(?:<tool_use_error>)?(?:InputValidationError|(?:Error: )?No such tool available)")),
    (
        "denied",
        re.compile(
            r"The user doesn't want to (?:proceed with this tool use|take this action)|User rejected tool use"
            r"|Permission to use [^\n]{1,300} (?:has been|was) denied|Claude requested permissions? to "
            r"|This command requires approval|The agent proposed a plan that was rejected by the user"
        ),
    ),
    (
        "cancelled",
        re.compile(
            r"\[Request interrupted by user"
            r"|(?:<tool_use_error>)?(?:Cancelled: |Sibling tool call errored|(?:Error: )?Streaming fallback)"
        ),
    ),
    ("interrupted", re.compile(r"(?:Exit code \d{1,4}\n)?<error>Command was aborted")),
    ("timeout", re.compile(r"(?:Exit code \d{1,4}\n)?(?:<error>)?Command timed out after ")),
)


def result_of(line: JSONObject, block: JSONObject, call_id: str) -> FoundResult:
    """Read a `tool_result` block of a line; the key of its call is not known yet."""
    text = said(block.get("content"))
    failed = block.get("is_error") is True
    detail = mapping(line.get("toolUseResult"))
    status = _status(line, detail, text, failed)
    durations = (
        milliseconds(detail.get("durationMs")),
        milliseconds(detail.get("totalDurationMs")),
        milliseconds(detail.get("durationSeconds"), per_unit=1000),
    )
    return FoundResult(
        key=None,
        tool_call_id=call_id,
        status=status,
        is_error=failed,
        ts=stated_moment(line.get("timestamp")),
        ms=next((ms for ms in durations if ms is not None), None),
        error=text if status != "ok" else None,
        text=text,
        bytes_out=size(text),
    )


def _status(line: JSONObject, detail: JSONObject, text: str, failed: bool) -> Status:
    interrupted = detail.get("interrupted") is True
    if not failed:
        return "interrupted" if interrupted else "ok"
    beginning = text[:_BEGINNING]
    for status, pattern in _FAILURES:
        if pattern.match(beginning):
            return status
        if status == "denied" and word(line.get("toolDenialKind")) is not None:
            return status
    return "interrupted" if interrupted else "error"
