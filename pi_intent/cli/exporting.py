"""Read a project's ledger for an export: which calls, how far it is, and what could not be read."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import click

from pi_intent.cli.here import ledger_here
from pi_intent.cli.moments import since
from pi_intent.cli.progress import Progress
from pi_intent.cli.session_choice import choose_session
from pi_intent.cli.unread import tell_unread
from pi_intent.errors import LedgerError
from pi_intent.ledger.calls import Joining, LedgerCall
from pi_intent.ledger.keys import load_key, redaction_key
from pi_intent.ledger.location import LedgerLocation
from pi_intent.ledger.owners import belongs_to, session_ids, session_of
from pi_intent.ledger.reader import Line, Segment, read_segments
from pi_intent.redaction import Redactor

SESSION = click.option("--session", metavar="ID", help="Only this session; the beginning of its id is enough.")
SINCE = click.option(
    "--since",
    metavar="WHEN",
    callback=lambda _context, _option, text: None if text is None else since(text),
    help='Only what began since then: "2 hours ago", "7d", "2025-01-31".',
)


@dataclass(frozen=True, kw_only=True)
class _Followed(Segment):
    """A file whose reading shows how far it is."""

    progress: Progress

    def lines(self) -> Iterator[Line]:
        return self.progress.over(Segment.lines(self))


@dataclass(slots=True, kw_only=True)
class Source:
    """A project's ledger, and the calls of it that are asked for: of one session, from some time on.

    `session` is an id that somebody typed, or the beginning of one. Raises `PiIntentError` where it means none.
    """

    session: str | None
    since: str | None
    location: LedgerLocation = field(default_factory=ledger_here)
    joining: Joining = field(default_factory=Joining)
    _chosen: str | None = None
    _in_chosen: frozenset[Path] = frozenset()

    def __post_init__(self) -> None:
        if self.session is None:
            return
        segments = [item for item in read_segments(self.location.root) if isinstance(item, Segment)]
        owners = [session_of(segment) for segment in segments]
        chosen = self._chosen = choose_session(self.session, session_ids(owners), self.location.segments)
        self._in_chosen = frozenset(
            segment.path
            for segment, owner in zip(segments, owners, strict=True)
            if belongs_to(segment, owner, chosen)
        )

    def calls(self) -> Iterator[LedgerCall]:
        """Yield all the calls of the ledger, whichever are asked for."""
        found = [*read_segments(self.location.root)]
        progress = Progress("Reading the ledger:", sum(_size(item.path) for item in found))
        try:
            yield from self.joining.calls(
                _Followed(path=item.path, running=item.running, progress=progress)
                if isinstance(item, Segment)
                else item
                for item in found
            )
        finally:
            progress.close()

    def wants(self, call: LedgerCall) -> bool:
        """Whether a call is asked for."""
        if self.since is not None and call.ts < self.since:
            return False
        if self._chosen is None:
            return True
        return call.call.session == self._chosen if call.call is not None else call.path in self._in_chosen

    def redactor(self) -> Redactor:
        """Return what takes out what is secret by now: the ledger may be older than a secret."""
        try:
            # Not where there is no ledger: asking for its key would make one.
            key = load_key(self.location.root) if self.location.segments.is_dir() else os.urandom(32)
        except LedgerError:
            key = os.urandom(32)
        return Redactor(redaction_key(key), os.environ)

    def nothing(self) -> str:
        """Say what there is none of, where no call is exported."""
        wanted = " of this session" if self.session is not None else ""
        wanted += " since then" if self.since is not None else ""
        return f"No call{wanted} is recorded"

    def report(self) -> None:
        """Tell on standard error what could not be read, each thing once."""
        tell_unread(self.joining.problems, self.joining.others)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
