"""What can be asked of a call that is over, or of one that is about to run: all that notes and figures look at."""

from __future__ import annotations

from typing import Literal, NamedTuple

from pi_intent.types import IntentSource, JSONObject, Policy, Status

LastWord = Literal["approved", "denied", "waiting"]
"""What became of a question; `waiting`: no answer is recorded, or not yet."""


def last_word(approved: bool | None) -> LastWord:
    """Return the word for what the last decision on a call says."""
    return "waiting" if approved is None else "approved" if approved else "denied"


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
