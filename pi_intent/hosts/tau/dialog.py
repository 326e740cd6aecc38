"""Tau's own option dialog with room for a whole question: it takes the screen's height, and its text scrolls."""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar

from tau_coding.tui.app import ExtensionSelectScreen
from textual.app import App, ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.widgets import Label, ListItem, ListView, Static

_HELP = "Enter chooses · Escape denies"


class QuestionScreen(ExtensionSelectScreen):
    """Shows a question above its options. What approves is only taken once the literal action was on the screen.

    `must_see` is the number of lines that were to be seen for that; `approving` are the options that approve. `seen`
    is how many lines of the text have been on the screen, from its beginning.
    """

    DEFAULT_CSS = "QuestionScreen #question { height: auto; scrollbar-size-vertical: 1; }"

    BINDINGS: ClassVar[list[Any]] = [
        *ExtensionSelectScreen.BINDINGS,
        ("pagedown", "page(1)", "Read on"),
        ("space", "page(1)", "Read on"),
        ("pageup", "page(-1)", "Read back"),
    ]

    def __init__(
        self, lines: list[str], options: list[str], *, must_see: int, approving: set[str], theme: Any
    ) -> None:
        super().__init__("\n".join(lines), options, theme=theme)
        self.seen = 0
        self._lines = len(lines)
        self._must_see = must_see
        self._approving = approving

    def compose(self) -> ComposeResult:
        with Vertical(id="extension-select"):
            with VerticalScroll(id="question", can_focus=False):
                yield Static(self.title_text, id="extension-select-title", markup=False)
            yield ListView(
                *(ListItem(Label(option, markup=False)) for option in self.options), id="extension-select-list"
            )
            yield Static(_HELP, id="extension-select-help", markup=False)

    def on_mount(self) -> None:
        self._fit()  # Tau's own handler comes after it

    def on_resize(self) -> None:
        self._fit()

    def _fit(self) -> None:
        """Leave the options and the help their rows, and the text all others."""
        height = self.app.size.height
        around = self.query_one("#extension-select")
        around.styles.max_height, around.styles.padding = height, (0, 1)
        # Beside the text and the options there are two borders and the line of help.
        self.query_one("#question").styles.max_height = max(height - len(self.options) - 5, 3)
        self.query_one("#extension-select-help").styles.margin = 0
        self.query_one("#extension-select-title").styles.margin = 0
        self.call_after_refresh(self._note_seen)

    def action_page(self, pages: int) -> None:
        """Read on or back by as many lines as fit."""
        question = self.query_one("#question", VerticalScroll)
        question.scroll_to(y=question.scroll_y + pages * max(question.size.height - 1, 1), animate=False)
        self.call_after_refresh(self._note_seen)

    def _note_seen(self, warning: str = "") -> None:
        question = self.query_one("#question", VerticalScroll)
        self.seen = max(self.seen, round(question.scroll_y) + question.size.height)
        below = max(self._lines - round(question.scroll_y) - question.size.height, 0)
        more = f"PageDown: {below} more line{'' if below == 1 else 's'}" if below else ""
        text = " · ".join(filter(None, (warning or _HELP, more)))
        self.query_one("#extension-select-help", Static).update(text)

    def on_list_view_selected(self, event: ListView.Selected) -> None:
        event.prevent_default()  # Textual would call Tau's own handler as well, which takes any choice
        choice = self.options[event.index]
        if choice in self._approving and self.seen < self._must_see:
            self.action_page(1)
            self.call_after_refresh(self._note_seen, "Read the whole action first")
            return
        self.dismiss(choice)


async def ask_on_screen(
    app: App[Any], lines: list[str], options: list[str], *, must_see: int, approving: set[str]
) -> tuple[str | None, int]:
    """Show a question, and return the chosen option, None for none, and how many of its lines were seen.

    When it is cancelled, the dialog goes.
    """
    theme = getattr(getattr(app, "tui_settings", None), "resolved_theme", None)
    screen = QuestionScreen(lines, options, must_see=must_see, approving=approving, theme=theme)
    chosen: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()

    def take(choice: str | None) -> None:
        if not chosen.done():
            chosen.set_result(choice)

    app.push_screen(screen, take)
    try:
        return await chosen, screen.seen
    finally:
        if not chosen.done() or chosen.cancelled():
            await _take_back(app, screen)


async def _take_back(app: App[Any], screen: QuestionScreen) -> None:
    if screen in app.screen_stack:
        if screen.is_current:
            screen.dismiss(None)
        else:
            app.screen_stack.remove(screen)
