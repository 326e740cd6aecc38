"""Put what was found of a past call into the events that records are made of."""

from __future__ import annotations

from typing import NamedTuple, get_args

from pi_intent.events import ToolExecutionEnd, ToolExecutionStart
from pi_intent.protocols import CallContext
from pi_intent.sessions.clamped import milliseconds, sane_time
from pi_intent.sessions.result_facts import Kind, kind_of, result_facts, size_of_change
from pi_intent.sessions.values import Dialect, FoundCall, FoundResult
from pi_intent.types import Code, Flag

_FLAGS: dict[str, Flag] = {flag: flag for flag in get_args(Flag)}
_CODES: dict[str, Code] = {code: code for code in get_args(Code)}


class Begun(NamedTuple):
    """A call that has no end yet: what its end has to know, without its arguments."""

    call_id: str
    tool_call_id: str
    tool: str
    agent: str
    group: str
    seq: int
    ts: float | None
    bytes_in: int
    withheld: bool
    kind: Kind | None
    change: str | None


def start_event(
    found: FoundCall, *, host: Dialect, session: str, call_id: str, parent: str | None, seq: int, copied: bool
) -> ToolExecutionStart:
    """Return the beginning of a call; `parent` is our id of the one it was made inside of.

    Flags that are none of ours are left out.
    """
    flags: dict[Flag, None] = {_FLAGS[flag]: None for flag in found.flags if flag in _FLAGS}
    flags["imported"] = None
    if copied:
        flags["copied"] = None
    return ToolExecutionStart(
        session_id=session,
        agent_id=found.agent,
        group_id=found.group,
        seq=seq,
        host=host,
        call_id=call_id,
        tool_call_id=found.tool_call_id,
        tool_name=found.tool,
        args=found.args,
        intent=found.intent,
        intent_source="absent" if found.intent is None else "model",
        rationale=found.rationale,
        tool_source=found.tool_source,
        parent_tool_call_id=parent,
        model=found.model,
        flags=tuple(flags),
    )


def begun_by(start: ToolExecutionStart, found: FoundCall, context: CallContext) -> Begun:
    """Return what the end of a call will need of its beginning."""
    kind = kind_of(found.tool, found.args)
    return Begun(
        call_id=start.call_id,
        tool_call_id=start.tool_call_id,
        tool=start.tool_name,
        agent=start.agent_id,
        group=start.group_id,
        seq=start.seq,
        ts=sane_time(found.ts),
        bytes_in=context.bytes_in,
        withheld=context.redact_args,
        kind=kind,
        change=size_of_change(kind, found.args),
    )


def end_event(begun: Begun, found: FoundResult, *, host: Dialect, session: str) -> ToolExecutionEnd:
    """Return the end of a call, with the facts that its result shows. Codes that are none of ours are left out."""
    return ToolExecutionEnd(
        session_id=session,
        agent_id=begun.agent,
        group_id=begun.group,
        seq=begun.seq,
        host=host,
        call_id=begun.call_id,
        tool_call_id=begun.tool_call_id,
        tool_name=begun.tool,
        status=found.status,
        is_error=found.is_error,
        duration_ms=milliseconds(found.ms, begun.ts, sane_time(found.ts)),
        facts=result_facts(begun.kind, begun.change, found.status, found.text, found.exit_code),
        codes=tuple(_CODES[code] for code in found.codes if code in _CODES),
    )
