"""A schema that cannot carry the intent is left as it is, and the reason is told."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from injecting import CLOSED_A, STATED, text, valid
from skip_reasons import confirmed

from pi_intent import InjectionSkipped, inject_intent, remove_intent
from pi_intent.errors import SkipReason

DEEP: dict[str, Any] = {"type": "object"}
for _ in range(2000):
    DEEP = {"anyOf": [DEEP]}
OLD = "http://json-schema.org/draft-06/schema#"
SKIPPED: list[tuple[SkipReason, Any]] = [
    ("boolean_schema", True),
    ("boolean_schema", False),
    ("malformed_schema", None),
    ("malformed_schema", [{"type": "object"}]),
    ("malformed_schema", {"type": 5}),
    ("malformed_schema", {"properties": ["a"]}),
    ("malformed_schema", {"properties": {"a": 5}}),
    ("malformed_schema", {"properties": None}),
    ("malformed_schema", {"required": "intent"}),
    ("malformed_schema", {"required": [1]}),
    ("malformed_schema", {"anyOf": {"type": "object"}}),
    ("malformed_schema", {"allOf": [None]}),
    ("malformed_schema", {"not": "a"}),
    ("malformed_schema", {"enum": {}}),
    ("malformed_schema", {"$ref": 5}),
    ("malformed_schema", {"$defs": []}),
    ("malformed_schema", {"maxProperties": "3"}),
    ("malformed_schema", {"minProperties": True}),
    ("malformed_schema", {"dependentRequired": {"a": "b"}}),
    ("malformed_schema", {"oneOf": [{"patternProperties": {"a": None}}]}),
    ("not_an_object", {"type": "string"}),
    ("not_an_object", {"type": ["array", "null"]}),
    ("not_an_object", {"anyOf": [{"type": "string"}, {"type": "integer"}]}),
    ("not_an_object", {"$ref": "#/$defs/A", "$defs": {"A": {"type": "array"}}}),
    ("not_an_object", {"allOf": [{}, {"enum": ["a"]}]}),
    ("owns_intent", {"properties": {"intent": {"type": "string", "minLength": 1}}}),
    ("pattern_matches_intent", {"patternProperties": {".*": {"type": "integer"}}}),
    ("pattern_matches_intent", {"anyOf": [{"patternProperties": {"^int": {}}}]}),
    ("unreadable_pattern", {"patternProperties": {"([": {}}}),
    ("unreadable_pattern", {"patternProperties": {r"^\p{L}+$": {}}}),
    ("unreadable_pattern", {"patternProperties": {"(" * 9 + ".+" + ")+" * 9 + "!": {}}}),
    ("unreadable_pattern", {"patternProperties": {".*" * 40 + "!": {}}}),
    ("fixed_arguments", {"const": {"a": 1}}),
    ("fixed_arguments", {"type": "object", "enum": [{"a": 1}]}),
    ("fixed_arguments", {"anyOf": [{"const": {"a": 1}}, CLOSED_A]}),
    ("counted_properties", {"$schema": OLD, "type": "object", "maxProperties": 2}),
    ("remote_reference", {"$ref": "https://example.org/schema"}),
    ("remote_reference", {"anyOf": [{"$ref": "other.json#/$defs/A"}]}),
    ("remote_reference", {"$id": "https://example.org/a", "properties": {"x": {"$ref": "a"}}}),
    ("unresolved_reference", {"$ref": "#/$defs/A"}),
    ("unresolved_reference", {"anyOf": [{"$ref": "#nowhere"}]}),
    ("unresolved_reference", {"$ref": "#/required", "required": []}),
    ("circular_reference", {"$ref": "#"}),
    ("circular_reference", {"$ref": "#/$defs/A", "$defs": {"A": {"$ref": "#/$defs/B"}, "B": {"$ref": "#/$defs/A"}}}),
    ("circular_reference", {"$ref": "#/$defs/A", "$defs": {"A": {"anyOf": [CLOSED_A, {"$ref": "#/$defs/A"}]}}}),
    ("dynamic_reference", {"properties": {"a": {"$dynamicRef": "#node"}}}),
    ("dynamic_reference", {"properties": {"a": {"items": {"$recursiveRef": "#"}}}}),
    ("embedded_id", {"properties": {"a": {"$id": "https://example.org/b", "items": {"$ref": "#"}}}}),
    ("too_deep", DEEP),
]


@pytest.mark.parametrize(("reason", "schema"), SKIPPED)
def test_a_schema_that_cannot_carry_the_intent_is_skipped_with_its_reason(reason, schema):
    with pytest.raises(InjectionSkipped) as skipped:
        inject_intent(schema, policy="optional")
    assert skipped.value.reason == reason
    assert 20 < len(str(skipped.value)) < 200
    assert "{}" not in str(skipped.value)


def test_every_reason_for_skipping_is_shown_above_and_confirmed_by_another_look():
    assert {reason for reason, _ in SKIPPED} == set(get_args(SkipReason))
    for reason, schema in SKIPPED:
        if reason not in ("malformed_schema", "counted_properties", "too_deep", "unreadable_pattern"):
            assert confirmed(reason, schema, [{}, {"a": 1}]), (reason, schema)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"enum": {"const": {"a": 1}}, "$ref": {"type": "string"}}},
        {"properties": {"not": {"type": "string"}, "anyOf": {"enum": [{"a": 1}]}}, "required": ["not"]},
        {
            "properties": {},
            "default": {"$ref": "#/nowhere"},
            "examples": [{"$dynamicRef": "#"}],
            "x-id": {"$id": "y"},
        },
        {"properties": {"a": {"$ref": "https://example.org/remote"}, "b": {"$ref": "#/nowhere"}}},
        {"properties": {"a": {"$id": "https://example.org/b", "type": "string"}}},
    ],
)
def test_keywords_that_are_only_names_or_values_are_in_nobodys_way(schema):
    assert remove_intent(inject_intent(schema)) == {"type": "object", **schema}


def test_a_pattern_that_takes_the_rationale_leaves_it_out():
    schema = {"type": "object", "patternProperties": {"^rat": {"type": "integer"}}}
    injected = inject_intent(schema)
    assert list(injected["properties"]) == ["intent"]
    assert valid(injected, STATED | {"rationale": 1})


def test_many_references_to_the_same_definitions_stay_few():
    definitions: dict[str, Any] = {f"A{n}": {"allOf": [{"$ref": f"#/$defs/A{n + 1}"}] * 2} for n in range(60)}
    schema = {"$ref": "#/$defs/A0", "$defs": {**definitions, "A60": CLOSED_A}}
    assert len(text(inject_intent(schema))) < 2 * len(text(schema)) + 1000
