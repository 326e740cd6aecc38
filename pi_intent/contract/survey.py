"""What a tool's schema says of the arguments object itself, through every branch and reference that judges it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from pi_intent.contract.rows import INTENT, RATIONALE
from pi_intent.contract.schema import OBJECT, Document, Place, is_schema
from pi_intent.errors import SkipReason

TEXT: dict[str, Any] = {"type": "string"}
NULLABLE: dict[str, Any] = {"type": ["string", "null"]}
"""What a closed branch says of a property of ours: that it is there, and no more."""

# Few of these, nested or in a row, already take seconds to fail on nine letters.
_REPEATED = (r"\)[*+{]", r"(?<!\()[*+?{]")  # compiled when first used: most schemas have no patterns

_SCHEMA_LISTS = ("allOf", "anyOf", "oneOf")
_SCHEMAS = ("not", "if", "then", "else", "additionalProperties", "unevaluatedProperties", "propertyNames")
_NAMED_SCHEMAS = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")

_SAID: dict[SkipReason, str] = {
    "owns_intent": "the tool has a parameter called “intent” of its own",
    "pattern_matches_intent": "its patternProperties take the name “intent”",
    "remote_reference": "it refers to another document, {}",
    "unresolved_reference": "its reference {} points at nothing",
    "circular_reference": "its reference {} leads back to itself",
    "malformed_schema": "the schema is broken: {} holds what does not belong there",
    "unreadable_pattern": "the pattern {} cannot be read",
    "fixed_arguments": "its {} lists whole argument objects",
    "counted_properties": "it counts properties in a draft that knows no “if”",
    "dynamic_reference": "it uses {}, whose meaning changes with the root",
    "embedded_id": "the $id {} below its root changes what references mean",
    "not_an_object": "the schema does not describe an object",
}


def sentence(reason: SkipReason, subject: object = "") -> str:
    """Say why a schema cannot carry the intent, naming what is in the way."""
    return _SAID[reason].format(str(subject)[:80])


class Survey:
    """What was found: the places whose schemas judge the arguments object, and what stands in the way of ours.

    `home` holds those of them that stand in the root's own branches, reached without a reference; `counting` says
    whether properties are counted; `owned` which of our names the tool constrains itself; `matched` which of them
    a pattern takes.
    """

    def __init__(self, document: Document, ours: frozenset[str]) -> None:
        self.document = document
        self.ours = ours
        self.judging: set[Place] = set()
        self.home: set[Place] = set()
        self.owned: set[str] = set()
        self.matched: set[str] = set()
        self.skips: dict[SkipReason, str] = {}

    @property
    def counting(self) -> bool:
        schemas = (self.document.at(place) for place in self.judging)
        return any(counts(schema) and not self.document.is_only_ref(schema) for schema in schemas)

    def skip(self, reason: SkipReason, subject: object = "") -> None:
        self.skips.setdefault(reason, sentence(reason, subject))


def counts(schema: Any) -> bool:
    """Whether a schema limits the number of properties; at least none is no limit."""
    return isinstance(schema, OBJECT) and ("maxProperties" in schema or schema.get("minProperties", 0) > 0)


def survey(document: Document, ours: frozenset[str] = frozenset()) -> Survey:
    """Look through every schema that judges the arguments object.

    `ours` names properties that were injected at the root, and that therefore stand in closed branches too.
    """
    found = Survey(document, ours)
    _mark_home(found, ())
    _visit(found, (), ())
    return found


def check_references(found: Survey) -> None:
    """Note references, anywhere in the document, whose meaning our changes would move."""
    identified: list[str] = []
    references: list[object] = []
    for place, schema in found.document.places.items():
        if not isinstance(schema, OBJECT):
            continue
        for keyword in ("$dynamicRef", "$recursiveRef"):
            if keyword in schema:
                found.skip("dynamic_reference", keyword)
        identifier = schema.get("$id")
        if place and isinstance(identifier, str) and not identifier.startswith("#"):
            identified.append(identifier)
        if "$ref" in schema:
            references.append(schema["$ref"])
    if identified and references:
        found.skip("embedded_id", identified[0])
    for ref in references if "$id" in found.document.root else ():
        if found.document.target(ref) == "remote_reference" and ":" not in str(ref):
            found.skip("remote_reference", ref)  # relative to the root's own $id, and so perhaps the root


def _mark_home(found: Survey, place: Place) -> None:
    found.home.add(place)
    schema = found.document.at(place)
    if isinstance(schema, OBJECT):
        for steps in found.document.branches(schema):
            _mark_home(found, place + steps)


def _visit(found: Survey, place: Place, trail: tuple[Place, ...], ref: object = "") -> None:
    if place in trail:
        found.skip("circular_reference", ref)
        return
    if place in found.judging:
        return
    schema = found.document.at(place)
    if not isinstance(schema, OBJECT):
        found.judging.add(place)
        return
    if keyword := _broken(schema):
        found.skip("malformed_schema", keyword)
        found.judging.add(place)
        return
    if not found.document.is_only_ref(schema):
        _note(found, schema, at_root=not place)
    trail = (*trail, place)
    for steps in found.document.branches(schema):
        _visit(found, place + steps, trail, ref)
    if "$ref" in schema:
        target = found.document.target(schema["$ref"])
        if isinstance(target, tuple):
            _visit(found, target, trail, schema["$ref"])
        else:
            found.skip(target, "$ref" if target == "malformed_schema" else schema["$ref"])
    found.judging.add(place)  # only now: a place still on the trail that is met again is a circle


def _note(found: Survey, schema: Mapping[str, Any], *, at_root: bool) -> None:
    """Note the names that a schema constrains, and what cannot be widened in it."""
    for name in (INTENT, RATIONALE):
        if _names(schema, name, found.ours, at_root=at_root):
            found.owned.add(name)
            if name == INTENT:
                found.skip("owns_intent")
    for pattern in schema.get("patternProperties", ()):
        taken = _taken_by(pattern)
        if taken is None:
            found.skip("unreadable_pattern", pattern)
            continue
        found.matched.update(taken)
        if INTENT in taken:
            found.skip("pattern_matches_intent")
    for keyword in ("const", "enum"):
        values = schema.get(keyword, ()) if keyword == "enum" else (schema.get(keyword),)
        if any(isinstance(value, OBJECT) for value in values):
            found.skip("fixed_arguments", keyword)


def _taken_by(pattern: str) -> set[str] | None:
    """Return which of our names a pattern takes; None if it cannot be read, or might take for ever to try."""
    repeated_groups, repetitions = (len(re.findall(expression, pattern)) for expression in _REPEATED)
    ways = repeated_groups + pattern.count("|") if repeated_groups else 0
    if ways > 3 or repetitions > 15:
        return None
    try:
        return {name for name in (INTENT, RATIONALE) if re.search(pattern, name)}
    except (re.error, OverflowError, RecursionError):
        return None


def _names(schema: Mapping[str, Any], name: str, ours: frozenset[str], *, at_root: bool) -> bool:
    """Whether a schema constrains the property of that name and does so on the tool's own account."""
    if name in schema.get("properties", ()):
        return not (name in ours and (at_root or is_branch_property(schema["properties"][name])))
    if name in schema.get("required", ()):
        return not (name in ours and at_root)
    for keyword in ("dependentRequired", "dependencies", "dependentSchemas"):
        for key, needed in schema.get(keyword, {}).items():
            if key == name or (isinstance(needed, Sequence) and name in needed):
                return True
    rule = own_rule_for_names(schema.get("propertyNames"), ours)
    listed = [*_sequence(rule.get("enum")), rule.get("const")] if isinstance(rule, OBJECT) else []
    return name in listed


