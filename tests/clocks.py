"""Clocks for what is recorded: each tells the seconds since 1970."""

from __future__ import annotations


class Standing:
    """Stands still until it is moved on."""

    def __init__(self, now: float) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


class Ticking(Standing):
    """Goes on by a second each time it is looked at, from where it is put."""

    def __call__(self) -> float:
        self.now += 1
        return self.now
