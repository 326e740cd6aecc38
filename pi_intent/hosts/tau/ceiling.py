"""Withhold results of Tau's tools: those larger than what is set, and those that hold what only the tool may have."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from tempfile import gettempdir

from tau_agent.messages import TextContent
from tau_agent.tools import AgentToolResult

from pi_intent.errors import ResultWithheld
from pi_intent.gates.ceiling import leaking, too_large, withheld
from pi_intent.pipeline import OpenCall
from pi_intent.protocols import Settlement
from pi_intent.runtime import SessionRuntime

_COPY = "tau-bash-"
"""What the names of these files begin with."""


class Ceiling:
    """What may come back from one call. `limit` is a number of bytes, None for any number."""

    def __init__(self, runtime: SessionRuntime, tool_name: str, limit: int | None) -> None:
        self._runtime = runtime
        self._texts = runtime.pipeline.texts
        self._tool = tool_name
        self._limit = limit

    def result(self, result: AgentToolResult, settlement: Settlement) -> tuple[AgentToolResult, Settlement]:
        """Return a result and how its call ended: the very same, or a sentence in its place."""
        blocks = [block.text if isinstance(block, TextContent) else block.data for block in result.content]
        size = sum(map(_size, blocks))
        text = self._in_place_of("".join(blocks), size, whole=_written(result))
        if text is None:
            return result, settlement
        _remove_copy(result.details)
        return AgentToolResult(content=[TextContent(text=text)]), withheld(settlement, size, text)

    def error(self, error: Exception, failed: Settlement, opened: OpenCall) -> Exception:
        """Return the error to raise, and settle the call where its own text may not be passed on."""
        size = _size(str(error))
        text = self._in_place_of(str(error), size)
        if text is None:
            return error
        opened.settle(withheld(failed, size, text))
        return ResultWithheld(text)

    def _in_place_of(self, said: str, size: int, whole: str = "") -> str | None:
        """`said` is what the model would get, and `whole` all that would be kept."""
        if self._runtime.holds_given(said) or self._runtime.holds_given(whole):
            return leaking(self._texts, self._tool)
        return too_large(self._texts, self._tool, size, self._limit)


def _written(result: AgentToolResult) -> str:
    """Return a whole result as text; one that JSON cannot hold as it shows itself, as far as it can."""
    with suppress(Exception):  # a boundary: what a tool returns may fail in its own ways, and the tool did run
        return result.model_dump_json()
    with suppress(Exception):
        return repr(result)
    return ""


def _remove_copy(details: object) -> None:
    """Remove the file in which Tau keeps the whole of a long output, and no other that a tool names."""
    path = details.get("full_output_path") if isinstance(details, Mapping) else None
    if isinstance(path, str) and os.path.split(path)[0] == gettempdir() and os.path.basename(path).startswith(_COPY):
        with suppress(OSError):
            os.unlink(path)


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
