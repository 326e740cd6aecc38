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


class Sessions:
    """The sessions of this process that have gates; the one that was used longest ago is forgotten first."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, GatedSession] = OrderedDict()

    def of(self, session_id: str, *, inside: str | None, earlier: Callable[[], Iterable[PastCall]]) -> GatedSession:
        """Return what is known of a session; `earlier` tells of the calls that were before it was known.

        `inside` is the session of the agent that runs this one in a tool of its own: the person is the same.
        """
        known = self._known.get(session_id) or GatedSession(Memory(earlier()), Turns())
        around = self._known.get(inside or "")
        if around is not None:
            known = known._replace(turns=around.turns)
        self._known[session_id] = known
        self._known.move_to_end(session_id)
        if len(self._known) > MOST_SESSIONS:
            self._known.popitem(last=False)
        return known


SESSIONS = Sessions()


class Stores:
    """What the tools of this process's sessions have stored; what was used longest ago goes first."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, ArtifactStore] = OrderedDict()

    def of(self, session_id: str, make: Callable[[], ArtifactStore]) -> ArtifactStore:
        """Return what a session has stored."""
        if session_id not in self._known:
            self._known[session_id] = make()
        self._known.move_to_end(session_id)
        if len(self._known) > MOST_SESSIONS:
            self._known.popitem(last=False)[1].close()
        return self._known[session_id]

    def close(self) -> None:
        """Remove everything."""
        while self._known:
            self._known.popitem()[1].close()


class Given:
    """The credentials that the tools of this process's sessions were given: a later run keeps them out as well."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, frozenset[str]] = OrderedDict()

    def of(self, session_id: str) -> frozenset[str]:
        """Return what a session was given."""
        return self._known.get(session_id, frozenset())

    def keep(self, session_id: str, secrets: Iterable[str]) -> None:
        """Remember what a run of a session was given."""
        self._known[session_id] = self.of(session_id) | frozenset(secrets)
        self._known.move_to_end(session_id)
        if len(self._known) > MOST_SESSIONS:
            self._known.popitem(last=False)


GIVEN = Given()
STORES = Stores()
atexit.register(STORES.close)
