"""Find the session that somebody means by an id, or by the beginning of one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pi_intent.errors import PiIntentError

_MOST_SESSIONS = 5


def choose_session(wanted: str, ids: Sequence[str], segments: Path) -> str:
    """Return the id that is meant: this one, or the only one that begins so. Raises `PiIntentError` otherwise.

    `ids` are those that there are, the latest first; `segments` is the folder they were found in.
    """
    if wanted in ids:
        return wanted
    matching = [name for name in ids if name.startswith(wanted)]
    if len(matching) == 1:
        return matching[0]
    if matching:
        raise PiIntentError(f"{len(matching)} sessions begin with {wanted}: {_listed(matching)}; give more of the id")
    if not ids:
        raise PiIntentError(f"there is no session {wanted}: no session is recorded in {segments}")
    import difflib  # only where an id is wrong

    nearest = difflib.get_close_matches(wanted, ids, n=_MOST_SESSIONS, cutoff=0.4)
    hint = f"the nearest are {_listed(nearest)}" if nearest else f"the latest are {_listed(ids)}"
    raise PiIntentError(f"there is no session {wanted} in {segments}; {hint}")


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _MOST_SESSIONS
    return ", ".join(names[:_MOST_SESSIONS]) + (f" and {more} more" if more > 0 else "")
