"""Put one session of a host together: its ledger, its pipeline and its listeners."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import anyio.to_thread

from pi_intent import __version__
from pi_intent.descriptions import model_texts
from pi_intent.ids import ulid
from pi_intent.ledger.journal import SessionJournal
from pi_intent.ledger.record import SessionInfo
from pi_intent.pipeline import Pipeline
from pi_intent.sinks import PROCESS, FanOut
from pi_intent.types import Host


def new_id() -> str:
    """Return a new unique id that sorts by time."""
    return ulid(time.time_ns() // 1_000_000, os.urandom(10))


@dataclass(slots=True, kw_only=True)
class SessionRuntime:
    """One session of a host, ready for calls once `start` was awaited.

    `tell` shows a person one sentence. `tell_once` does so at most once a session for each sentence.
    """

    session_id: str
    host: Host
    host_version: str
    cwd: Path
    strict: bool
    tell: Callable[[str], None]
    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    on_stuck: Callable[[str, int], None] | None = None
    journal: SessionJournal | None = None
    pipeline: Pipeline = field(init=False)
    _said: set[str] = field(default_factory=set)
    _starting: anyio.Lock = field(default_factory=anyio.Lock)

    def __post_init__(self) -> None:
        self.pipeline = Pipeline(
            session_id=self.session_id,
            host=self.host,
            texts=model_texts(),
            sinks=FanOut(on_problem=self.tell_once, wider=PROCESS),
            clock=time.monotonic_ns,
            new_id=new_id,
            on_stuck=self.on_stuck,
        )

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
                info = SessionInfo(
                    session=self.session_id,
                    host=self.host,
                    host_version=self.host_version,
                    cwd=str(self.cwd),
                    agent="main",
                    version=__version__,
                )
                self.journal = await anyio.to_thread.run_sync(self._open_journal, info)
                self.pipeline.journal = self.journal

    def _open_journal(self, info: SessionInfo) -> SessionJournal:
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
