"""Calls of a ledger, and what is sent of them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from clocks import Ticking
from ledger_events import a_start, an_end
from otlp_receiver import Received, Receiver

from pi_intent.cli.main import commands
from pi_intent.ledger.journal import SessionJournal
from pi_intent.ledger.location import find_ledger
from pi_intent.ledger.record import SessionInfo
from pi_intent.protocols import CallContext, Settlement

CONTEXT = CallContext(turn=1, policy="require", profile="lean", bytes_in=1)
OK = Settlement(status="ok", is_error=False)
BEGAN = 1_893_456_000_000_000_000
"""2030, in nanoseconds."""
SECOND, MS = 1_000_000_000, 1_000_000


def journal_of(session: str, host: Any = "tau") -> SessionJournal:
    info = SessionInfo(session=session, host=host, agent="main", cwd="/", version="0")
    location = find_ledger(Path(), os.environ)
    journal = SessionJournal(location, info, environ={}, on_problem=pytest.fail, clock=Ticking(BEGAN / SECOND - 2))
    journal._ready()  # the clock's first second is the session's
    return journal


def name_of(number: int) -> str:
    return f"01J8{number:022d}"


def call_of(journal: SessionJournal, number: int, *, settlement: Settlement = OK, **particular: Any) -> str:
    """Record a call that ended."""
    call_id = name_of(number)
    context = particular.pop("context", CONTEXT)
    session = journal.info.session
    journal.opened(a_start(call_id=call_id, seq=2 * number, session_id=session, **particular), context)
    told = {"status": settlement.status, "is_error": settlement.is_error, "facts": settlement.facts}
    journal.closed(an_end(call_id=call_id, seq=2 * number + 1, session_id=session, **told), settlement)
    return call_id


def run(*args: str) -> Result:
    return CliRunner().invoke(commands, ["export", "otel", *args])


def sent(received: Receiver, *args: str) -> list[Received]:
    before = len(received.bodies)
    result = run("--endpoint", received.url, *args)
    assert (result.exit_code, result.stderr) == (0, "")
    bodies, received.bodies[:] = received.bodies[before:], received.bodies[before:]
    assert received.bodies == bodies
    return received.spans
