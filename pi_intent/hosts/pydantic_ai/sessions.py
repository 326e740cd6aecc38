"""What a conversation keeps from run to run: what its gates remember, who is asked next, what tools stored."""

from __future__ import annotations

import asyncio
import atexit
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import NamedTuple
from weakref import WeakKeyDictionary

from pi_intent.gates.memory import Memory
from pi_intent.ledger.artifacts import ArtifactStore
from pi_intent.past import PastCall

MOST_SESSIONS = 128
"""That are remembered; one that is forgotten has no more calls that were approved for all of it."""

MOST_FORGOTTEN = 128
"""Credentials of forgotten sessions that are remembered: most processes give the same few again and again."""


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


class GivenSecrets:
    """The credentials that tools were given, by session: a later run keeps them out as well.

    What is given is known of the sessions that are used. What those that were dropped were given counts for all, as
    nobody can tell any more which of them goes on.
    """

    def __init__(self) -> None:
        self._known: Recent[frozenset[str]] = Recent(self._forget)
        self._forgotten: dict[str, None] = {}
        """What dropped sessions were given, the longest ago first."""
        self._lock = threading.RLock()
        """Sessions run on loops of several threads."""

    def of(self, session_ids: Iterable[str]) -> frozenset[str]:
        """Return what any of these sessions, which are one inside of the other, must not bring back from now on."""
        ids = tuple(session_ids)
        with self._lock:
            given = self._given(ids)
            if given:
                self.add(ids, given)
            return given.union(self._forgotten)

    def add(self, session_ids: Iterable[str], secrets: frozenset[str]) -> None:
        """Note what a tool was given, for all of these sessions."""
        with self._lock:
            for session_id in session_ids:
                self._known.keep(session_id, self._given((session_id,)) | secrets)

    def _given(self, session_ids: Iterable[str]) -> frozenset[str]:
        return frozenset[str]().union(*(self._known.get(session_id) or () for session_id in session_ids))

    def _forget(self, given: frozenset[str]) -> None:
        for secret in given:
            self._forgotten.pop(secret, None)
            self._forgotten[secret] = None
        while len(self._forgotten) > MOST_FORGOTTEN:
            del self._forgotten[next(iter(self._forgotten))]


GIVEN = GivenSecrets()
"""Those of this process."""

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
