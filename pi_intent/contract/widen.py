"""Make every schema that judges the arguments judge them alike when our properties stand among them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pi_intent.contract.layout import SAID, SAID_OF_ROOT, Layout
from pi_intent.contract.rows import INTENT
from pi_intent.contract.schema import DEFINITIONS, OBJECT, SAME_INSTANCE, Place, plain, rebuilt
from pi_intent.contract.survey import counts

BOUNDS = ("minProperties", "maxProperties")
IF_STATED: dict[str, Any] = {"required": [INTENT]}
"""How a count that depends on the intent asks whether there is one."""

_CLOSING = ("additionalProperties", "unevaluatedProperties")
_ONCE = frozenset({"$schema", "$id", "$anchor", "$dynamicAnchor", *DEFINITIONS})  # a copy must not say it again


class Widening:
    """One document being widened by some properties.

    `ours` maps each of our names to what a closed branch says of it; `stated` says that every call has an intent, so
    that a count of properties moves by one.
    """

    def __init__(self, layout: Layout, *, ours: Mapping[str, Mapping[str, Any]], stated: bool) -> None:
        self.layout = layout
        self.ours = ours
        self.stated = stated

    def document(self) -> dict[str, Any]:
        """Return the whole document, widened; the properties themselves are still to be put at its root."""
        layout = self.layout
        *names, head = layout.spine
        said: dict[str, Any] = {}
        for place in names:
            schema = layout.document.at(place)
            said = {key: plain(schema[key]) for key in schema if key in (SAID_OF_ROOT if not place else SAID)} | said
        schema = layout.document.at(head)
        if not isinstance(schema, OBJECT):
            schema = {} if schema else {"not": {}}
        result = said | {
            key: value for key, value in self.widened(schema, head, copied=bool(names)).items() if key not in said
        }
        if "$ref" in result:  # some who read a root do not look beside a $ref
            result["allOf"] = [*result.get("allOf", ()), {"$ref": result.pop("$ref")}]
        return result | self._definitions()

    def widened(self, schema: Any, place: Place, *, copied: bool = False) -> Any:
        """Return a schema that judges the arguments with our properties as `schema` judges them without."""
        if not isinstance(schema, OBJECT):
            return schema
        layout = self.layout
        if layout.document.is_only_ref(schema):
            return self.kept(schema, copied=copied) | {"$ref": layout.judged(schema["$ref"])}

        def change(item: Any, steps: Place) -> Any:
            if steps[0] in SAME_INSTANCE:
                return self.widened(item, place + steps, copied=copied)
            return self.kept(item, copied=copied)

        result = rebuilt(schema, change)
        if copied or not place:
            for key in _ONCE if copied else DEFINITIONS:
                result.pop(key, None)
        if "$ref" in result:
            result["$ref"] = layout.judged(result["$ref"])
        mapping = result["discriminator"].get("mapping") if isinstance(result.get("discriminator"), dict) else None
        if isinstance(mapping, dict):  # OpenAPI: names of branches, which follow the branches
            result["discriminator"]["mapping"] = {
                key: layout.judged(ref) if layout.document.target(ref) in layout.widened else ref
                for key, ref in mapping.items()
            }
        if "propertyNames" in result and result["propertyNames"] is not True:
            result["propertyNames"] = {"anyOf": [{"enum": list(self.ours)}, result["propertyNames"]]}
        if counts(result):
            result = self._counted(result)
        if place != layout.spine[-1] and any(result.get(key, True) not in (True, {}) for key in _CLOSING):
            own = result.pop("properties") if result.get("properties") == {} else result.get("properties", {})
            result["properties"] = {**plain(self.ours), **own}
        return result

    def kept(self, schema: Any, *, copied: bool = False) -> Any:
        """Return a schema as it was, with references to what it referred to."""
        if not isinstance(schema, OBJECT):
            return schema
        result = rebuilt(schema, lambda item, _: self.kept(item, copied=copied))
        if "$ref" in result:
            result["$ref"] = self.layout.original(result["$ref"])
        for key in _ONCE if copied else ():
            result.pop(key, None)
        return result

    def _counted(self, schema: dict[str, Any]) -> dict[str, Any]:
        """Let the limits on the number of properties leave the intent out of account."""
        limits = {key: schema[key] for key in BOUNDS if key in schema}
        moved = {key: limit + 1 if key == "maxProperties" or limit > 0 else limit for key, limit in limits.items()}
        if self.stated:
            return schema | moved
        result = {key: value for key, value in schema.items() if key not in BOUNDS}
        rule = {"if": plain(IF_STATED), "then": moved, "else": limits}
        if result.keys() & rule.keys():
            return result | {"allOf": [*result.get("allOf", ()), rule]}
        return result | rule

    def _definitions(self) -> dict[str, Any]:
        layout, root = self.layout, self.layout.document.root
        result: dict[str, Any] = {}
        for keyword in DEFINITIONS:
            if keyword not in root:
                continue
            result[keyword] = {
                name: self.widened(item, (keyword, name))
                if layout.is_widened_in_place((keyword, name))
                else self.kept(item)
                for name, item in root[keyword].items()
                if not layout.is_gone((keyword, name))
            }
            if not result[keyword] and root[keyword]:
                del result[keyword]
        for name, form, place in layout.copies():
            schema = layout.document.at(place)
            copy = self.widened(schema, place, copied=True) if form == "widened" else self.kept(schema, copied=True)
            result.setdefault(layout.container, {})[name] = copy
        return result
