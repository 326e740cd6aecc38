"""What the gates of one session remember, also where a host makes new ones for each of its runs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

from pi_intent.gates.history import History
from pi_intent.past import PastCall
from pi_intent.protocols import DecidedBy


class Decided(NamedTuple):
    """A decision of this session as it can be listed: the call it was about, in its literal words."""

    action: str
    reasons: tuple[str, ...]
    approved: bool | None
    by: DecidedBy | None
    note: str | None
    scope: Literal["once", "session"] | None = None


class Memory:
    """What a session did before, what was decided, and the calls that were approved for all of it."""

    def __init__(self, earlier: Iterable[PastCall] = ()) -> None:
        self.history = History(earlier)
        self.decided: list[Decided] = []
        self.granted: dict[bytes, None] = {}
