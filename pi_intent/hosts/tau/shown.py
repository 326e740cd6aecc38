"""What Tau's screen shows of a session's calls: their labels, and what came of those that a row draws."""

from __future__ import annotations

import time

from pi_intent.events import ToolEvent
from pi_intent.hosts.tau.ends import Ends
from pi_intent.labels.board import CallLabel, LabelBoard


class Shown:
    """The board and the ends of a session that has a screen, fed by its events."""

    def __init__(self) -> None:
        self.board = LabelBoard()
        self.ends = Ends()

    def apply(self, event: ToolEvent) -> None:
        """Take an event in."""
        self.board.apply(event, time.monotonic() * 1000)
        self.ends.apply(event)

    def labels_of(self, groups: set[str]) -> tuple[CallLabel, ...]:
        """Return the labels of some assistant messages."""
        return tuple(label for label in self.board.labels if label.group_id in groups)
