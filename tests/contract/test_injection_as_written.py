"""The intent goes into schemas as libraries write them, and beside what hosts put in."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Union

import pytest
from bpe_openai import get_encoding
from injecting import BOTH, CLOSED_A, CLOSED_B, STATED, text, valid
from pydantic import BaseModel, ConfigDict, Field, RootModel

from pi_intent import inject_intent, read_call, remove_intent


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
