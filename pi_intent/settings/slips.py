"""Tell a slip of the pen from another word: where a guess has a person asked, a hint is not enough."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher

from pi_intent.gates.naming import alike

_LONG = 6
_MUCH = 0.8
_LONGEST = 60


def is_slip(written: str, meant: str) -> bool:
    """Whether somebody who meant one word may have written the other: but for case, one letter is wrong.

    It is left out, doubled, another one, or has changed places with the next. A letter more is no slip (`egrep` is
    not `grep`), nor is another one in a word of four (`head` is not `read`).
    """
    one, other = alike(written.strip().lower()), alike(meant.lower())
    if len(one) == len(other):
        wrong = [at for at in range(len(one)) if one[at] != other[at]]
        swapped = len(wrong) == 2 and wrong[1] == wrong[0] + 1 and one[wrong[0] : wrong[1] + 1][::-1] in other
        return len(wrong) == (len(one) > 4) or not wrong or swapped
    if len(one) + 1 == len(other):
        return any(other[:at] + other[at + 1 :] == one for at in range(len(other)))
    return len(one) == len(other) + 1 and any(
        one[:at] + one[at + 1 :] == other and one[at] in one[at + 1 : at + 2] for at in range(len(one))
    )


def misspelt(written: str, known: Iterable[str]) -> str | None:
    """Return the known word that a long one is almost, or a short one but for a slip."""
    cut = written[:_LONGEST]
    near = [(_alikeness(cut, word), word) for word in known]
    found = [(much, word) for much, word in near if is_slip(cut, word) or (len(cut) >= _LONG and much >= _MUCH)]
    return max(found)[1] if found else None


def _alikeness(one: str, other: str) -> float:
    return SequenceMatcher(None, one.lower(), other.lower()).ratio()
