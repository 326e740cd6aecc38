"""Schemas of tools, and arguments for them, made at random from a seed: deep, closed, composed and self-referring."""

from __future__ import annotations

import random
from typing import Any

NAMES = ("a", "b", "c", "kind")
PATTERNS = ("^[a-c]$", "^x-", "k", "^a", "nd$")


SOMEWHERE = (
    "#/anyOf/0",
    "#/properties/a",
    "#/allOf/0",
    "#/not",
    "#spot",
    "#/$defs/A/anyOf/0",
    "#/$defs/B/properties/a",
)
DRAFT_7 = "http://json-schema.org/draft-07/schema#"


class SchemaMaker:
    """Makes one tool schema after another; what it makes depends on the seed alone.

    Most can carry an intent. `oddity` is the share of places at which something goes in that may forbid it: a
    parameter called `intent`, a pattern that takes the name, a constant, a reference that leads nowhere or away.
    With `draft_7` the schemas say so and use what that draft has.
    """

    def __init__(self, seed: int, *, oddity: float = 0.0004, draft_7: bool = False) -> None:
        self.random = random.Random(seed)
        self.oddity = oddity
        self.draft_7 = draft_7
        self.definitions: tuple[str, ...] = ()
        self.container = "$defs"

    def maybe(self, share: float) -> bool:
        return self.random.random() < share

    def schema(self) -> Any:
        """Return one root."""
        if self.maybe(self.oddity * 2):
            return self.random.choice([True, False, {"type": "string"}, {"type": ["array", "null"]}])
        self.container = "definitions" if self.draft_7 or self.maybe(0.15) else "$defs"
        self.definitions = tuple(self.random.sample("ABCD", self.random.choice([0, 0, 1, 2, 3, 4])))
        root = self.arguments(self.random.choice([1, 2, 2, 3, 4]), from_definition=-1)
        if not isinstance(root, dict):
            root = {"anyOf": [root, self.arguments(1, from_definition=-1)]}
        if self.maybe(0.7):
            root = {"type": "object", **root}
        elif self.maybe(0.1):
            root["type"] = ["object", "null"]
        if self.definitions and self.maybe(0.12):
            target = {"$ref": f"#/{self.container}/{self.definitions[0]}"}
            root = target if self.maybe(0.7) else root | target
        if self.definitions:
            root[self.container] = {
                name: self.arguments(2, from_definition=index) if self.maybe(0.985) else self.value(0)
                for index, name in enumerate(self.definitions)
            }
            named = root[self.container][self.definitions[-1]]
            if isinstance(named, dict) and self.maybe(0.4):
                named.update({"$id": "#spot"} if self.draft_7 else {"$anchor": "spot"})
        if self.draft_7:
            root = {"$schema": DRAFT_7, **root}
        _mend(root, [root])
        if self.maybe(self.oddity):
            root["$dynamicRef"] = "#"
        if self.maybe(self.oddity):
            root["required"] = "a"
        return root

    def arguments(self, depth: int, *, from_definition: int) -> Any:
        """Return a schema that judges an arguments object, at the root or in a branch of it."""
        if self.maybe(0.02):
            return True
        if self.maybe(0.01):
            return False
        made: dict[str, Any] = {}
        if self.maybe(0.75):
            made["properties"] = {name: self.value(depth - 1) for name in self.some_names()}
        if self.maybe(0.3):
            made["required"] = self.some_names()[:2]
        if self.maybe(0.3):
            made["additionalProperties"] = self.random.choice([False, False, True, {"type": "integer"}])
        if self.maybe(0.2):
            made["unevaluatedProperties"] = self.random.choice([False, False, True, {"type": "integer"}])
        if self.maybe(0.12):
            made["patternProperties"] = {self.random.choice(PATTERNS): self.value(0)}
        if self.maybe(0.08):
            made["propertyNames"] = self.random.choice(
                [
                    {"pattern": "^[a-z]$"},
                    {"enum": ["a", "b", "kind"]},
                    {"maxLength": 4},
                    True,
                    {"not": {"const": "b"}},
                ]
            )
        if self.maybe(0.07):
            made["maxProperties"] = self.random.choice([0, 1, 2, 3])
        if self.maybe(0.07):
            made["minProperties"] = self.random.choice([0, 1, 1, 2])
        if self.maybe(0.1):
            made["dependentRequired"] = {self.random.choice(NAMES): self.some_names()[:2]}
        if self.maybe(0.25):
            made["type"] = "object"
        if self.maybe(0.01):
            made["enum"] = ["a", 1]
        if depth > 0:
            self.compose(made, depth - 1, from_definition)
        self.make_odd(made)
        if self.draft_7:
            made.pop("unevaluatedProperties", None)
            rules = made.pop("dependentRequired", {}) | made.pop("dependentSchemas", {})
            if rules:
                made["dependencies"] = rules
        return made

    def compose(self, made: dict[str, Any], depth: int, from_definition: int) -> None:
        def branch() -> Any:
            return self.arguments(depth, from_definition=from_definition)

        for keyword, share in (("anyOf", 0.25), ("oneOf", 0.15), ("allOf", 0.2)):
            if self.maybe(share):
                made[keyword] = [branch() for _ in range(self.random.choice([1, 2, 2, 3]))]
        if self.maybe(0.1):
            made["not"] = branch()
        if self.maybe(0.12):
            made |= {keyword: branch() for keyword in ("if", "then", "else") if self.maybe(0.8)}
        if self.maybe(0.1):
            made["dependentSchemas"] = {self.random.choice(NAMES): branch()}
        further = self.definitions[from_definition + 1 :]
        if further and self.maybe(0.3):
            made["$ref"] = f"#/{self.container}/{self.random.choice(further)}"
        elif self.maybe(0.01):
            made["$ref"] = self.random.choice(SOMEWHERE)

    def value(self, depth: int) -> Any:
        """Return a schema of one argument, which may refer to anything, also to the root."""
        kind = self.random.random()
        if kind < 0.12 and depth > 0:
            return {"$ref": self.random.choice(["#", *SOMEWHERE])}
        if kind < 0.3 and self.definitions and depth > 0:
            return {"$ref": f"#/{self.container}/{self.random.choice(self.definitions)}"}
        if kind < 0.4 and depth > 0:
            return self.arguments(depth - 1, from_definition=len(self.definitions))
        if kind < 0.45 and depth > 0:
            return {"type": "array", "items": self.value(depth - 1)}
        return self.random.choice(
            [{"type": "string"}, {"type": "integer"}, {"enum": ["x", 1]}, {"const": "x"}, True, {}, {"maxLength": 1}]
        )

    def make_odd(self, made: dict[str, Any]) -> None:
        odd = self.oddity
        if self.maybe(odd):
            made.setdefault("properties", {})["intent"] = self.random.choice(
                [{"type": "string"}, True, {"enum": ["x"]}]
            )
        if self.maybe(odd / 2):
            made.setdefault("required", []).append("intent")
        if self.maybe(odd * 2):
            made.setdefault("properties", {})["rationale"] = self.random.choice(
                [{"type": "string"}, {"type": "string", "minLength": 1}, {"type": "integer"}]
            )
        if self.maybe(odd / 2):
            made.setdefault("patternProperties", {})[self.random.choice(["^i", ".", "^rat", "e$"])] = {
                "type": "integer"
            }
        if self.maybe(odd / 4):
            made.setdefault("patternProperties", {})["(["] = True
        if self.maybe(odd / 2):
            made["const"] = {"a": 1}
        if self.maybe(odd / 2):
            made["$ref"] = self.random.choice(["https://example.org/s", "#/nowhere", "#", "#/$defs/A", "#/anyOf/0"])
        if self.maybe(odd / 4):
            made["$id"] = "https://example.org/inner"

    def some_names(self) -> list[str]:
        return self.random.sample(NAMES, self.random.choice([0, 1, 1, 2, 2, 3]))

    def object(self, depth: int = 2, names: tuple[str, ...] = NAMES) -> dict[str, Any]:
        """Return arguments; in the values our own names may occur too, where they mean nothing."""
        count = self.random.choice([0, 1, 1, 2, 2, 3, 4])
        chosen = self.random.sample((*names, "x-y"), min(count, len(names)))
        return {name: self.argument(depth - 1) for name in chosen}

    def argument(self, depth: int) -> Any:
        if depth > 0 and self.maybe(0.35):
            return self.object(depth, (*NAMES, "intent", "rationale"))
        if depth > 0 and self.maybe(0.1):
            return [self.argument(depth - 1)]
        return self.random.choice(["x", "xy", 1, 2, None])


def _mend(root: dict[str, Any], value: Any) -> None:
    """Let an argument that refers to no schema refer to the root, and a branch to nothing."""
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        if isinstance(item, dict) and item.get("$ref") in SOMEWHERE and not _is_there(root, item["$ref"]):
            item["$ref"] = "#"
            if key not in ("a", "b", "c", "kind", "items"):
                del item["$ref"]
        if isinstance(item, (dict, list)):
            _mend(root, item)


def _is_there(root: dict[str, Any], ref: str) -> bool:
    if ref == "#spot":
        named = [*root.get("$defs", {}).values(), *root.get("definitions", {}).values()]
        return any(isinstance(item, dict) and {"$anchor", "$id"} & item.keys() for item in named)
    here: Any = root
    for step in ref.split("/")[1:]:
        if isinstance(here, list):
            here = here[int(step)] if here else None
        else:
            here = here.get(step) if isinstance(here, dict) else None
    return isinstance(here, (dict, bool))
