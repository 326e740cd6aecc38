"""Find a call that waits for somebody's answer: whoever it was given to may bring that to another process."""

from __future__ import annotations

from pathlib import Path

from pi_intent.ledger.calls import LedgerCall, calls
from pi_intent.redaction import Redactor


def asked_call(root: Path, redactor: Redactor, *, session: str, tool_call_id: str) -> LedgerCall | None:
    """Return the last call of a session with a host's id that anybody was asked about, None where there is none.

    It waits still where `waits` says so. Reads the segments of the session: milliseconds, so call it in a thread.
    """
    wanted = redactor.text(tool_call_id)
    found = [
        call
        for call in calls(root, session=redactor.text(session))
        if call.call is not None and call.call.tool_call_id == wanted and call.decisions
    ]
    return found[-1] if found else None


def waits(call: LedgerCall) -> bool:
    """Say whether nobody has answered yet what was asked last about a call."""
    return call.done is None and call.decisions[-1].approved is None
