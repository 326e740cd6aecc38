"""Say of a call that its tool may refuse it, where the host checks arguments only inside the tool."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from pi_intent.types import JSONObject

_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}


def misfit(parameters: Mapping[str, Any], arguments: JSONObject, *, filled: Collection[str] = ()) -> str | None:
    """Return why a tool with this schema may refuse a call, in a few words; None where nothing obvious is wrong.

    A hint for a person, from the top of the schema alone: the tool itself decides. `filled` are the parameters that
    are filled in before the tool runs.
    """
    properties, required = parameters.get("properties"), parameters.get("required")
    properties = properties if isinstance(properties, Mapping) else {}
    for name in required if isinstance(required, list) else ():
        if isinstance(name, str) and name not in arguments and name not in filled:
            return f"{name} is missing"
    for name, value in arguments.items():
        schema = properties.get(name)
        if schema is None and parameters.get("additionalProperties") is False:
            return f"it has no parameter {name}"
        if isinstance(schema, Mapping) and not _fits(value, schema.get("type")):
            return f"{name} is not of the type it asks for"
    return None


def _fits(value: object, kind: object) -> bool:
    kinds = [kind] if isinstance(kind, str) else kind if isinstance(kind, list) else []
    if not kinds or any(not isinstance(each, str) or each not in _TYPES for each in kinds):
        return True
    if isinstance(value, bool):
        return "boolean" in kinds
    if isinstance(value, float) and value.is_integer() and "integer" in kinds:
        return True
    return any(isinstance(value, _TYPES[each]) for each in kinds)
