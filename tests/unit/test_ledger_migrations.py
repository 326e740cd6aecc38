"""Segments of every shape that was ever written are read as if they were of today."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from ledger_schema import faults_of

from pi_intent.ledger.calls import read_ledger
from pi_intent.ledger.entries import OtherEntry, SessionEntry, parse_entry
from pi_intent.ledger.migrations import STEPS, to_present
from pi_intent.ledger.reader import Segment
from pi_intent.ledger.record import VERSION
from pi_intent.ledger.verify import check_lines

CASES = Path(__file__).parents[1] / "cases"
BEFORE_IMPORTS = CASES / "ledger_before_imports.jsonl"
OLD_SHAPES = sorted(CASES.glob("ledger_*.jsonl"))


def records_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def test_there_is_a_file_of_the_old_shape_for_every_change_of_the_format() -> None:
    assert len(OLD_SHAPES) == len(STEPS)
    for path in OLD_SHAPES:
        assert any(to_present(record) is not record for record in records_of(path))


@pytest.mark.parametrize("path", OLD_SHAPES, ids=lambda path: path.stem)
def test_a_segment_of_an_old_shape_is_read_and_holds(path: Path, tmp_path: Path) -> None:
    folder = tmp_path / "ledger"
    folder.mkdir()
    (folder / "s-1.0.jsonl").write_bytes(path.read_bytes())
    reading = read_ledger(tmp_path)
    assert (reading.problems, reading.others) == ([], {})
    assert {session.session for session in reading.sessions} == {"s-1"}
    assert {call.state for call in reading.calls} == {"settled", "open"}
    verdict = check_lines(Segment(path=path, running=False).lines(), running=False)
    assert (verdict.holds, verdict.torn, verdict.records) == (True, None, len(records_of(path)))


@pytest.mark.parametrize("path", OLD_SHAPES, ids=lambda path: path.stem)
def test_what_a_migration_gives_is_a_record_of_today_and_nothing_more_to_migrate(path: Path) -> None:
    for record in records_of(path):
        present = to_present(record)
        assert faults_of(present) == []
        assert to_present(present) is present


def test_a_segment_from_before_imports_was_not_imported() -> None:
    old = records_of(BEFORE_IMPORTS)[0]
    before = json.dumps(old)
    assert "importedFrom" not in old
    entry = parse_entry(before.encode())
    assert isinstance(entry, SessionEntry)
    assert asdict(entry) == {
        "v": 1,
        "t": "session",
        "id": old["id"],
        "ts": "2030-03-17T17:46:40.000Z",
        "session": "s-1",
        "host": "tau",
        "host_version": "0.4.8",
        "agent": "main",
        "parent": None,
        "writer": old["writer"],
        "pid": old["pid"],
        "version": "0.3",
        "cwd": "/home/me/shop",
        "imported_from": None,
        "prev": "",
        "hash": old["hash"],
    }
    assert json.dumps(old) == before


def test_what_is_wrong_with_an_old_record_beyond_its_shape_is_told() -> None:
    old = records_of(BEFORE_IMPORTS)[0]
    del old["host"]
    assert parse_entry(json.dumps(old).encode()) == "is not a whole record: host: field required"


def test_a_newer_version_is_left_alone() -> None:
    newer: dict[str, Any] = {"v": VERSION + 1, "t": "session", "id": "a"}
    assert to_present(newer) is newer
    assert parse_entry(json.dumps(newer).encode()) == OtherEntry(v=VERSION + 1, t="session", data=newer)


@pytest.mark.parametrize("depth", [900, 1_100, 100_000])
def test_an_old_record_that_is_nested_without_end_is_no_record(depth: int) -> None:
    line = b'{"v":1,"t":"session","x":' + b"[" * depth + b"]" * depth + b"}"
    said = parse_entry(line)
    assert isinstance(said, str)
    assert said.startswith(("is not a record", "is not a whole record: id: "))
