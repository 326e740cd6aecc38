"""Follow each tool of each agent from a rejected call to the next one that is let through."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from pi_intent.past import PastCall, milliseconds
from pi_intent.stats.values import ROUNDS, Recovery, rounds_name


@dataclass(slots=True)
class _Open:
    """Rejections that nothing has followed yet: their rounds, the last message, and when they began."""

    rounds: int
    group: str
    began: str


@dataclass(slots=True)
class Recoveries:
    """What is known so far of the rejections of a history."""

    ended: Counter[str] = field(default_factory=Counter)
    ms: int = 0
    open: dict[tuple[str, str, str, str | None], _Open] = field(default_factory=dict)

    def add(self, call: PastCall) -> None:
        """Take the next call of its session."""
        key = (call.session, call.agent, call.tool, call.tool_source)
        begun = self.open.get(key)
        if call.status == "rejected":
            if begun is None:
                self.open[key] = _Open(1, call.group, call.ts)
            elif begun.group != call.group:
                begun.rounds += 1
                begun.group = call.group
        elif begun is not None and begun.group != call.group:
            self.ended[rounds_name(begun.rounds)] += 1
            self.ms += max(0, milliseconds(call.ts) - milliseconds(begun.began))
            del self.open[key]

    def value(self) -> Recovery:
        """Return what came of them."""
        return Recovery(rounds={name: self.ended[name] for name in ROUNDS}, never=len(self.open), ms=self.ms)
