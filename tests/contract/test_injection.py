"""Our two properties go into any tool schema, and what the tool accepts stays the same."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from injecting import BOTH, CLOSED_A, CLOSED_B, STATED, text, valid
from skip_reasons import confirmed

from pi_intent import InjectionSkipped, inject_intent, read_call, remove_intent
from pi_intent.contract.inject import owns

CASES = json.loads((Path(__file__).parents[1] / "cases" / "schemas.json").read_text(encoding="utf-8"))["cases"]


def frozen(value: Any) -> Any:
    if isinstance(value, dict):
        return MappingProxyType({key: frozen(item) for key, item in value.items()})
    return tuple(frozen(item) for item in value) if isinstance(value, list) else value


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_every_known_case_comes_out_as_wanted(case):
    schema, want = deepcopy(case["schema"]), case["want"]
    how = (
        {key: schema.pop(key, False) for key in ("frozen", "ours_last", "inject_twice")} if schema is not True else {}
    )
    before = deepcopy(schema)
    if want.get("unchanged"):
        with pytest.raises(InjectionSkipped) as skipped:
            inject_intent(schema)
        assert schema == before
        assert confirmed(skipped.value.reason, schema, [{}, {"intent": "x"}])
        return
    if how["ours_last"]:
        ours = inject_intent(schema)["properties"]
        schema["properties"] |= {name: ours[name] for name in ("intent", "rationale")}
    injected = inject_intent(frozen(schema) if how["frozen"] else schema)
    if how["inject_twice"]:
        injected = inject_intent(injected)
    assert how["ours_last"] or schema == before
    assert next(iter(injected["properties"])) == want.get("first", "intent")
    assert [*injected["properties"], *injected["required"]].count("intent") == 2
    assert injected["required"] == want.get("required", injected["required"])
    assert injected["required"][0] == "intent"
    assert valid(injected, want.get("validates", STATED)) or "validates" not in want
    assert not valid(injected, want.get("rejects", {}))


@pytest.mark.parametrize("policy", ["require", "optional"])
def test_injecting_again_gives_the_same_bytes_also_where_ours_came_last(policy):
    own = {"required": ["q"], "properties": {"q": {}, "r": {}}, "type": "object", "title": "T"}
    injected = inject_intent(own, policy=policy)
    assert text(inject_intent(injected, policy=policy)) == text(injected)
    properties = injected["properties"]
    last = {**injected, "properties": {name: properties[name] for name in ("q", "rationale", "r", "intent")}}
    last["required"] = injected["required"][::-1]
    assert list(inject_intent(last, policy=policy)["properties"]) == ["intent", "rationale", "q", "r"]
    assert inject_intent(last, policy=policy)["required"] == injected["required"]


def test_another_policy_takes_the_place_of_the_first():
    own = {"type": "object", "properties": {"q": {}}, "maxProperties": 1, "anyOf": [CLOSED_A, {"minProperties": 1}]}
    for first in ("require", "optional"):
        for second in ("require", "optional"):
            twice = inject_intent(inject_intent(own, policy=first), policy=second)
            assert twice == inject_intent(own, policy=second)


def test_nothing_is_shared_with_the_input():
    own = {
        "type": "object",
        "properties": {"q": {"enum": [["x"]]}},
        "required": ["q"],
        "anyOf": [{"required": ["q"]}],
    }
    before = deepcopy(own)
    for policy in ("require", "optional", "omit"):
        injected = inject_intent(own, policy=policy)
        injected["properties"]["q"]["enum"][0].append("y")
        injected["anyOf"][0]["required"].append("z")
        injected["required"].append("z")
        assert own == before
    freed = remove_intent(inject_intent(own))
    freed["properties"]["q"]["enum"][0].append("y")
    assert own == before


OWNING = {
    "anyOf": {"anyOf": [{"properties": {"intent": {"type": "string"}}}, {}]},
    "oneOf": {"oneOf": [{"required": ["intent"]}, {}]},
    "allOf": {"allOf": [{"allOf": [{"properties": {"intent": True}}]}]},
    "if": {"if": {"properties": {"intent": {"const": "buy"}}}, "then": {}},
    "then": {"if": {}, "then": {"required": ["intent"]}},
    "else": {"if": {}, "else": {"required": ["intent"]}},
    "not": {"not": {"required": ["intent"]}},
    "reference": {"anyOf": [{"$ref": "#/$defs/A"}], "$defs": {"A": {"properties": {"intent": {}}}}},
    "root reference": {
        "$ref": "#/$defs/A",
        "$defs": {"A": {"$ref": "#/$defs/B"}, "B": {"properties": {"intent": {}}}},
    },
    "required": {"required": ["a", "intent"]},
    "dependentRequired": {"dependentRequired": {"a": ["intent"]}},
    "dependentRequired key": {"dependentRequired": {"intent": ["a"]}},
    "dependentSchemas": {"dependentSchemas": {"a": {"properties": {"intent": {}}}}},
    "dependentSchemas key": {"dependentSchemas": {"intent": {}}},
    "propertyNames": {"propertyNames": {"enum": ["intent", "a"]}},
    "dependencies": {"$schema": "http://json-schema.org/draft-07/schema#", "dependencies": {"a": ["intent"]}},
}


@pytest.mark.parametrize("where", list(OWNING))
def test_a_tools_own_intent_is_found_wherever_it_stands(where):
    schema = {"type": "object", **OWNING[where]}
    with pytest.raises(InjectionSkipped, match="parameter called “intent” of its own") as skipped:
        inject_intent(schema)
    assert skipped.value.reason == "owns_intent"
    assert owns(schema, "intent")
    assert remove_intent(schema) == schema
    assert read_call("x", {"intent": "a", "a": 1}, parameters=schema).arguments == {"intent": "a", "a": 1}


@pytest.mark.parametrize("where", list(OWNING))
def test_where_a_tool_has_a_rationale_of_its_own_the_intent_goes_in_alone(where):
    schema = json.loads(text({"type": "object", **OWNING[where]}).replace("intent", "rationale"))
    injected = inject_intent(schema)
    assert "evidence" not in text(injected)
    assert injected["properties"]["intent"]["description"]
    assert owns(schema, "rationale")
    assert owns(injected, "rationale")
    assert not owns(injected, "intent")
    for arguments in ({}, {"a": 1}, {"rationale": "buy"}, {"a": 1, "rationale": "x"}):
        assert valid(injected, STATED | arguments) == valid(schema, arguments)
        assert valid(remove_intent(injected), arguments) == valid(schema, arguments)


def test_an_intent_within_an_argument_is_nobodys_business():
    schema = {"type": "object", "properties": {"mail": {"properties": {"intent": {"type": "integer"}}}}}
    injected = inject_intent(schema)
    assert injected["properties"]["mail"] == schema["properties"]["mail"]
    assert not owns(schema, "intent")


@pytest.mark.parametrize("rationale", [{"type": "string", "minLength": 1}, {"type": ["string", "null"]}])
def test_a_tools_own_rationale_that_looks_like_ours_is_told_apart(rationale):
    schema = {"type": "object", "properties": {"rationale": rationale}, "required": ["rationale"]}
    injected = inject_intent(schema)
    assert remove_intent(injected) == schema
    assert text(inject_intent(injected)) == text(injected)
    assert owns(injected, "rationale")


@pytest.mark.parametrize("keyword", ["anyOf", "oneOf", "allOf"])
def test_closed_branches_take_our_properties_as_text(keyword):
    schema = {"type": "object", keyword: [CLOSED_A, {"type": "object", "unevaluatedProperties": {"type": "integer"}}]}
    injected = inject_intent(schema)
    for branch in injected[keyword]:
        assert list(branch["properties"].items())[:2] == [(n, {"type": "string"}) for n in ("intent", "rationale")]
    for arguments in ({"a": "x"}, {}, {"a": 1}, {"b": "x"}):
        assert valid(injected, BOTH | arguments) == valid(injected, STATED | arguments) == valid(schema, arguments)
        assert not valid(injected, arguments)


@pytest.mark.parametrize(
    "schema",
    [
        {"not": CLOSED_A},
        {"if": CLOSED_A, "then": {"required": ["a"]}, "else": CLOSED_B},
        {"if": {"maxProperties": 1}, "then": False},
        {"not": {"minProperties": 2, "propertyNames": {"maxLength": 1}}},
        {"not": {"not": {"not": {"anyOf": [CLOSED_A, {"not": CLOSED_B}]}}}},
        {"dependentSchemas": {"a": CLOSED_A}},
        {"oneOf": [CLOSED_A, CLOSED_B, {"maxProperties": 0}]},
        {"propertyNames": False},
        {"propertyNames": {"enum": ["a"]}},
        {"allOf": [{"properties": {"a": {}}}], "unevaluatedProperties": False},
        {"anyOf": [{"allOf": [{"properties": {"a": {}}}], "unevaluatedProperties": False}, CLOSED_B]},
    ],
)
@pytest.mark.parametrize("policy", ["require", "optional"])
def test_what_a_branch_decides_does_not_change_with_the_intent(schema, policy):
    injected = inject_intent(schema, policy=policy)
    freed = remove_intent(injected)
    for arguments in ({}, {"a": "x"}, {"b": "x"}, {"a": "x", "b": "x"}, {"long": 1}, {"a": 1, "b": 1, "long": 1}):
        want = valid(schema, arguments)
        assert valid(injected, STATED | arguments) == want
        assert valid(injected, arguments) == (want and policy == "optional")
        assert valid(freed, arguments) == want


def test_a_required_name_without_a_property_stays_required():
    injected = inject_intent({"type": "object", "properties": {"a": {}}, "required": ["b", "a"]})
    assert injected["required"] == ["intent", "b", "a"]


def test_a_count_moves_by_the_intent_alone_and_leaves_the_rationale_out():
    schema = {"type": "object", "minProperties": 1, "maxProperties": 2}
    required = inject_intent(schema)
    assert list(required["properties"]) == ["intent"]
    assert (required["minProperties"], required["maxProperties"]) == (2, 3)
    optional = inject_intent(schema, policy="optional")
    assert optional["then"] == {"minProperties": 2, "maxProperties": 3}
    assert optional["else"] == {"minProperties": 1, "maxProperties": 2}
    assert "anyOf" not in optional  # model providers refuse it at a root
    assert remove_intent(required) == remove_intent(optional) == {**schema, "properties": {}}
    assert list(inject_intent({"minProperties": 0})["properties"]) == ["intent", "rationale"]


def test_a_count_beside_an_if_of_the_tools_own_keeps_both():
    schema = {
        "if": {"required": ["a"]},
        "then": {"maxProperties": 2},
        "maxProperties": 3,
        "allOf": [{"minProperties": 1}],
    }
    injected = inject_intent(schema, policy="optional")
    assert injected["if"] == {"required": ["a"]}
    for arguments in ({}, {"a": 1}, {"a": 1, "b": 1, "c": 1}, {"b": 1, "c": 1, "d": 1}, dict.fromkeys("bcde", 1)):
        for call in (arguments, STATED | arguments):
            assert valid(injected, call) == valid(schema, arguments)
        assert valid(remove_intent(injected), arguments) == valid(schema, arguments)
    assert text(inject_intent(injected, policy="optional")) == text(injected)


@pytest.mark.parametrize("kind", [["object", "null"], "object", ["string", "object"]])
def test_the_arguments_of_a_call_are_an_object(kind):
    assert inject_intent({"type": kind})["type"] == "object"


@pytest.mark.parametrize(
    "schema", [{}, {"properties": {}}, {"anyOf": [{"type": "string"}, CLOSED_A]}, {"title": "T", "description": "D"}]
)
def test_a_missing_type_becomes_object_where_an_object_can_be_meant(schema):
    injected = inject_intent(schema)
    assert injected["type"] == "object"
    assert valid(injected, STATED)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"], "additionalProperties": False},
        {"type": "object", "properties": {"rationale": {"type": "string"}, "q": {}}, "required": ["rationale"]},
        {"type": "object", "properties": {}, "propertyNames": {"maxLength": 3}, "minProperties": 2},
        {
            "type": "object",
            "properties": {"a": {}},
            "anyOf": [CLOSED_A, {"$ref": "#/$defs/B"}],
            "$defs": {"B": CLOSED_B},
        },
        {"type": "object", "properties": {}, "not": {"maxProperties": 1}, "dependentRequired": {"a": ["b"]}},
    ],
)
@pytest.mark.parametrize("policy", ["require", "optional"])
@pytest.mark.parametrize("strict", [False, True])
def test_taking_ours_out_gives_the_tools_own_schema_again(schema, policy, strict):
    injected = inject_intent(schema, policy=policy, strict=strict)
    assert text(inject_intent(injected, policy=policy, strict=strict)) == text(injected)
    freed = remove_intent(injected)
    assert freed == schema
    assert remove_intent(freed) == freed
    assert not owns(injected, "intent")


def test_what_removal_cannot_tell_is_said_and_means_the_same():
    assert remove_intent(inject_intent({"required": []})) == {"type": "object", "properties": {}}


def test_strict_providers_see_every_property_required_and_no_length():
    schema = {"type": "object", "properties": {"q": {}}, "required": ["q"], "additionalProperties": False}
    injected = inject_intent(schema, strict=True)
    assert injected["required"] == ["intent", "rationale", "q"]
    assert injected["properties"]["intent"]["type"] == "string"
    assert injected["properties"]["rationale"]["type"] == ["string", "null"]
    assert "minLength" not in text(injected)
    call = read_call("search", {"intent": "Look", "rationale": None, "q": 1}, parameters=schema)
    assert (call.intent, call.rationale, call.arguments) == ("Look", None, {"q": 1})
    optional = inject_intent(schema, strict=True, policy="optional")
    assert optional["properties"]["intent"]["type"] == ["string", "null"]
    assert valid(optional, {"intent": None, "rationale": None, "q": 1})
    union = inject_intent({"anyOf": [CLOSED_A, CLOSED_B]}, strict=True)
    assert valid(union, {"intent": "x", "rationale": None, "a": "x"})
    assert text(inject_intent(optional)) == text(inject_intent(schema))
