"""Events as a session makes them, and the board that they give."""

from __future__ import annotations

from typing import Any

from pi_intent.events import (
    CheckInDecision,
    CheckInRequest,
    GroupSummary,
    ToolEvent,
    ToolExecutionEnd,
    ToolExecutionStart,
    ToolExecutionUpdate,
    ToolIntentUpdate,
)
from pi_intent.labels.board import CallLabel, LabelBoard
from pi_intent.types import Status


class Calls:
    """Makes events as a session would: each with the next number."""

    def __init__(self) -> None:
        self.seq = 0

    def place(self, group: str) -> dict[str, Any]:
        self.seq += 1
        return {"session_id": "s", "agent_id": "main", "group_id": group, "seq": self.seq, "host": "tau"}

    def call(self, call_id: str, group: str, tool: str) -> dict[str, Any]:
        return {**self.place(group), "call_id": call_id, "tool_call_id": f"t{call_id}", "tool_name": tool}

    def writes(self, call_id: str, intent: str, complete: bool = False, *, group: str = "g", tool: str = "bash"):
        return ToolIntentUpdate(**self.call(call_id, group, tool), intent=intent, complete=complete)

    def starts(self, call_id: str, intent: str | None, *, group: str = "g", tool: str = "bash", **args: str):
        source = "absent" if intent is None else "model"
        return ToolExecutionStart(
            **self.call(call_id, group, tool), args=dict(args), intent=intent, intent_source=source
        )

    def goes_on(self, call_id: str, backgrounded: bool | None = None, *, group: str = "g", **args: str):
        return ToolExecutionUpdate(**self.call(call_id, group, "bash"), args=dict(args), backgrounded=backgrounded)

    def asks(self, call_id: str):
        return CheckInRequest(**self.call(call_id, "g", "bash"), request="rm -r build")

    def decides(self, call_id: str, approved: bool):
        return CheckInDecision(**self.call(call_id, "g", "bash"), approved=approved, by="person")

    def ends(self, call_id: str, status: Status = "ok", *, group: str = "g", tool: str = "bash", **more: Any):
        identity = self.call(call_id, group, tool)
        return ToolExecutionEnd(**identity, status=status, is_error=status != "ok", duration_ms=1, **more)

    def sums_up(self, text: str, *, group: str = "g"):
        return GroupSummary(**self.place(group), text=text)


def board_of(*events: ToolEvent) -> LabelBoard:
    board = LabelBoard()
    for event in events:
        board.apply(event)
    return board


def label(call_id: str, **more: Any) -> CallLabel:
    identity = {"session_id": "s", "agent_id": "main", "group_id": "g", "tool_name": "bash"}
    return CallLabel(**{**identity, "call_id": call_id, "tool_call_id": f"t{call_id}", **more})


def texts(board: LabelBoard) -> list[str | None]:
    return [label.text for label in board.labels]


def said(board: LabelBoard) -> tuple[str, str] | None:
    return None if board.header is None else (board.header.phase, board.header.text)
