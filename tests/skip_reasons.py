"""Confirm, in another way than the injection decides, that a schema cannot carry an intent for the reason given."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError
from jsonschema.validators import validator_for
from referencing import Registry, Resource
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT202012

BRANCHES = ("allOf", "anyOf", "oneOf")
NOWHERE = (Unresolvable, TypeError, ValueError)  # the last two where a pointer leads through a boolean or a list
BRANCH = ("not", "if", "then", "else")


def _looked_up(root: Any, ref: str) -> Any:
    resource = Resource.from_contents(root, default_specification=DRAFT202012)
    return Registry().with_resource("urn:root", resource).resolver("urn:root").lookup(ref).contents


def _edges(root: Any, schema: Any) -> Iterator[Any]:
    """Yield what judges the same object as a schema does, references included where they lead somewhere."""
    if not isinstance(schema, dict):
        return
    for keyword in BRANCHES:
        yield from schema.get(keyword, [])
    for keyword in BRANCH:
        if keyword in schema:
            yield schema[keyword]
    yield from schema.get("dependentSchemas", {}).values()
    yield from schema.get("dependencies", {}).values()
    if "$ref" in schema:
        try:
            yield _looked_up(root, schema["$ref"])
        except NOWHERE:
            return


def judges(root: Any) -> list[dict[str, Any]]:
    """Return every schema that judges the arguments object, each once."""
    found: list[dict[str, Any]] = []
    waiting = [root]
    while waiting:
        schema = waiting.pop()
        if isinstance(schema, dict) and not any(schema is known for known in found):
            found.append(schema)
            waiting.extend(_edges(root, schema))
    return found


def _everywhere(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _everywhere(item)


def _is_broken(root: Any) -> bool:
    try:
        validator_for(root, default=Draft202012Validator).check_schema(root)
    except SchemaError:
        return True
    return False


def _refs(root: Any) -> list[str]:
    return [schema["$ref"] for schema in judges(root) if "$ref" in schema]


def _leads_nowhere(root: Any, ref: str) -> bool:
    try:
        return not isinstance(_looked_up(root, ref), (dict, bool))
    except NOWHERE:
        return True


def _has_relative_reference(root: Any) -> bool:
    refs = [schema["$ref"] for schema in _everywhere(root) if isinstance(schema.get("$ref"), str)]
    return any(not ref.startswith("#") and "://" not in ref for ref in refs)


def _goes_round(root: Any) -> bool:
    def meets(schema: Any, trail: list[Any]) -> bool:
        if any(schema is above for above in trail) and isinstance(schema, dict):
            return True
        return any(meets(item, [*trail, schema]) for item in _edges(root, schema))

    return meets(root, [])


def _speaks_of_intent(schema: dict[str, Any]) -> bool:
    named = [schema.get("properties", {}), schema.get("dependentSchemas", {}), schema.get("dependentRequired", {})]
    listed = [schema.get("required", []), *schema.get("dependentRequired", {}).values()]
    rule = schema.get("propertyNames")
    return (
        any("intent" in keys for keys in named)
        or any("intent" in names for names in listed)
        or '"intent"' in json.dumps(rule)
    )


def _readable(pattern: str) -> bool:
    try:
        re.compile(pattern)
    except re.error:
        return False
    return True


def _patterns(root: Any) -> list[str]:
    return [pattern for schema in judges(root) for pattern in schema.get("patternProperties", {})]


def _refuses_every_object(root: Any, objects: list[dict[str, Any]]) -> bool:
    judge = validator_for(root, default=Draft202012Validator)(root)
    return not any(judge.is_valid(arguments) for arguments in objects)


def _lists_objects(root: Any) -> bool:
    return any(isinstance(value, dict) for s in judges(root) for value in (s.get("const"), *s.get("enum", ())))


def _confirmations(root: Any, objects: list[dict[str, Any]]) -> dict[str, Callable[[], bool]]:
    return {
        "boolean_schema": lambda: isinstance(root, bool),
        "not_an_object": lambda: _refuses_every_object(root, objects),
        "malformed_schema": lambda: _is_broken(root),
        "owns_intent": lambda: any(_speaks_of_intent(schema) for schema in judges(root)),
        "pattern_matches_intent": lambda: any(_readable(p) and re.search(p, "intent") for p in _patterns(root)),
        "unreadable_pattern": lambda: not all(_readable(pattern) for pattern in _patterns(root)),
        "fixed_arguments": lambda: _lists_objects(root),
        "remote_reference": lambda: (
            any(not ref.startswith("#") for ref in _refs(root)) or ("$id" in root and _has_relative_reference(root))
        ),
        "unresolved_reference": lambda: any(ref.startswith("#") and _leads_nowhere(root, ref) for ref in _refs(root)),
        "circular_reference": lambda: _goes_round(root),
        "dynamic_reference": lambda: any(
            {"$dynamicRef", "$recursiveRef"} & item.keys() for item in _everywhere(root)
        ),
        "embedded_id": lambda: any("$id" in item for item in _everywhere(root) if item is not root),
        "too_deep": lambda: len(re.findall(r"[\[{]", json.dumps(root))) > 200,
    }


def confirmed(reason: str, root: Any, objects: list[dict[str, Any]]) -> bool:
    """Whether an independent look at a schema finds the reason for which it was skipped."""
    return bool(_confirmations(root, objects)[reason]())
