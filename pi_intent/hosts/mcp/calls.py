"""Open and end the calls of one client's session, which MCP itself does not tell apart into answers of a model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pi_intent.contract.read_call import read_call
from pi_intent.contract.rows import INTENT, RATIONALE
from pi_intent.errors import IntentRejected
from pi_intent.hosts.mcp.tools import KnownTool
from pi_intent.pipeline import CallRequest, OpenCall, Pipeline, failure
from pi_intent.types import IntentCall

ONE_ANSWER = 0.1
"""Seconds between the calls of one answer of a model, or from the end of one to the next where a client runs them one
by one. It takes a model longer to write its next answer."""

_CLIENTS_OWN = ("claudecode/toolUseId", "callId")
"""Where clients put the id under which the model made a call, in the order in which they are looked for."""

# The tool's own schema is to be asked for nothing of ours.
_LEAVE_ALONE: dict[str, Any] = {"properties": {INTENT: {}, RATIONALE: {}}}


def client_call_id(params: dict[str, Any], request_id: object) -> str:
    """Return the id that the client gave a call: the model's where it is told, else that of the request."""
    meta = params.get("_meta")
    if isinstance(meta, dict):
        found = next((meta[name] for name in _CLIENTS_OWN if isinstance(meta.get(name), str)), None)
        if found:
            return str(found)
    return str(request_id)


def client_name(params: object) -> str | None:
    """Return what a client says of itself in its first request: its name and version."""
    if not isinstance(params, dict):
        return None
    meta = params.get("_meta")
    info = params.get("clientInfo")
    if info is None and isinstance(meta, dict):
        info = meta.get("io.modelcontextprotocol/clientInfo")
    if not isinstance(info, dict):
        return None
    said = [word for word in (info.get("name"), info.get("version")) if isinstance(word, str)]
    return " ".join(said) or None


class Calls:
    """The calls of a session. `pipeline` is asked for when the first call comes; `clock` gives monotonic seconds."""

    def __init__(self, *, pipeline: Callable[[], Pipeline], server: str, clock: Callable[[], float]) -> None:
        self._pipeline = pipeline
        self._server = server
        self._clock = clock
        self._turn = 0
        self._last = float("-inf")
        """When a call came or was answered last."""
        self._unanswered: set[str] = set()

    def open(self, tool: KnownTool, arguments: object, call_id: str) -> OpenCall:
        """Read a call and record its start. Raises `IntentRejected`, or `LedgerError` where it must be recorded."""
        return self._pipeline().open(self.request(tool, arguments, call_id))

    def expect(self, opened: OpenCall) -> None:
        """A call is on its way, and will be answered."""
        self._unanswered.add(opened.start.call_id)

    def answered(self, opened: OpenCall) -> None:
        """The first answer to a call has come, or none will."""
        self._unanswered.discard(opened.start.call_id)
        self._last = self._clock()

    def read(self, tool: KnownTool, arguments: object) -> IntentCall | None:
        """Read a call that is sent again with more in it; None where it no longer says what it has to."""
        try:
            return read_call(
                tool.name,
                {} if arguments is None else arguments,
                texts=self._pipeline().texts,
                policy=tool.settings.policy if tool.carries != "nothing" else "omit",
                parameters=tool.parameters if tool.carries != "nothing" else _LEAVE_ALONE,
                replaces=(),
            )
        except IntentRejected:
            return None

    def refuse(self, tool: KnownTool, arguments: object, call_id: str, why: str) -> None:
        """Record a call that is refused whatever it states: nothing ran."""
        request = self.request(tool, arguments, call_id)._replace(parameters=None)
        self._pipeline().settle_unopened(request, failure("rejected", why))

    def request(self, tool: KnownTool, arguments: object, call_id: str) -> CallRequest:
        """Describe a call to the pipeline."""
        self._next_group()
        asked = tool.carries != "nothing"
        return CallRequest(
            tool_name=tool.name,
            tool_call_id=call_id,
            arguments={} if arguments is None or not (asked or isinstance(arguments, dict)) else arguments,
            group_id=str(self._turn),
            turn=self._turn,
            policy=tool.settings.policy if asked or tool.settings.policy == "derive" else "omit",
            profile=tool.settings.profile,
            budget=tool.settings.budget,
            redact_args=tool.settings.redact_args,
            parameters=tool.parameters if asked else _LEAVE_ALONE,
            replaces=(),
            derive=lambda _: tool.name,
            tool_source=self._server,
        )

    def _next_group(self) -> None:
        now = self._clock()
        if not self._unanswered and now - self._last > ONE_ANSWER:
            self._turn += 1
        self._last = now
