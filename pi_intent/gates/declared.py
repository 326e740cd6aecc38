"""What the code of this process declares of tools: who must be asked, and how much a tool can do."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from copy import deepcopy
from typing import NamedTuple

from pi_intent.errors import SettingsError
from pi_intent.gates.capabilities import Checker, Governed
from pi_intent.gates.faults import not_worked_out
from pi_intent.gates.kinds import Reason
from pi_intent.gates.naming import is_tool
from pi_intent.gates.permissions import CAPABILITY
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
    """What was declared, in the order in which it was; the last word on a tool's tier counts."""

    def __init__(self) -> None:
        self.governed: list[Governed] = []
        self._asked: list[_Asked] = []
        self._tiers: list[tuple[str, TierOf]] = []
        self._touched: list[tuple[str, tuple[str, ...]]] = []

    @property
    def is_empty(self) -> bool:
        """Whether nothing is declared."""
        return not (self._asked or self._tiers or self._touched or self.governed)

    def ask_when(self, predicate: Predicate, tools: str, reason: str | None) -> Callable[[], None]:
        """Add a predicate; return what removes it again."""
        name = getattr(predicate, "__qualname__", type(predicate).__qualname__)
        return _added(self._asked, _Asked(predicate, tools, reason or name))

    def declare_tier(self, tools: str, tier: TierOf) -> Callable[[], None]:
        """Set the tier of tools; return what removes it again."""
        return _added(self._tiers, (tools, tier))

    def declare_touched(self, tools: str, capabilities: tuple[str, ...]) -> Callable[[], None]:
        """Add capabilities of tools; return what removes them again."""
        return _added(self._touched, (tools, capabilities))

    def govern(self, governed: Governed) -> Callable[[], None]:
        """Add a checker; return what removes it again."""
        return _added(self.governed, governed)

    def touched(self, tool_name: str, tool_source: str | None) -> tuple[str, ...]:
        """Return the capabilities that a tool is declared to touch."""
        return tuple(
            capability
            for tools, capabilities in self._touched
            if is_tool(tools, tool_name, tool_source)
            for capability in capabilities
        )

    def tier(self, tool_name: str, tool_source: str | None) -> TierOf | None:
        """Return what is declared of a tool; None where nothing is."""
        return next((tier for tools, tier in reversed(self._tiers) if is_tool(tools, tool_name, tool_source)), None)

    def concerns(self, tool_name: str, tool_source: str | None) -> bool:
        """Whether anything that was declared may hold a call of a tool up."""
        asked = any(is_tool(asked.tools, tool_name, tool_source) for asked in self._asked)
        return asked or bool(self.governed) or self.tier(tool_name, tool_source) is not None

    def reasons(self, arguments: JSONObject, situation: Situation) -> tuple[Reason, ...]:
        """Return the reasons of the predicates that ask about a call."""
        found = []
        for asked in self._asked:
            if is_tool(asked.tools, situation.tool_name, situation.tool_source):
                try:
                    answer = asked.predicate(deepcopy(arguments), situation)
                except Exception as error:  # somebody else's: it fails toward asking
                    found.append(Reason(asked.reason, not_worked_out("it", error)))
                    continue
                if answer is not False:
                    said = "" if answer is True else "it gave no plain answer"
                    found.append(Reason(asked.reason, said, is_said=bool(said)))
        return tuple(found)


def _added[T](entries: list[T], entry: T) -> Callable[[], None]:
    entries.append(entry)

    def remove() -> None:
        with suppress(ValueError):
            entries.remove(entry)

    return remove


PROCESS = Declarations()
"""What this process declares; `ask_when`, `declare_tier`, `declare_touched` and `govern` of `pi_intent` add to it."""


def ask_when(predicate: Predicate, *, tools: str = "*", reason: str | None = None) -> Callable[[], None]:
    """Have a person asked about the calls of this process of which `predicate(arguments, situation)` is true.

    `tools` is a name or glob, also `server/name`; `reason` is shown to the person. Returns what stops it. Raises
    `SettingsError` where the predicate cannot be called, or is `async`.
    """
    if not callable(predicate):
        raise SettingsError("ask_when takes a function of the arguments and the situation")
    if _is_async(predicate):
        raise SettingsError("ask_when takes a plain function, as nothing waits for an async one: use def")
    return PROCESS.ask_when(predicate, tools, reason)


def declare_tier(tools: str, tier: TierOf) -> Callable[[], None]:
    """Declare how much tools of this process can do; see `TierOf`. Returns what takes it back.

    Raises `SettingsError` where the tier is none that there is, or comes from an `async` function.
    """
    named = tier.tier if isinstance(tier, Tiered) else tier
    if _is_async(named):
        raise SettingsError("declare_tier takes a plain function, as nothing waits for an async one: use def")
    if not callable(named) and named not in TIERS:
        raise SettingsError(f"{named!r} is no tier; those are {', '.join(TIERS)}, or a function of the arguments")
    return PROCESS.declare_tier(tools, tier)


def declare_touched(tools: str, *capabilities: str) -> Callable[[], None]:
    """Declare what tools of this process touch, such as "external_net"; a checker that governs it is then asked.

    Returns what takes it back. Raises `SettingsError` where a name is none.
    """
    _check(capabilities)
    return PROCESS.declare_touched(tools, capabilities)


def govern(checker: Checker, *capabilities: str) -> Callable[[], None]:
    """Have `checker(capability, situation)` rule on the calls of tools that touch these capabilities; see `Checker`.

    Returns what stops it. Raises `SettingsError` where it cannot be called, or a name is none.
    """
    if not callable(checker):
        raise SettingsError("govern takes a function of a capability and the situation")
    _check(capabilities)
    return PROCESS.govern(Governed(checker, frozenset(capabilities)))


def _is_async(function: object) -> bool:
    from inspect import iscoroutinefunction

    return iscoroutinefunction(function) or iscoroutinefunction(getattr(function, "__call__", None))  # noqa: B004


def _check(capabilities: tuple[str, ...]) -> None:
    if not capabilities:
        raise SettingsError("name at least one capability, such as external_net")
    for name in capabilities:
        if not isinstance(name, str) or CAPABILITY.fullmatch(name) is None:
            raise SettingsError(f"{name!r} is no capability: small letters, digits and _, such as external_net")
