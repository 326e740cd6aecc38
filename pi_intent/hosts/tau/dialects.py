"""Read the arguments of tool calls out of a provider's stream, piece by piece, in whichever dialect it speaks.

Three are known: chat completions, Responses (as OpenAI and as Codex stream it) and Anthropic's messages. Each event
says itself which one it is. What is none of them, or is not as it should be, says nothing.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

_OPENS_A_CALL = '"name"'
"""Stands in the event that opens a call, in every dialect; inside of arguments its quotes are escaped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDelta:
    """The next piece of the arguments of one call.

    `position` counts the calls of the message from zero, in the order in which Tau will list them. `tool_call_id` is
    the provider's, None where it sends none; for a call from Codex, Tau's own is this one, `|`, and the item's id.
    """

    position: int
    tool_call_id: str | None
    tool_name: str
    text: str


@dataclass(slots=True)
class _Call:
    position: int
    tool_call_id: str | None = None
    tool_name: str = ""
    begun: bool = False


class DialectReader:
    """Reads the lines of one response; never raises.

    A call is read from the event that names its tool, so one whose arguments begin before that is never reported.
    Tau orders calls by the provider's index, and providers send them in that order: when one does not, nothing more
    is reported, because the positions so far were wrong.
    """

    __slots__ = ("_calls", "_count", "_highest", "_lost", "_read")

    def __init__(self) -> None:
        self._calls: dict[int | str, _Call] = {}  # by everything that events call them by
        self._read: set[int] = set()  # positions of calls that have more to say
        self._count = 0
        self._highest = -1
        self._lost = False

    def skip(self, position: int) -> None:
        """Report no more of a call. While no other is open, lines are only searched for the start of the next."""
        self._read.discard(position)

    def feed(self, line: str) -> list[ToolDelta]:
        """Read the next line; return what it adds to arguments, in most cases nothing or one piece."""
        if self._lost or (not self._read and _OPENS_A_CALL not in line):
            return []
        event = _read_event(line)
        kind = event.get("type")
        if isinstance(event.get("choices"), list):
            return self._chat(event["choices"])
        match kind:
            case "content_block_start" | "content_block_delta" | "content_block_stop":
                return self._anthropic(kind, event)
            case str() if kind.startswith("response."):
                return self._responses(kind.removeprefix("response."), event)
        return []

    def _chat(self, choices: list[Any]) -> list[ToolDelta]:
        deltas: list[ToolDelta] = []
        parts = _object(_object(choices[0] if choices else None).get("delta")).get("tool_calls")
        for part in parts if isinstance(parts, list) else []:
            function = _object(_object(part).get("function"))
            index = _index(_object(part).get("index", 0))
            if index is not None:
                call = self._open(index, (index,), _object(part).get("id"), function.get("name"))
                arguments = function.get("arguments")
                # Mistral may send the arguments whole, as an object.
                deltas += self._more(call, json.dumps(arguments) if isinstance(arguments, dict) else arguments)
        return deltas

    def _anthropic(self, kind: str, event: dict[str, Any]) -> list[ToolDelta]:
        index = _index(event.get("index", 0))
        block, delta = _object(event.get("content_block")), _object(event.get("delta"))
        if index is not None and kind == "content_block_start" and block.get("type") == "tool_use":
            self._open(index, (index,), block.get("id"), block.get("name"))
        call = self._known((index,))
        if call is not None and kind == "content_block_stop":
            self.skip(call.position)
        return self._more(call, delta.get("partial_json")) if kind == "content_block_delta" else []

    def _responses(self, kind: str, event: dict[str, Any]) -> list[ToolDelta]:
        item = _object(event.get("item"))
        order = _index(event.get("output_index"))
        call_id = item.get("call_id") or event.get("call_id")
        keys = (item.get("id") or event.get("item_id"), call_id, order)
        is_call = item.get("type") == "function_call"
        match kind:
            case "function_call_arguments.delta":
                return self._more(self._known(keys), event.get("delta"))
            case "function_call_arguments.done":
                return self._whole(self._known(keys), event.get("arguments"))
            case "output_item.added" if is_call:
                return self._whole(self._open(order, keys, call_id, item.get("name")), item.get("arguments"))
            case "output_item.done" | "output_item.completed" if is_call:
                call = self._open(order, keys, call_id, item.get("name"))
                deltas = self._whole(call, item.get("arguments"))
                self.skip(call.position)
                return deltas
        return []

    def _known(self, keys: tuple[object, ...]) -> _Call | None:
        """Return the call that goes by one of these keys, by the first that is known."""
        return next((self._calls[key] for key in keys if isinstance(key, int | str) and key in self._calls), None)

    def _open(self, order: int | None, keys: tuple[object, ...], call_id: object, name: object) -> _Call:
        """Return the call that goes by one of these keys, a new one where none does, with what is new of it."""
        call = self._known(keys)
        if call is None:
            call = _Call(self._count)
            self._count += 1
            self._read.add(call.position)
            self._lost = self._lost or (order is not None and order < self._highest)
            self._highest = self._highest if order is None else order
        self._calls.update((key, call) for key in keys if isinstance(key, int | str) and key != "")
        call.tool_call_id = call.tool_call_id or (call_id if isinstance(call_id, str) and call_id else None)
        call.tool_name = call.tool_name or (name if isinstance(name, str) else "")
        return call

    def _more(self, call: _Call | None, text: object) -> list[ToolDelta]:
        if self._lost or call is None or call.position not in self._read or not isinstance(text, str) or not text:
            return []
        if not call.tool_name:
            self.skip(call.position)
            return []
        call.begun = True
        return [
            ToolDelta(position=call.position, tool_call_id=call.tool_call_id, tool_name=call.tool_name, text=text)
        ]

    def _whole(self, call: _Call | None, text: object) -> list[ToolDelta]:
        """Take arguments that come whole, unless they came in pieces before."""
        if call is None or call.begun or not isinstance(text, str) or not text:
            return []
        deltas = self._more(call, text)
        self.skip(call.position)
        return deltas


def _read_event(line: str) -> dict[str, Any]:
    line = line.strip()
    if not line.startswith("data:"):
        return {}
    try:
        return _object(json.loads(line.removeprefix("data:")))
    except (ValueError, RecursionError):  # `[DONE]`, half an event, a number or nesting beyond what Python reads
        return {}


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _index(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
