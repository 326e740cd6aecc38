"""Say how a call of Codex ended: there is no flag for it, only what the output's first lines and some events say."""

from __future__ import annotations

import re
from typing import NamedTuple

from pi_intent.sessions.fields import exit_code, finite, mapping, parsed, said, size
from pi_intent.sessions.moments import milliseconds
from pi_intent.sessions.values import FoundResult
from pi_intent.types import JSONObject, JSONValue, Status

_BEGINNING = 1_000
_LONGEST_JSON = 4 << 20

_CODE = re.compile(r"^(?:Process exited with code|Exit code:) (-?\d{1,10})$", re.MULTILINE)
_WALL_TIME = re.compile(r"^Wall time:? (\d{1,9}(?:\.\d{1,9})?) seconds?$", re.MULTILINE)
_HEADER = re.compile(r"(?:Chunk ID|Exit code|Wall time|Process exited with code|Script \w+)")

# How the text of a call begins that did not do what it was to do, in the order in which the first match wins.
_FAILURES: tuple[tuple[Status, re.Pattern[str]], ...] = (
    ("rejected", re.compile(r"failed to parse function arguments|unsupported (?:custom tool )?call: ")),
    (
        "denied",
        re.compile(
            r"(?:exec command |patch )?rejected by (?:the )?user|This action was rejected due to unacceptable risk"
            r"|exec_command failed [^\n]{0,600}Rejected\("
        ),
    ),
    ("cancelled", re.compile(r"(?:Wall time: [^\n]{1,40}\n)?aborted(?: by user|\s*$)")),
    ("timeout", re.compile(r"(?:execution error: )?command timed out after ")),
    (
        "error",
        re.compile(
            r"execution error: |exec_command failed |write_stdin failed|apply_patch verification failed"
            r"|tool call error: |Script (?:failed|terminated)\b"
        ),
    ),
)


class Verdict(NamedTuple):
    """What an event says of a call whose output comes later."""

    failed: bool = False
    declined: bool = False
    code: int | None = None
    ms: int | None = None


_NOTHING = Verdict()


def verdict_of(event: JSONObject) -> Verdict | None:
    """Return what an event says of its call; None for events that say nothing of how it ended."""
    kind, failed, code = event.get("type"), False, None
    if kind == "mcp_tool_call_end":
        result = mapping(event.get("result"))
        failed = "Err" in result or mapping(result.get("Ok")).get("isError") is True
    elif kind == "patch_apply_end":
        failed = event.get("success") is False
    elif kind == "exec_command_end":
        code = exit_code(event.get("exit_code"))
    else:
        return None
    duration = mapping(event.get("duration"))
    whole, nanos = finite(duration.get("secs")), finite(duration.get("nanos"))
    ms = None if whole is None else milliseconds(whole + (nanos or 0) / 1e9, per_unit=1000)
    return Verdict(failed, event.get("status") == "declined", code, ms)


def result_of(
    output: JSONValue, call_id: str, *, key: str | None, ts: float | None, verdict: Verdict = _NOTHING
) -> FoundResult:
    """Read an output, with what an event said of its call."""
    text = said(output)
    code, ms, own = _shell(text)
    failed = verdict.failed or mapping(output).get("success") is False
    status = _status(own, verdict.code if code is None else code)
    if status == "ok" and (verdict.declined or failed):
        status = "denied" if verdict.declined else "error"
    return FoundResult(
        key=key,
        tool_call_id=call_id,
        status=status,
        is_error=failed,
        ts=ts,
        ms=ms if verdict.ms is None else verdict.ms,
        error=text if status != "ok" else None,
        text=text,
        bytes_out=size(text),
    )


def _shell(text: str) -> tuple[int | None, int | None, str]:
    """Return the exit code and the duration that stand around a command's output, and where its own words begin."""
    if text.startswith("{") and len(text) <= _LONGEST_JSON:
        value = mapping(parsed(text))
        about = mapping(value.get("metadata")) or value
        if isinstance(value.get("output"), str) and "exit_code" in about:
            ms = milliseconds(about.get("duration_seconds", about.get("wall_time_seconds")), per_unit=1000)
            return exit_code(about.get("exit_code")), ms, said(value.get("output"))
    if _HEADER.match(text) is None:
        return None, None, text
    header = text[:_BEGINNING].partition("Output:\n")[0]
    code, wall_time = _CODE.search(header), _WALL_TIME.search(header)
    ms = milliseconds(float(wall_time[1]), per_unit=1000) if wall_time else None
    return int(code[1]) if code else None, ms, text


def _status(text: str, code: int | None) -> Status:
    if code == 0:
        return "ok"
    matches = (status for status, pattern in _FAILURES if pattern.match(text[:_BEGINNING]))
    return next(matches, "ok" if code is None else "error")
