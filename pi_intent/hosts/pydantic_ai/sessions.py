"""What a conversation keeps from run to run: what its gates remember, who is asked next, what tools stored."""

from __future__ import annotations

import asyncio
import atexit
from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import NamedTuple
from weakref import WeakKeyDictionary

from pi_intent.gates.memory import Memory
from pi_intent.ledger.artifacts import ArtifactStore
from pi_intent.past import PastCall

MOST_SESSIONS = 128
"""That are remembered; one that is forgotten has no more calls that were approved for all of it."""


class Turns:
    """One question at a time for one person. (A lock belongs to its event loop, and a session may see several.)"""

    def __init__(self) -> None:
        self._locks: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = WeakKeyDictionary()

    def here(self) -> asyncio.Lock:
        """Return the lock of the loop that runs."""
        return self._locks.setdefault(asyncio.get_running_loop(), asyncio.Lock())


class GatedSession(NamedTuple):
    """One session as its gates know it."""

    memory: Memory
    turns: Turns


class Recent[V]:
    """Something of each session that was used lately; of the others it is dropped, those of the longest ago first."""

    def __init__(self, drop: Callable[[V], None] = lambda value: None) -> None:
        self._known: OrderedDict[str, V] = OrderedDict()
        self._drop = drop

    def get(self, session_id: str) -> V | None:
        """Return what there is of a session."""
        return self._known.get(session_id)

    def keep(self, session_id: str, value: V) -> V:
        """Remember something of a session, and return it."""
        self._known[session_id] = value
        self._known.move_to_end(session_id)
        if len(self._known) > MOST_SESSIONS:
            self._drop(self._known.popitem(last=False)[1])
        return value

    def close(self) -> None:
        """Drop everything."""
        while self._known:
            self._drop(self._known.popitem()[1])


SESSIONS: Recent[GatedSession] = Recent()
"""The sessions of this process that have gates."""

GIVEN: Recent[frozenset[str]] = Recent()
"""The credentials that tools were given: a later run keeps them out as well."""

STORES: Recent[ArtifactStore] = Recent(ArtifactStore.close)
"""What tools have stored."""

atexit.register(STORES.close)


def gated_session(session_id: str, *, inside: str | None, earlier: Callable[[], Iterable[PastCall]]) -> GatedSession:
    """Return what the gates know of a session; `earlier` tells of the calls that were before it was known.

    `inside` is the session of the agent that runs this one in a tool of its own: the person is the same.
    """
    known = SESSIONS.get(session_id) or GatedSession(Memory(earlier()), Turns())
    around = SESSIONS.get(inside or "")
    if around is not None:
        known = known._replace(turns=around.turns)
    return SESSIONS.keep(session_id, known)
