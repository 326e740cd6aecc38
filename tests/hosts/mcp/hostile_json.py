"""JSON in which a number keeps the spelling it came with, for a server that gives back what it was sent."""

from __future__ import annotations

import json
from typing import Any


class Number(str):
    """A JSON number, as it was written."""

    __slots__ = ()


def read(text: str) -> Any:
    return json.loads(text, parse_int=Number, parse_float=Number, parse_constant=Number)


def spell(value: Any) -> str:
    """Write JSON without spaces, in ASCII, every number as it was read."""
    match value:
        case Number():
            return str.__str__(value)
        case dict():
            return "{" + ",".join([f"{json.dumps(key)}:{spell(item)}" for key, item in value.items()]) + "}"
        case list():
            # Not `map`: through C, Python 3.12 calls itself 800 times at most, whatever its limit is set to.
            return "[" + ",".join([spell(item) for item in value]) + "]"
        case _:
            return json.dumps(value)
