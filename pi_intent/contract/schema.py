"""One JSON Schema as a document: where its subschemas are, and what its references point to."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any

from pi_intent.errors import InjectionSkipped, SkipReason

type Place = tuple[str, ...]
"""Where something stands in a document: the steps of a JSON pointer."""

OBJECT = (dict, Mapping)
"""For `isinstance`: asking for the abstract class alone takes ten times as long."""

SAME_INSTANCE = frozenset(
    {"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies"}
)
"""The keywords whose subschemas judge the very instance that their schema judges."""

DEFINITIONS = ("$defs", "definitions")

_NAMED = frozenset(
    {"properties", "patternProperties", "dependentSchemas", "dependencies", "$defs", "definitions"}
)  # subschemas by name
_SUBSCHEMAS = (
    SAME_INSTANCE
    | _NAMED
    | {
        "additionalProperties", "unevaluatedProperties", "propertyNames", "items", "prefixItems", "additionalItems",
        "unevaluatedItems", "contains", "contentSchema",
    }
)  # fmt: skip

_MAX_DEPTH = 200  # of JSON; what people write stays below 30, and Python's own stack ends at a thousand frames

_OLD_DRAFTS = ("draft-03", "draft-04", "draft-06", "draft-07")


def is_schema(value: object) -> bool:
    return isinstance(value, (dict, bool, Mapping))


def plain(value: Any, depth: int = 0) -> Any:
    """Return a copy, shared with nothing, in which every mapping is a dict and every sequence a list.

    Raises `InjectionSkipped` where the value is nested too deeply to be walked.
    """
    if depth > _MAX_DEPTH:
        raise InjectionSkipped("too_deep", f"the schema is nested more than {_MAX_DEPTH} levels deep")
    if isinstance(value, OBJECT):
        return {key: plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item, depth + 1) for item in value]
    return value


def subschemas(schema: Mapping[str, Any]) -> Iterator[tuple[Place, Any]]:
    """Yield each direct subschema with the steps that lead to it."""
    for key, value in schema.items():
        if key not in _SUBSCHEMAS:
            continue
        if key in _NAMED:
            named = value.items() if isinstance(value, OBJECT) else ()
            yield from (((key, name), item) for name, item in named if is_schema(item))
        elif isinstance(value, (list, tuple)):
            yield from (((key, str(index)), item) for index, item in enumerate(value) if is_schema(item))
        elif is_schema(value):
            yield (key,), value


def rebuilt(schema: Mapping[str, Any], change: Callable[[Any, Place], Any]) -> dict[str, Any]:
    """Return a copy in which each direct subschema has become what `change(subschema, steps)` returns."""

    def changed(item: Any, *steps: str) -> Any:
        return change(item, steps) if is_schema(item) else plain(item)

    result: dict[str, Any] = {}
    for key, value in schema.items():
        if key not in _SUBSCHEMAS:
            result[key] = plain(value)
        elif key in _NAMED and isinstance(value, OBJECT):
            result[key] = {name: changed(item, key, name) for name, item in value.items()}
        elif isinstance(value, (list, tuple)):
            result[key] = [changed(item, key, str(index)) for index, item in enumerate(value)]
        else:
            result[key] = plain(value) if key in _NAMED else changed(value, key)
    return result


class Document:
    """A schema with its own places and anchors; nothing in it is fetched from elsewhere."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self.root = root

    @cached_property
    def places(self) -> dict[Place, Any]:
        """Every place at which a subschema stands, with the subschema."""
        found: dict[Place, Any] = {}
        waiting: list[tuple[Place, Any]] = [((), self.root)]
        while waiting:
            place, schema = waiting.pop()
            found[place] = schema
            if isinstance(schema, OBJECT):
                waiting.extend((place + steps, item) for steps, item in subschemas(schema))
        return found

    @cached_property
    def anchors(self) -> dict[str, Place]:
        """The place that each anchor names; up to draft 7 an anchor was an `$id` with nothing but a fragment."""
        found: dict[str, Place] = {}
        for place, schema in self.places.items():
            if isinstance(schema, OBJECT):
                names = [schema.get("$anchor"), schema.get("$dynamicAnchor")]
                identifier = schema.get("$id")
                if isinstance(identifier, str) and identifier.startswith("#"):
                    names.append(identifier[1:])
                found.update({name: place for name in names if isinstance(name, str) and name})
        return found

    @cached_property
    def ref_stands_alone(self) -> bool:
        """Whether what stands beside a `$ref` is ignored, as it was up to draft 7."""
        return any(draft in str(self.root.get("$schema", "")) for draft in _OLD_DRAFTS)

    @cached_property
    def has_if(self) -> bool:
        """Whether the document's draft knows `if`, which came with draft 7."""
        return not any(draft in str(self.root.get("$schema", "")) for draft in _OLD_DRAFTS[:-1])

    def is_only_ref(self, schema: Mapping[str, Any]) -> bool:
        """Whether of all that stands in a schema only its `$ref` counts."""
        return "$ref" in schema and self.ref_stands_alone

    def branches(self, schema: Mapping[str, Any]) -> Iterator[Place]:
        """Yield the steps to each subschema that judges the very instance that the schema judges."""
        if not self.is_only_ref(schema):
            yield from (steps for steps, _ in subschemas(schema) if steps[0] in SAME_INSTANCE)

    def at(self, place: Place) -> Any:
        """Return what stands at a place; None where there is nothing."""
        value: Any = self.root
        for step in place:
            if isinstance(value, OBJECT):
                value = value.get(step)
            elif isinstance(value, (list, tuple)) and step in {str(index) for index in range(len(value))}:
                value = value[int(step)]
            else:
                return None
        return value

    def target(self, ref: object) -> Place | SkipReason:
        """Return the place of the schema that a reference means, or why it cannot be followed."""
        if not isinstance(ref, str):
            return "malformed_schema"
        own = self.root.get("$id")
        if isinstance(own, str) and own.rstrip("#") and ref.partition("#")[0] == own.rstrip("#"):
            ref = "#" + ref.partition("#")[2]
        if ref and not ref.startswith("#"):
            return "remote_reference"
        fragment = _unquoted(ref[1:])
        if fragment and not fragment.startswith("/"):
            return self.anchors.get(fragment, "unresolved_reference")
        steps = fragment.split("/")[1:]
        place = tuple(step.replace("~1", "/").replace("~0", "~") for step in steps)
        return place if is_schema(self.at(place)) else "unresolved_reference"


def pointer(place: Place) -> str:
    """Return a place as the text of a reference."""
    steps = (step.replace("~", "~0").replace("/", "~1").replace("%", "%25") for step in place)
    return "#" + "".join(f"/{step}" for step in steps)


def _unquoted(fragment: str) -> str:
    if "%" not in fragment:
        return fragment
    first, *rest = fragment.encode("utf-8", "surrogatepass").split(b"%")
    for piece in rest:
        try:
            first += bytes.fromhex(piece[:2].decode("ascii")) + piece[2:]
        except ValueError:
            first += b"%" + piece
    return first.decode("utf-8", "replace")
