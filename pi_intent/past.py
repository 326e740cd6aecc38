"""What can be asked of a call that is over, or of one that is about to run: all that notes and figures look at."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple, Protocol

from pi_intent.types import IntentSource, JSONObject, Policy, Status

LastWord = Literal["approved", "denied", "waiting"]
"""What became of a question; `waiting`: no answer is recorded, or not yet."""


def last_word(approved: bool | None) -> LastWord:
    """Return the word for what the last decision on a call says."""
    return "waiting" if approved is None else "approved" if approved else "denied"


class Decided(Protocol):
    """What is asked here of a record of a decision."""

    @property
    def ts(self) -> str: ...

    @property
    def approved(self) -> bool | None: ...


def questions[T: Decided](decisions: Iterable[T]) -> list[tuple[T | None, T | None]]:
    """Return the questions on a call with their answers. No question was asked where only an answer stands."""
    found: list[tuple[T | None, T | None]] = []
    for decision in decisions:
        if decision.approved is None:
            found.append((decision, None))
        elif found and found[-1][1] is None:
            found[-1] = (found[-1][0], decision)
        else:
            found.append((None, decision))
    return found


def took(asked: Decided | None, answer: Decided | None) -> int | None:
    """Return the milliseconds from a question to its answer; None where the times do not say."""
    if asked is None or answer is None:
        return None
    passed = milliseconds(answer.ts) - milliseconds(asked.ts)
    return passed if passed >= 0 else None


class PastDecision(NamedTuple):
    """Somebody was asked about a call (`approved` is None), or what was decided, when, and `by` whom.

    Each of the `reasons` begins with the rule, and goes on with `: ` and what that found where it found anything.
    """

    number: int
    ts: str
    reasons: tuple[str, ...]
    approved: bool | None
    by: str | None


class PastCall(NamedTuple):
    """One call as the ledger keeps it: redacted, cut, unverified.

    `status` is None while it runs and where the process ended under it; what only an end can tell is empty then.
    `policy` is what it was held to: under `omit` and `derive` nobody asked it for an intent. `args` are the arguments
    as they are kept: `content` and `edits`, and any long value, are `{"bytes": N, "digest": …}`. `ts` is UTC with
    milliseconds, which sorts as text; `group` one assistant message; `files` the paths it created, modified or
    deleted. `host` is the agent's, or that of the session file it was imported from. `decisions` are in the order in
    which they were made; there are none where nobody was asked.
    """

    id: str
    session: str
    host: str
    agent: str
    group: str
    turn: int
    seq: int
    ts: str
    tool: str
    tool_source: str | None
    intent: str | None
    intent_source: IntentSource
    rationale: str | None
    args: JSONObject
    policy: Policy
    flags: tuple[str, ...]
    model: str | None
    status: Status | None = None
    codes: tuple[str, ...] = ()
    ms: int = 0
    outcome: str | None = None
    facts: str | None = None
    error: str | None = None
    files: tuple[str, ...] = ()
    decisions: tuple[PastDecision, ...] = ()


def milliseconds(ts: str) -> int:
    """Return a time of the ledger, such as `2030-01-31T12:00:00.000Z`, as a number that differences can be made of.

    Returns 0 for anything else.
    """
    try:
        year, month, day = int(ts[:4]), int(ts[5:7]), int(ts[8:10])
        hour, minute, second, rest = int(ts[11:13]), int(ts[14:16]), int(ts[17:19]), int(ts[20:23] or 0)
    except ValueError:
        return 0
    # The number of a day in a calendar whose year begins in March, so that the leap day is its last one.
    year, month = (year, month - 3) if month > 2 else (year - 1, month + 9)
    days = 365 * year + year // 4 - year // 100 + year // 400 + (153 * month + 2) // 5 + day
    return (((days * 24 + hour) * 60 + minute) * 60 + second) * 1000 + rest
