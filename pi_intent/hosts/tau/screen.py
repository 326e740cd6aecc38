"""Show on Tau's screen that intents are on, and keep its rows ours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pi_intent.hosts.tau.extension import TauExtension
from pi_intent.labels.printable import printable
from pi_intent.settings.load import MOST_TOLD

if TYPE_CHECKING:
    from textual.widgets import Static

SLOT = "pi-intent"


def greet(extension: TauExtension) -> None:
    """Show that intents are on: a line below the prompt, or one line on stderr; then what is wrong, if anything."""
    if has_screen(extension):
        extension.tau.context.ui.components.set_slot_widget(
            SLOT, lambda theme: _sign(extension), placement="below_prompt"
        )
        from pi_intent.hosts.tau.view import mount  # Textual's widgets: only where there is a screen

        mount(extension)
    else:
        extension.tau.notify(sign_text(extension))
    for problem in extension.take_problems():
        extension.session().runtime.tell_once(printable(problem, width=MOST_TOLD))


def has_screen(extension: TauExtension) -> bool:
    """Return whether there is a screen that takes widgets of ours."""
    return extension.is_watched and extension.tau.context.ui.components.supports_components


def sign_text(extension: TauExtension) -> str:
    """Say in one line what happens to a call without an intent, and in which tools."""
    session = extension.session()
    tools = [name for name, shadow in extension.shadows.items() if shadow.injected]
    if not tools:
        return "intents: no tool of this session states any · /intent"
    policies = {extension.policy_of(name, session) for name in tools}
    words = sorted("asked for, not required" if policy == "optional" else policy for policy in policies)
    return f"intents on · /intent · {', '.join(words)} · {', '.join(tools)}"


def _sign(extension: TauExtension) -> Static:
    from textual.widgets import Static  # only where there is a screen

    class IntentSign(Static):
        """One line below the prompt. While it is mounted, Tau's rows are drawn by us first.

        Tau keeps asking the runtime that was there at its start how a call is drawn, also after that was replaced.
        """

        DEFAULT_CSS = "IntentSign { height: 1; color: $text-muted; padding: 0 1; }"

        app: Any  # Tau's own

        def on_mount(self) -> None:
            state = getattr(self.app, "state", None)
            if state is None or not hasattr(state, "tool_call_renderer"):
                return
            previous = state.tool_call_renderer
            previous = getattr(previous, "previous", previous)

            def draw(name: str, arguments: Mapping[str, Any]) -> str | None:
                row = extension.row(name, arguments)
                return row if row is not None or previous is None else previous(name, arguments)

            draw.previous = previous  # type: ignore[attr-defined]  # so that reloads do not pile up
            state.tool_call_renderer = draw
            if _is_batched(state) and not self.app.session.is_running:
                # Tau read the session's messages before it knew of our rows, and put calls together in one row each.
                state.clear()
                state.load_messages(self.app.session.messages)
            draw_rows_anew(extension)

    sign = IntentSign(sign_text(extension), markup=False)
    extension.sign = sign
    return sign


def _is_batched(state: Any) -> bool:
    return any(
        getattr(item, "tool_batch_items", None) or getattr(item, "grouped_tool_calls", None) for item in state.items
    )


def draw_rows_anew(extension: TauExtension) -> None:
    """Have Tau draw the transcript again, where it has one already."""
    sign = extension.sign
    if sign is not None and sign.is_mounted:
        refresh = getattr(sign.app, "_refresh", None)
        if callable(refresh):
            refresh()


def refresh_sign(extension: TauExtension) -> None:
    """Draw the sign anew, after a change of policy."""
    if extension.sign is not None:
        extension.sign.update(sign_text(extension))
