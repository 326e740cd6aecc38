"""Read past calls off rows of the index: all that notes and figures look at."""

from __future__ import annotations

import json
from typing import Any

from pi_intent.ledger.index.decisions import IS_ASKED
from pi_intent.past import PastCall

COLUMNS = (
    "call.ts, call.seq, call.id, session, host, agent, message, turn, tool, tool_source, intent, intent_source,"
    " rationale, args, policy, flags, model, status, codes, ms, outcome, facts, error, files,"
    f" {IS_ASKED}"
)


def past_call(row: Any) -> PastCall:
    """Return the call of a row with the columns but the last one, which says whether anything was asked about it."""
    (
        ts, seq, call_id, session, host, agent, group, turn, tool, source, intent, intent_source, rationale, args,
        policy, flags, model, status, codes, ms, outcome, facts, error, files,
    ) = row  # fmt: skip
    return PastCall(
        call_id,
        session,
        host,
        agent,
        group,
        turn,
        seq,
        ts,
        tool,
        source,
        intent,
        intent_source,
        rationale,
        {} if args is None else json.loads(args) or {},
        policy,
        () if flags is None else tuple(json.loads(flags)),
        model,
        status,
        () if codes is None else tuple(json.loads(codes)),
        0 if ms is None else ms,
        outcome,
        facts,
        error,
        () if files is None else tuple(json.loads(files)),
    )
