"""Withhold results that are too large or hold what only the tool may have, and store what may be stored."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic_ai.messages import ToolReturn

from pi_intent.errors import ResultWithheld
from pi_intent.gates.artifacts import stated_artifact
from pi_intent.gates.ceiling import leaking, too_large, withheld
from pi_intent.protocols import Settlement
from pi_intent.runtime import SessionRuntime
from pi_intent.settings import ToolSettings


class Ceiling:
    """What may come back from the calls of one tool."""

    def __init__(self, runtime: SessionRuntime, tool_name: str, chosen: ToolSettings) -> None:
        self._runtime = runtime
        self._tool = tool_name
        self._chosen = chosen

    def result[Result](self, result: Result, settlement: Settlement) -> tuple[Result | str, Settlement]:
        """Return a result and how its call ended: the very same, or a sentence in its place."""
        text = self._in_place_of(repr(result), settlement.bytes_out)
        if text is not None:
            return text, withheld(settlement, settlement.bytes_out, text)
        said = result.metadata if isinstance(result, ToolReturn) else None
        artifact = stated_artifact(said.get("pi_intent")) if isinstance(said, Mapping) else None
        if artifact is not None and artifact.kind in self._chosen.stores:
            self._runtime.store(artifact, self._tool)
        return result, settlement

    def error(self, error: Exception, settlement: Settlement) -> tuple[Exception, Settlement]:
        """Return the error to raise and how its call ended."""
        size = len(str(error).encode("utf-8", "surrogatepass"))
        text = self._in_place_of(str(error), size)
        return (error, settlement) if text is None else (ResultWithheld(text), withheld(settlement, size, text))

    def _in_place_of(self, whole: str, size: int) -> str | None:
        texts = self._runtime.pipeline.texts
        if self._runtime.holds_given(whole):
            return leaking(texts, self._tool)
        return too_large(texts, self._tool, size, self._chosen.result_limit)
