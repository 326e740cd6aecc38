"""Withhold results that are too large or hold what only the server may have, and store what may be stored."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from pi_intent.contract.texts import ModelTexts
from pi_intent.gates.artifacts import Artifact, stated_artifact
from pi_intent.gates.ceiling import leaking, too_large, withheld
from pi_intent.gates.pieces import joined
from pi_intent.hosts.mcp import wire
from pi_intent.hosts.mcp.answers import INTERNAL_ERROR, error_answer
from pi_intent.hosts.mcp.results import settlement_of
from pi_intent.hosts.mcp.wire import Cut
from pi_intent.protocols import Settlement
from pi_intent.settings import ToolSettings

ARTIFACT = "pi-intent/artifact"
"""The key of a result's `_meta` under which a tool says what is to be stored: its kind and its text."""


class Session(Protocol):
    """What the bounds know of the session."""

    @property
    def has_given(self) -> bool: ...

    def holds_given(self, text: str) -> bool: ...

    def tell_once(self, message: str) -> None: ...

    def store(self, artifact: Artifact, tool_name: str) -> None: ...


class Bounded(NamedTuple):
    """An answer that does not go on as it came: what is cut into its text, and how its call ended."""

    cuts: list[Cut]
    settlement: Settlement


class Told(NamedTuple):
    """What the model gets in place of an answer that cannot be read, and how its call ended."""

    text: str
    settlement: Settlement


class Bounds:
    """What may come back of a server's calls. `settings_for` says what is set for a tool."""

    def __init__(self, session: Session, texts: ModelTexts, settings_for: Callable[[str], ToolSettings]) -> None:
        self._session = session
        self._texts = texts
        self._settings_for = settings_for
        self._clear: str | None = None
        """A line that holds nothing, as was found when its answer was looked at."""

    def answer(self, text: str, start: int, message: dict[str, Any], tool_name: str) -> Bounded | None:
        """Look at the answer to a call, which stands at `start` of a text; None where it goes on as it came."""
        chosen = self._settings_for(tool_name)
        if not self._looks_at(chosen):
            return None
        kind = "error" if "error" in message else "result"
        at = wire.value_at(text, start, kind)
        if at is None:
            return None
        begin, end = wire.span(text, at)
        size = len(text[begin:end].encode("utf-8", "surrogatepass"))
        said = () if self._finds_nothing(text, start, message) else (text[begin:end], *joined(message[kind]))
        told = self.in_place_of(said, size, tool_name, chosen)
        if told is None:
            self._keep(message.get("result"), tool_name, chosen)
            return None
        instead = _error(told, message["error"]) if kind == "error" else _result(told, message["result"])
        return Bounded([Cut(begin, end, instead)], withheld(settlement_of(message), size, told))

    def clean(self, line: bytes) -> tuple[bytes | None, bytes | None]:
        """Return what the client gets of any line of the server's, and what the server gets for it; None for nothing.

        A line that holds what only the server may have goes nowhere: an answer becomes an error, so that nobody waits
        for it, and so does a request of the server's.
        """
        if not self._session.has_given:
            return line, None
        text, clear, self._clear = line.decode("utf-8", "replace"), self._clear, None
        if text == clear:
            return line, None
        try:
            message = wire.read_line(line, lenient=True)[1]
        except wire.Unreadable:
            message = None
        if not self._holds_given(text, *joined(message)):
            return line, None
        self._session.tell_once("the server said a credential that it was given, and that was not passed on")
        why = leaking(self._texts, "the server")
        to_client: list[str] = []
        to_server: list[str] = []
        for part in message if isinstance(message, list) else [message]:
            if isinstance(part, dict) and "id" in part:
                told = error_answer(wire.dumped(part["id"]), INTERNAL_ERROR, why)
                (to_server if "method" in part else to_client).append(told)
        return _lines(to_client), _lines(to_server)

    def unreadable(self, line: bytes, tool_name: str) -> Told | None:
        """Look at an answer that cannot be read; None where it goes on as it came."""
        chosen = self._settings_for(tool_name)
        if not self._looks_at(chosen):
            return None
        told = self.in_place_of((line.decode("utf-8", "replace"),), len(line), tool_name, chosen)
        return None if told is None else Told(told, withheld(settlement_of({"result": None}), len(line), told))

    def in_place_of(self, said: Sequence[str], size: int, tool_name: str, chosen: ToolSettings) -> str | None:
        """Return what the model gets in place of a result; None where it may have the result itself."""
        if self._holds_given(*said):
            return leaking(self._texts, tool_name)
        return too_large(self._texts, tool_name, size, chosen.result_limit)

    def _looks_at(self, chosen: ToolSettings) -> bool:
        """Say whether results have to be looked at: what one tool was given, another may say."""
        return chosen.bounds_results or self._session.has_given

    def _holds_given(self, *texts: str) -> bool:
        return any(map(self._session.holds_given, texts))

    def _finds_nothing(self, text: str, start: int, message: dict[str, Any]) -> bool:
        """Look at a whole line, so that it is looked at once; of several messages each is looked at by itself."""
        if not self._session.has_given:
            return True
        if start != wire.opening(text) or self._holds_given(text, *joined(message)):
            return False
        self._clear = text
        return True

    def _keep(self, result: object, tool_name: str, chosen: ToolSettings) -> None:
        meta = result.get("_meta") if isinstance(result, Mapping) else None
        artifact = stated_artifact({"artifact": meta.get(ARTIFACT)}) if isinstance(meta, Mapping) else None
        if artifact is not None and artifact.kind in chosen.stores:
            self._session.store(artifact, tool_name)


def _lines(answers: list[str]) -> bytes | None:
    return "".join(f"{answer}\n" for answer in answers).encode() or None


def _result(told: str, result: object) -> str:
    said: dict[str, Any] = {"content": [{"type": "text", "text": told}]}
    if isinstance(result, Mapping):
        said |= {name: result[name] for name in ("resultType", "isError") if isinstance(result.get(name), str | bool)}
    return wire.dumped(said)


def _error(told: str, error: object) -> str:
    code = error.get("code") if isinstance(error, Mapping) else None
    return wire.dumped({"code": code if isinstance(code, int) else -32603, "message": told})
