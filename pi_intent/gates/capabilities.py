"""What tools are declared to touch, and who governs that: asked once per capability that both sides name."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from inspect import isawaitable
from typing import NamedTuple

from pi_intent.gates.faults import not_worked_out
from pi_intent.gates.kinds import Reason
from pi_intent.gates.permissions import RULINGS, Ruling
from pi_intent.gates.situation import Situation


class Permit(NamedTuple):
    """A ruling on one capability; `reason` is shown to the person, and told to the model where it denies."""

    ruling: Ruling
    reason: str | None = None


type Verdict = bool | Ruling | Permit
type Checker = Callable[[str, Situation], Verdict | Awaitable[Verdict]]
"""Rules on a capability that a tool touches, by tool and supplier: never by its arguments, and never by its words.

True allows and False denies. One that raises, or answers nothing of this, asks a person.
"""


class Governed(NamedTuple):
    """A checker and what it governs."""

    checker: Checker
    capabilities: frozenset[str]


class NotPermitted(Exception):
    """A capability is denied: which one, and why."""

    def __init__(self, capability: str, reason: str) -> None:
        super().__init__(capability)
        self.capability = capability
        self.reason = reason


async def check(touched: Iterable[str], governed: Sequence[Governed], situation: Situation) -> tuple[Reason, ...]:
    """Ask every checker once for each capability that the tool touches and it governs; return why to ask a person.

    Raises `NotPermitted` at the first that is denied.
    """
    reasons: list[Reason] = []
    for capability in dict.fromkeys(touched):
        for checker, capabilities in governed:
            if capability not in capabilities:
                continue
            permit = await _ruled(checker, capability, situation)
            if permit.ruling == "deny":
                raise NotPermitted(capability, permit.reason or "it is denied")
            if permit.ruling == "ask":
                reasons.append(Reason(f"touches {capability}", permit.reason or "", is_said=True))
    return tuple(reasons)


async def _ruled(checker: Checker, capability: str, situation: Situation) -> Permit:
    try:
        verdict = checker(capability, situation)
        if isawaitable(verdict):
            verdict = await verdict
    except Exception as error:  # somebody else's: it fails toward asking
        return Permit("ask", not_worked_out("whether it is permitted", error))
    match verdict:
        case bool():
            return Permit("allow" if verdict else "deny")
        case Permit() if verdict.ruling in RULINGS:
            return verdict
        case "allow" | "ask" | "deny":
            return Permit(verdict)
        case _:
            return Permit("ask", "whether it is permitted got no plain answer")
