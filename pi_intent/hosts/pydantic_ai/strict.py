"""Keep a tool strict, for providers that then make a model follow its schema to the letter.

Such a provider wants every property required and knows no `minLength`; a tool whose schema is not like that loses the
guarantee, without a word. So our two properties take that form where the tool has it: what may be absent can be null.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pydantic_ai import RunContext
from pydantic_ai.tools import ToolDefinition

from pi_intent.contract.rows import INTENT, RATIONALE

type Transformer = Callable[..., Any]


def kept_strict(tool: ToolDefinition, shown: dict[str, Any], ctx: RunContext[Any]) -> dict[str, Any]:
    """Return the schema with our properties in it, in the form that leaves the tool as strict as it was."""
    if tool.strict is False:
        return shown
    if not tool.strict:
        profile = getattr(ctx.model, "profile", None)
        transformer = profile.get("json_schema_transformer") if isinstance(profile, Mapping) else None
        own = tool.parameters_json_schema
        if transformer is None or not _is_strict(transformer, own) or _is_strict(transformer, shown):
            return shown
    ours = _added(tool.parameters_json_schema, shown)
    required = list(shown.get("required", ()))
    properties = dict(shown.get("properties", {}))
    for name in ours:
        said = {key: text for key, text in properties[name].items() if key == "description"}
        if name in required:
            properties[name] = {"type": "string", **said}
        else:
            properties[name] = {"anyOf": [{"type": "string"}, {"type": "null"}], **said}
    others = [name for name in required if name not in ours]
    return {**shown, "properties": properties, "required": [*ours, *others]}


def _added(own: Mapping[str, Any], shown: Mapping[str, Any]) -> tuple[str, ...]:
    before = own.get("properties", {})
    return tuple(name for name in (INTENT, RATIONALE) if name in shown.get("properties", {}) and name not in before)


def _is_strict(transformer: Transformer, schema: Mapping[str, Any]) -> bool:
    try:
        transformed = transformer(schema, strict=None)
        transformed.walk()
    except Exception:  # of a provider's, on a schema that it will complain of itself
        return False
    return bool(transformed.is_strict_compatible)
