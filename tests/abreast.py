"""Do many slow things at the same time, a few of them ahead of the test that asks for its own."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager

ABREAST = 2 * (os.cpu_count() or 1)
"""Done at the same time: most of each is waiting for a program to start."""


class Ahead[Result]:
    """What each of many named things came to, asked for in their order by and large.

    Asking for one begins those after it: only a few, because another process may have been given the rest of them.
    """

    def __init__(self, pool: ThreadPoolExecutor, to_do: Mapping[str, Callable[[], Result]]) -> None:
        self._pool = pool
        self._to_do = to_do
        self._places = {name: place for place, name in enumerate(to_do)}
        self._names = list(to_do)
        self._begun: dict[str, Future[Result]] = {}

    def __getitem__(self, name: str) -> Result:
        place = self._places[name]
        for coming in self._names[place : place + 2 * ABREAST]:
            if coming not in self._begun:
                self._begun[coming] = self._pool.submit(self._to_do[coming])
        return self._begun[name].result()


@contextmanager
def doing[Result](to_do: Mapping[str, Callable[[], Result]]) -> Iterator[Ahead[Result]]:
    """Do them until the end of the block, which waits for those that have begun."""
    with ThreadPoolExecutor(ABREAST) as pool:
        yield Ahead(pool, to_do)
        pool.shutdown(cancel_futures=True)
