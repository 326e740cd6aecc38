"""Weigh an `intent` among the arguments of a tool whose schema the file does not tell."""

from __future__ import annotations

from collections.abc import Mapping

from pi_intent.contract.rows import INTENT, ROWS
from pi_intent.sessions.stated import Stated, stated, untouched
from pi_intent.types import JSONObject


class Undeclared:
    """What is known of the tools of a session: their names, and what calls have shown so far.

    The four tools of the contract have no parameter of their own called `intent`, in Tau and in pi, so one that
    stands there was asked for; once a call of theirs has stated one, a missing one means something. A tool that does
    not exist has no parameters at all. Of any other tool nothing is known, and its `intent` stays where it is.
    """

    def __init__(self) -> None:
        self._shown = False

    def stated(self, tool: str, block: JSONObject) -> tuple[Stated, Stated | None]:
        """Return what a call states, and what it states if there is no such tool."""
        arguments = block.get("arguments")
        if tool in ROWS:
            said = stated(tool, arguments, asked=True)
            self._shown = self._shown or said.intent is not None or said.per_edit > 0
            return (said if self._shown else untouched(arguments)), None
        if isinstance(arguments, Mapping) and INTENT in arguments:
            return untouched(arguments), stated(tool, arguments, asked=True)
        return untouched(arguments), None
