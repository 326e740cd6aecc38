"""Hold conversations that leave nothing behind in one session, as it is starting programs that takes the time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import batched, groupby

from mcp_scenarios import Scenario, Step, handshake

BRIEF = frozenset(
    {
        "server line", "result", "error", "progress",
        "client line", "method", "id of a call", "id of a list", "arguments", "required, arguments", "intent",
    }
)  # fmt: skip
"""Kinds of conversations after which both sides are as they were: whoever says the next odd thing is the same."""
MOST = 16
_OPENINGS = (handshake(), handshake("2025-03-26"))


def together(scenarios: Iterable[Scenario]) -> Iterator[Scenario]:
    """Yield the conversations, each brief one as a part of one with others of its kind, opening and settings."""
    for (kind, opening, _), alike in groupby(scenarios, _what_is_shared):
        if opening is None:
            yield from alike
            continue
        for some in batched(alike, MOST):
            steps = [step for scenario in some for step in scenario.steps[len(opening) :]]
            yield replace(
                some[0],
                name=some[0].name if len(some) == 1 else f"{kind}: {len(some)} in a row, from {_rest(some[0])}",
                steps=(*opening, *steps),
            )


def _what_is_shared(scenario: Scenario) -> tuple[str, tuple[Step, ...] | None, Scenario]:
    kind = scenario.name.partition(":")[0]
    plain = kind in BRIEF and not scenario.options
    opening = next((steps for steps in _OPENINGS if scenario.steps[: len(steps)] == steps), None) if plain else None
    return kind, opening, replace(scenario, name="", steps=())


def _rest(scenario: Scenario) -> str:
    return scenario.name.partition(": ")[2]
