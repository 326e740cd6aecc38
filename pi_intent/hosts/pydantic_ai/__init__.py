"""Intents on the tools of a pydantic-ai agent: on all of them, or on those of one toolset."""

from __future__ import annotations

from pi_intent.errors import HostError

try:
    import pydantic_ai as _pydantic_ai
except ModuleNotFoundError as missing:
    if missing.name != "pydantic_ai":
        raise
    raise HostError(
        "pydantic-ai is not installed here: in the clone of pi-intent, pip install '.[pydantic-ai]'"
    ) from missing

from pi_intent.hosts.pydantic_ai.capability import Intents
from pi_intent.hosts.pydantic_ai.toolset import IntentToolset

__all__ = ["IntentToolset", "Intents"]

del _pydantic_ai
