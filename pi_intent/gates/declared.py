"""What the code of this process declares of tools: who must be asked, and how much a tool can do."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

from pi_intent.errors import SettingsError
from pi_intent.gates.rules import Reason, is_tool
from pi_intent.gates.situation import Situation
from pi_intent.gates.tiers import TIERS, Tiered, TierOf
from pi_intent.types import JSONObject

type Predicate = Callable[[JSONObject, Situation], bool]
"""Says of a call's literal arguments, and of where it would run, whether a person must be asked.

It never sees what the model says of the call. One that raises, or answers neither True nor False, asks.
"""


class _Asked(NamedTuple):
    predicate: Predicate
    tools: str
    reason: str


class Declarations:
    """What was declared, in the order in which it was; the last word on a tool counts."""

    def __init__(self) -> None:
        self._asked: list[_Asked] = []
        self._tiers: list[tuple[str, TierOf]] = []

    @property
    def is_empty(self) -> bool:
        """Whether nothing is declared."""
        return not self._asked and not self._tiers

    def ask_when(self, predicate: Predicate, tools: str, reason: str | None) -> Callable[[], None]:
        """Add a predicate; return what removes it again."""
        name = getattr(predicate, "__qualname__", type(predicate).__qualname__)
        asked = _Asked(predicate, tools, reason or name)
        self._asked.append(asked)

        def remove() -> None:
            with suppress(ValueError):
                self._asked.remove(asked)

        return remove

    def declare_tier(self, tools: str, tier: TierOf) -> Callable[[], None]:
        """Set the tier of tools; return what removes it again."""
        entry = (tools, tier)
        self._tiers.append(entry)

        def remove() -> None:
            with suppress(ValueError):
                self._tiers.remove(entry)

        return remove

    def tier(self, tool_name: str, tool_source: str | None) -> TierOf | None:
        """Return what is declared of a tool; None where nothing is."""
        return next((tier for tools, tier in reversed(self._tiers) if is_tool(tools, tool_name, tool_source)), None)

    def concerns(self, tool_name: str, tool_source: str | None) -> bool:
        """Whether anything that was declared may hold a call of a tool up."""
        asked = any(is_tool(asked.tools, tool_name, tool_source) for asked in self._asked)
        return asked or self.tier(tool_name, tool_source) is not None

    def reasons(self, arguments: JSONObject, situation: Situation) -> tuple[Reason, ...]:
        """Return the reasons of the predicates that ask about a call."""
        found = []
        for asked in self._asked:
            if is_tool(asked.tools, situation.tool_name, situation.tool_source):
                try:
                    answer = asked.predicate(arguments, situation)
                except Exception as error:  # somebody else's: it fails toward asking
                    found.append(Reason(asked.reason, f"it could not be worked out ({type(error).__name__})"))
                    continue
                if answer is not False:
                    found.append(Reason(asked.reason, "" if answer is True else "it gave no plain answer"))
        return tuple(found)


PROCESS = Declarations()
"""What this process declares; `pi_intent.ask_when` and `pi_intent.declare_tier` add to it."""


def ask_when(predicate: Predicate, *, tools: str = "*", reason: str | None = None) -> Callable[[], None]:
    """Have a person asked about the calls of this process of which `predicate(arguments, situation)` is true.

    `tools` is a name or glob, also `server/name`; `reason` is shown to the person. Returns what stops it. Raises
    `SettingsError` where the predicate cannot be called.
    """
    if not callable(predicate):
        raise SettingsError("ask_when takes a function of the arguments and the situation")
    return PROCESS.ask_when(predicate, tools, reason)


def declare_tier(tools: str, tier: TierOf) -> Callable[[], None]:
    """Declare how much tools of this process can do; see `TierOf`. Returns what takes it back.

    Raises `SettingsError` where the tier is none that there is.
    """
    named = tier.tier if isinstance(tier, Tiered) else tier
    if not callable(named) and named not in TIERS:
        raise SettingsError(f"{named!r} is no tier; those are {', '.join(TIERS)}, or a function of the arguments")
    return PROCESS.declare_tier(tools, tier)
