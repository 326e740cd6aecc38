"""Bring results to their calls: by an id that may come again, may come early, and may never come."""

from __future__ import annotations

from collections import OrderedDict, deque
from typing import NamedTuple

from pi_intent.sessions.values import FoundResult

MOST_OPEN = 10_000
"""Ids of calls without a result that are remembered; beyond it the oldest is given up."""

MOST_EARLY = 64
"""Results without a call that are kept for one that may still come."""

MOST_EARLY_BYTES = 16 << 20
"""Bytes of text in them."""


class _Open(NamedTuple):
    """Calls of one message with the same id."""

    group: str
    keys: deque[str]


class Pairing:
    """The calls that wait for a result, and the results that wait for a call.

    Agents that count their ids from 1 use them again: a call takes the place of one of an earlier message that has
    the same id and never got a result.
    """

    def __init__(self) -> None:
        self._open: OrderedDict[str, _Open] = OrderedDict()
        self._early: OrderedDict[str, FoundResult] = OrderedDict()
        self._met: set[int] = set()  # hashes of the ids that calls had

    def opened(self, tool_call_id: str, group: str, key: str) -> FoundResult | None:
        """Take note of a call; return its result if that stood before it."""
        self._met.add(hash(tool_call_id))
        early = self._early.pop(tool_call_id, None)
        if early is not None:
            return early
        waiting = self._open.pop(tool_call_id, None)
        if waiting is None or waiting.group != group:
            waiting = _Open(group, deque())
        waiting.keys.append(key)
        self._open[tool_call_id] = waiting
        if len(self._open) > MOST_OPEN:
            self._open.popitem(last=False)
        return None

    def key_of(self, tool_call_id: str) -> str | None:
        """Return the key of the call that the next result with this id belongs to; None for no id."""
        waiting = self._open.get(tool_call_id) if tool_call_id else None
        return waiting.keys[0] if waiting is not None else None

    def closed(self, tool_call_id: str) -> str | None:
        """Return the key of the call that a result belongs to, which waits no longer; None where there is none."""
        waiting = self._open.get(tool_call_id)
        if waiting is None:
            return None
        key = waiting.keys.popleft()
        if not waiting.keys:
            del self._open[tool_call_id]
        return key

    def early(self, result: FoundResult) -> list[FoundResult]:
        """Keep a result whose call may still come; return those that none is waited for, or no room left.

        Where a call with its id has been met, it is one result too many, and none for the next call with that id.
        """
        if hash(result.tool_call_id) in self._met:
            return [result]
        given_up = [self._early.pop(result.tool_call_id)] if result.tool_call_id in self._early else []
        self._early[result.tool_call_id] = result
        while (
            len(self._early) > MOST_EARLY or sum(kept.bytes_out for kept in self._early.values()) > MOST_EARLY_BYTES
        ):
            given_up.append(self._early.popitem(last=False)[1])
        return given_up

    def orphans(self) -> list[FoundResult]:
        """Return the results whose calls are not in the file."""
        left = list(self._early.values())
        self._early.clear()
        return left
