"""Bring a record of an older shape into the present one: the only place that knows how the format has changed."""

from __future__ import annotations

from collections.abc import Callable

from pi_intent.types import JSONObject

type Step = Callable[[JSONObject], JSONObject]


def _before_imports(record: JSONObject) -> JSONObject:
    """Segments named no file that they were imported from: nothing was imported."""
    if (record.get("v"), record.get("t")) == (1, "session") and "importedFrom" not in record:
        return record | {"importedFrom": None}
    return record


def _before_withholding(record: JSONObject) -> JSONObject:
    """The end of a call had no flags: no result was withheld."""
    if (record.get("v"), record.get("t")) == (1, "done") and "flags" not in record:
        return record | {"flags": []}
    return record


def _before_given(record: JSONObject) -> JSONObject:
    """Which credentials a tool got was not kept."""
    if (record.get("v"), record.get("t")) == (1, "done") and "given" not in record:
        return record | {"given": []}
    return record


STEPS: tuple[Step, ...] = (_before_imports, _before_withholding, _before_given)
"""Oldest change first. A step knows the shape that its change ended, and returns every other record as it is."""


def to_present(record: JSONObject) -> JSONObject:
    """Return a record in the shape that is written today; the very same object where no change concerns it."""
    for step in STEPS:
        record = step(record)
    return record
