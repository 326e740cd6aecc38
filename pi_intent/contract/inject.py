"""Add the intent and the rationale to a tool's own schema, and take them out again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from pi_intent.contract.layout import Layout
from pi_intent.contract.narrow import narrow
from pi_intent.contract.rows import INTENT, RATIONALE
from pi_intent.contract.schema import SAME_INSTANCE, Document, plain
from pi_intent.contract.survey import NULLABLE, TEXT, admits_objects, check_references, sentence, survey
from pi_intent.contract.texts import INTENT_MARKER, ModelTexts
from pi_intent.contract.widen import Widening
from pi_intent.errors import InjectionSkipped, SkipReason
from pi_intent.types import NOT_ASKED, Policy, Profile

_COMMENT = "$comment"
_OWN_RATIONALE = {_COMMENT: "rationale is the tool's own"}
"""Stands in our intent where the tool's own rationale has the very shape of ours, which would tell them apart."""

_NEW_AT_ROOT = ("$defs", "definitions", "allOf", "properties", "required", "if", "then", "else")

_FARTHER = SAME_INSTANCE | {"$ref", "dependentRequired", "propertyNames"}
"""Where else than in `properties` and `required` a schema can say something of a name."""


def inject_intent(
    parameters: Mapping[str, Any],
    *,
    texts: ModelTexts,
    profile: Profile = "full",
    policy: Policy = "require",
    replaces: tuple[str, ...] = (),
    strict: bool = False,
) -> dict[str, Any]:
    """Return a new schema with `intent` as its first property and `rationale` as its second.

    What the tool accepts stays the same: arguments are valid under the new schema, with our properties, if and only
    if they are valid under the tool's own without them. The rationale is left out where the tool has one, or counts
    its properties. `replaces` names properties that go, because the intent stands in for them. Under `require` and
    `adaptive` the intent is required; under `derive` and `omit` nothing is added and nothing goes. `strict` is for
    providers that want every property required and refuse `minLength`: what may be left out becomes nullable.
    Injecting twice changes nothing. Raises `InjectionSkipped`, with the reason, where the schema cannot carry our
    properties without a change of meaning.
    """
    try:
        return _injected(parameters, texts=texts, profile=profile, policy=policy, replaces=replaces, strict=strict)
    except RecursionError as error:
        raise InjectionSkipped("too_deep", "the schema is nested too deeply to be walked") from error


def _injected(
    parameters: Mapping[str, Any],
    *,
    texts: ModelTexts,
    profile: Profile,
    policy: Policy,
    replaces: tuple[str, ...],
    strict: bool,
) -> dict[str, Any]:
    _check_root(parameters)
    if policy in NOT_ASKED:
        return _copy(parameters)
    document = Document(remove_intent(plain(parameters)))
    stated = policy != "optional"
    found = survey(document)
    check_references(found)
    if skips := found.skips:
        reason = min(skips, key=get_args(SkipReason).index)
        raise InjectionSkipped(reason, skips[reason])
    if not admits_objects(document):
        raise InjectionSkipped("not_an_object", sentence("not_an_object"))
    if found.counting and not stated and not document.has_if:
        raise InjectionSkipped("counted_properties", sentence("counted_properties"))

    alone = RATIONALE in found.owned | found.matched or found.counting
    nullable = {INTENT: strict and not stated, RATIONALE: strict}
    names = (INTENT,) if alone else (INTENT, RATIONALE)
    ours = {name: _property(texts.field(profile, name), nullable=nullable[name], strict=strict) for name in names}
    if _is_rationale(document.root.get("properties", {}).get(RATIONALE)):
        ours[INTENT] |= _OWN_RATIONALE
    in_branches = {name: plain(NULLABLE if nullable[name] else TEXT) for name in names}
    layout = Layout(found, replaces=replaces)
    widened = Widening(layout, ours=in_branches, stated=stated or strict).document()

    kept = {name: schema for name, schema in widened.get("properties", {}).items() if name not in replaces}
    first = names if strict else (INTENT,) if stated else ()
    required = [*first, *(name for name in widened.get("required", ()) if name not in replaces)]
    if required or "required" in widened:
        widened["required"] = required
    return _in_order(widened | {"type": "object", "properties": ours | kept}, layout.own_root)


