"""What a span says of a call: the names of the GenAI conventions, and ours under `pi_intent`. Pure.

Texts (the intent, the rationale, arguments, outcomes, facts, errors, paths) are told only where they are asked for,
and never of a call whose texts are withheld.
"""

from __future__ import annotations

import json
from typing import NamedTuple

from pi_intent.characters import pair_surrogates
from pi_intent.types import JSONObject

type Attribute = str | bool | int | float | list[str]
type Attributes = dict[str, Attribute]

SCOPE = "pi-intent"
_TOOL_SPAN = {"gen_ai.operation.name": "execute_tool", "openinference.span.kind": "TOOL"}
# Beside a span of the host's own for the same call: nothing that counts tools may count it again.
_NOTE_SPAN = {"langfuse.observation.type": "span", "openinference.span.kind": "CHAIN"}
_AGENTS = frozenset({"tau", "pi", "oh-my-pi", "claude-code", "codex", "openhands"})
"""Hosts that are agents themselves; the others run agents with names of their own."""


class Begun(NamedTuple):
    """What is known when a call begins. `policy` and what follows it only the ledger tells."""

    id: str
    tool_call_id: str
    session: str
    host: str
    agent: str
    group: str
    seq: int
    tool: str
    tool_source: str | None
    parent: str | None
    intent: str | None
    intent_source: str
    rationale: str | None
    args: JSONObject
    model: str | None
    flags: tuple[str, ...]
    policy: str | None = None
    profile: str | None = None
    turn: int | None = None
    head: str | None = None


class Ended(NamedTuple):
    """What is known when it has ended. `error` and what follows it only the ledger tells.

    `status` is that of the ledger, or "open": its process ended under it.
    """

    status: str
    ms: int | None = None
    codes: tuple[str, ...] = ()
    outcome: str | None = None
    facts: str | None = None
    files: tuple[str, ...] = ()
    error: str | None = None
    bytes_in: int | None = None
    bytes_out: int | None = None


def span_name(tool: str, *, beside: bool = False) -> str:
    """Return the name of a call's span; `beside` a span of the host's for the same call."""
    return pair_surrogates(f"{'pi_intent' if beside else 'execute_tool'} {tool}")


def session_span_name(host: str) -> str:
    """Return the name of the span around a session's calls, and of its trace."""
    return pair_surrogates(f"{host} session")


def withholds(begun: Begun) -> bool:
    """Whether no text of a call may leave, whoever asks."""
    return "redact_args" in begun.flags


def begun_attributes(begun: Begun, *, content: bool, beside: bool = False) -> Attributes:
    """Return what a call's span says from the beginning."""
    told: dict[str, Attribute | None] = {
        **(_NOTE_SPAN if beside else _TOOL_SPAN),
        "gen_ai.tool.name": begun.tool,
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.id": begun.tool_call_id,
        **_whose(begun.session, begun.host),
        "pi_intent.call.id": begun.id,
        "pi_intent.host": begun.host,
        "pi_intent.agent": begun.agent,
        "pi_intent.group.id": begun.group,
        "pi_intent.seq": begun.seq,
        "pi_intent.tool.source": begun.tool_source,
        "pi_intent.parent.call.id": begun.parent,
        "pi_intent.intent.source": begun.intent_source,
        "pi_intent.model": begun.model,
        "pi_intent.flags": [*begun.flags] or None,
        "pi_intent.policy": begun.policy,
        "pi_intent.profile": begun.profile,
        "pi_intent.turn": begun.turn,
        "vcs.ref.head.revision": begun.head,
    }
    if content and not withholds(begun):
        told |= {
            "gen_ai.tool.call.arguments": _json(begun.args),
            "pi_intent.intent": begun.intent,
            "pi_intent.rationale": begun.rationale,
        }
    return _without_none(told)


def ended_attributes(ended: Ended, *, content: bool) -> Attributes:
    """Return what a call's span says besides when it has ended; `content`: its texts may be told."""
    told: dict[str, Attribute | None] = {
        "error.type": error_type(ended),
        "pi_intent.status": ended.status,
        "pi_intent.duration_ms": ended.ms,
        "pi_intent.codes": [*ended.codes] or None,
        "pi_intent.files.count": len(ended.files) or None,
        "pi_intent.bytes.in": ended.bytes_in,
        "pi_intent.bytes.out": ended.bytes_out,
    }
    if content:
        told |= {
            "pi_intent.outcome": ended.outcome,
            "pi_intent.facts": ended.facts,
            "pi_intent.files": [*ended.files] or None,
            "pi_intent.error": ended.error,
        }
    return _without_none(told)


def session_attributes(session: str, host: str) -> Attributes:
    """Return what the span around a session's calls says."""
    told: dict[str, Attribute | None] = {
        "openinference.span.kind": "AGENT",
        "langfuse.observation.type": "agent",
        **_whose(session, host),
        **trace_attributes(host),
        "pi_intent.host": host,
    }
    return _without_none(told)


def trace_attributes(host: str) -> Attributes:
    """Return what Langfuse reads off any span of a trace for the whole of it: only for a trace of our own."""
    return {
        "langfuse.trace.name": session_span_name(host),
        "langfuse.trace.tags": ["pi-intent", pair_surrogates(host)],
    }


def error_type(ended: Ended) -> str | None:
    """Return the class of error of a call that did not go well: its status."""
    return None if ended.status == "ok" else "interrupted" if ended.status == "open" else ended.status


def _whose(session: str, host: str) -> dict[str, Attribute | None]:
    return {
        "gen_ai.conversation.id": session,
        "session.id": session,
        "gen_ai.agent.name": host if host in _AGENTS else None,
    }


def _json(args: JSONObject) -> str | None:
    try:
        return json.dumps(args, ensure_ascii=False, separators=(",", ":"))
    except (RecursionError, ValueError, TypeError):
        return None


def _without_none(told: dict[str, Attribute | None]) -> Attributes:
    return {name: whole for name, value in told.items() if (whole := _whole(value)) is not None}


def _whole(value: Attribute | None) -> Attribute | None:
    """Return a value as the protocol carries it: half a surrogate pair or a huge number would cost a batch."""
    match value:
        case str():
            return pair_surrogates(value)
        case list():
            return [pair_surrogates(item) for item in value]
        case int() if not -(2**63) <= value < 2**63:
            return None
        case _:
            return value
