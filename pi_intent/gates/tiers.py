"""How much a tool can do, as whoever supplies it declares: read, write or run. Undeclared, it can do anything."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple, get_args

from pi_intent.gates.faults import not_worked_out
from pi_intent.types import JSONObject

Tier = Literal["read", "write", "exec"]
"""`read` changes nothing · `write` changes files of the project · `exec` can do anything."""

AskMode = Literal["none", "exec", "write", "all"]
"""From which tier on a person is asked: never, `exec` alone, `write` and `exec`, every call."""

TIERS: tuple[Tier, ...] = get_args(Tier)
MODES: tuple[AskMode, ...] = get_args(AskMode)

_OWN: dict[str, Tier] = {"read": "read", "write": "write", "edit": "write", "bash": "exec"}
_ASKED: dict[AskMode, frozenset[Tier]] = {
    "none": frozenset(),
    "exec": frozenset({"exec"}),
    "write": frozenset({"write", "exec"}),
    "all": frozenset(TIERS),
}


class Tiered(NamedTuple):
    """A tier with more to say: `reason` is shown to the person, `override` asks in every mode."""

    tier: Tier
    reason: str | None = None
    override: bool = False


type TierOf = Tier | Tiered | Callable[[JSONObject], Tier | Tiered]
"""What is declared of a tool: one tier, or a function of its literal arguments."""


def own_tier(tool_name: str, tool_source: str | None) -> Tier:
    """Return the tier of a tool of which nobody declares anything."""
    return _OWN.get(tool_name, "exec") if tool_source is None else "exec"


def tier_of(declared: TierOf | None, tool_name: str, tool_source: str | None, arguments: JSONObject) -> Tiered:
    """Return the tier of one call. A function that raises, or gives no tier, asks in every mode.

    Undeclared, a host's own read, write, edit and bash have theirs, and everything else is `exec`.
    """
    if declared is None:
        return Tiered(own_tier(tool_name, tool_source))
    if callable(declared):
        try:
            declared = declared(arguments)
        except Exception as error:  # a function of somebody else's: it fails toward asking
            return Tiered("exec", not_worked_out("its tier", error), override=True)
    found = declared if isinstance(declared, Tiered) else Tiered(declared)
    return found if found.tier in TIERS else Tiered("exec", "its tier is none that there is", override=True)


def raised(tiered: Tiered, floor: Tiered | None) -> Tiered:
    """Return a tier, at least as high as another one."""
    if floor is None:
        return tiered
    higher = max(tiered.tier, floor.tier, key=TIERS.index)
    return tiered._replace(tier=higher, override=tiered.override or floor.override)


def is_asked(mode: AskMode, tiered: Tiered) -> bool:
    """Say whether a call of this tier is asked about."""
    return tiered.override or tiered.tier in _ASKED[mode]
