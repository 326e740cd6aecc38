"""Withhold results that are too large or hold what only the tool may have, and store what may be stored."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress

from pydantic_ai.messages import ToolReturn
from pydantic_core import from_json, to_json

from pi_intent.errors import ResultWithheld
from pi_intent.gates.artifacts import stated_artifact
from pi_intent.gates.ceiling import leaking, too_large, withheld
from pi_intent.gates.pieces import joined
from pi_intent.protocols import Settlement
from pi_intent.runtime import SessionRuntime
from pi_intent.settings import ToolSettings

_BLOCKS = frozenset({"text", "content"})
"""Where a text stands that is one of several, in a block of an MCP server's and in a part of pydantic-ai's."""


class Ceiling:
    """What may come back from the calls of one tool; `chosen` is what is set for it, None where nobody read that."""

    def __init__(self, runtime: SessionRuntime, tool_name: str, chosen: ToolSettings | None) -> None:
        self._runtime = runtime
        self._tool = tool_name
        self._stores = () if chosen is None else chosen.stores
        self._limit = None if chosen is None else chosen.result_limit

    def result[Result](self, result: Result, settlement: Settlement) -> tuple[Result | str, Settlement]:
        """Return a result and how its call ended: the very same, or a sentence in its place."""
        # What the model gets, however the object shows itself.
        parts = (result.return_value, result.content) if isinstance(result, ToolReturn) else (result,)
        sent = [part for part in parts if part is not None]
        texts = [_as_sent(part) for part in sent]
        size = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)
        text = self._in_place_of(size, "\n".join((*texts, _shown(result))), *self._in_pieces(sent, texts))
        if text is not None:
            return text, withheld(settlement, size, text)
        said = result.metadata if isinstance(result, ToolReturn) else None
        artifact = stated_artifact(said.get("pi_intent")) if isinstance(said, Mapping) else None
        if artifact is not None and artifact.kind in self._stores:
            self._runtime.store(artifact, self._tool)
        return result, settlement

    def error(self, error: Exception, settlement: Settlement) -> tuple[Exception, Settlement]:
        """Return the error to raise and how its call ended."""
        size = len(str(error).encode("utf-8", "surrogatepass"))
        text = self._in_place_of(size, str(error))
        return (error, settlement) if text is None else (ResultWithheld(text), withheld(settlement, size, text))

    def _in_pieces(self, sent: list[object], texts: list[str]) -> tuple[str, ...]:
        """Return what is sent as a model reads it, piece after piece; nothing where nothing was given."""
        if not self._runtime.has_given:
            return ()
        return joined([_read(part, text) for part, text in zip(sent, texts, strict=True)], _BLOCKS)

    def _in_place_of(self, size: int, *said: str) -> str | None:
        texts = self._runtime.pipeline.texts
        if any(map(self._runtime.holds_given, said)):
            return leaking(texts, self._tool)
        return too_large(texts, self._tool, size, self._limit)


def _as_sent(value: object) -> str:
    """Return a value as the model gets it: a text as it is, anything else as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, Iterator):  # looking would use it up
        return _shown(value)
    with suppress(Exception):  # a boundary: what a tool returns may fail in its own ways, and the tool did run
        return to_json(value, bytes_mode="base64", inf_nan_mode="constants", serialize_unknown=True).decode()
    return _shown(value)


def _read(value: object, text: str) -> object:
    """Return the plain value of which a text that is sent is the JSON."""
    with suppress(ValueError):  # it is no JSON
        return text if isinstance(value, str) else from_json(text)
    return text


def _shown(value: object) -> str:
    with suppress(Exception):  # a boundary, as above
        return repr(value)
    return ""
