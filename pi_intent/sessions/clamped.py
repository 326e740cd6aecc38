"""Take the times that session files state only as far as they can be true."""

from __future__ import annotations

import math

_YEAR_10000 = 253_402_300_800.0
_LONGEST_MS = 10**12


def sane_time(seconds: float | None) -> float | None:
    """Return a Unix time, or None for none, for one before 1970, and for one that no calendar has."""
    try:
        return float(seconds) if seconds is not None and 0 <= seconds < _YEAR_10000 else None
    except OverflowError:  # an integer of any length
        return None


def milliseconds(stated: int | None, began: float | None, ended: float | None) -> int:
    """Return how long a call took: what the file says, else what lies between its two times, else 0."""
    if stated is not None:
        return max(0, min(int(stated), _LONGEST_MS)) if not isinstance(stated, float) or math.isfinite(stated) else 0
    if began is None or ended is None:
        return 0
    return max(0, min(round((ended - began) * 1000), _LONGEST_MS))
