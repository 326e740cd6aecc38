"""Give up what takes too long, also in the middle of one search for a regular expression."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def no_longer_than(seconds: float, error: Exception) -> Iterator[None]:
    """Raise `error` in the block once it has taken so long. Only the main thread can be interrupted so.

    Python looks for signals while it matches an expression, however long one match takes.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def give_up(*_: object) -> None:
        raise error

    before = signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
