"""Show what changes in a config as a diff: only the lines that change, and no secret in them."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from pi_intent.hosts.mcp.clients.secrets import Hidden
from pi_intent.labels.literal import spelled_out

_LONG = 1000
_AROUND = 80
"""Characters shown on either side of a change in a line that is longer."""
_LINE_END = re.compile(r"\r\n|\n|\r")


def unified(path: Path, before: str, after: str, hidden: Hidden) -> Iterator[str]:
    """Yield the lines of a unified diff without context, to the space, and made safe to print."""
    old, new = _lines(before), _lines(after)
    first = _same(old, new)
    last = _same(old[first:][::-1], new[first:][::-1])
    old, new = old[first : len(old) - last], new[first : len(new) - last]
    yield f"--- {spelled_out(str(path))}"
    yield f"+++ {spelled_out(str(path))}"
    for kind, from_old, to_old, from_new, to_new in difflib.SequenceMatcher(None, old, new).get_opcodes():
        if kind == "equal":
            continue
        # Secrets go first: half of one, where a line is cut, would not be known as one.
        taken = [*map(hidden.text, old[from_old:to_old])]
        given = [*map(hidden.text, new[from_new:to_new])]
        if len(taken) == len(given) == 1:
            (taken[0], given[0]) = _cut(taken[0], given[0])
        yield f"@@ -{first + from_old + 1},{len(taken)} +{first + from_new + 1},{len(given)} @@"
        yield from (f"-{spelled_out(line)}" for line in taken)
        yield from (f"+{spelled_out(line)}" for line in given)


def _lines(text: str) -> list[str]:
    lines = _LINE_END.split(text)
    return lines if lines[-1] else lines[:-1]


def _same(one: Sequence[str], other: Sequence[str]) -> int:
    """Count what is equal at the beginning."""
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _cut(old: str, new: str) -> tuple[str, str]:
    """Leave out of one very long line what is the same on both sides of the change."""
    if max(len(old), len(new)) <= _LONG:
        return old, new
    front = _same(old, new)
    back = _same(old[front:][::-1], new[front:][::-1])
    start, stop = max(0, front - _AROUND), max(0, back - _AROUND)
    return f"…{old[start : len(old) - stop]}…", f"…{new[start : len(new) - stop]}…"
