"""Each real session file goes in without a traceback, and the ledger has as many calls as the file."""

from __future__ import annotations

import json
import os
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest
from ledger_schema import assert_records_fit

from pi_intent.ledger.calls import read_ledger
from pi_intent.ledger.location import LedgerLocation
from pi_intent.ledger.reader import Segment, read_segments
from pi_intent.ledger.verify import check_lines
from pi_intent.sessions.into_ledger import NoSession, import_session, import_target
from pi_intent.sessions.report import FileReport
from pi_intent.settings import Settings

SAMPLES = Path(os.environ.get("PI_INTENT_SAMPLES", "/nowhere"))
if not SAMPLES.is_dir():
    pytest.skip("PI_INTENT_SAMPLES names no folder of real session files", allow_module_level=True)

EXPECTED: dict[str, dict[str, int]] = json.loads((SAMPLES / "expected.json").read_text("utf-8"))
FILES = sorted(str(path.relative_to(SAMPLES)) for path in SAMPLES.rglob("*") if path.is_file())


def take(location: LedgerLocation, name: str) -> FileReport:
    with import_target(location, environ={}) as target:
        return import_session(target, Settings(), SAMPLES / name)


def content(root: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}


def take_twice(location: LedgerLocation, name: str) -> FileReport:
    """Import a file, see that the ledger holds, and that a second time changes nothing."""
    report = take(location, name)
    before = content(location.root)
    again = take(location, name)
    assert content(location.root) == before
    assert (again.calls, again.already, again.new_calls, again.new_ends) == (report.calls, report.calls, 0, 0)
    for segment in read_segments(location.root):
        assert isinstance(segment, Segment)
        assert check_lines(segment.lines(), running=segment.running).holds
    assert_records_fit(sorted(location.segments.glob("*")))
    reading = read_ledger(location.root)
    assert (reading.problems, reading.others) == ([], {})
    return report


@pytest.mark.parametrize("name", sorted({*FILES} - {*EXPECTED}))
def test_a_file_with_no_numbers_to_expect_is_a_session_or_is_told_to_be_none(tmp_path: Path, name: str) -> None:
    location = LedgerLocation(root=tmp_path / "root", project=tmp_path)
    with suppress(NoSession):
        take_twice(location, name)


@pytest.mark.parametrize("name", EXPECTED)
def test_the_ledger_has_as_many_calls_as_a_sample(tmp_path: Path, name: str) -> None:
    location = LedgerLocation(root=tmp_path / "root", project=tmp_path)
    report = take_twice(location, name)
    reading = read_ledger(location.root)
    begun = [call for call in reading.calls if call.call is not None]
    ended = [call.done for call in reading.calls if call.done is not None]
    statuses = Counter(done.status for done in ended)
    found = {
        "calls": len(begun),
        "results": len(ended) + report.unpaired,
        "errors": report.errors,
        "rejected": statuses["rejected"],
        "intents": sum(call.call is not None and call.call.intent_source == "model" for call in begun),
        "per_edit_intents": report.per_edit,
    }
    if report.dialect == "openhands":  # it tells a refusal apart from a result
        found["results"] -= statuses["rejected"]
    assert {key: found[key] for key in EXPECTED[name]} == EXPECTED[name]
    assert report.errors >= sum(done.is_error for done in ended)
    assert report.intents == found["intents"]
