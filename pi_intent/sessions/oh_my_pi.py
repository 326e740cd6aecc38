"""Read the session files of oh-my-pi, whose tools carry an intent of their own under a name of its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from pi_intent.sessions import fields, pi
from pi_intent.sessions.lines import Numbered
from pi_intent.sessions.moments import milliseconds
from pi_intent.sessions.stated import Stated, untouched
from pi_intent.sessions.transcript import SILENT, SILENT_ROLES, Transcript
from pi_intent.sessions.values import Found, Unread
from pi_intent.types import JSONObject

FIELDS = ("agent__intent", "_i", "i")
"""The names of its field, the oldest first; each took the place of the one before."""

_STARTED = "tool_execution_start"


def is_ours(first: Sequence[JSONObject]) -> bool:
    """Tell by its first objects whether a file is oh-my-pi's and not pi's: by what only oh-my-pi writes."""
    return pi.is_ours(first) and any(map(_is_its_own, first))


def _is_its_own(entry: JSONObject) -> bool:
    match entry.get("type"):
        case "title":
            return "v" in entry
        case "model_change":
            return "parentId" in entry and isinstance(entry.get("model"), str) and "modelId" not in entry
        case "custom":
            return entry.get("customType") == _STARTED
        case "message" if isinstance(message := entry.get("message"), dict):
            content = message.get("content")
            return any(
                isinstance(block, dict) and block.get("type") == "toolCall" and _field(block) is not None
                for block in (content if isinstance(content, list) else ())
            )
        case _:
            return False


def _field(block: JSONObject) -> str | None:
    """Return the name of the field by which a call cannot be another agent's: `i` alone may be any tool's."""
    arguments = block.get("arguments")
    if not isinstance(arguments, dict):
        return None
    names = FIELDS if "intent" in block else FIELDS[:2]
    return next((name for name in names if name in arguments), None)


def read(items: Iterable[Numbered | Unread]) -> Iterator[Found]:
    """Yield what an oh-my-pi session tells.

    Any of its tools may carry the field, and nothing enforces it, so a missing one means something only once the file
    has shown one. What counts is the field among the arguments. The block's own `intent`, and the one of the entry
    that it writes before a tool runs, are copies of it, or a sentence that the tool itself made where the model
    stated nothing: such a call is not asked for an intent.
    """
    return _OhMyPi().read(items)


_SILENT = frozenset(
    {
        "credential_pin", "mcp_tool_selection", "mode_change", "model_usage", "reset_boundary", "service_tier_change",
        "session_init", "title", "title_change", "ttsr_injection",
    }
)  # fmt: skip


class _OhMyPi(Transcript):
    silent = SILENT | _SILENT
    silent_roles = SILENT_ROLES | {"developer", "fileMention", "jsExecution", "pythonExecution"}

    def __init__(self) -> None:
        super().__init__()
        self._asks = False

    def stated(self, tool: str, block: JSONObject) -> tuple[Stated, Stated | None]:
        arguments = block.get("arguments")
        name = next((name for name in FIELDS if name in arguments), None) if isinstance(arguments, dict) else None
        if name is None or not isinstance(arguments, dict):
            return untouched(arguments)._replace(asked=self._asks and "intent" not in block), None
        self._asks = True
        sent = arguments[name]
        intent = fields.stated(sent)
        return Stated(
            {key: value for key, value in arguments.items() if key != name},
            intent,
            asked=True,
            flags=() if intent is not None or sent is None else ("intent_dropped",),
        ), None

    def ran(self, message: JSONObject) -> bool | None:
        details = message.get("details")
        return True if isinstance(details, dict) and ("wallTimeMs" in details or "exitCode" in details) else None

    def duration(self, message: JSONObject) -> int | None:
        details = message.get("details")
        return milliseconds(details.get("wallTimeMs")) if isinstance(details, dict) else None
