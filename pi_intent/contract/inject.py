"""Add the intent and the rationale to a tool's own schema, and take them out again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pi_intent.contract.rows import INTENT, RATIONALE
from pi_intent.contract.texts import INTENT_MARKER, ModelTexts
from pi_intent.errors import InjectionSkipped
from pi_intent.types import Policy, Profile

# Keywords under which a new property could change which arguments are valid.
_COMPOSING = frozenset(
    {
        "$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "not", "if", "const", "enum", "patternProperties",
        "propertyNames", "minProperties", "maxProperties", "dependentSchemas", "unevaluatedProperties",
    }
)  # fmt: skip


def _property(description: str) -> dict[str, Any]:
    return {"type": "string", "minLength": 1, **({"description": description} if description else {})}


def _has_our_shape(schema: object) -> bool:
    return (
        isinstance(schema, Mapping)
        and schema.keys() <= {"type", "minLength", "description"}
        and schema.get("type") == "string"
        and schema.get("minLength") == 1
    )


def _our_properties(properties: Mapping[str, Any]) -> frozenset[str]:
    """Name the properties that we put there: the intent by shape and mark, the rationale beside it by shape."""
    intent = properties.get(INTENT, {})
    if not _has_our_shape(intent) or not str(intent.get("description", "")).startswith(INTENT_MARKER):
        return frozenset()
    return frozenset({INTENT, RATIONALE} if _has_our_shape(properties.get(RATIONALE)) else {INTENT})


def owns(parameters: Mapping[str, Any] | None, name: str) -> bool:
    """Whether the tool has a parameter of that name which is not ours."""
    properties = (parameters or {}).get("properties")
    return isinstance(properties, Mapping) and name in properties and name not in _our_properties(properties)


def inject_intent(
    parameters: Mapping[str, Any],
    *,
    texts: ModelTexts,
    profile: Profile = "full",
    policy: Policy = "require",
    replaces: tuple[str, ...] = (),
) -> dict[str, Any]:
    """Return a new schema with `intent` as its first property and `rationale` as its second.

    `replaces` names properties that go, because the intent stands in for them. Under `require` and `adaptive` the
    intent is required; under `derive` and `omit` nothing is added and nothing goes. Injecting twice changes nothing.
    Raises `InjectionSkipped` where the schema cannot carry the properties without a change of meaning.
    """
    if policy in ("derive", "omit"):
        return dict(parameters)
    properties = parameters.get("properties", {})
    if parameters.get("type", "object") != "object" or not isinstance(properties, Mapping):
        raise InjectionSkipped("not_an_object", "the schema does not describe an object")
    if owns(parameters, INTENT):
        raise InjectionSkipped("owns_intent", "the tool has a parameter called “intent” of its own")
    if found := sorted(_COMPOSING & parameters.keys()):
        raise InjectionSkipped("composed_schema", f"the schema is composed with {', '.join(found)}")
    names = (INTENT,) if owns(parameters, RATIONALE) else (INTENT, RATIONALE)
    ours = {name: _property(texts.field(profile, name)) for name in names}
    kept = {name: schema for name, schema in properties.items() if name not in ours and name not in replaces}
    required = [name for name in parameters.get("required", ()) if name in kept]
    if policy != "optional":
        required.insert(0, INTENT)
    injected = {"type": "object", **parameters, "properties": {**ours, **kept}, "required": required}
    if not required and "required" not in parameters:
        del injected["required"]
    return injected


def remove_intent(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return a new schema without our two properties; a tool's own parameters of those names stay."""
    ours = _our_properties(parameters.get("properties", {}))
    if not ours:
        return dict(parameters)
    result = {**parameters, "properties": {k: v for k, v in parameters["properties"].items() if k not in ours}}
    if "required" in parameters:
        result["required"] = [name for name in parameters["required"] if name not in ours]
    return result
