"""Turn a patch, or two texts, into hunks with three lines of context, bounded for large files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import pairwise

CONTEXT_LINES = 3
HUNK_LINES = 200
"""Lines of all the hunks of a result together."""
LINE_CHARACTERS = 500
HUNK_CHARACTERS = 20_000

# Matching takes quadratic time and worse: longer changes are drawn as lines that go and lines that come.
_MATCHED_LINES = 100
LARGEST = 10**15  # of lines and sizes that are shown; Python refuses to print an integer of thousands of digits
_PATCH_CHARACTERS = 200_000  # read of a patch; more than the hunks can show
_HUNK_HEADER = r"@@ -([0-9]{1,9})(?:,([0-9]{1,9}))? \+([0-9]{1,9})(?:,([0-9]{1,9}))? @@"


@dataclass(frozen=True, slots=True, kw_only=True)
class Hunk:
    """Neighbouring changed lines, each beginning with ' ', '-' or '+', with the lines around them.

    The starts count from 1 as in a unified diff, and are None where the place in the file is not known.
    """

    path: str
    old_start: int | None
    new_start: int | None
    lines: tuple[str, ...]


def count_lines(text: str) -> int:
    return text.count("\n") + (text != "" and not text.endswith("\n"))


def patch_hunks(path: str, patch: str) -> list[Hunk] | None:
    """Read the hunks of a unified diff of one file; None where its lines are not what its headers say.

    The names in it are not read: what was changed is the call's file.
    """
    lines, whole = patch[:_PATCH_CHARACTERS].split("\n"), len(patch) <= _PATCH_CHARACTERS
    if not whole or lines[-1] == "":
        lines.pop()
    hunks: list[Hunk] = []
    script: list[str] = []
    old_start = new_start = old_left = new_left = 0
    for line in lines:
        if old_left or new_left:
            mark = line[:1] or " "  # some tools strip the blank of an empty line
            if mark == "\\":  # \ No newline at end of file
                continue
            old_left -= mark != "+"
            new_left -= mark != "-"
            # Python's difflib writes the last line of a file without a line end and what follows it as one line:
            # then the counts do not add up either.
            if mark not in " +-" or old_left < 0 or new_left < 0:
                return None
            script.append(mark + line[1:])
        elif header := re.match(_HUNK_HEADER, line):
            hunks += grouped(path, script, old_start, new_start)
            script = []
            old_start, new_start = int(header[1]), int(header[3])
            old_left, new_left = int(header[2] or 1), int(header[4] or 1)
        elif script and line.strip() and line[0] != "\\":
            return None
    if whole and (old_left or new_left):
        return None
    return [*hunks, *grouped(path, script, old_start, new_start)] or None


def changes(old: str, new: str) -> tuple[list[str], int]:
    """Return how the old lines become the new ones, each line with its mark, and how many more there are."""
    before, after = old.split("\n"), new.split("\n")
    if before[-1] == after[-1] == "":  # both end with a line end, not with an empty line
        before, after = before[:-1], after[:-1]
    shorter = min(len(before), len(after))
    head = next((at for at in range(shorter) if before[at] != after[at]), shorter)
    shorter -= head
    tail = next((at for at in range(shorter) if before[-1 - at] != after[-1 - at]), shorter)
    gone, come = before[head : len(before) - tail], after[head : len(after) - tail]
    script = [" " + line for line in before[max(head - CONTEXT_LINES, 0) : head]]
    if len(gone) <= _MATCHED_LINES and len(come) <= _MATCHED_LINES:
        steps: list[tuple[str, int, int, int, int]] = list(
            SequenceMatcher(a=gone, b=come, autojunk=False).get_opcodes()
        )
    else:
        steps = [("replace", 0, HUNK_LINES, 0, HUNK_LINES)]
    for step, old_from, old_to, new_from, new_to in steps:
        if step == "equal":
            script += [" " + line for line in gone[old_from:old_to]]
        else:
            script += ["-" + line for line in gone[old_from:old_to]]
            script += ["+" + line for line in come[new_from:new_to]]
    script += [" " + line for line in before[len(before) - tail :][:CONTEXT_LINES]]
    return script, max(len(gone) - HUNK_LINES, 0) + max(len(come) - HUNK_LINES, 0)


def added(path: str, text: str) -> Hunk:
    """Return the first lines of a new file as a hunk."""
    *lines, rest = text.split("\n", HUNK_LINES)
    if rest and len(lines) < HUNK_LINES:
        lines.append(rest)
    return Hunk(path=path, old_start=0, new_start=1, lines=tuple("+" + line for line in lines))


def grouped(path: str, script: list[str], old_start: int | None, new_start: int | None) -> list[Hunk]:
    """Cut a run of lines into hunks that have `CONTEXT_LINES` unchanged lines around their changes."""
    changed = [at for at, line in enumerate(script) if line[0] != " "]
    gaps = [at for at in range(1, len(changed)) if changed[at] - changed[at - 1] > 2 * CONTEXT_LINES + 1]
    hunks: list[Hunk] = []
    passed = 0
    for first, end in pairwise([0, *gaps, len(changed)] if changed else []):
        start = max(changed[first] - CONTEXT_LINES, 0)
        for line in script[passed:start]:
            old_start = None if old_start is None else old_start + (line[0] != "+")
            new_start = None if new_start is None else new_start + (line[0] != "-")
        passed = start
        lines = tuple(script[start : changed[end - 1] + CONTEXT_LINES + 1])
        hunks.append(Hunk(path=path, old_start=old_start, new_start=new_start, lines=lines))
    return hunks


def bounded(hunks: Sequence[Hunk]) -> tuple[tuple[Hunk, ...], int]:
    """Return the hunks as far as a result may be long, and how many lines were left out."""
    lines_left, characters_left, hidden = HUNK_LINES, HUNK_CHARACTERS, 0
    shown: list[Hunk] = []
    for hunk in hunks:
        kept: list[str] = []
        for line in hunk.lines if lines_left else ():
            short = line if len(line) <= LINE_CHARACTERS else line[: LINE_CHARACTERS - 1] + "…"
            if not lines_left or len(short) > characters_left:
                lines_left = 0
                break
            kept.append(short)
            lines_left -= 1
            characters_left -= len(short)
        hidden += len(hunk.lines) - len(kept)
        if kept:
            shown.append(replace(hunk, lines=tuple(kept)))
    return tuple(shown), hidden
