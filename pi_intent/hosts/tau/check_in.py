"""Ask a person in Tau's own dialog before a call runs."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING

from pi_intent.contract.rows import replaced_fields
from pi_intent.gates.question import Answer, Asker, AskingStopped, Question, Seen
from pi_intent.gating import Admitted, Gates, fetch_in_thread
from pi_intent.render.check_in import action_length, pages, question_lines

if TYPE_CHECKING:
    from tau_agent.tools import ToolCancellationToken

    from pi_intent.gates.credentials import Credential
    from pi_intent.hosts.tau.extension import TauExtension
    from pi_intent.hosts.tau.session import TauSession
    from pi_intent.pipeline import OpenCall
    from pi_intent.types import JSONObject

_DENY = "Deny"
_ONCE = "Approve once"
_SESSION = "Approve this call for the session"
_NOTE = "Deny, and tell the agent why"
_MORE = "Read on"
_APPROVING = frozenset({_ONCE, _SESSION})

WIDTH, PAGE = 44, 12
"""Columns and lines of a question that are shown at a time where the dialog is not ours and cannot scroll."""

LOOK_EVERY = 0.05
"""Seconds between two looks at whether the run was stopped; Tau's own bash looks as often."""


async def admit(
    extension: TauExtension,
    session: TauSession,
    opened: OpenCall,
    arguments: JSONObject,
    signal: ToolCancellationToken | None,
) -> Admitted:
    """Return what a call may run with that is about to. Raises as `Gates.admit` does."""
    name = opened.start.tool_name
    return await gates_of(session).admit(
        opened,
        arguments,
        settings=extension.settings,
        chosen=extension.settings_of(name),
        asker=TauAsker(extension, signal) if extension.is_watched else None,
        parameters=extension.shadows[name].parameters,
        filled=replaced_fields(name),
    )


def gates_of(session: TauSession) -> Gates:
    """Return the gates of a session, made when they are first asked for."""
    if session.gates is None:
        session.gates = Gates(session.runtime, asyncio.Lock, partial(_fetch, session))
    return session.gates


async def _fetch(session: TauSession, needed: tuple[Credential, ...]) -> dict[str, str]:
    """Fetch credentials, and tell the person where that takes longer than a moment: they may be asked elsewhere."""
    from pi_intent.credentials import MOMENT, waiting_for

    sentence = waiting_for(credential.name for credential in needed)
    timer = asyncio.get_running_loop().call_later(MOMENT, lambda: session.runtime.tell(sentence))
    try:
        return await fetch_in_thread(needed)
    finally:
        timer.cancel()


class TauAsker(Asker):
    """Shows a question in Tau's dialog. What closes the dialog is a denial; what closes the note leads back to it.

    The first option denies: an Enter that was meant for something else harms nothing.
    """

    def __init__(self, extension: TauExtension, signal: ToolCancellationToken | None) -> None:
        self._extension = extension
        self._signal = signal

    async def ask(self, question: Question) -> Answer:
        """Ask, for as long as the run goes on; a run that is stopped takes the dialog with it."""
        signal = self._signal
        if signal is None:
            return await self._asked(question)
        asking = asyncio.create_task(self._asked(question))
        try:
            while not asking.done():
                if signal.is_cancelled():
                    raise AskingStopped
                await asyncio.wait({asking}, timeout=LOOK_EVERY)
            return asking.result()
        finally:
            if asking.cancel():
                await asyncio.wait({asking})  # it only closes the dialog

    async def _asked(self, question: Question) -> Answer:
        while True:
            choice, seen = await self._chosen(question)
            if choice in _APPROVING:
                return Answer(True, "session" if choice == _SESSION else "once", seen=seen)
            if choice != _NOTE:
                return Answer(False, seen=seen)
            if (note := await self._note()) is not None:  # else back to the question
                return Answer(False, note=note.strip() or None, seen=seen)

    async def _chosen(self, question: Question) -> tuple[str | None, Seen]:
        sign = self._extension.sign
        if sign is None:  # a screen that is not Tau's own takes no dialog of ours
            return await self._ask_in_pages(question_lines(question, width=WIDTH))
        from pi_intent.hosts.tau.dialog import Drawn, ask_on_screen

        return await ask_on_screen(
            sign.app,
            lambda width: Drawn(question_lines(question, width=width), action_length(question, width=width)),
            [_DENY, _ONCE, _SESSION, _NOTE],
            approving=_APPROVING,
        )

    async def _note(self) -> str | None:
        """Return what the model shall read; None where the person went back."""
        try:
            ui = self._extension.tau.context.ui
            note: str | None = await ui.input("What shall the agent know?", "It reads this as the reason.")
        except asyncio.CancelledError:
            self._close_input()
            raise
        return note

    def _close_input(self) -> None:
        """Take Tau's own dialog away, which outlives the call that opened it."""
        if self._extension.sign is not None:
            from tau_coding.tui.app import ExtensionInputScreen

            screen = self._extension.sign.app.screen
            if isinstance(screen, ExtensionInputScreen):
                screen.dismiss(None)

    async def _ask_in_pages(self, lines: list[str]) -> tuple[str | None, Seen]:
        """Show the question page by page; it can be approved on the last one."""
        ui = self._extension.tau.context.ui
        parts = pages(lines, PAGE)
        for number, part in enumerate(parts, start=1):
            last = number == len(parts)
            options = [_DENY, _ONCE, _SESSION, _NOTE] if last else [_DENY, _MORE, _NOTE]
            choice = await ui.select("\n".join(part), options)
            if choice != _MORE:
                return choice, Seen(min(number * PAGE, len(lines)), len(lines))
        return None, Seen(len(lines), len(lines))
