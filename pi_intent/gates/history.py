"""What a session has done so far, as far as it bears on the call that is asked about."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterable

from pi_intent.events import ToolEvent, ToolExecutionEnd, ToolExecutionStart
from pi_intent.notes import Note, SessionNotes
from pi_intent.past import PastCall
from pi_intent.types import JSONObject

KEPT = 200
"""Calls that are remembered, the last ones."""

_MOST_RUNNING = 1024


class History:
    """The calls of one session, taken from its events, and the notes on the next one."""

    def __init__(self, earlier: Iterable[PastCall] = ()) -> None:
        self.calls: deque[PastCall] = deque(maxlen=KEPT)
        self._notes = SessionNotes()
        self._running: OrderedDict[str, PastCall] = OrderedDict()
        self._turns: dict[str, int] = {}
        for call in earlier:
            self._add(call)

    def apply(self, event: ToolEvent) -> None:
        """Take an event in; subscribe it to the session's pipeline."""
        if isinstance(event, ToolExecutionStart):
            self._running[event.call_id] = past_call(event)
            if len(self._running) > _MOST_RUNNING:
                self._running.popitem(last=False)
        elif isinstance(event, ToolExecutionEnd):
            begun = self._running.pop(event.call_id, None)
            if begun is not None:
                self._add(
                    begun._replace(
                        status=event.status,
                        codes=event.codes,
                        ms=event.duration_ms,
                        outcome=event.outcome,
                        facts=event.facts,
                        files=tuple(file.path for file in event.files),
                    )
                )

    def notes_on(self, start: ToolExecutionStart, arguments: JSONObject) -> tuple[Note, ...]:
        """Return the notes on a call that is about to run, with the arguments that it would run with."""
        return self._notes.on(past_call(start)._replace(args=arguments))

    def _add(self, call: PastCall) -> None:
        self.calls.append(call)
        self._notes.add(call)


def past_call(start: ToolExecutionStart) -> PastCall:
    """Return a call that has begun as notes look at it."""
    return PastCall(
        id=start.call_id,
        session=start.session_id,
        host=start.host,
        agent=start.agent_id,
        group=start.group_id,
        turn=0,
        seq=start.seq,
        ts="",
        tool=start.tool_name,
        tool_source=start.tool_source,
        intent=start.intent,
        intent_source=start.intent_source,
        rationale=start.rationale,
        args=start.args,
        policy="require",
        flags=start.flags,
        model=start.model,
    )
