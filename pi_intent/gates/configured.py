"""What is configured for the calls of one tool: all that the gates go by, from settings and from Python."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pi_intent.gates.capabilities import Governed
from pi_intent.gates.kinds import Rule
from pi_intent.gates.question import Show
from pi_intent.gates.tiers import AskMode, Tiered, TierOf

Unattended = Literal["deny", "defer"]
"""What becomes of a call that is to be asked about where nobody can be: refused, or kept as waiting."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gated:
    """The gates before one tool.

    `floor` raises whatever tier is set or declared; `rules` ask whatever the mode says; `touched` are the
    capabilities it touches, `given` the names of the credentials that it gets. `meanwhile` says why `ask` is higher
    than anybody set it.
    """

    ask: AskMode = "none"
    meanwhile: str | None = None
    tier: TierOf | None = None
    floor: Tiered | None = None
    rules: tuple[Rule, ...] = ()
    touched: tuple[str, ...] = ()
    given: tuple[str, ...] = ()
    governed: tuple[Governed, ...] = ()
    show: Show = "both"
    unattended: Unattended = "deny"

    @property
    def is_open(self) -> bool:
        """Whether no call of the tool can ever be held up."""
        # A declared tier may ask in every mode.
        return self.ask == "none" and self.tier is self.floor is None and not self.rules and not self.governed
