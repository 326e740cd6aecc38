"""Draw what is followed: as JSON lines, or as the labels of the calls."""

from __future__ import annotations

import sys
from datetime import datetime
from typing import Protocol

from rich.cells import cell_len
from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from pi_intent.cli.console import complain, shown_json
from pi_intent.contract.rows import full_name
from pi_intent.errors import EventError
from pi_intent.events import GroupSummary, parse_event
from pi_intent.labels.board import IN_BACKGROUND, CallLabel, LabelBoard
from pi_intent.labels.lifecycle import State
from pi_intent.labels.literal import literal
from pi_intent.labels.printable import UNCUT, printable
from pi_intent.render.timeline import MARKS, hung


class Screen(Protocol):
    """Where events go: `show` gets each one once, as JSON; `lost` a call whose process ended under it."""

    def show(self, line: str) -> None: ...

    def lost(self, call_id: str) -> None: ...

    def close(self) -> None: ...


class JsonLines:
    """Prints each event at once."""

    def show(self, line: str) -> None:
        sys.stdout.write(shown_json(line) + "\n")
        sys.stdout.flush()

    def lost(self, call_id: str) -> None:
        pass

    def close(self) -> None:
        pass


_UNSENT: tuple[State, ...] = ("pending", "streaming", "declared")  # the model may never finish writing it
_LABEL = 240  # columns of a model's sentence
_TARGET = 30  # columns of a target that a label leaves free, where it has as many
_LEAST = 10  # columns worth a label, or a target


class LabelLines:
    """Draws the labels: a line for each call, and on a terminal those in flight below, where they change in place.

    Elsewhere a call has a line when its intent is complete, when it begins or waits for a person, and when it ends.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._boards: dict[str, LabelBoard] = {}
        self._in_flight: dict[str, CallLabel] = {}
        self._printed: dict[str, str] = {}
        self._heading = ""
        self._told_unknown = False
        self._live: Live | None = None
        if console.is_terminal and not console.is_dumb_terminal:
            self._live = Live(console=console, auto_refresh=False, transient=True)
            self._live.start()

    def show(self, line: str) -> None:
        try:
            event = parse_event(line)
        except EventError as error:
            if not self._told_unknown:
                complain(f"Not shown: {error}; the agent may run another version of pi-intent")
            self._told_unknown = True
            return
        board = self._boards.setdefault(event.session_id, LabelBoard())
        board.apply(event)
        if isinstance(event, GroupSummary):
            return
        label = next((label for label in reversed(board.labels) if label.call_id == event.call_id), None)
        if label is None:
            return
        self._forget_unsent(label)
        if label.status is not None:
            self._end(label, self._line(label))
        else:
            self._in_flight[label.call_id] = label
            if self._live is None and label.state not in ("pending", "streaming"):
                self._print(label, self._line(label))
        self._refresh()

    def lost(self, call_id: str) -> None:
        label = self._in_flight.get(call_id)
        if label is None:
            return
        if label.state in _UNSENT:
            del self._in_flight[call_id]
        else:
            self._end(label, self._line(label, "?", "yellow", "open: the process ended under it"))
        self._refresh()

    def close(self) -> None:
        if self._live is not None:
            self._live.stop()

    def _end(self, label: CallLabel, line: Text) -> None:
        self._in_flight.pop(label.call_id, None)
        self._print(label, line)
        self._printed.pop(label.call_id, None)

    def _forget_unsent(self, newest: CallLabel) -> None:
        """Let go of calls that an earlier message of the same agent began to write and never sent."""
        for call_id, label in tuple(self._in_flight.items()):
            same_agent = (label.session_id, label.agent_id) == (newest.session_id, newest.agent_id)
            if same_agent and label.group_id != newest.group_id and label.state in _UNSENT:
                del self._in_flight[call_id]
                self._printed.pop(call_id, None)

    def _print(self, label: CallLabel, line: Text) -> None:
        if self._printed.get(label.call_id) == line.plain:
            return
        self._printed[label.call_id] = line.plain
        if label.session_id != self._heading:
            self._heading = label.session_id
            self._put(Text(f"session {printable(label.session_id, width=UNCUT)}", "bold"))
        self._put(Text.assemble((f"{datetime.now():%H:%M:%S}  ", "dim"), line))

    def _put(self, line: Text) -> None:
        if self._console.is_terminal:
            for piece in hung(self._console, line, self._console.width, len("00:00:00  ")):
                self._console.print(piece, soft_wrap=True)
        else:
            self._console.file.write(f"{line.plain}\n")
            self._console.file.flush()

    def _refresh(self) -> None:
        if self._live is None:
            return
        lines = [self._line(label) for label in self._in_flight.values()]
        for line in lines:
            line.truncate(self._console.width, overflow="ellipsis")
        self._live.update(Group(*lines), refresh=True)

    def _line(self, label: CallLabel, mark: str = "", style: str = "", words: str = "") -> Text:
        if label.status is not None:
            mark, style = MARKS[label.status]
            words = "" if label.status == "ok" else label.status
        elif not mark:
            mark, style = ("▸", "cyan") if label.state == "running" else ("·", "dim")
            words = "waiting for you" if label.state == "waiting" else ""
        facts = "" if label.facts is None else printable(label.facts, width=_LABEL)
        tail = " · ".join(filter(None, [words, facts]))
        who = "" if label.agent_id == "main" else f"{label.agent_id}: "
        aim = "" if label.target is None else literal(label.target, width=UNCUT)
        dollar = " $" if aim and label.tool_name == "bash" else ""
        tool = full_name(label.tool_name, label.tool_source)
        target = Text(f"  {printable(f'{who}{tool}', width=UNCUT)}{dollar} {aim}".rstrip(), "dim")
        room = _LABEL
        if self._console.is_terminal:  # what a call does must not be crowded out by what it says of itself
            room = self._console.width - len("00:00:00  ▸  · ") - cell_len(tail) - min(target.cell_len, _TARGET)
            room = max(_LEAST, min(_LABEL, room))
        text = printable(label.text or "", width=room)
        growing = "…" if label.state in ("pending", "streaming") else ""
        said = text + growing or "no intent stated"
        if label.text is not None and label.intent_source == "derived":
            said += " (derived: none was stated)"
        background = IN_BACKGROUND if label.backgrounded else ""
        line = Text.assemble((f"{mark} ", style), (said, "bold" if text else "italic"), background)
        if tail:
            line.append(f" · {tail}", style)
        if self._console.is_terminal:
            room = self._console.width - line.cell_len - len("00:00:00  ")
            if room < min(_LEAST, target.cell_len):
                return line
            target.truncate(room, overflow="ellipsis")
        return line.append_text(target)
