"""Keep calls until the one that they were made inside of comes, and no more than a bound."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator

from pi_intent.ledger.calls import LedgerCall

MOST_EARLY = 10_000
"""Calls that are kept at most."""


def parent_of(past: LedgerCall) -> str | None:
    """Return the id of the call that this one was made inside of."""
    return None if past.call is None else past.call.parent


class Early:
    """Calls that came before the call that they were made inside of, by that one's id.

    Of too many, the one that has waited longest is given up: it hangs under its session then.
    """

    def __init__(self) -> None:
        self._waiting: OrderedDict[str, LedgerCall] = OrderedDict()
        self._of: dict[str, dict[str, None]] = {}

    def add(self, parent: str, call: LedgerCall) -> list[LedgerCall]:
        """Keep a call; return the one that is given up for it."""
        self._waiting[call.id] = call
        self._of.setdefault(parent, {})[call.id] = None
        return [self._take(next(iter(self._waiting)))] if len(self._waiting) > MOST_EARLY else []

    def children(self, parent: str) -> list[LedgerCall]:
        """Take out the calls that wait for one."""
        return [self._waiting.pop(call_id) for call_id in self._of.pop(parent, ())]

    def left(self) -> Iterator[LedgerCall]:
        """Take out the calls whose parents have not come: first those that have none here, which others wait for."""
        for call_id in [one for one, call in self._waiting.items() if parent_of(call) not in self._waiting]:
            yield self._take(call_id)
        while self._waiting:  # those that are inside of one another
            yield self._take(next(iter(self._waiting)))

    def _take(self, call_id: str) -> LedgerCall:
        call = self._waiting.pop(call_id)
        parent = parent_of(call) or ""
        siblings = self._of[parent]
        del siblings[call_id]
        if not siblings:
            del self._of[parent]
        return call
