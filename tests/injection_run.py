"""Inject into many random schemas, and have a JSON Schema validator judge random arguments before and after."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from jsonschema import Draft7Validator, Draft202012Validator
from random_schemas import NAMES, SchemaMaker
from referencing.exceptions import Unresolvable
from skip_reasons import confirmed, judges

from pi_intent import inject_intent, remove_intent
from pi_intent.errors import InjectionSkipped
from pi_intent.types import Policy

POLICIES: tuple[Policy, ...] = ("require", "optional", "adaptive", "optional")
OBJECTS = 5  # arguments judged for each schema
OURS: tuple[dict[str, Any], ...] = ({"intent": "t"}, {"intent": "t", "rationale": "r"}, {"rationale": "r"}, {})
BROKEN: tuple[dict[str, Any], ...] = ({"intent": ""}, {"intent": 1}, {"intent": "t", "rationale": ""})

OUR_RATIONALE = inject_intent({})["properties"]["rationale"]


@dataclass
class Figures:
    """What a run found; `mismatches` holds what broke the contract, each with all that is needed to see it."""

    schemas: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    unconfirmed: list[str] = field(default_factory=list)
    keywords: Counter[str] = field(default_factory=Counter)
    judged: Counter[bool] = field(default_factory=Counter)
    undecided: int = 0
    mismatches: list[str] = field(default_factory=list)

    @property
    def share_skipped(self) -> float:
        return sum(self.skipped.values()) / max(1, self.schemas)

    def report(self) -> str:
        """Return the figures as lines for a person."""
        reasons = ", ".join(f"{reason} {count}" for reason, count in self.skipped.most_common())
        keywords = ", ".join(f"{keyword} {self.keywords[keyword]}" for keyword in KEYWORDS)
        return (
            f"random schemas {self.schemas}, mismatches {len(self.mismatches)}; arguments judged: valid "
            f"{self.judged[True]}, invalid {self.judged[False]}, without an answer {self.undecided}\n"
            f"skipped {self.share_skipped:.1%}, unconfirmed {len(self.unconfirmed)}: {reasons or 'none'}\n"
            f"injected into schemas with: {keywords}"
        )


KEYWORDS = (
    "anyOf", "oneOf", "allOf", "not", "if", "then", "else", "$ref", "additionalProperties", "unevaluatedProperties",
    "patternProperties", "propertyNames", "minProperties", "maxProperties", "dependentRequired", "dependentSchemas",
    "dependencies", "enum",
)  # fmt: skip


def run(count: int, *, first_seed: int = 0, draft_7: bool = False) -> Figures:
    """Check the contract of injection on `count` schemas, under every policy that asks."""
    figures = Figures()
    for seed in range(first_seed, first_seed + count):
        figures.schemas += 1
        _check(figures, SchemaMaker(seed, draft_7=draft_7), POLICIES[seed % len(POLICIES)])
    return figures


def _check(figures: Figures, maker: SchemaMaker, policy: Policy) -> None:
    schema = maker.schema()
    before = deepcopy(schema)
    try:
        injected = inject_intent(schema, policy=policy)
    except InjectionSkipped as skipped:
        figures.skipped[skipped.reason] += 1
        if not confirmed(skipped.reason, schema, [maker.object() for _ in range(60)]):
            figures.unconfirmed.append(f"{skipped.reason}: {json.dumps(schema)}")
        return

    def fault(what: str, arguments: object = None) -> None:
        figures.mismatches.append(f"{what} ({policy}) {json.dumps([arguments, before, injected])}")

    figures.keywords.update({keyword for judge in judges(schema) for keyword in judge})
    if schema != before or _shares(schema, injected):
        fault("the schema was changed, or is shared")
    if json.dumps(inject_intent(injected, policy=policy)) != json.dumps(injected):
        fault("injecting again changed something")
    if next(iter(injected["properties"])) != "intent":
        fault("the intent is not first")
    validator = Draft7Validator if maker.draft_7 else Draft202012Validator
    if figures.schemas % 20 == 0 and list(validator(validator.META_SCHEMA).iter_errors(injected)):  # it takes long
        fault("the result is no schema")
    own, new, freed = validator(schema), validator(injected), validator(remove_intent(injected))
    injects_rationale = injected["properties"].get("rationale") == OUR_RATIONALE
    for _ in range(OBJECTS):
        arguments = maker.object(names=NAMES if injects_rationale else (*NAMES, "rationale"))
        try:
            want = own.is_valid(arguments)
        except (RecursionError, Unresolvable):  # a value that refers to itself and to nothing else, or to nothing
            figures.undecided += 1
            continue
        figures.judged[want] += 1
        if freed.is_valid(arguments) != want:
            fault("the schema freed of ours judges differently", arguments)
        for call, expected in _calls(arguments, want, policy, injects_rationale=injects_rationale):
            if new.is_valid(call) != expected:
                fault(f"should be {'valid' if expected else 'invalid'}", call)


def _calls(
    arguments: dict[str, Any], want: bool, policy: Policy, *, injects_rationale: bool
) -> Iterator[tuple[dict[str, Any], bool]]:
    """Yield calls that carry our properties or not, each with the verdict that it must get."""
    for ours in OURS:
        if injects_rationale or "rationale" not in ours:
            yield ours | arguments, want and (policy == "optional" or "intent" in ours)
    if want:
        for ours in BROKEN:
            if injects_rationale or "rationale" not in ours:
                yield ours | arguments, False


def _shares(one: Any, other: Any) -> bool:
    """Whether two values hold the same list or dict, so that a change of one would change the other."""

    def held(value: Any) -> Iterator[int]:
        if isinstance(value, (dict, list)):
            yield id(value)
            for item in value.values() if isinstance(value, dict) else value:
                yield from held(item)

    return not set(held(one)).isdisjoint(held(other))
