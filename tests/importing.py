"""Two calls as a reader of session files finds them, and their way into a ledger."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from ledger_schema import assert_records_fit

from pi_intent.ledger.calls import calls
from pi_intent.ledger.entries import CallEntry, DoneEntry
from pi_intent.ledger.location import LedgerLocation
from pi_intent.ledger.reader import Segment, read_segments
from pi_intent.ledger.verify import check_lines
from pi_intent.sessions.into_ledger import import_target
from pi_intent.sessions.one_file import FileImport
from pi_intent.sessions.report import FileReport
from pi_intent.sessions.values import Found, FoundCall, FoundResult, Head, Prompt
from pi_intent.settings import Settings

BEGAN = 1_893_456_000.0  # 2020-01-01
HEAD = Head(session="s-1", cwd="/home/me/shop", version="1.6.0", started=BEGAN)
CALL = FoundCall(
    key="k1",
    tool_call_id="call_1",
    tool="bash",
    group="g1",
    turn=1,
    args={"command": "pytest -q", "path": "/home/me/shop/src/pay.py"},
    intent="Verify no regressions",
    rationale="pay.py changed",
    asked=True,
    ts=BEGAN + 1,
    model="some-model",
)
RESULT = FoundResult(
    key="k1",
    tool_call_id="call_1",
    status="error",
    is_error=True,
    ts=BEGAN + 3.5,
    error="1 failed",
    text="1 failed in 0.12s\n\nCommand exited with code 1",
    bytes_out=45,
)
UNASKED = replace(
    CALL, key="k2", tool_call_id="call_2", intent=None, rationale=None, asked=False, ts=BEGAN + 5, group="g2", turn=2
)
FINE = replace(
    RESULT, key="k2", tool_call_id="call_2", status="ok", is_error=False, error=None, text="ok", ts=BEGAN + 6
)
WHOLE: list[Found] = [HEAD, Prompt(text="Fix the payment."), CALL, RESULT, UNASKED, FINE]


def take(
    location: LedgerLocation,
    found: Iterable[Found],
    *,
    environ: dict[str, str] | None = None,
    settings: Settings | None = None,
    dry_run: bool = False,
    modified: float = BEGAN + 999,
    echoes: Iterable[str] = (),
) -> FileReport:
    with import_target(location, environ=environ or {}, dry_run=dry_run, clock=lambda: BEGAN + 10_000) as target:
        into = FileImport(
            target,
            settings or Settings(),
            path=Path("/home/me/s.jsonl"),
            dialect="pi",
            modified=modified,
            own_id="pi-abc",
            echoes=echoes,
        )
        return into.take_all(found)


def told(report: FileReport) -> dict[str, int]:
    """The numbers of a report that are not 0."""
    fields = (
        "calls results errors rejected intents per_edit unpaired new_calls new_ends already recorded still_running "
        "unread_lines"
    )
    return {name: getattr(report, name) for name in fields.split() if getattr(report, name)}


def the_call(location: LedgerLocation) -> tuple[CallEntry, DoneEntry | None]:
    (only,) = calls(location.root)
    assert only.call is not None
    return only.call, only.done


def segments(location: LedgerLocation) -> list[Path]:
    return sorted(location.segments.iterdir()) if location.segments.exists() else []


def assert_holds(location: LedgerLocation) -> None:
    assert_records_fit(segments(location))
    for segment in read_segments(location.root):
        assert isinstance(segment, Segment)
        assert check_lines(segment.lines(), running=segment.running).holds
