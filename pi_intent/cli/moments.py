"""Read the moments that people write: a day, a time, or how long ago it was."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import click

from pi_intent.labels.printable import printable

_AGO = re.compile(r"(\d{1,6})\s*(s|m|h|d|w|seconds?|minutes?|hours?|days?|weeks?)(?:\s+ago)?")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?(Z|[+-]\d{2}:\d{2})?)?")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


class Moment(click.ParamType[str]):
    """A time as the ledger writes it, UTC with milliseconds. A day begins at midnight here."""

    name = "when"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        text = value.strip()
        try:
            if ago := _AGO.fullmatch(text.lower()):
                moment = datetime.now(UTC) - timedelta(**{_UNITS[ago[2][0]]: int(ago[1])})
            elif _DATE.fullmatch(text):
                moment = datetime.fromisoformat(text).astimezone(UTC)
            else:
                raise ValueError(text)
        except (ValueError, OverflowError):
            shown = printable(value, width=60)
            self.fail(
                f'{shown!r} is no day such as 2030-01-31, and no time such as "2 hours ago" or "90d".', param, ctx
            )
        return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
