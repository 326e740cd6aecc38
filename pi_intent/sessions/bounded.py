"""Remember enough of a file to pair what belongs together, and no more than a bound, however long the file is."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Iterator

from pi_intent.sessions.values import FoundResult


class Recent[V]:
    """The values of the last keys it was told. Only the keys' hashes are kept."""

    def __init__(self, limit: int = 200_000) -> None:
        self._limit = limit
        self._values: OrderedDict[int, V] = OrderedDict()

    def __contains__(self, key: Hashable) -> bool:
        return hash(key) in self._values

    def get(self, key: Hashable) -> V | None:
        """Return what was put there."""
        return self._values.get(hash(key))

    def put(self, key: Hashable, value: V) -> None:
        """Remember a value; the key told longest ago is forgotten when there are too many."""
        self._values[hash(key)] = value
        self._values.move_to_end(hash(key))
        if len(self._values) > self._limit:
            self._values.popitem(last=False)

    def drop(self, key: Hashable) -> None:
        """Forget a key."""
        self._values.pop(hash(key), None)


class Waiting:
    """Results whose call has not been read yet: some agents write them in the wrong order."""

    def __init__(self, *, most: int = 500, most_bytes: int = 8 << 20) -> None:
        self._most, self._most_bytes = most, most_bytes
        self._results: OrderedDict[str, FoundResult] = OrderedDict()
        self._bytes = 0

    def __contains__(self, call_id: str) -> bool:
        return call_id in self._results

    def add(self, call_id: str, result: FoundResult) -> Iterator[FoundResult]:
        """Keep a result, and give up those that have waited longest when there are too many."""
        self._results[call_id] = result
        self._bytes += result.bytes_out
        while self._results and (len(self._results) > self._most or self._bytes > self._most_bytes):
            yield self._pop(next(iter(self._results)))

    def take(self, call_id: str) -> FoundResult | None:
        """Return the result that waits for a call."""
        return self._pop(call_id) if call_id in self._results else None

    def rest(self) -> Iterator[FoundResult]:
        """Give up all that still wait."""
        while self._results:
            yield self._pop(next(iter(self._results)))

    def _pop(self, call_id: str) -> FoundResult:
        result = self._results.pop(call_id)
        self._bytes -= result.bytes_out
        return result