def _in_order(schema: dict[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Order a root as the tool's own, with what is new behind it, so that injecting again gives the same bytes."""
    before = [key for key in own if key in schema and not (key == "required" and not own[key])]
    keys = [*([] if "type" in own else ["type"]), *before, *_NEW_AT_ROOT]
    return {key: schema[key] for key in dict.fromkeys((*keys, *schema)) if key in schema}


def remove_intent(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return a new schema without our two properties; a tool's own parameters of those names stay.

    What closed branches, counts and rules for names were given goes with them, so that the schema accepts what the
    tool accepts. What does not change that stays as injection left it: `"type": "object"`, an empty `properties`, a
    root in place of the `$ref` that it was, copies of definitions, and a `required` that only held ours is gone.
    """
    ours = our_properties(parameters.get("properties"))
    return narrow(plain(parameters), ours) if ours else _copy(parameters)


def owns(parameters: Mapping[str, Any] | None, name: str) -> bool:
    """Whether the tool has a parameter of that name which is not ours, at the root or in any branch of it."""
    if not isinstance(parameters, Mapping):
        return False
    properties = parameters.get("properties")
    ours = our_properties(properties) if properties else frozenset()
    if isinstance(properties, Mapping) and name in properties:
        return name not in ours
    if not _FARTHER & parameters.keys():
        required = parameters.get("required")
        return isinstance(required, (list, tuple)) and name in required
    try:
        return name in survey(Document(parameters), ours).owned
    except RecursionError:
        return False  # nothing was injected into it either


def our_properties(properties: object) -> frozenset[str]:
    """Name the properties that we put there: the intent by shape and mark, the rationale beside it by shape."""
    intent = properties.get(INTENT) if isinstance(properties, Mapping) else None
    if not isinstance(properties, Mapping) or not isinstance(intent, Mapping):
        return frozenset()
    alone = intent.get(_COMMENT) == _OWN_RATIONALE[_COMMENT]
    shape = {key: value for key, value in intent.items() if not (alone and key == _COMMENT)}
    if not _has_our_shape(shape, ("string", 1), ("string", None), (NULLABLE["type"], None)):
        return frozenset()
    if not str(intent.get("description", "")).startswith(INTENT_MARKER):
        return frozenset()
    beside = not alone and _is_rationale(properties.get(RATIONALE))
    return frozenset({INTENT, RATIONALE} if beside else {INTENT})


def _is_rationale(schema: object) -> bool:
    return _has_our_shape(schema, ("string", 1), (NULLABLE["type"], None))


def _has_our_shape(schema: object, *shapes: tuple[object, object]) -> bool:
    return (
        isinstance(schema, Mapping)
        and schema.keys() <= {"type", "minLength", "description"}
        and (schema.get("type"), schema.get("minLength")) in shapes
    )


def _property(description: str, *, nullable: bool, strict: bool) -> dict[str, Any]:
    kind: dict[str, Any] = plain(NULLABLE if nullable else TEXT)
    return kind | ({} if strict else {"minLength": 1}) | ({"description": description} if description else {})


def _check_root(parameters: object) -> None:
    if isinstance(parameters, bool):
        raise InjectionSkipped("boolean_schema", "the schema is true or false, which has no properties")
    if not isinstance(parameters, Mapping):
        raise InjectionSkipped("malformed_schema", sentence("malformed_schema", "the root"))


def _copy(parameters: Mapping[str, Any]) -> dict[str, Any]:
    try:
        return {key: plain(value) for key, value in parameters.items()}
    except InjectionSkipped:
        return dict(parameters)  # too deep to be walked, and so untouched by us
