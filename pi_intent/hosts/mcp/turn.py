"""Let one question at a time be asked, by coroutines that are moved on by hand."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import AbstractAsyncContextManager
from typing import Any


class Waiting:
    """What a coroutine awaits where it is to be moved on later; whoever does that gives it what it gets."""

    def __await__(self) -> Generator[Waiting, Any, Any]:
        return (yield self)


class ForTurn(Waiting):
    """A coroutine waits until nobody else is asked."""


class Turn(AbstractAsyncContextManager[None]):
    """A lock. `driven` is set to whose coroutine is about to be moved on, `holder` to who has the lock.

    Who waits for it must be moved on first come, first served, when there is no holder.
    """

    def __init__(self) -> None:
        self.driven: object = None
        self.holder: object = None

    async def __aenter__(self) -> None:
        if self.holder is not None:
            await ForTurn()
        self.holder = self.driven

    async def __aexit__(self, *_: object) -> None:
        if self.holder is self.driven:  # it may have been passed on
            self.holder = None
