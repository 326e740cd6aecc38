"""What pi-intent knows of one Tau session, kept for as long as the process knows that session.

Tau sets an extension up anew at every `/reload`, `/new` and `/resume`. What must outlive that lies here, by session:
who was rejected how often, what the person chose with `/intent`, the open segment of the ledger.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

from pi_intent.events import ToolEvent, ToolExecutionEnd, ToolExecutionStart
from pi_intent.hosts.tau.streaming import StreamedMessage
from pi_intent.pipeline import Pipeline
from pi_intent.runtime import SessionRuntime
from pi_intent.types import Policy

if TYPE_CHECKING:
    from pi_intent.gating import Gates
    from pi_intent.hosts.tau.shown import Shown

RECENT = 8
"""How many of the last calls `/intent` shows."""


SYNC_AFTER = 0.05
"""Seconds between a call that changed something and the wait for the disk, which one burst of calls shares."""


class HostCall(NamedTuple):
    """A call that Tau knows of and that our executor has not seen yet."""

    tool_call_id: str
    tool_name: str
    arguments: object
    call_id: str | None = None
    """The id under which a label of it was shown while it was written."""


class PastCall(NamedTuple):
    """A call as `/intent` shows it; `end` is None while it runs."""

    start: ToolExecutionStart
    end: ToolExecutionEnd | None = None


class TauSession:
    """One session: its pipeline, its place in the conversation, and what the person chose."""

    def __init__(self, runtime: SessionRuntime) -> None:
        self.runtime = runtime
        self.pipeline: Pipeline = runtime.pipeline
        self.override: Policy | None = None
        self.turn = 0
        self.group_id = ""
        self.message: StreamedMessage | None = None
        """The assistant message that is being written."""
        self.waiting: list[HostCall] = []
        self.ran: Counter[str] = Counter()
        """By Tau's id, the calls of the last assistant message that our executor took and Tau has not reported on."""
        self.reported: Counter[str] = Counter()
        """By Tau's id, the calls whose end Tau has told and whose result message is to come."""
        self.gates: Gates | None = None
        """What holds calls up before they run; None where nothing can."""
        self.shown: Shown | None = None
        """What a screen shows of the session; None where there is none."""
        self.turn_groups: set[str] = set()
        """The assistant messages since the person last asked for something."""
        self._recent: dict[str, PastCall] = {}
        self._unasked = 0
        self._starting: asyncio.Task[None] | None = None
        self._syncing: asyncio.Task[None] | None = None
        runtime.pipeline.sinks.subscribe(self._remember)

    @property
    def recent(self) -> list[PastCall]:
        """The last calls, oldest first."""
        return list(self._recent.values())

    def show(self) -> Shown:
        """Begin to keep what a screen shows, if nothing does yet."""
        if self.shown is None:
            from pi_intent.hosts.tau.shown import Shown  # a session without a screen has no use for it

            self.shown = Shown(self.runtime.pipeline.sinks)
        return self.shown

    def close(self) -> None:
        """End what is still open, and give the ledger back."""
        self.runtime.close()
        if self.shown is not None:
            self.shown.close()

    def _remember(self, event: ToolEvent) -> None:
        if isinstance(event, ToolExecutionStart):
            self._recent[event.call_id] = PastCall(event)
            if len(self._recent) > RECENT:
                del self._recent[next(iter(self._recent))]
        elif isinstance(event, ToolExecutionEnd) and (past := self._recent.get(event.call_id)):
            self._recent[event.call_id] = PastCall(past.start, event)

    def take_unasked(self) -> int:
        """Return how many calls did not run because nobody could be asked, since this was asked last."""
        count = 0 if self.gates is None else self.gates.check_in.unasked
        taken, self._unasked = count - self._unasked, count
        return taken

    def announce(self, group_id: str, calls: list[HostCall]) -> None:
        """Begin the calls of one assistant message."""
        self.turn += 1
        self.group_id = group_id
        self.turn_groups.add(group_id)
        self.waiting = calls
        self.ran.clear()
        self.reported.clear()

    def is_waiting(self, tool_call_id: str) -> bool:
        """Say whether Tau has announced a call under this id that nobody has taken out."""
        return any(call.tool_call_id == tool_call_id for call in self.waiting)

    def take(self, tool_call_id: str) -> HostCall | None:
        """Take out the first call that Tau has announced under this id, because our executor has it now."""
        self.ran[tool_call_id] += 1
        return self._take_waiting(tool_call_id)

    def take_ended(self, tool_call_id: str) -> HostCall | None:
        """Take out a call that Tau tells the end of, unless our executor had it."""
        self.reported[tool_call_id] += 1
        return self._take_reported(tool_call_id)

    def take_answered(self, tool_call_id: str) -> HostCall | None:
        """Take out a call that Tau has a result message for, unless its end was told or our executor had it."""
        if self.reported[tool_call_id]:
            self.reported[tool_call_id] -= 1
            return None
        return self._take_reported(tool_call_id)

    def _take_reported(self, tool_call_id: str) -> HostCall | None:
        if self.ran[tool_call_id]:
            self.ran[tool_call_id] -= 1
            return None
        return self._take_waiting(tool_call_id)

    def _take_waiting(self, tool_call_id: str) -> HostCall | None:
        for call in self.waiting:
            if call.tool_call_id == tool_call_id:
                self.waiting.remove(call)
                return call
        return None

    def start_soon(self) -> None:
        """Begin to open the ledger, because a call is being written: whoever watches sees it, and it waits less."""
        if self._starting is None and self.pipeline.journal is None:
            self._starting = asyncio.create_task(self.runtime.start())

    async def started(self) -> None:
        """Wait for what `start_soon` began."""
        if self._starting is not None:
            await asyncio.wait({self._starting})  # neither cancels it nor raises what it raised

    def sync_soon(self) -> None:
        """Have the ledger brought to the disk without waiting for it; one burst of calls shares it."""
        if self._syncing is None or self._syncing.done():
            self._syncing = asyncio.create_task(self._sync_later())

    async def _sync_later(self) -> None:
        await asyncio.sleep(SYNC_AFTER)
        await self.runtime.sync()


class Sessions:
    """The sessions of this process: by Tau's id, or by the session object where Tau gives none."""

    def __init__(self) -> None:
        self._by_id: dict[str, TauSession] = {}
        self._nameless: WeakKeyDictionary[object, TauSession] = WeakKeyDictionary()

    def get(self, session_id: str | None, bound: object) -> TauSession | None:
        return self._nameless.get(bound) if session_id is None else self._by_id.get(session_id)

    def put(self, session_id: str | None, bound: object, session: TauSession) -> None:
        if session_id is None:
            self._nameless[bound] = session
        else:
            self._by_id[session_id] = session

    def forget(self, session: TauSession) -> None:
        self._by_id = {key: kept for key, kept in self._by_id.items() if kept is not session}
        for bound in [bound for bound, kept in self._nameless.items() if kept is session]:
            del self._nameless[bound]


SESSIONS = Sessions()
