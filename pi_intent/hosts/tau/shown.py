"""What Tau's screen shows of a session's calls: labels, what came of those that a row draws, and what children do."""

from __future__ import annotations

import time
from collections.abc import Callable

from pi_intent.events import ToolEvent, ToolExecutionEnd, ToolExecutionStart
from pi_intent.hosts.tau.ends import Ends
from pi_intent.labels.board import CallLabel, LabelBoard
from pi_intent.sinks import FanOut, subscribe


class Shown:
    """The board and the ends of a session that has a screen, fed by its events until it is closed."""

    def __init__(self, sinks: FanOut) -> None:
        self.board = LabelBoard()
        self.ends = Ends()
        self.children: dict[str, str] = {}
        """By the call that a child session runs inside of, the latest intent of that child."""
        self._stops: tuple[Callable[[], None], ...] = (sinks.subscribe(self._apply), subscribe(self._overhear))

    def close(self) -> None:
        """Hear of no more events."""
        for stop in self._stops:
            stop()

    def labels_of(self, groups: set[str]) -> tuple[CallLabel, ...]:
        """Return the labels of some assistant messages."""
        return tuple(label for label in self.board.labels if label.group_id in groups)

    def restore(self, event: ToolEvent) -> None:
        """Take in an event of an earlier process."""
        self._apply(event)

    def _apply(self, event: ToolEvent) -> None:
        self.board.apply(event, time.monotonic() * 1000)
        self.ends.apply(event)
        if isinstance(event, ToolExecutionEnd):
            self.children.pop(event.call_id, None)

    def _overhear(self, event: ToolEvent) -> None:
        """Note what the sessions of this process do inside of a call of this one."""
        if not isinstance(event, ToolExecutionStart) or not event.intent or event.parent_tool_call_id is None:
            return
        parent = event.parent_tool_call_id
        if any(label.call_id == parent and label.status is None for label in self.board.labels):
            self.children[parent] = event.intent
