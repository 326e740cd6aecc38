"""What one session file gave, in numbers."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from pi_intent.sessions.values import Dialect, FoundCall, FoundResult, Unread

MOST_UNREAD = 20
"""Lines of a file that could not be read and are named one by one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileReport:
    """What stands in a session file, and what of it the ledger did not have.

    `results` are those of calls in the file and of others; `unpaired` the others, which are not kept. `per_edit` is
    the number of intents inside single edits. `already` are calls that were taken in before, `recorded` those that
    pi-intent recorded while they happened, `repeated` those that another of the files has, too, `still_running` those
    that pi-intent may be about to record: together with `new_calls` they are all `calls`. `impossible_times` counts
    times that cannot be; another one was taken. `unread` names the first
    lines that could not be read, and why; `unread_lines` counts all of them.
    """

    path: Path
    dialect: Dialect
    sessions: tuple[str, ...]
    folders: tuple[str, ...]
    calls: int
    results: int
    errors: int
    rejected: int
    intents: int
    per_edit: int
    unpaired: int
    new_calls: int
    new_ends: int
    already: int
    recorded: int
    repeated: int
    still_running: int
    impossible_times: int
    unread_lines: int
    unread: tuple[Unread, ...]


@dataclass(slots=True)
class Counts:
    """Adds up what stands in one file while it is read."""

    calls: int = 0
    results: int = 0
    errors: int = 0
    rejected: int = 0
    intents: int = 0
    per_edit: int = 0
    unpaired: int = 0
    new_calls: int = 0
    new_ends: int = 0
    already: int = 0
    recorded: int = 0
    repeated: int = 0
    still_running: int = 0
    impossible_times: int = 0
    unread_lines: int = 0
    unread: list[Unread] = field(default_factory=list)
    sessions: dict[str, None] = field(default_factory=dict)
    folders: dict[str, None] = field(default_factory=dict)

    def call(self, call: FoundCall) -> None:
        """Count a call that was not met before."""
        self.calls += 1
        self.intents += call.intent is not None
        self.per_edit += call.per_edit

    def result(self, result: FoundResult) -> None:
        """Count a result that was not met before, or that belongs to no call."""
        self.results += 1
        self.errors += result.is_error
        self.rejected += result.status == "rejected"

    def not_read(self, unread: Unread) -> None:
        """Count a line that could not be read, and keep the first few."""
        self.unread_lines += 1
        if len(self.unread) < MOST_UNREAD:
            self.unread.append(unread)

    def report(self, path: Path, dialect: Dialect) -> FileReport:
        """Return the numbers as they are now."""
        return FileReport(
            path=path,
            dialect=dialect,
            sessions=tuple(self.sessions),
            folders=tuple(self.folders),
            calls=self.calls,
            results=self.results,
            errors=self.errors,
            rejected=self.rejected,
            intents=self.intents,
            per_edit=self.per_edit,
            unpaired=self.unpaired,
            new_calls=self.new_calls,
            new_ends=self.new_ends,
            already=self.already,
            recorded=self.recorded,
            repeated=self.repeated,
            still_running=self.still_running,
            impossible_times=self.impossible_times,
            unread_lines=self.unread_lines,
            unread=tuple(self.unread),
        )
