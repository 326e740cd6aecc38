"""Tell how calls end: with their answer, later as a task, or after a person was asked and the call was sent again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from pi_intent.hosts.mcp.requests import Asked
from pi_intent.hosts.mcp.results import settlement_of, task_id, task_status, unfinished
from pi_intent.hosts.mcp.wire import same_json
from pi_intent.pipeline import OpenCall
from pi_intent.protocols import Settlement
from pi_intent.types import JSONObject

type _Afterwards = Callable[[], None]

CANCELLED = Settlement(status="cancelled", is_error=True)
INTERRUPTED = Settlement(status="interrupted", is_error=True)

MOST_WAITING = 256
"""Calls that are remembered until they are sent again, or their task is fetched; the oldest makes room."""


class _Waiting(NamedTuple):
    """A call that a person was asked about; `state` comes back with their answer."""

    tool_name: str
    state: object
    opened: OpenCall


class Ends:
    """The calls that go on after their first answer.

    What the methods return is to be done when the message is on its way to the client.
    """

    def __init__(self) -> None:
        self._tasks: dict[str, OpenCall] = {}
        self._waiting: list[_Waiting] = []

    @property
    def has_tasks(self) -> bool:
        """Whether a call goes on as a task, of which anything may be told at any time."""
        return bool(self._tasks)

    def may_resume(self, tool_name: str, params: dict[str, Any]) -> bool:
        """Whether a call is one that a person was asked about before, sent again with what they said."""
        return ("inputResponses" in params or "requestState" in params) and any(
            one.tool_name == tool_name and one.state == params.get("requestState") for one in self._waiting
        )

    def resumed(self, tool_name: str, params: dict[str, Any], arguments: JSONObject) -> OpenCall | None:
        """Return the call that is sent again: the same tool, state and arguments. It counts once."""
        for index, one in enumerate(self._waiting):
            if one[:2] != (tool_name, params.get("requestState")):
                continue
            if same_json(one.opened.call.arguments, arguments):
                return self._waiting.pop(index).opened
        return None

    def opened(self, asked: Asked) -> OpenCall | None:
        """Return the call whose result the answer to a request is; None where it is none."""
        match asked.kind:
            case "call":
                return asked.opened
            case "task result":
                return self._tasks.get(asked.detail) if isinstance(asked.detail, str) else None
            case _:
                return None

    def withheld(self, asked: Asked, settlement: Settlement) -> list[_Afterwards]:
        """End the call whose result is withheld."""
        opened = self.opened(asked)
        if asked.kind == "task result":
            return self._end(asked.detail, settlement)
        return [] if opened is None else [lambda: opened.settle(settlement)]

    def answered(self, asked: Asked, message: dict[str, Any]) -> list[_Afterwards]:
        """Take the answer to a request of the client's."""
        result = message.get("result")
        match asked.kind:
            case "call" if asked.opened is not None:
                return self._call_answered(asked.opened, message)
            case "task result":
                return [] if unfinished(result) else self._end(asked.detail, settlement_of(message))
            case "task cancel" if result is not None:
                return self._end(asked.detail, CANCELLED)
            case _:
                return self._moved(result) if isinstance(result, dict) else []

    def told(self, message: dict[str, Any]) -> list[_Afterwards]:
        """Take what the server says by itself."""
        params = message.get("params")
        about_tasks = str(message["method"]).startswith("notifications/tasks")
        return self._moved(params) if about_tasks and isinstance(params, dict) else []

    def _call_answered(self, opened: OpenCall, message: dict[str, Any]) -> list[_Afterwards]:
        result: Any = message.get("result")
        match unfinished(result):
            case "input_required":
                self._waiting.append(_Waiting(opened.start.tool_name, result.get("requestState"), opened))
                given_up = self._waiting.pop(0).opened if len(self._waiting) > MOST_WAITING else None
                return [] if given_up is None else [lambda: given_up.settle(INTERRUPTED)]
            case "task":
                name = task_id(result) or ""
                displaced = self._end(name, INTERRUPTED)
                self._tasks[name] = opened
                dispatched = [lambda: opened.update(opened.call.arguments, backgrounded=True)]
                return [*displaced, *dispatched, *self._crowded_out(), *self._moved(result)]
            case None:
                return [lambda: opened.settle(settlement_of(message))]

    def _crowded_out(self) -> list[_Afterwards]:
        if len(self._tasks) <= MOST_WAITING:
            return []
        return self._end(next(iter(self._tasks)), INTERRUPTED)

    def _moved(self, said: dict[str, Any]) -> list[_Afterwards]:
        """A task stands elsewhere: it failed, was called off, or its result is told with it. Or a list of tasks."""
        listed = said.get("tasks")
        if isinstance(listed, list):
            return [act for one in listed if isinstance(one, dict) for act in self._moved(one)]
        task = task_id(said)
        match task_status(said):
            case "completed" if "result" in said:
                return self._end(task, settlement_of(said))
            case "cancelled":
                return self._end(task, CANCELLED)
            case "failed":
                error = said.get("error", {"message": said.get("statusMessage")})
                return self._end(task, settlement_of({"error": error}))
            case _:
                return []

    def _end(self, task: object, settlement: Settlement) -> list[_Afterwards]:
        opened = self._tasks.pop(task, None) if isinstance(task, str) else None
        return [] if opened is None else [lambda: opened.settle(settlement)]
