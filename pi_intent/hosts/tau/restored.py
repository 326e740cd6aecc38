"""What came of calls that a session made in an earlier process: its messages have the calls, the ledger the ends."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import anyio.to_thread

from pi_intent.contract.rows import INTENT, RATIONALE
from pi_intent.events import ToolExecutionEnd, ToolExecutionStart
from pi_intent.hosts.tau.screen import draw_rows_anew
from pi_intent.labels.printable import printable

if TYPE_CHECKING:
    from pi_intent.hosts.tau.extension import TauExtension
    from pi_intent.ledger.calls import LedgerCall

MOST = 500
"""The newest calls are the ones that are restored."""


async def restore(extension: TauExtension) -> None:
    """Give the screen of a session the calls that it made before this process knew of it. Never raises."""
    session = extension.session()
    shown = session.show()
    messages = getattr(extension.host_session, "messages", ())
    if shown.board.labels or not any(message.role == "toolResult" for message in messages):
        return
    try:
        found = await anyio.to_thread.run_sync(_ledger_calls, extension, session.runtime.session_id)
        groups: set[str] = set()
        for event in restored_events(messages, found, groups):
            shown.restore(event)
        session.turn_groups |= groups
        draw_rows_anew(extension)
    except Exception as error:  # a boundary: the session goes on with rows that say less
        session.runtime.tell_once(
            f"what came of earlier calls is not shown ({type(error).__name__}: {printable(str(error), width=200)})"
        )


def _ledger_calls(extension: TauExtension, session_id: str) -> list[LedgerCall]:
    from pi_intent.ledger.calls import calls  # a new session has no use for the reader
    from pi_intent.ledger.location import find_ledger

    return calls(find_ledger(extension.cwd, os.environ).root, session=session_id)


def restored_events(
    messages: Iterable[Any], found: Iterable[LedgerCall], last_groups: set[str]
) -> Iterator[ToolExecutionStart | ToolExecutionEnd]:
    """Yield start and end of each call in the messages that the ledger knows.

    `last_groups` gets the groups since the person last asked for something. Ids of calls repeat: of several calls
    with the same id, tool and intent, the ones in the ledger are taken in order.
    """
    known: defaultdict[tuple[str, str], list[LedgerCall]] = defaultdict(list)
    for one in found:
        if one.call is not None and one.done is not None and "redact_args" not in one.call.flags:
            known[one.call.tool_call_id, one.call.tool].append(one)
    events: list[tuple[ToolExecutionStart, ToolExecutionEnd]] = []
    for message in messages:
        if message.role == "user":
            last_groups.clear()
        if message.role != "assistant":
            continue
        for call in message.tool_calls:
            arguments = call.arguments if isinstance(call.arguments, dict) else {}
            stated = arguments.get(INTENT)
            intent = stated.strip() if isinstance(stated, str) else None
            candidates = known[call.id, call.name]
            same = next((one for one in candidates if _same(one, intent or None)), None)
            if same is not None:
                candidates.remove(same)
                pair = _events(same, {k: v for k, v in arguments.items() if k not in (INTENT, RATIONALE)}, intent)
                last_groups.add(pair[0].group_id)
                events.append(pair)
    for start, end in events[-MOST:]:
        yield start
        yield end


def _same(one: LedgerCall, intent: str | None) -> bool:
    """Whether this is the call with that intent, as far as can be told of one that had a secret in it."""
    assert one.call is not None
    kept = one.call.intent if one.call.intent_source == "model" else None
    return kept == intent or (kept is not None and "[redacted" in kept)


def _events(
    one: LedgerCall, arguments: dict[str, Any], intent: str | None
) -> tuple[ToolExecutionStart, ToolExecutionEnd]:
    call, done = one.call, one.done
    assert call is not None
    assert done is not None
    identity: dict[str, Any] = {
        "call_id": call.id,
        "tool_call_id": call.tool_call_id,
        "session_id": call.session,
        "agent_id": call.agent,
        "group_id": call.group,
        "seq": call.seq,
        "host": call.host,
        "tool_name": call.tool,
    }
    source = call.intent_source
    text = intent if source == "model" else call.intent
    start = ToolExecutionStart(**identity, args=arguments, intent=text, intent_source=source)
    end = ToolExecutionEnd(
        **identity,
        status=done.status,
        is_error=done.is_error,
        duration_ms=done.ms,
        outcome=done.outcome,
        facts=done.facts,
    )
    return start, end
