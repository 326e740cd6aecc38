"""A snapshot of JSON that keeps the order of keys: the order of properties is what the contract rests on."""

from __future__ import annotations

import json
from typing import Any

from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode


class OrderedJSON(SingleFileSnapshotExtension):
    """One file a snapshot, keys as they stand."""

    _write_mode = WriteMode.TEXT
    file_extension = "json"

    def serialize(self, data: Any, **_: Any) -> str:
        return json.dumps(data, indent=1, ensure_ascii=False) + "\n"


class Text(SingleFileSnapshotExtension):
    """One file a snapshot, as it is read."""

    _write_mode = WriteMode.TEXT
    file_extension = "txt"

    def serialize(self, data: Any, **_: Any) -> str:
        return str(data).rstrip("\n") + "\n"
