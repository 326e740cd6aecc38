"""What makes two calls the same one for a person who has approved the first: never the words beside it."""

from __future__ import annotations

import json

from pi_intent.types import JSONObject


def identity(tool_name: str, tool_source: str | None, cwd: str, arguments: JSONObject) -> bytes | None:
    """Return the canonical form of a call: the tool, who supplies it, the working directory and literal arguments.

    None where the arguments cannot be written as JSON: then no two calls count as the same.
    """
    try:
        text = json.dumps(
            [tool_name, tool_source, cwd, arguments], sort_keys=True, separators=(",", ":"), allow_nan=False
        )
    except (RecursionError, ValueError, TypeError):
        return None
    return text.encode("ascii")
