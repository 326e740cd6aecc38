"""Put one session of a host together: its ledger, its pipeline and its listeners."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from pi_intent import __version__
from pi_intent.descriptions import model_texts
from pi_intent.ids import ulid
from pi_intent.pipeline import Pipeline
from pi_intent.sinks import PROCESS, FanOut
from pi_intent.types import Host

if TYPE_CHECKING:
    from pi_intent.ledger.journal import SessionJournal


def new_id() -> str:
    """Return a new unique id that sorts by time."""
    return ulid(time.time_ns() // 1_000_000, os.urandom(10))


class SessionRuntime:
    """One session of a host, ready for calls once `start` was awaited.

    `tell` shows a person one sentence; `strict` vetoes calls that cannot be recorded.
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
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        self.session_id = session_id
        self.host = host
        self.host_version = host_version
        self.cwd = cwd
        self.strict = strict
        self.tell = tell
        self.environ = environ
        self.journal: SessionJournal | None = None
        self.pipeline = Pipeline(
            session_id=session_id,
            host=host,
            texts=model_texts(),
            sinks=FanOut(on_problem=self.tell_once, wider=PROCESS),
            clock=time.monotonic_ns,
            new_id=new_id,
        )
        self._said: set[str] = set()
        self._starting = anyio.Lock()

    def tell_once(self, message: str) -> None:
        """Show a person a sentence that they have not been shown in this session."""
        if message not in self._said:
            self._said.add(message)
            self.tell(message)

    async def start(self) -> None:
        """Open the ledger, once; git and the disk are asked in a thread. Never raises."""
        if self.pipeline.journal is not None:
            return
        async with self._starting:
            if self.pipeline.journal is None:
                self.journal = await anyio.to_thread.run_sync(self._open_journal)
                self.pipeline.journal = self.journal

    def _open_journal(self) -> SessionJournal:
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
        return SessionJournal.open(info, environ=self.environ, on_problem=self.tell_once, strict=self.strict)

    async def sync(self) -> None:
        """Wait until the disk has every record. Never raises, and is not cut short."""
        if self.journal is not None:
            await self.journal.sync()

    def close(self) -> None:
        """End what is still open as interrupted, and give the ledger back."""
        self.pipeline.settle_all("interrupted")
        if self.journal is not None:
            self.journal.close()
