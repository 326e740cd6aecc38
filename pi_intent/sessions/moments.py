"""Read a moment however a session file writes it: seconds, milliseconds, or a date."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime

from pi_intent.types import JSONValue

_MILLISECONDS = 100_000_000_000
"""From here on a number counts milliseconds: as seconds it would lie in the year 5138."""

_LATEST = 253_402_300_799
"""The last second of the year 9999, the last that can be written as a date."""


def moment(value: JSONValue) -> float | None:
    """Return a moment as Unix seconds; None for whatever is none. A date without a zone is taken as UTC."""
    seconds: float = -1
    # What is too large for a float, or for a date, is no moment.
    with suppress(ValueError, OverflowError):
        if isinstance(value, str):
            date = datetime.fromisoformat(value[:64])
            seconds = (date if date.tzinfo is not None else date.replace(tzinfo=UTC)).timestamp()
        elif isinstance(value, int | float) and not isinstance(value, bool):
            seconds = float(value)
            if seconds >= _MILLISECONDS:
                seconds /= 1000
    return seconds if 0 <= seconds <= _LATEST else None


def stated_moment(value: JSONValue) -> float | None:
    """Return a moment as `moment` does, but -1 where something is stated that is none."""
    found = moment(value)
    return -1.0 if found is None and value is not None else found


def milliseconds(value: JSONValue, *, per_unit: int = 1) -> int | None:
    """Return a duration in whole milliseconds; None for whatever is none."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    with suppress(ValueError, OverflowError):
        scaled = float(value) * per_unit
        if 0 <= scaled <= 1000 * _LATEST:
            return round(scaled)
    return None
