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
    from pi_intent.gates.later import Asked
    from pi_intent.hosts.pydantic_ai.given import Given
    from pi_intent.hosts.pydantic_ai.reading import Reader
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
    person's consent that the tool wants. `ran_args` are what the tool got, where that is not what the model sent.

    Of the gates: `reader` read the call last, with the arguments that are `literal`, and `validated` is what the tool
    made of them; `pending` is a question of ours that waits, and `said` what whoever answers it finds
    beside the call; `admitted` says that the gates have let it through.
    """

    __slots__ = (
        "admitted",
        "asked",
        "literal",
        "opened",
        "pending",
        "ran_args",
        "reader",
        "run",
        "running",
        "said",
        "step",
        "validated",
        "waiting",
    )

    def __init__(self, opened: OpenCall, run: IntentRun, step: int) -> None:
        self.opened = opened
        self.run = run
        self.step = step
        self.running = False
        self.waiting = False
        self.asked = False
        self.ran_args: JSONObject | None = None
        self.reader: Reader | None = None
        self.literal: JSONObject = opened.call.arguments
        self.validated: Given | None = None
        self.pending: Asked | None = None
        self.said: JSONObject | None = None
        self.admitted = False

    def defer(self, deferral: ApprovalRequired | CallDeferred) -> None:
        """Wait for a person or for whoever runs the call, and tell them what it is for."""
        opened = self.opened
        arguments = self.ran_args or opened.call.arguments
        said: JSONObject = {"arguments": arguments}
        if self.run.settings.consent != "literal":
            said |= {"intent": opened.call.intent, "rationale": opened.call.rationale}
        deferral.metadata = {**(deferral.metadata or {}), METADATA: self.said or said}
        if not self.waiting and self.pending is None and isinstance(deferral, ApprovalRequired):
            opened.ask(f"{opened.start.tool_name} {_literal(arguments)}")
            self.asked = True
        self.waiting = True

    def approved(self) -> None:
        """Go on, because somebody said yes."""
        self.waiting = False
        if self.asked:
            self.asked = False
            self.opened.decide(approved=True, by=BY)

    def ran_with(self, arguments: JSONObject) -> None:
        """Note what the tool gets, if that is not what the model sent."""
        self.ran_args = None if arguments == self.opened.call.arguments else arguments
        if self.ran_args is not None:
            self.opened.update(arguments)

    def answered(self, denied: bool, settlement: Settlement) -> None:
        """End the call with an answer from outside."""
        note = settlement.error if denied else None
        if self.asked:
            self.opened.decide(approved=not denied, by=BY, note=note)
        if self.pending is not None:
            self.run.answered(self, self.pending, approved=not denied, note=note)
        if denied:
            self.ran_args = None
        self.settle(settlement)

    def settle(self, settlement: Settlement) -> None:
        """Tell how the call ended, if nobody has yet. Never raises and awaits nothing."""
        self.waiting = False
        self.opened.settle(settlement._replace(ran_args=self.ran_args))
        self.run.release(self)

    def leave(self) -> None:
        """Stop waiting for an answer here. One to a question of ours may come in another process."""
        if self.pending is None:
            self.settle(Settlement(status="interrupted", is_error=True))
        else:
            self.opened.let_go()
            self.run.release(self)


class WaitingCalls:
    """The calls that outlive their run, by conversation and pydantic-ai's id, until the conversation goes on."""

    def __init__(self) -> None:
        self._calls: OrderedDict[tuple[str, str], HeldCall] = OrderedDict()

    def __len__(self) -> int:
        return len(self._calls)

    def keep(self, conversation: str, held: HeldCall) -> None:
        """Remember a call; the oldest of too many is left, and so is one whose id is used again."""
        key = conversation, held.opened.start.tool_call_id
        if (before := self._calls.pop(key, None)) is not None:
            before.leave()
        self._calls[key] = held
        if len(self._calls) > MOST_WAITING:
            self._calls.popitem(last=False)[1].leave()

    def take(self, conversation: str, tool_call_id: str) -> HeldCall | None:
        """Return a call that is no longer to be remembered, None where there is none."""
        return self._calls.pop((conversation, tool_call_id), None)

    def close(self) -> None:
        """Leave what nobody came back to: the process is over."""
        while self._calls:
            self._calls.popitem()[1].leave()


def _literal(arguments: JSONObject) -> str:
    try:
        return json.dumps(arguments, default=repr)
    except (RecursionError, ValueError):
        return "with arguments that are nested too deeply to be written"


WAITING = WaitingCalls()
atexit.register(WAITING.close)
