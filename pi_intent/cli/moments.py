"""Read the times that a person gives: a day, a moment, or how long ago."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import click

from pi_intent.labels.printable import printable

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?(Z|[+-]\d{2}:\d{2})?)?")
_AGE = re.compile(r"(\d{1,5}|an?)\s*([a-z]+)(\s+ago)?")
_UNITS = {
    "seconds": ("s", "sec", "secs", "second", "seconds"),
    "minutes": ("m", "min", "mins", "minute", "minutes"),
    "hours": ("h", "hr", "hrs", "hour", "hours"),
    "days": ("d", "day", "days"),
    "weeks": ("w", "week", "weeks"),
}
_UNIT = {word: unit for unit, words in _UNITS.items() for word in words}
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

_SINCE_EXAMPLES = '"2 hours ago", "90m", "3d", "yesterday", "monday", "2025-01-31", "2025-01-31 14:00"'


def read_date(text: str) -> datetime | None:
    """Return the moment of a day or of a time on it, in UTC; None for anything else. A day begins at midnight."""
    try:
        return datetime.fromisoformat(text).astimezone(UTC) if _DATE.fullmatch(text) else None
    except (ValueError, OverflowError, OSError):
        return None


def read_since(text: str, now: datetime) -> datetime | None:
    """Return the moment that `--since` means, in UTC; None where it cannot be read."""
    words = " ".join(text.split())
    if (date := read_date(words)) is not None:
        return date
    words = words.lower()
    if words == "now":
        return now
    today = now.astimezone().replace(hour=0, minute=0, second=0, microsecond=0)
    if (days := _days_back(words.removeprefix("last ").removeprefix("since "), today.weekday())) is not None:
        days = days or (7 if words.startswith("last ") else 0)
        return (today.replace(tzinfo=None) - timedelta(days=days)).astimezone(UTC)
    if (age := _AGE.fullmatch(words)) and (unit := _UNIT.get(age[2])):
        count = 1 if age[1].startswith("a") else int(age[1])
        try:
            return now - timedelta(**{unit: count})
        except OverflowError:
            return None
    return None


def stated(moment: datetime) -> str:
    """Return a moment as the ledger writes times."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def since(text: str) -> str:
    """Return what `--since` means, as the ledger writes times. Raises `click.BadParameter`."""
    moment = read_since(text, datetime.now(UTC))
    if moment is None:
        shown = printable(text, width=60)
        raise click.BadParameter(f"{shown!r} is no time; it can be {_SINCE_EXAMPLES}.", param_hint="'--since'")
    return stated(moment)


def _days_back(word: str, weekday: int) -> int | None:
    if word in ("today", "yesterday"):
        return ("today", "yesterday").index(word)
    if word in _WEEKDAYS:
        return (weekday - _WEEKDAYS.index(word)) % 7
    return None
