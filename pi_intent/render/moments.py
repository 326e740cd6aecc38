"""Say times of a ledger as people read them: in the local zone, which is named once, and again where it changes."""

from __future__ import annotations

from datetime import datetime, timedelta, tzinfo

from pi_intent.labels.printable import printable


class Moments:
    """The times on one screen. `zone` is the local one where nothing is said."""

    def __init__(self, zone: tzinfo | None = None) -> None:
        self._zone = zone
        self._named: timedelta | None = None

    def local(self, ts: str) -> datetime | None:
        """Return a time of the ledger in the zone of the screen; None where it is none that a calendar has."""
        try:
            return datetime.fromisoformat(ts).astimezone(self._zone)
        except (ValueError, OverflowError, OSError):  # written by somebody else
            return None

    def zone(self, moment: datetime) -> str:
        """Return the name of a moment's zone with a space before it, "" where it is the one that was named last."""
        offset = moment.utcoffset() or timedelta()
        if offset == self._named:
            return ""
        self._named = offset
        return f" {moment:UTC%:z}" if offset else " UTC"

    def told(self, ts: str, *, exactly: bool = False) -> str:
        """Return a time of the ledger with its day, `exactly` with milliseconds; as it stands where it is no time."""
        moment = self.local(ts)
        if moment is None:
            return printable(ts, width=60)
        fraction = f".{moment.microsecond // 1000:03}" if exactly else ""
        return f"{day(moment)} {moment:%H:%M:%S}{fraction}{self.zone(moment)}"


def day(moment: datetime) -> str:
    """Return the day of a moment, with the day of the week."""
    return f"{moment:%a} {moment.date().isoformat()}"


def duration(ms: int) -> str:
    """Return so many milliseconds as people say them."""
    if ms < 1000:
        return f"{ms} ms"
    seconds = ms / 1000
    if seconds < 60:
        return f"{seconds:.1f} s"
    if seconds < 3600:
        return f"{int(seconds // 60)} min {int(seconds % 60)} s"
    return f"{int(seconds // 3600)} h {int(seconds // 60 % 60)} min"
