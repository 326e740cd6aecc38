"""Put one session of a host together: its ledger, its pipeline and its listeners."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from pi_intent import __version__
from pi_intent.descriptions import model_texts
from pi_intent.ids import ulid
from pi_intent.ledger.absent import NoLedger, could_not_be_opened, then
from pi_intent.pipeline import Pipeline
from pi_intent.recorded import RecordedSession
from pi_intent.sinks import PROCESS, FanOut
from pi_intent.types import Host

if TYPE_CHECKING:
    from pi_intent.channel import Channel
    from pi_intent.ledger.journal import SessionJournal
    from pi_intent.settings import Settings
    from pi_intent.tracing.live import Tracing


def new_id() -> str:
    """Return a new unique id that sorts by time."""
    return ulid(time.time_ns() // 1_000_000, os.urandom(10))


def may_ask(settings: Settings) -> bool:
    """Say whether anything may hold a call of this process up. Gates that nobody has set are not even loaded."""
    if settings.can_ask:
        return True
    declared = sys.modules.get("pi_intent.gates.declared")
    return declared is not None and not declared.PROCESS.is_empty


def waker(callback: Callable[[], None]) -> Callable[[], None]:
    """Return what has the running loop call back soon, from whatever thread; it does nothing on a loop of trio's."""
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        return lambda: None

    def wake() -> None:
        with suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(callback)

    return wake


class SessionRuntime(RecordedSession):
    """One session of a host, ready for calls once `start` was awaited.

    `tell` shows a person one sentence; `strict` vetoes calls that cannot be recorded; `withholds` says of a tool
    whether its texts must not leave the process; `traced` makes spans of the calls.
    """

    def __init__(
        self,
        *,
        session_id: str,
        host: Host,
        host_version: str,
        cwd: Path,
        strict: bool,
        tell: Callable[[str], None],
        withholds: Callable[[str], bool],
        traced: bool = False,
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        super().__init__()
        self.session_id = session_id
        self.host = host
        self.host_version = host_version
        self.cwd = cwd
        self.strict = strict
        self.tell = tell
        self.withholds = withholds
        self.traced = traced
        self.environ = environ
        self.channel: Channel | None = None
        """Where other programs of the same person watch; None where nothing is recorded."""
        self.tracing: Tracing | None = None
        """Who makes spans of the calls; None where nobody asked for them or nobody receives them."""
        self.pipeline = Pipeline(
            session_id=session_id,
            host=host,
            texts=model_texts(),
            sinks=FanOut(on_problem=self.tell_once, wider=PROCESS),
            clock=time.monotonic_ns,
            new_id=new_id,
        )
        self._said: set[str] = set()
        self._untold: list[str] = []
        self._wake: Callable[[], None] = lambda: None
        """Has the loop of the session tell what another thread found, where it can be woken."""
        self._thread = threading.get_ident()
        self._closed = False
        self._opening = threading.Lock()
        """Held by the thread that opens the ledger, so that it is opened once."""

    def tell_once(self, message: str) -> None:
        """Show a person a sentence that they have not been shown; from another thread, when the loop comes to it."""
        if message in self._said:
            return
        self._said.add(message)
        if threading.get_ident() == self._thread:
            self.tell(message)
        else:
            self._untold.append(message)
            self._wake()

    async def start(self) -> None:
        """Open the ledger, once; git and the disk are asked in a thread. Never raises."""
        if self.pipeline.journal is not None:
            return
        self._wake = waker(self._tell_untold)
        await anyio.to_thread.run_sync(self._open_journal)
        self._tell_untold()

    def _tell_untold(self) -> None:
        while self._untold:
            self.tell(self._untold.pop(0))

    def _open_journal(self) -> None:
        # The thread keeps what it opened, because whoever waits for it may be cancelled.
        with self._opening:
            if self.pipeline.journal is not None:
                return
            try:
                journal = self._opened_journal()
            except Exception as error:  # a boundary: the promise of `start`
                reason = could_not_be_opened(error)
                self._open_tracing()
                self.pipeline.journal = NoLedger(reason, self.strict)
                self.tell_once(f"{reason}; {then(self.strict)}")
                return
            self.journal = journal
            journal.learn(self._secrets)
            self._open_channel(journal)
            self._open_tracing()
            self.pipeline.journal = journal  # last: from now on there are calls
            if self._closed:  # while it was opened
                self._give_back()

    def _opened_journal(self) -> SessionJournal:
        # Here and not above: a session in which nothing is called need not load the ledger.
        from pi_intent.ledger.journal import SessionJournal
        from pi_intent.ledger.record import SessionInfo

        info = SessionInfo(
            session=self.session_id,
            host=self.host,
            host_version=self.host_version,
            cwd=str(self.cwd),
            agent="main",
            version=__version__,
        )
        journal = SessionJournal.open(info, environ=self.environ, on_problem=self.tell_once, strict=self.strict)
        if journal.location.git_dir is not None and journal.location.note is not None:
            self.tell_once(journal.location.note)  # not in the repository's own folder, where somebody would look
        return journal

    def _open_channel(self, journal: SessionJournal) -> None:
        from pi_intent.channel import Channel

        self.channel = Channel.open(
            journal.location.root,
            redactor=journal.redactor,
            environ=self.environ,
            withholds=lambda tool_name: self.withholds(tool_name),
        )
        self.pipeline.sinks.subscribe(self.channel.publish)
        if self.channel.problem is not None:
            self.tell_once(self.channel.problem)

    async def start_tracing(self) -> None:
        """Make spans of the calls where no ledger is to be opened. Never raises."""
        if self.traced and self.tracing is None:
            self._wake = waker(self._tell_untold)
            await anyio.to_thread.run_sync(self._open_tracing)
            self._tell_untold()

    def _open_tracing(self) -> None:
        if not self.traced:
            return
        from pi_intent.tracing.live import Tracing

        self.traced = False  # once
        self.tracing = Tracing.open(lambda: self.redactor_of_spans(self.environ), self.environ, self.tell_once)
        if self.tracing is not None:
            self.pipeline.sinks.subscribe(self.tracing.publish)

    async def sync(self) -> None:
        """Wait until the disk has every record; once begun, a cancellation waits for it. Never raises."""
        if self.journal is not None and self.journal.is_dirty:
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(self.journal.flush)

    def close(self) -> None:
        """End what is still open as interrupted, and give the ledger back."""
        self._closed = True
        self.pipeline.settle_all("interrupted")
        self._give_back()
        self._tell_untold()

    def _give_back(self) -> None:
        self.give_back()
        if self.channel is not None:
            self.channel.close()
        if self.tracing is not None:
            self.tracing.close()
