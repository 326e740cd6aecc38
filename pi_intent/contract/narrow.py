"""Take back what widening gave to the schemas that judge the arguments."""

from __future__ import annotations

from typing import Any

from pi_intent.contract.rows import INTENT
from pi_intent.contract.schema import Document
from pi_intent.contract.survey import is_branch_property, own_rule_for_names, survey
from pi_intent.contract.widen import BOUNDS, IF_STATED


def narrow(root: dict[str, Any], ours: frozenset[str]) -> dict[str, Any]:
    """Take our properties out of an injected schema, which is changed and returned.

    `ours` names those that stand at its root: what a branch says of another name is the tool's own.
    """
    document = Document(root)
    stated = INTENT in root.get("required", ())
    schemas = [document.at(place) for place in survey(document, ours).judging]
    for schema in schemas:
        if not isinstance(schema, dict) or document.is_only_ref(schema):
            continue
        if schema is not root:
            _open_again(schema, ours)
        if "propertyNames" in schema:
            schema["propertyNames"] = own_rule_for_names(schema["propertyNames"], ours)
        if ours == {INTENT}:  # a count moves for the intent alone
            _restore_counts(schema, stated=stated)
    root["properties"] = {name: item for name, item in root["properties"].items() if name not in ours}
    if ours & set(root.get("required", ())):
        root["required"] = [name for name in root["required"] if name not in ours]
        if not root["required"]:
            del root["required"]
    return root


def _open_again(schema: dict[str, Any], ours: frozenset[str]) -> None:
    properties = schema.get("properties")
    if not isinstance(properties, dict):
        return
    added = [name for name in ours if is_branch_property(properties.get(name))]
    for name in added:
        del properties[name]
    if added and not properties:
        del schema["properties"]


def _restore_counts(schema: dict[str, Any], *, stated: bool) -> None:
    if stated:
        for key in BOUNDS:
            limit = schema.get(key)
            if isinstance(limit, (int, float)) and limit > (1 if key == "minProperties" else 0):
                schema[key] = limit - 1
        return
    if _is_count(schema):
        limits = schema.pop("else")
        del schema["if"], schema["then"]
        schema.update(limits)


def _is_count(schema: object) -> bool:
    if not isinstance(schema, dict) or schema.get("if") != IF_STATED:
        return False
    then, otherwise = schema.get("then"), schema.get("else")
    return (
        isinstance(then, dict)
        and isinstance(otherwise, dict)
        and bool(otherwise)
        and then.keys() == otherwise.keys() <= set(BOUNDS)
    )
