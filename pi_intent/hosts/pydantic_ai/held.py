"""A call that has begun and not ended, and those that outlive their run because somebody must decide on them."""

from __future__ import annotations

import atexit
import json
from collections import OrderedDict
from typing import TYPE_CHECKING

from pydantic_ai.exceptions import ApprovalRequired, CallDeferred

from pi_intent.protocols import Settlement
from pi_intent.types import JSONObject

if TYPE_CHECKING:
    from pi_intent.hosts.pydantic_ai.run import IntentRun
    from pi_intent.pipeline import OpenCall

METADATA = "pi_intent"
"""The key under which whoever decides on a call finds what it is for."""

MOST_WAITING = 256
"""Calls that are remembered between runs: each keeps the ledger of its run open."""

BY = "pydantic-ai"
"""Who told us of a decision: it does not say who made it."""


class HeldCall:
    """An open call, the run that opened it, and the step of the run in which it was last validated.

    `running` says that its tool has begun, `waiting` that somebody outside the run must answer, `asked` that it is a
    person's consent. `ran_args` are what the tool got, where that is not what the model sent.
    """

    __slots__ = ("asked", "opened", "ran_args", "run", "running", "step", "waiting")

    def __init__(self, opened: OpenCall, run: IntentRun, step: int) -> None:
        self.opened = opened
        self.run = run
        self.step = step
        self.running = False
        self.waiting = False
        self.asked = False
        self.ran_args: JSONObject | None = None

    def defer(self, deferral: ApprovalRequired | CallDeferred) -> None:
        """Wait for a person or for whoever runs the call, and tell them what it is for."""
        opened = self.opened
        arguments = self.ran_args or opened.call.arguments
        said = {"intent": opened.call.intent, "rationale": opened.call.rationale, "arguments": arguments}
        deferral.metadata = {**(deferral.metadata or {}), METADATA: said}
        if not self.waiting and isinstance(deferral, ApprovalRequired):
            opened.ask(f"{opened.start.tool_name} {_literal(arguments)}")
            self.asked = True
        self.waiting = True

    def approved(self) -> None:
        """Go on, because somebody said yes."""
        self.waiting = False
        if self.asked:
            self.asked = False
            self.opened.decide(approved=True, by=BY)

    def answered(self, denied: bool, settlement: Settlement) -> None:
        """End the call with an answer from outside."""
        if self.asked:
            self.opened.decide(approved=not denied, by=BY, note=settlement.error if denied else None)
        self.settle(settlement)

    def settle(self, settlement: Settlement) -> None:
        """Tell how the call ended, if nobody has yet. Never raises and awaits nothing."""
        self.waiting = False
        self.opened.settle(settlement._replace(ran_args=self.ran_args))
        self.run.release(self)


class WaitingCalls:
    """The calls that outlive their run, by conversation and pydantic-ai's id, until the conversation goes on."""

    def __init__(self) -> None:
        self._calls: OrderedDict[tuple[str, str], HeldCall] = OrderedDict()

    def __len__(self) -> int:
        return len(self._calls)

    def keep(self, conversation: str, held: HeldCall) -> None:
        """Remember a call; the oldest of too many ends as interrupted."""
        self._calls[conversation, held.opened.start.tool_call_id] = held
        if len(self._calls) > MOST_WAITING:
            self._interrupt(self._calls.popitem(last=False)[1])

    def take(self, conversation: str, tool_call_id: str) -> HeldCall | None:
        """Return a call that is no longer to be remembered, None where there is none."""
        return self._calls.pop((conversation, tool_call_id), None)

    def close(self) -> None:
        """End what nobody came back to: the process is over."""
        while self._calls:
            self._interrupt(self._calls.popitem()[1])

    def _interrupt(self, held: HeldCall) -> None:
        held.settle(Settlement(status="interrupted", is_error=True))


def _literal(arguments: JSONObject) -> str:
    try:
        return json.dumps(arguments, default=repr)
    except (RecursionError, ValueError):
        return "with arguments that are nested too deeply to be written"


WAITING = WaitingCalls()
atexit.register(WAITING.close)
