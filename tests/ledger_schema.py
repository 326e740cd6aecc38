"""Hold what tests write into ledgers against the schema that the docs publish."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

SCHEMA: dict[str, Any] = json.loads((Path(__file__).parents[1] / "docs" / "ledger.schema.json").read_text("utf-8"))
_OF_KIND = {
    kind: Draft202012Validator({"$ref": f"#/$defs/{kind}", "$defs": SCHEMA["$defs"]})
    for kind in ("session", "call", "done", "decision")
}


def faults_of(record: dict[str, Any]) -> list[str]:
    """What the schema says against a record of one of our kinds."""
    return [f"{error.json_path}: {error.message[:200]}" for error in _OF_KIND[record["t"]].iter_errors(record)]


def assert_fits(record: dict[str, Any]) -> None:
    """A record that was not sealed yet fits, too, once it is."""
    assert faults_of({"prev": "", "hash": "0" * 64} | record) == []


def assert_records_fit(segments: Iterable[Path]) -> None:
    """Every whole line of these segments fits; torn and foreign ones are for other tests."""
    for segment in segments:
        for line in segment.read_bytes().splitlines():
            try:
                record = json.loads(line)
            except ValueError:
                continue
            if isinstance(record, dict) and record.get("v") == 1 and record.get("t") in _OF_KIND:
                assert_fits(record)
