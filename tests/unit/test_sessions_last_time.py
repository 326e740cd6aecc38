"""When a session was last used is read off the end of its file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pi_intent.sessions.last_time import last_time

DATE, SECONDS = "2030-01-31T12:00:00.000Z", 1_896_091_200.0
STAMPED = json.dumps({"timestamp": DATE}).encode()


@pytest.mark.parametrize("time", [DATE, SECONDS, SECONDS * 1000, "2030-01-31T13:00:00+01:00"])
def test_it_is_the_time_of_the_last_record_that_has_one(tmp_path: Path, time: object) -> None:
    path = tmp_path / "s.jsonl"
    lines = [json.dumps({"timestamp": 1.0}), json.dumps({"timestamp": time}), '{"type": "label"}', "[1]", "{torn"]
    path.write_text("\n".join(lines))
    assert last_time(path) == SECONDS


def test_of_a_long_file_only_the_end_is_read(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(b"{}\n" * 500_000 + STAMPED + b"\n")
    assert last_time(path) == SECONDS
    path.write_bytes(STAMPED + b"\n" + b"{}\n" * 500_000)
    assert last_time(path) is None


def test_a_folder_of_events_is_dated_by_the_last_of_them(tmp_path: Path) -> None:
    for number, content in ((2, STAMPED), (10, STAMPED), (9, b'{"timestamp": 1}')):
        path = tmp_path / "events" / f"event-{number:05d}-x.json"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
    assert last_time(tmp_path) == SECONDS


def test_where_no_time_can_be_read_there_is_none(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    for content in (b"", b"\xff\xfe", b"null", b'{"timestamp": "soon"}', b'{"timestamp": ' + b"[" * 100_000):
        path.write_bytes(content)
        assert last_time(path) is None
    assert last_time(tmp_path / "gone") is None
    assert last_time(tmp_path) is None
