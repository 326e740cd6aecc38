"""What a tool is given after its arguments were validated, told apart also where JSON does not show a difference."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from pydantic_core import to_jsonable_python

from pi_intent.types import JSONObject

_DEEPEST = 40
_PLAIN = (str, int, float, bytes, type(None))


class Given(NamedTuple):
    """The arguments of a tool: as plain JSON, as far as they can be said in it, and what tells each from another."""

    plain: JSONObject
    likeness: dict[str, str]

    def unlike(self, before: Given) -> JSONObject:
        """Return the plain arguments, with words in the place of each that changed in a way which JSON hides."""
        hidden = {
            name: "(changed by a hook in a way that cannot be shown)"
            for name, likeness in self.likeness.items()
            if likeness != before.likeness.get(name) and repr(self.plain.get(name)) == repr(before.plain.get(name))
        }
        return {**self.plain, **hidden}


def given_to(arguments: Mapping[str, Any]) -> Given:
    """Look at what a tool is given; never raises."""
    return Given(_jsonable(arguments), {name: _likeness(value) for name, value in arguments.items()})


def _jsonable(arguments: Mapping[str, Any]) -> JSONObject:
    try:
        plain: JSONObject = to_jsonable_python(dict(arguments), serialize_unknown=True, bytes_mode="base64")
    except Exception:  # a value of an application's, which may fail in any way
        return {name: f"<{type(value).__name__}>" for name, value in arguments.items()}
    return plain


def _likeness(value: Any, depth: int = 0) -> str:
    kind = type(value).__qualname__  # True and 1 are equal, and not the same
    try:
        if isinstance(value, _PLAIN):
            return f"{kind} {value!r}"
        if depth < _DEEPEST:
            if isinstance(value, Mapping):
                items = [f"{_likeness(key, depth + 1)}: {_likeness(item, depth + 1)}" for key, item in value.items()]
                return f"{kind} {items}"
            if isinstance(value, list | tuple):
                return f"{kind} {[_likeness(item, depth + 1) for item in value]}"
            if isinstance(value, set | frozenset):
                return f"{kind} {sorted(_likeness(item, depth + 1) for item in value)}"
            # A model's fields that it does not show, and what a secret hides in itself, stand here.
            kept = [getattr(value, name, None) for name in ("__dict__", "__pydantic_extra__", "__pydantic_private__")]
            if any(kept):
                return f"{kind} {[_likeness(each, depth + 1) for each in kept]}"
        return f"{kind} {value!r}"
    except Exception:  # an application's: what cannot be looked at is itself alone
        return f"{kind} at {id(value)}"
