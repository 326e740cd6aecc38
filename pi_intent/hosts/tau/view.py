"""What Tau's screen shows of the session live: a header above the prompt, the turn's calls in the sidebar.

Widgets of fixed height that are updated in place, at most ten times a second and only when something changed: nothing
moves the layout, and a session without a screen never gets here.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from textual.containers import VerticalScroll
from textual.widgets import Static

from pi_intent.hosts.tau.extension import TauExtension
from pi_intent.hosts.tau.session import TauSession
from pi_intent.render.live import SPINNER, STILL, full_text, header_line, turn_lines

if TYPE_CHECKING:
    from tau_coding.extensions.api import MainViewHandle
    from textual import events

SLOT = "pi-intent-header"
SECTION = "intents"
EVERY = 0.1
"""Seconds between two looks at the board."""

KEY = "f2"
"""The key that shows the latest calls in full, and hides them again."""

_MOST_CALLS = 12


class Ticking(Static):
    """A line or a few that follow the board of a session."""

    def __init__(self, session: TauSession, *, rows: int) -> None:
        super().__init__("", markup=False)
        self._session = session
        self._shown = session.show()
        self._drawn = ""
        self._still = os.environ.get("TEXTUAL_ANIMATIONS", "full").lower() != "full"
        self.styles.height = rows

    def on_mount(self) -> None:
        self.set_interval(EVERY, self.look)
        self.look()

    @property
    def spinner(self) -> str:
        return STILL if self._still else SPINNER[int(time.monotonic() / EVERY) % len(SPINNER)]

    def text(self) -> str:
        """Return what is to be seen now."""
        raise NotImplementedError

    def look(self) -> None:
        try:
            text = self.text()
        except Exception as error:  # a boundary: a fault here would take the whole screen down, ten times a second
            text = f"intents cannot be shown ({type(error).__name__})"
        if text != self._drawn:
            self._drawn = text
            self.update(text)


class Header(Ticking):
    """One line above the prompt: what the running group of calls is for, and what came of it."""

    def text(self) -> str:
        header = self._shown.board.header_at(time.monotonic() * 1000)
        child = None if header is None or header.call is None else self._shown.children.get(header.call.call_id)
        return header_line(header, width=max(20, self.size.width), spinner=self.spinner, child=child)


class TurnCalls(Ticking):
    """The calls of the turn, in the sidebar."""

    def text(self) -> str:
        width = max(16, self.size.width or 30)
        lines = turn_lines(
            self._shown.labels_of(self._session.turn_groups), width=width, most=_MOST_CALLS, spinner=self.spinner
        )
        return "\n".join(lines) or "no call yet"


def mount(extension: TauExtension) -> None:
    """Put the header and the sidebar section on the screen, and give the key its meaning."""
    ui, session = extension.tau.context.ui, extension.session()
    header = Header(session, rows=1)
    header.styles.padding = (0, 1)
    ui.components.set_slot_widget(SLOT, lambda theme: header, placement="above_prompt")
    if ui.sidebar.supported:
        rows = _MOST_CALLS + 1
        ui.sidebar.set_section(SECTION, title="intents", content=lambda theme: TurnCalls(session, rows=rows))
    opened: list[MainViewHandle] = []

    def key(event: events.Key, prompt_text: str) -> bool:
        if event.key == "escape" and opened and opened[-1].is_open:
            opened.pop().close()
            return True
        if event.key != KEY:
            return False
        if opened and opened[-1].is_open:
            opened.pop().close()
        else:
            text = full_text(session.show().board)
            opened.append(
                ui.components.open_main_view(lambda handle, theme: VerticalScroll(Static(text, markup=False)))
            )
        return True

    ui.components.register_key_interceptor(key)
