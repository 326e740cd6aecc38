"""Show what changes in a config as a diff: only the lines that change, and no secret in them."""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path

from pi_intent.labels.printable import printable
from pi_intent.redaction import Redactor

_WIDTH = 1000
_AROUND = 80
"""Characters shown on either side of a change in a line that is longer."""


@cache
def redactor() -> Callable[[str], str]:
    """Return what takes the secrets out of a text: keys often stand among arguments."""
    return Redactor(os.urandom(32), os.environ).text


def unified(path: Path, before: str, after: str) -> Iterator[str]:
    """Yield the lines of a unified diff without context, made safe to print."""
    old, new = before.splitlines(), after.splitlines()
    first = _same(old, new)
    last = _same(old[first:][::-1], new[first:][::-1])
    old, new = old[first : len(old) - last], new[first : len(new) - last]
    yield f"--- {printable(str(path), width=_WIDTH)}"
    yield f"+++ {printable(str(path), width=_WIDTH)}"
    for kind, from_old, to_old, from_new, to_new in difflib.SequenceMatcher(None, old, new).get_opcodes():
        if kind == "equal":
            continue
        taken, given = old[from_old:to_old], new[from_new:to_new]
        if len(taken) == len(given) == 1:
            (taken[0], given[0]) = _cut(taken[0], given[0])
        yield f"@@ -{first + from_old + 1},{len(taken)} +{first + from_new + 1},{len(given)} @@"
        yield from (_line("-", line) for line in taken)
        yield from (_line("+", line) for line in given)


def _line(sign: str, line: str) -> str:
    text = line.expandtabs(4)
    bare = text.lstrip(" ")
    return f"{sign}{' ' * (len(text) - len(bare))}{printable(redactor()(bare), width=_WIDTH)}"


def _same(one: Sequence[str], other: Sequence[str]) -> int:
    """Count what is equal at the beginning."""
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _cut(old: str, new: str) -> tuple[str, str]:
    """Leave out of one very long line what is the same on both sides of the change."""
    if max(len(old), len(new)) <= _WIDTH:
        return old, new
    front = _same(old, new)
    back = _same(old[front:][::-1], new[front:][::-1])
    start, stop = max(0, front - _AROUND), max(0, back - _AROUND)
    return f"…{old[start : len(old) - stop]}…", f"…{new[start : len(new) - stop]}…"
