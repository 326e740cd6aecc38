"""Keep the ledger of a proxied session, found beside the traffic: whoever calls first waits for it, nobody else."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from pi_intent import __version__
from pi_intent.contract.texts import ModelTexts
from pi_intent.ids import ulid
from pi_intent.ledger.absent import NoLedger, could_not_be_opened, then
from pi_intent.pipeline import Pipeline
from pi_intent.recorded import RecordedSession
from pi_intent.sinks import PROCESS, FanOut
from pi_intent.types import Host

if TYPE_CHECKING:
    from pi_intent.ledger.journal import SessionJournal
    from pi_intent.tracing.live import Tracing


def _new_id() -> str:
    return ulid(time.time_ns() // 1_000_000, os.urandom(10))


class Recording(RecordedSession):
    """The pipeline of a session and its ledger. Nothing is created on the disk before the first call.

    `tell` shows a person one sentence, from any thread; under `strict` calls that cannot be recorded are refused;
    `traced` makes spans of the calls.
    """

    def __init__(
        self,
        *,
        texts: ModelTexts,
        environ: Mapping[str, str],
        strict: bool,
        tell: Callable[[str], None],
        traced: bool = False,
    ) -> None:
        super().__init__()
        self._environ = environ
        self._strict = strict
        self._tell = tell
        self.host: Host = "mcp"
        self.cwd = Path("/")
        with suppress(OSError):  # it is gone
            self.cwd = Path(os.getcwd())
        self.pipeline = Pipeline(
            session_id=_new_id(),
            host=self.host,
            texts=texts,
            sinks=FanOut(on_problem=tell, wider=PROCESS),
            clock=time.monotonic_ns,
            new_id=_new_id,
        )
        self._traced = traced
        self._tracing: Tracing | None = None
        self._said: set[str] = set()
        self._reason = ""
        """Why there is no ledger."""
        self._finding: threading.Thread | None = None
        self._syncing: threading.Thread | None = None

    def begin(self, client: str | None) -> None:
        """Look for the ledger, in a thread, and note who the client is; done once."""
        if self._finding is None:
            self._finding = threading.Thread(target=self._find, args=(client,), daemon=True)
            try:
                self._finding.start()
            except RuntimeError:  # no more threads are to be had
                self._find(client)
                self._finding = threading.Thread()

    def ready(self) -> Pipeline:
        """Return the pipeline, ready for calls."""
        if self.pipeline.journal is None:
            self.begin(None)
            if self._finding is not None and self._finding.ident is not None:
                self._finding.join()
            self.pipeline.journal = self.journal or NoLedger(self._reason, self._strict)
        return self.pipeline

    def tell_once(self, message: str) -> None:
        """Show a person a sentence that they have not been shown."""
        if message not in self._said:
            self._said.add(message)
            self._tell(message)

    def sync(self) -> None:
        """Have the disk take what was written, in a thread, unless one is at it."""
        if self.journal is None or not self.journal.is_dirty or (self._syncing and self._syncing.is_alive()):
            return
        self._syncing = threading.Thread(target=self.journal.flush, daemon=True)
        with suppress(RuntimeError):  # no more threads are to be had: the next time, or at the end
            self._syncing.start()

    def close(self) -> None:
        """End what is still open as interrupted, and give the ledger back."""
        self.pipeline.settle_all("interrupted")
        self.give_back()
        if self._tracing is not None:
            self._tracing.close()
            self._tracing.end()

    def _find(self, client: str | None) -> None:
        try:
            self.journal = self._found(client)
            if self._secrets:
                self.journal.learn(self._secrets)
        except Exception as error:  # a boundary: whatever is wrong with the ledger, the session goes on
            self._reason = could_not_be_opened(error)
            self._tell(f"{self._reason}; {then(self._strict)}")
        if self._traced:
            self._trace()

    def _trace(self) -> None:
        from pi_intent.tracing.live import Tracing  # only for those who have asked for it

        self._tracing = Tracing.open(lambda: self.redactor_of_spans(self._environ), self._environ, self._tell)
        if self._tracing is not None:
            self.pipeline.sinks.subscribe(self._tracing.publish)

    def _found(self, client: str | None) -> SessionJournal:
        # Here and not above: what the ledger takes to load would stand between a client and its first answer.
        from pi_intent.ledger.journal import SessionJournal
        from pi_intent.ledger.location import find_ledger
        from pi_intent.ledger.record import SessionInfo

        info = SessionInfo(
            session=self.pipeline.session_id,
            host=self.host,
            host_version=client,
            agent="main",
            cwd=str(self.cwd),
            version=__version__,
        )
        return SessionJournal(
            find_ledger(self.cwd, self._environ),
            info,
            environ=self._environ,
            on_problem=self._tell,
            strict=self._strict,
        )
