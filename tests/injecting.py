"""Schemas to put the intent into, and what they accept."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from jsonschema import Draft7Validator, Draft202012Validator

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