def own_rule_for_names(rule: Any, ours: frozenset[str]) -> Any:
    """Return a rule for the names of properties without what lets ours pass."""
    match rule:
        case {"anyOf": [{"enum": [*names]}, own], **others} if ours and not others and set(names) == ours:
            return own
    return rule


def is_branch_property(schema: object) -> bool:
    """Whether this is what a closed branch says of a property of ours."""
    return schema in (TEXT, NULLABLE)


def _sequence(value: object) -> Sequence[Any]:
    return value if isinstance(value, (list, tuple)) else ()


def _broken(schema: Mapping[str, Any]) -> str | None:
    """Return the first keyword of a schema that holds what does not belong there."""
    for keyword in _NAMED_SCHEMAS:
        value = schema.get(keyword, {})
        if not isinstance(value, OBJECT) or not all(is_schema(item) for item in value.values()):
            return keyword
    for keyword in _SCHEMA_LISTS:
        value = schema.get(keyword, [])
        if not isinstance(value, (list, tuple)) or not all(is_schema(item) for item in value):
            return keyword
    for keyword in _SCHEMAS:
        if not is_schema(schema.get(keyword, True)):
            return keyword
    for keyword in ("dependentRequired", "dependencies"):
        value = schema.get(keyword, {})
        also_schemas = keyword == "dependencies"
        if not isinstance(value, OBJECT) or not all(
            _is_texts(item) or (also_schemas and is_schema(item)) for item in value.values()
        ):
            return keyword
    for keyword in ("minProperties", "maxProperties"):
        value = schema.get(keyword, 0)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or value < 0 or value != int(value):
            return keyword
    kind = schema.get("type", "object")
    if not isinstance(kind, str) and not _is_texts(kind):
        return "type"
    if not _is_texts(schema.get("required", [])):
        return "required"
    return None if isinstance(schema.get("enum", []), (list, tuple)) else "enum"


def _is_texts(value: object) -> bool:
    return isinstance(value, (list, tuple)) and all(isinstance(item, str) for item in value)


def admits_objects(document: Document) -> bool:
    """Whether an object could be valid, as far as types, references and branches tell, or is meant by the root.

    Wants a document in whose survey nothing stands in the way: no circles, and no `const` or `enum` of objects.
    """
    known: dict[Place, bool] = {}

    def admits(place: Place) -> bool:
        if place not in known:
            known[place] = judge(place, document.at(place))
        return known[place]

    def branches(place: Place, keyword: str, schema: Mapping[str, Any]) -> list[bool]:
        return [admits((*place, keyword, str(index))) for index in range(len(schema[keyword]))]

    def judge(place: Place, schema: Any) -> bool:
        if not isinstance(schema, OBJECT):
            return schema is True
        target = document.target(schema["$ref"]) if "$ref" in schema else None
        if isinstance(target, tuple) and (not admits(target) or document.ref_stands_alone):
            return admits(target)
        kinds = schema.get("type", "object")
        if "object" not in ([kinds] if isinstance(kinds, str) else kinds) or "const" in schema or "enum" in schema:
            return False
        return all(branches(place, "allOf", schema) if "allOf" in schema else ()) and all(
            any(branches(place, keyword, schema)) for keyword in ("anyOf", "oneOf") if keyword in schema
        )

    kinds = document.root.get("type", ())
    said = not document.is_only_ref(document.root) and "object" in ([kinds] if isinstance(kinds, str) else kinds)
    return said or admits(())
