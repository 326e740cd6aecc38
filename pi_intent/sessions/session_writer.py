"""Write what one session lacks in the ledger: a segment of its own, and only when there is something to write."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field

from pi_intent.errors import LedgerError
from pi_intent.ids import ulid
from pi_intent.ledger.keys import Digester
from pi_intent.ledger.location import LedgerLocation, make_private_folder
from pi_intent.ledger.record import Recorder, SessionInfo, timestamp
from pi_intent.ledger.segment import Segment
from pi_intent.redaction import Redactor
from pi_intent.sessions.known import proxied_calls


@dataclass(slots=True, kw_only=True)
class Target:
    """The ledger that session files are read into. `folders` are the project's, also its other work trees.

    With `dry_run` nothing is written. `planned` is what was, or would have been: another file may hold it, too.
    `clock` gives Unix seconds: when something was imported.
    """

    location: LedgerLocation
    folders: tuple[str, ...]
    redactor: Redactor
    digester: Digester
    clock: Callable[[], float]
    dry_run: bool
    planned: set[str] = field(default_factory=set)
    _proxied: dict[tuple[str, str], str] | None = field(default=None, init=False)

    def proxied_as(self, tool_call_id: str, tool: str) -> str | None:
        """Return the id under which a proxy recorded a call of an MCP tool while it happened; None where none did."""
        if self._proxied is None:
            self._proxied = proxied_calls(self.location.root)
        return self._proxied.get((tool_call_id, tool))

    def recorder(self, cwd: str) -> Recorder:
        """Return what builds the records of calls that were made in a folder."""
        return Recorder(self.redactor, self.digester, project=self.folders, cwd=cwd)

    def segment_name(self, session: str) -> str:
        """Return the session's id as it stands in the names of files."""
        return self.redactor.text(session)


class SessionWriter:
    """One session in one run. Every record is handed to the kernel at once, so a run may end anywhere.

    `began` is when the session did: by that it stands among the others, and grows old.
    """

    def __init__(self, target: Target, info: SessionInfo, *, began: float) -> None:
        self._target = target
        self._info = info
        self._began_at = began
        self._segment: Segment | None = None

    def append(self, record: str) -> None:
        """Write a record. Raises `LedgerError`."""
        if self._target.dry_run:
            return
        try:
            if self._segment is None:
                self._segment = self._begun()
            self._segment.append(record)
        except OSError as error:
            raise self._problem(error) from error

    def close(self) -> None:
        """Wait until the disk has everything, and give the segment back. Raises `LedgerError`."""
        segment, self._segment = self._segment, None
        if segment is None:
            return
        try:
            segment.flush()
        except OSError as error:
            raise self._problem(error) from error
        finally:
            segment.close()

    def _begun(self) -> Segment:
        target = self._target
        make_private_folder(target.location.root)
        segment = Segment.create(target.location.segments, target.segment_name(self._info.session))
        record = target.recorder(self._info.cwd).session(
            self._info,
            record_id=ulid(int(target.clock() * 1000), os.urandom(10)),
            ts=timestamp(self._began_at),
            writer=segment.writer,
            pid=os.getpid(),
        )
        segment.append(record)
        return segment

    def _problem(self, error: OSError) -> LedgerError:
        folder = self._target.location.segments
        return LedgerError(
            f"the ledger {folder} could not be written ({error.strerror or error}): free some space, or look at who "
            "owns the folder, and import again, which goes on where this ended"
        )
