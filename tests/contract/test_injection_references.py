"""References, definitions and identifiers go on meaning what they meant when the intent goes in."""

from __future__ import annotations

import pytest
from injecting import BOTH, CLOSED_A, CLOSED_B, STATED, text, valid

from pi_intent import inject_intent
from pi_intent.contract.inject import inject_intent as inject_with
from pi_intent.descriptions import model_texts


def test_a_reference_to_the_root_goes_on_meaning_the_original():
    schema = {"type": "object", "properties": {"child": {"$ref": "#"}}, "additionalProperties": False}
    injected = inject_intent(schema)
    assert injected["properties"]["child"] == {"$ref": "#/$defs/root-without-intent"}
    assert valid(injected, {"intent": "x", "child": {"child": {}}})
    assert not valid(injected, {"intent": "x", "child": {"intent": "x"}})
    assert not valid(injected, {"intent": "x", "child": {"child": {"intent": "x"}}})


def test_a_new_definition_takes_no_name_that_is_there():
    taken = {"root-without-intent": {"type": "integer"}}
    schema = {"properties": {"child": {"$ref": "#"}, "n": {"$ref": "#/$defs/root-without-intent"}}, "$defs": taken}
    injected = inject_intent(schema)
    assert injected["$defs"]["root-without-intent"] == {"type": "integer"}
    assert valid(injected, {"intent": "x", "child": {"n": 1}, "n": 1})
    assert not valid(injected, {"intent": "x", "child": {"n": "x"}})


@pytest.mark.parametrize("container", ["$defs", "definitions"])
def test_a_root_that_is_a_reference_becomes_what_it_refers_to(container):
    ref, chain = f"#/{container}/", {"A": {"$ref": f"#/{container}/B", "description": "Of A"}, "B": CLOSED_A}
    injected = inject_intent({"$ref": ref + "A", container: chain, "title": "T"})
    assert list(injected["properties"]) == ["intent", "rationale", "a"]
    assert injected["title"] == "T"
    assert injected["description"] == "Of A"
    assert "$ref" not in text(injected)
    assert valid(injected, STATED | {"a": "x"})
    assert not valid(injected, STATED | {"b": "x"})


def test_a_root_reference_with_assertions_beside_it_keeps_both():
    schema = {"$ref": "#/$defs/A", "required": ["a"], "properties": {"a": {"maxLength": 1}}, "$defs": {"A": CLOSED_A}}
    injected = inject_intent(schema)
    assert injected["allOf"] == [{"$ref": "#/$defs/A"}]
    for arguments in ({}, {"a": "x"}, {"a": "xy"}, {"a": "x", "b": 1}):
        assert valid(injected, BOTH | arguments) == valid(schema, arguments)


def test_a_definition_used_as_a_branch_and_within_an_argument_gets_a_copy():
    dog = CLOSED_A
    schema = {
        "oneOf": [{"$ref": "#/$defs/Cat"}, {"$ref": "#/$defs/Dog"}],
        "discriminator": {"propertyName": "a", "mapping": {"cat": "#/$defs/Cat", "dog": "#/$defs/Dog"}},
        "$defs": {"Cat": {**CLOSED_B, "properties": {"b": {"$ref": "#/$defs/Dog"}}, "required": ["b"]}, "Dog": dog},
    }
    injected = inject_intent(schema)
    assert injected["oneOf"] == [{"$ref": "#/$defs/Cat"}, {"$ref": "#/$defs/Dog-with-intent"}]
    assert injected["discriminator"]["mapping"] == {"cat": "#/$defs/Cat", "dog": "#/$defs/Dog-with-intent"}
    assert injected["$defs"]["Dog"] == dog
    assert injected["$defs"]["Cat"]["properties"]["b"] == {"$ref": "#/$defs/Dog"}
    assert valid(injected, STATED | {"b": {"a": "x"}})
    assert not valid(injected, STATED | {"b": STATED | {"a": "x"}})
    assert not valid(injected, STATED | {"b": "x"})


def test_references_by_anchor_id_and_escaped_pointer_are_followed():
    schema = {
        "$id": "https://example.org/tool",
        "anyOf": [{"$ref": "#here"}, {"$ref": "https://example.org/tool#/$defs/a~1b%20c"}],
        "properties": {"x": {"$ref": "#here"}},
        "$defs": {"A": {"$anchor": "here", **CLOSED_A}, "a/b c": CLOSED_B},
    }
    schema["$defs"]["A"]["properties"] = {"a": {}, "x": {}}
    injected = inject_intent(schema)
    assert text(injected).count('"$anchor"') == 1
    assert valid(injected, BOTH | {"a": "x", "x": {"a": 1}})
    assert not valid(injected, BOTH | {"a": "x", "x": STATED})
    assert valid(inject_intent({"$id": "urn:x", "anyOf": [{"$ref": "#/$defs/b"}], "$defs": {"b": CLOSED_B}}), BOTH)


def test_references_into_branches_and_arguments_keep_their_meaning():
    schema = {
        "anyOf": [CLOSED_A, {"properties": {"b": {"$ref": "#/anyOf/0"}, "c": {"$ref": "#/anyOf/0/properties/a"}}}],
        "propertyNames": {"maxLength": 1},
        "properties": {"d": {"propertyNames": {"$ref": "#/propertyNames"}}},
    }
    injected = inject_intent(schema)
    for arguments in (
        {"a": 1},
        {"b": {"a": "x"}},
        {"b": STATED},
        {"c": "x"},
        {"c": 1},
        {"d": {"e": 1}},
        {"d": STATED},
    ):
        assert valid(injected, BOTH | arguments) == valid(schema, arguments), arguments


def test_what_a_replaced_property_was_referred_to_by_still_has_it():
    schema = {"properties": {"old": {"type": "integer"}, "n": {"$ref": "#/properties/old"}}, "required": ["old", "n"]}
    injected = inject_with(schema, texts=model_texts(), replaces=("old",))
    assert injected["required"] == ["intent", "n"]
    assert "old" not in injected["properties"]
    assert valid(injected, STATED | {"n": 1})
    assert not valid(injected, STATED | {"n": "x"})
