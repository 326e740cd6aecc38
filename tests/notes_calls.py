"""Past calls made from the few things a case says about them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pi_intent.past import PastCall

_PLAIN: dict[str, Any] = {
    "session": "s1",
    "host": "tau",
    "agent": "main",
    "tool_source": None,
    "rationale": None,
    "policy": "require",
    "flags": (),
    "model": "a-model",
    "status": "ok",
}


def past_call(place: int, said: dict[str, Any]) -> PastCall:
    """Return the call at a place, from 1, of a session; whatever is not said is plain and went well."""
    intent = said.get("intent")
    values = {
        **_PLAIN,
        "id": f"c{place}",
        "group": f"g{place}",
        "turn": place,
        "seq": place,
        "ts": f"2026-01-01T00:{place // 60 % 60:02d}:{place % 60:02d}.000Z",
        "intent": intent,
        "intent_source": "absent" if intent is None else "model",
        **{name: value for name, value in said.items() if name in PastCall._fields},
    }
    for name in ("flags", "codes", "files"):
        values[name] = tuple(values.get(name, ()))
    return PastCall(**values)


def past_calls(*said: dict[str, Any]) -> Sequence[PastCall]:
    """Return the calls of one session, in order."""
    return [past_call(place, one) for place, one in enumerate(said, 1)]
