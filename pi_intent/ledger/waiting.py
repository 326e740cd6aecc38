"""Find calls that wait for somebody's answer: whoever was asked may bring it to another process."""

from __future__ import annotations

from pathlib import Path

from pi_intent.ledger.calls import LedgerCall, calls
from pi_intent.ledger.entries import DecisionEntry
from pi_intent.redaction import Redactor


def asked_calls(root: Path, redactor: Redactor, *, session: str, tool_call_id: str) -> list[LedgerCall]:
    """Return the calls of a session with a host's id that anybody was asked about, in the order in which they began.

    Reads the segments of the session, which takes milliseconds: on an event loop, call it in a thread.
    """
    wanted = redactor.text(tool_call_id)
    return [
        call
        for call in calls(root, session=redactor.text(session))
        if call.call is not None and call.call.tool_call_id == wanted and call.decisions
    ]


def open_question(call: LedgerCall) -> DecisionEntry | None:
    """Return what was asked about a call and nobody has answered yet, None where there is nothing like that."""
    newest = call.decisions[-1] if call.decisions else None
    return newest if newest is not None and call.done is None and newest.approved is None else None
