"""What can be asked of a call that is over, or of one that is about to run: all that notes and figures look at."""

from __future__ import annotations

from typing import NamedTuple

from pi_intent.types import IntentSource, JSONObject, Policy, Status


class PastCall(NamedTuple):
    """One call as the ledger keeps it: redacted, cut, unverified.

    `status` is None while it runs and where the process ended under it; what only an end can tell is empty then.
    `policy` is what it was held to: under `omit` and `derive` nobody asked it for an intent. `args` are the arguments
    as they are kept: `content` and `edits`, and any long value, are `{"bytes": N, "digest": …}`. `ts` is UTC with
    milliseconds, which sorts as text; `group` one assistant message; `files` the paths it created, modified or
    deleted. `host` is the agent's, or that of the session file it was imported from.
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
