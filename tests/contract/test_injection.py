"""Our two properties go into any tool schema, and what the tool accepts stays the same."""

from __future__ import annotations

import json
from copy import deepcopy
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal, Union, get_args

import pytest
from bpe_openai import get_encoding
from jsonschema import Draft7Validator, Draft202012Validator
from pydantic import BaseModel, ConfigDict, Field, RootModel
from skip_reasons import confirmed

from pi_intent import InjectionSkipped, inject_intent, read_call, remove_intent
from pi_intent.contract.inject import inject_intent as inject_with
from pi_intent.contract.inject import owns
from pi_intent.descriptions import model_texts
from pi_intent.errors import SkipReason

CASES = json.loads((Path(__file__).parents[1] / "cases" / "schemas.json").read_text(encoding="utf-8"))["cases"]
CLOSED_A = {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": False}
CLOSED_B = {"type": "object", "properties": {"b": {"type": "string"}}, "additionalProperties": False}
STATED = {"intent": "Look"}
BOTH = {"intent": "Look", "rationale": "The test fails"}


@cache
def validator(schema: str) -> Any:
    kind = Draft7Validator if "draft-07" in json.loads(schema).get("$schema", "") else Draft202012Validator
    kind.check_schema(json.loads(schema))
    return kind(json.loads(schema))


def valid(schema: Any, arguments: object) -> bool:
    return validator(json.dumps(schema)).is_valid(arguments)


def text(schema: Any) -> str:
    return json.dumps(schema)


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


class Point(BaseModel):
    model_config = ConfigDict(extra="forbid")
    x: int
    y: int = 0


class Circle(BaseModel):
    model_config = ConfigDict(extra="forbid")
    kind: Literal["circle"]
    centre: Point
    inside: list[Shape] = []


class Square(BaseModel):
    model_config = ConfigDict(extra="forbid")
    kind: Literal["square"]
    corner: Point | None = None


Shape = Annotated[Union[Circle, Square], Field(discriminator="kind")]  # noqa: UP007
Circle.model_rebuild()


class Draw(BaseModel):
    """Draw shapes."""

    model_config = ConfigDict(extra="forbid")
    shapes: list[Shape]
    at: Point | tuple[int, int]
    after: Draw | None = None


ARGUMENTS: list[dict[str, Any]] = [
    {"kind": "circle", "centre": {"x": 1}},
    {"kind": "circle", "centre": {"x": 1}, "inside": [{"kind": "square"}]},
    {"kind": "circle", "centre": {"x": 1}, "inside": [{"kind": "square", "intent": "x"}]},
    {"kind": "circle", "centre": {"x": 1, "intent": "x"}},
    {"kind": "square", "corner": {"x": 1, "y": 2}},
    {"kind": "square", "side": 3},
    {"x": 1},
    {"shapes": [{"kind": "square"}], "at": [1, 2]},
    {"shapes": [], "at": {"x": 1}, "after": {"shapes": [], "at": {"x": 2}}},
    {"shapes": [], "at": {"x": 1}, "after": {"shapes": [], "at": {"x": 2}, "intent": "x"}},
    {},
]


@pytest.mark.parametrize("model", [Point, Circle, Square, Draw, RootModel[Shape], RootModel[Circle | Point]])
@pytest.mark.parametrize("policy", ["require", "optional"])
def test_schemas_as_pydantic_writes_them(model, policy):
    schema = model.model_json_schema()
    injected = inject_intent(schema, policy=policy)
    assert next(iter(injected["properties"])) == "intent"
    for arguments in ARGUMENTS:
        want = valid(schema, arguments)
        assert valid(injected, BOTH | arguments) == valid(injected, STATED | arguments) == want
        assert valid(injected, arguments) == (want and policy == "optional")
        assert valid(remove_intent(injected), arguments) == want


@pytest.mark.parametrize("by_name", [False, True])
def test_schemas_as_the_converters_of_zod_write_them(by_name):
    filters = {
        "type": "array",
        "items": {"$ref": "#/definitions/T/properties/where" if by_name else "#/properties/where"},
    }
    tool = {
        "type": "object",
        "properties": {"where": {"anyOf": [CLOSED_A, CLOSED_B]}, "filters": filters},
        "required": ["where"],
        "additionalProperties": False,
    }
    rest = {"$ref": "#/definitions/T", "definitions": {"T": tool}, "maxProperties": 1} if by_name else tool
    schema = {"$schema": "http://json-schema.org/draft-07/schema#", **rest}
    injected = inject_intent(schema)
    assert list(injected["properties"]) == ["intent", "rationale", "where", "filters"]
    for arguments in (
        {"where": {"a": "x"}},
        {},
        {"where": {}, "filters": [{"b": "x"}, STATED]},
        {"where": {}, "z": 1},
    ):
        assert valid(injected, BOTH | arguments) == valid(schema, arguments)


def test_what_stands_beside_a_reference_in_draft_7_does_not_count():
    schema = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "anyOf": [{"$ref": "#/definitions/A", "maxProperties": 0, "properties": {"intent": {}}}],
        "definitions": {"A": CLOSED_A},
    }
    injected = inject_intent(schema)
    assert injected["anyOf"] == schema["anyOf"]
    assert list(injected["properties"]) == ["intent", "rationale"]
    for arguments in ({}, {"a": "x"}, {"a": 1}, {"b": "x"}):
        assert valid(injected, BOTH | arguments) == valid(schema, arguments)


