"""Ask a person in Tau's own dialog before a call runs."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import anyio.to_thread

from pi_intent.contract.rows import replaced_fields
from pi_intent.gates.question import Answer, Asker, Question
from pi_intent.gating import Admitted, Gates
from pi_intent.render.check_in import action_length, pages, question_lines

if TYPE_CHECKING:
    from pi_intent.gates.credentials import Credential
    from pi_intent.hosts.tau.extension import TauExtension
    from pi_intent.hosts.tau.session import TauSession
    from pi_intent.pipeline import OpenCall
    from pi_intent.types import JSONObject

WIDTH = 68
"""Columns of text in Tau's dialog on a screen of 80."""

_DENY = "Deny"
_ONCE = "Approve once"
_SESSION = "Approve this exact call for the rest of this session"
_NOTE = "Deny, and tell the agent why"
_MORE = "Read on"
PAGE = 12
"""Lines of a question that are shown at a time where the dialog cannot scroll."""


async def admit(extension: TauExtension, session: TauSession, opened: OpenCall, arguments: JSONObject) -> Admitted:
    """Return what a call may run with that is about to. Raises as `Gates.admit` does."""
    name = opened.start.tool_name
    return await gates_of(session).admit(
        opened,
        arguments,
        settings=extension.settings,
        chosen=extension.settings_of(name),
        asker=TauAsker(extension) if extension.is_watched else None,
        parameters=extension.shadows[name].parameters,
        filled=replaced_fields(name),
    )


def gates_of(session: TauSession) -> Gates:
    """Return the gates of a session, made when they are first asked for."""
    if session.gates is None:
        session.gates = Gates(session.runtime, asyncio.Lock, _fetched)
    return session.gates


async def _fetched(needed: tuple[Credential, ...]) -> dict[str, str]:
    from pi_intent.credentials import fetch

    return await anyio.to_thread.run_sync(fetch, needed)


class TauAsker(Asker):
    """Shows a question in Tau's dialog; what closes the dialog is a denial.

    The first option denies: an Enter that was meant for something else harms nothing.
    """

    def __init__(self, extension: TauExtension) -> None:
        self._extension = extension

    async def ask(self, question: Question) -> Answer:
        lines = question_lines(question, width=WIDTH)
        sign = self._extension.sign
        if sign is None:  # a screen that is not Tau's own takes no dialog of ours
            choice, seen = await self._ask_in_pages(lines)
        else:
            from pi_intent.hosts.tau.dialog import ask_on_screen

            choice, seen = await ask_on_screen(
                sign.app,
                lines,
                [_DENY, _ONCE, _SESSION, _NOTE],
                must_see=action_length(question, width=WIDTH),
                approving={_ONCE, _SESSION},
            )
        shown = "\n".join(lines[:seen])
        if choice in (_ONCE, _SESSION):
            return Answer(True, "session" if choice == _SESSION else "once", shown=shown)
        note = None
        if choice == _NOTE:
            ui = self._extension.tau.context.ui
            note = await ui.input("What shall the agent know?", "It reads this as the reason.")
        return Answer(False, note=(note or "").strip() or None, shown=shown)

    async def _ask_in_pages(self, lines: list[str]) -> tuple[str | None, int]:
        """Show the question page by page; it can be approved on the last one."""
        ui = self._extension.tau.context.ui
        parts = pages(lines, PAGE)
        for number, part in enumerate(parts, start=1):
            last = number == len(parts)
            options = [_DENY, _ONCE, _SESSION, _NOTE] if last else [_DENY, _MORE, _NOTE]
            choice = await ui.select("\n".join(part), options)
            if choice != _MORE:
                return choice, number * PAGE
        return None, len(lines)
