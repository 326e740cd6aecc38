"""Tell how calls end: with their answer, later as a task, or after a person was asked and the call was sent again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pi_intent.hosts.mcp.requests import Asked
from pi_intent.hosts.mcp.results import settlement_of, task_id, task_status, unfinished
from pi_intent.pipeline import OpenCall
from pi_intent.protocols import Settlement

type _Afterwards = Callable[[], None]

_CANCELLED = Settlement(status="cancelled", is_error=True)


class Ends:
    """The calls that go on after their first answer.

    What the methods return is to be done when the message is on its way to the client.
    """

    def __init__(self) -> None:
        self._tasks: dict[str, OpenCall] = {}
        self._waiting: dict[tuple[str, str | None], OpenCall] = {}
        """Calls that a person was asked about, by the tool and by the state that comes back with their answer."""

    @property
    def has_tasks(self) -> bool:
        """Whether a call goes on as a task, of which anything may be told at any time."""
        return bool(self._tasks)

    def state_of(self, carrier: dict[str, Any]) -> str | None:
        """Return the state that a server hands out with a question and gets back with the answer."""
        state = carrier.get("requestState")
        return state if isinstance(state, str) else None

    def is_waiting(self, state: tuple[str, str | None]) -> bool:
        """Whether a person was asked about a call of this tool, with this state."""
        return state in self._waiting

    def resumed(self, state: tuple[str, str | None]) -> OpenCall | None:
        """Return the call that is sent again with an answer: it is the same one, and counts once."""
        return self._waiting.pop(state, None)

    def answered(self, asked: Asked, message: dict[str, Any]) -> list[_Afterwards]:
        """Take the answer to a request of the client's."""
        result = message.get("result")
        match asked.kind:
            case "call" if asked.opened is not None:
                return self._call_answered(asked.opened, asked.detail, message)
            case "task result":
                return self._end(asked.detail, settlement_of(message))
            case "task cancel" if result is not None:
                return self._end(asked.detail, _CANCELLED)
            case _:
                return self._moved(result) if isinstance(result, dict) else []

    def told(self, message: dict[str, Any]) -> list[_Afterwards]:
        """Take what the server says by itself."""
        params = message.get("params")
        about_tasks = str(message["method"]).startswith("notifications/tasks")
        return self._moved(params) if about_tasks and isinstance(params, dict) else []

    def _call_answered(
        self, opened: OpenCall, state: tuple[str, str | None], message: dict[str, Any]
    ) -> list[_Afterwards]:
        result = message.get("result")
        match unfinished(result):
            case "input_required":
                self._waiting[(state[0], self.state_of(result or {}))] = opened
                return []
            case "task":
                self._tasks[task_id(result or {}) or ""] = opened
                return [lambda: opened.update(opened.call.arguments, backgrounded=True)]
            case None:
                return [lambda: opened.settle(settlement_of(message))]

    def _moved(self, said: dict[str, Any]) -> list[_Afterwards]:
        """A task stands elsewhere: it failed, was called off, or its result is told with it."""
        task = task_id(said)
        match task_status(said):
            case "completed" if "result" in said:
                return self._end(task, settlement_of(said))
            case "cancelled":
                return self._end(task, _CANCELLED)
            case "failed":
                return self._end(
                    task, settlement_of({"error": said.get("error", {"message": said.get("statusMessage")})})
                )
            case _:
                return []

    def _end(self, task: object, settlement: Settlement) -> list[_Afterwards]:
        opened = self._tasks.pop(task, None) if isinstance(task, str) else None
        return [] if opened is None else [lambda: opened.settle(settlement)]
