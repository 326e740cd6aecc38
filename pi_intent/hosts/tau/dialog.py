"""Tau's own option dialog with room for a whole question: it takes the screen's height, and its text scrolls."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

from rich.segment import Segment
from rich.style import Style
from tau_coding.tui.app import ExtensionSelectScreen
from textual.app import App, ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widgets import Label, ListItem, ListView, Static

from pi_intent.gates.question import Seen
from pi_intent.render.check_in import NARROWEST, is_ours

WIDEST = 104
"""Columns of the dialog on a large screen."""

_HELP = "Enter chooses · Escape denies"
_SHORT = "Esc denies"
_NARROW = 60
"""Columns below which only that stands beside what is left to be read."""
_UNREAD = "Read the whole action first"
_SMALL = "Make the screen larger first"
_BESIDE = 5
"""Columns beside the text: two borders, a space at each side, the scroll bar."""
_AROUND = 5
"""Rows beside the text and the options: two borders each, and the line of help."""


class Drawn(NamedTuple):
    """A question at one width; its first `action` lines are the literal action."""

    lines: list[str]
    action: int


class QuestionText(ScrollView, can_focus=False):
    """The lines of a question, each on a row of its own whatever it holds: nothing in one is read as markup."""

    DEFAULT_CSS = "QuestionText { overflow-x: hidden; overflow-y: scroll; scrollbar-size-vertical: 1; }"

    def __init__(self) -> None:
        super().__init__(id="question")
        self.lines: list[str] = []

    def show(self, lines: list[str], *, width: int) -> None:
        """Show other lines, from the first one on."""
        self.lines = lines
        self.virtual_size = Size(width, len(lines))
        self.scroll_to(y=0, animate=False, immediate=True)
        self.refresh()

    def render_line(self, y: int) -> Strip:
        at, style = y + self.scroll_offset.y, self.rich_style
        line = self.lines[at] if at < len(self.lines) else ""
        if is_ours(line):
            style += Style(bold=True)
        return Strip([Segment(line, style)]).adjust_cell_length(self.size.width, self.rich_style)


class QuestionScreen(ExtensionSelectScreen):
    """Shows a question above its options. What approves is only taken once the literal action was on the screen.

    `draw` gives the question at a width; `approving` are the options that approve. `seen` is how many lines of the
    text have been on the screen, from its beginning on and without a gap.
    """

    # A notice that lay over the text would hide a part of the action from whoever approves it.
    DEFAULT_CSS = "QuestionScreen Toast { display: none; }"

    BINDINGS: ClassVar[list[Any]] = [
        *ExtensionSelectScreen.BINDINGS,
        # With priority: on a small screen the list would take them for itself.
        Binding("pagedown", "page(1)", "Read on", priority=True),
        Binding("space", "page(1)", "Read on", priority=True),
        Binding("pageup", "page(-1)", "Read back", priority=True),
    ]

    def __init__(
        self, draw: Callable[[int], Drawn], options: list[str], *, approving: frozenset[str], theme: Any
    ) -> None:
        super().__init__("", options, theme=theme)
        self.drawn = Drawn([], 0)
        self.seen = 0
        self._draw = draw
        self._approving = approving
        self._width = self._room = 0
        self._is_over = False

    def compose(self) -> ComposeResult:
        with Vertical(id="extension-select"):
            yield QuestionText()
            yield ListView(
                *(ListItem(Label(option, markup=False)) for option in self.options), id="extension-select-list"
            )
            yield Static(_HELP, id="extension-select-help", markup=False)

    def on_mount(self) -> None:  # Tau's own handler comes after it
        self.query_one("#extension-select-help").styles.margin = 0
        self.watch(self.query_one(QuestionText), "scroll_y", lambda: self._note_seen(), init=False)
        self._fit()

    def on_resize(self) -> None:
        self._fit()

    def _fit(self) -> None:
        """Leave the options and the help their rows, and the text all others; draw it anew where it gets narrower."""
        screen, text = self.app.size, self.query_one(QuestionText)
        around = self.query_one("#extension-select")
        around.styles.width = columns = min(screen.width, WIDEST)
        around.styles.max_width, around.styles.max_height, around.styles.padding = "100%", screen.height, (0, 1)
        if columns != self._width:
            self._width, self.seen = columns, 0
            width = max(columns - _BESIDE, NARROWEST)
            self.drawn = self._draw(width)
            text.show(self.drawn.lines, width=width)
        self._room = screen.height - len(self.options) - _AROUND
        text.styles.height = max(min(self._room, len(self.drawn.lines)), 1)
        self.call_after_refresh(self._note_seen)

    def take_back(self) -> None:
        """Close the dialog without a choice: now, or once nothing lies upon it any more."""
        self._is_over = True
        if self.app.screen is self:  # `is_current` would also be true below another dialog
            self.dismiss(None)

    def on_screen_resume(self) -> None:
        if self._is_over:
            self.dismiss(None)

    @property
    def _is_read(self) -> bool:
        return self.seen >= self.drawn.action and not self._is_small

    @property
    def _is_small(self) -> bool:
        """Whether the screen has no room for what is to be read."""
        return self._room < 1 or self._width - _BESIDE < NARROWEST

    def action_page(self, pages: int) -> None:
        """Read on or back by as many lines as fit."""
        text = self.query_one(QuestionText)
        text.scroll_to(y=text.scroll_y + pages * max(text.size.height - 1, 1), animate=False)

    def _note_seen(self, warning: str = "") -> None:
        text = self.query_one(QuestionText)
        top = round(text.scroll_y)
        if top <= self.seen:  # else something was jumped over
            self.seen = max(self.seen, top + text.size.height)
        below = max(len(self.drawn.lines) - top - text.size.height, 0)
        more = f"PageDown: {below} more line{'' if below == 1 else 's'}" if below else ""
        known = _HELP if not more or self._width >= _NARROW else _SHORT
        help_line = " · ".join(filter(None, (warning, more, "" if warning else known)))
        self.query_one("#extension-select-help", Static).update(help_line)

    def on_list_view_selected(self, event: ListView.Selected) -> None:
        event.prevent_default()  # Textual would call Tau's own handler as well, which takes any choice
        choice = self.options[event.index]
        if choice in self._approving and not self._is_read:
            self._note_seen(_SMALL if self._is_small else _UNREAD)  # an Enter that is held down reads nothing
            return
        self.dismiss(choice)


async def ask_on_screen(
    app: App[Any], draw: Callable[[int], Drawn], options: list[str], *, approving: frozenset[str]
) -> tuple[str | None, Seen]:
    """Show a question, and return the chosen option, None for none, and how much of it was seen.

    When it is cancelled, the dialog goes.
    """
    theme = getattr(getattr(app, "tui_settings", None), "resolved_theme", None)
    screen = QuestionScreen(draw, options, approving=approving, theme=theme)
    chosen: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()

    def take(choice: str | None) -> None:
        if not chosen.done():
            chosen.set_result(choice)

    app.push_screen(screen, take)
    try:
        choice = await chosen
    finally:
        if not chosen.done() or chosen.cancelled():
            screen.take_back()
    lines = len(screen.drawn.lines)
    return choice, Seen(min(screen.seen, lines), lines)