def test_beside_a_background_flag_the_intent_comes_first_and_the_order_is_stable():
    schema = {
        "type": "object",
        "properties": {"run_in_background": {"type": "boolean"}, "command": {}},
        "required": ["command"],
    }
    injected = inject_intent(schema)
    assert list(injected["properties"]) == ["intent", "rationale", "run_in_background", "command"]
    assert text(inject_intent(injected)) == text(inject_intent(schema)) == text(injected)


def test_a_tool_promoted_late_arrives_injected_once_and_is_counted_so():
    def tokens(schema: Any) -> int:
        return len(get_encoding("o200k_base").encode(text(schema)))

    schema = {"type": "object", "properties": {"q": {"type": "string"}}, "anyOf": [CLOSED_A, {"required": ["q"]}]}
    listed = inject_intent(schema)
    promoted = inject_intent(listed)
    assert tokens(promoted) == tokens(listed) > tokens(schema)
    assert list(promoted["properties"]).count("intent") == 1


def test_a_tool_that_only_code_calls_is_not_injected():
    schema = {"type": "object", "properties": {"q": {}}, "maxProperties": 1}
    assert inject_intent(schema, policy="omit") == inject_intent(schema, policy="derive") == schema


def test_a_tool_that_code_calls_too_is_injected_and_its_inner_calls_run_without_an_intent():
    schema = {"type": "object", "anyOf": [CLOSED_A, CLOSED_B]}
    injected = inject_intent(schema, policy="optional")
    assert "intent" not in injected.get("required", ())
    assert valid(injected, {"a": "x"})
    assert valid(injected, BOTH | {"a": "x"})
    call = read_call("search", {"a": "x"}, policy="optional", parameters=schema)
    assert (call.intent, call.arguments) == (None, {"a": "x"})


def test_what_a_tool_hands_to_its_own_children_is_stripped():
    schema = {"type": "object", "properties": {"task": {"type": "string"}}, "required": ["task"]}
    assert remove_intent(inject_intent(schema)) == schema


def test_placeholders_in_an_intent_are_not_substituted():
    call = read_call("search", {"intent": "Find {{user}} in ${HOME}", "q": 1}, parameters={"type": "object"})
    assert call.intent == "Find {{user}} in ${HOME}"


def test_all_of_it_on_one_tool_is_a_valid_schema_with_the_intent_first():
    schema = {
        "$ref": "#/$defs/Run",
        "$defs": {
            "Run": {
                "type": ["object", "null"],
                "properties": {
                    "run_in_background": {"type": "boolean"},
                    "command": {"type": "string"},
                    "then": {"$ref": "#/$defs/Run"},
                    "all": {"items": {"$ref": "#"}},
                },
                "oneOf": [{"required": ["command"], "maxProperties": 2}, {"required": ["all"], "minProperties": 2}],
                "propertyNames": {"maxLength": 20},
                "dependentRequired": {"then": ["command"]},
                "unevaluatedProperties": False,
            }
        },
    }
    for policy in ("require", "optional"):
        injected = inject_intent(schema, policy=policy)
        assert list(injected["properties"]) == ["intent", "run_in_background", "command", "then", "all"]
        assert text(inject_intent(injected, policy=policy)) == text(injected)
        for arguments in (
            {"command": "x"},
            {"command": "x", "then": {"command": "y"}},
            {"command": "x", "then": {"command": "y", "intent": "x"}},
            {"all": [{"command": "y"}], "run_in_background": True},
            {"all": [STATED | {"command": "y"}], "run_in_background": True},
            {"then": {"command": "y"}},
            {"command": "x", "z": 1},
        ):
            assert valid(injected, STATED | arguments) == valid(schema, arguments), arguments
            assert valid(remove_intent(injected), arguments) == valid(schema, arguments), arguments
