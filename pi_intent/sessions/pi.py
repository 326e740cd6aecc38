"""Read the session files of pi: the first version, which has no ids, and the third, which is a tree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from pi_intent.contract.rows import INTENT, ROWS
from pi_intent.contract.texts import INTENT_MARKER
from pi_intent.sessions.fields import word
from pi_intent.sessions.lines import Numbered
from pi_intent.sessions.moments import milliseconds
from pi_intent.sessions.stated import Stated, stated, untouched
from pi_intent.sessions.transcript import Transcript
from pi_intent.sessions.undeclared import Undeclared
from pi_intent.sessions.values import Found, Unread
from pi_intent.types import JSONObject, JSONValue

EVENTS = frozenset(
    {
        "agent_start", "agent_end", "agent_settled", "turn_start", "turn_end", "message_start", "message_update",
        "message_end", "tool_execution_start", "tool_execution_update", "tool_execution_end",
    }
)  # fmt: skip
"""What `--mode json` prints, behind the same header: an event stream is no session file."""

_MOST_TOOLS = 10_000


def is_ours(first: Sequence[JSONObject]) -> bool:
    """Tell by its first objects whether a file is pi's: its header, or messages inside entries."""
    if any(entry.get("type") in EVENTS for entry in first if isinstance(entry.get("type"), str)):
        return False
    return any(entry.get("type") == "session" or _is_message(entry) for entry in first)


def _is_message(entry: JSONObject) -> bool:
    message = entry.get("message")
    return entry.get("type") == "message" and isinstance(message, dict) and isinstance(message.get("role"), str)


def read(items: Iterable[Numbered | Unread]) -> Iterator[Found]:
    """Yield what a pi session tells.

    Since 1.0 a system message lists the tools with their schemas: a tool carries an intent when it is one of the four
    and has such a property, or when the property opens as ours does. A tool that is not in the list does not exist,
    and has no parameter of that name either. Where nothing is listed, `Undeclared` says what counts.
    """
    return _Pi().read(items)


class _Pi(Transcript):
    def __init__(self) -> None:
        super().__init__()
        self._tools: dict[str, bool] = {}
        self._undeclared = Undeclared()
        self._timed = False

    def message(self, message: JSONObject) -> None:
        # Since 1.0 both are timed, except a result whose tool was not reached.
        self._timed = self._timed or "durationMs" in message
        added = message.get("toolsAdded")
        for tool in added if isinstance(added, list) else ():
            name = word(tool.get("name")) if isinstance(tool, dict) else None
            if isinstance(tool, dict) and name is not None and len(self._tools) < _MOST_TOOLS:
                self._tools[name] = carries_intent(name, tool.get("parameters"))

    def stated(self, tool: str, block: JSONObject) -> tuple[Stated, Stated | None]:
        if not self._tools:
            return self._undeclared.stated(tool, block)
        arguments = block.get("arguments")
        if self._tools.get(tool):
            return stated(tool, arguments, asked=True), None
        if tool in ROWS or tool not in self._tools:
            said = stated(tool, arguments, asked=True)
            if said.intent is not None or said.per_edit:
                return said, None
        return untouched(arguments), None

    def ran(self, message: JSONObject) -> bool | None:
        return "durationMs" in message if self._timed else None

    def duration(self, message: JSONObject) -> int | None:
        return milliseconds(message.get("durationMs"))


def carries_intent(name: str, parameters: JSONValue) -> bool:
    """Tell whether the `intent` that a tool declares is one to state the goal of a call with."""
    properties = parameters.get("properties") if isinstance(parameters, Mapping) else None
    declared = properties.get(INTENT) if isinstance(properties, Mapping) else None
    if not isinstance(declared, Mapping):
        return False
    if name in ROWS:
        return declared.get("type") in ("string", ["string", "null"])
    description = declared.get("description")
    return isinstance(description, str) and description.startswith(INTENT_MARKER)
