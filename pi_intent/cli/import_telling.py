"""Say what an import did, for people and as JSON."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from pi_intent.cli.console import json_text
from pi_intent.cli.telling import tell, tell_error
from pi_intent.facts import counted
from pi_intent.labels.printable import printable
from pi_intent.ledger.location import LedgerLocation
from pi_intent.sessions.front import WAYS
from pi_intent.sessions.places import is_inside
from pi_intent.sessions.report import FileReport
from pi_intent.sessions.survey import Offer
from pi_intent.sessions.values import Dialect

_MOST_NAMED = 10


def by_dialect[T: (Offer, FileReport)](found: Iterable[T]) -> dict[Dialect, list[T]]:
    """Group what was found by the agent whose it is."""
    grouped: dict[Dialect, list[T]] = {}
    for item in found:
        grouped.setdefault(item.dialect, []).append(item)
    return grouped


def safely(path: str | Path, redact: Callable[[str], str]) -> str:
    """Return a path as it is shown: short where it lies in the home folder, without secrets, on one line."""
    text, home = str(path), os.path.expanduser("~").rstrip("/") + "/"
    short = f"~/{text.removeprefix(home)}" if text.startswith(home) and len(home) > 1 else text
    return printable(redact(short), width=1000)


def print_reports(
    location: LedgerLocation,
    folders: tuple[str, ...],
    reports: Sequence[FileReport],
    foreign: int,
    redact: Callable[[str], str],
    *,
    dry_run: bool,
) -> None:
    """Say what was imported, by agent, what was left out, and what to do next; `redact` takes out what is secret."""
    grouped = by_dialect(reports)
    if grouped:
        project = safely(location.project or location.root, redact)
        tell(f"{'Would go' if dry_run else 'Read'} into the ledger of {project}:", whole=[project])
    width = max((len(WAYS[dialect].name) for dialect in grouped), default=0)
    for dialect, of_one in grouped.items():
        amount, parts = _amount(of_one), _parts(of_one)
        told = f"{amount}: {', '.join(parts)}" if parts else amount
        tell(f"  {WAYS[dialect].name:{width}}  {told}", whole=parts, hang=width + 2)
    running = sum(report.still_running for report in reports)
    if running:
        _note(
            f"{counted(running, 'call')} may still be running and {'is' if running == 1 else 'are'} left out: "
            "import again when the session has ended"
        )
    _print_unread(reports, redact)
    _print_left_out(reports, foreign)
    _print_other_folders(folders, reports, redact)
    new = sum(report.new_calls + report.new_ends for report in reports)
    if new and not dry_run:
        tell('Next: "pi-intent log" shows them, "pi-intent stats" counts them.')
    elif new:
        tell("Nothing was written. Without --dry-run it is.")
    elif grouped:
        tell(_nothing_new(reports, running))
    elif foreign:
        tell("No session was found among the files.")


def _nothing_new(reports: Sequence[FileReport], running: int) -> str:
    if running:
        return "Nothing else is new."
    if not any(report.calls for report in reports):
        return "Nothing to take in: there are no calls."
    return "Nothing new: the ledger has all of it."


def _amount(reports: Sequence[FileReport]) -> str:
    sessions = len({session for report in reports for session in report.sessions})
    calls = sum(report.calls for report in reports)
    return f"{counted(sessions, 'session')}, {calls:,} {'call' if calls == 1 else 'calls'}"


def _parts(reports: Sequence[FileReport]) -> list[str]:
    """Say what the calls are, as far as there are any."""

    def total(name: str) -> int:
        return sum(getattr(report, name) for report in reports)

    parts = (
        ("new", total("new_calls")),
        ("that have ended since", 0 if total("new_calls") else total("new_ends")),
        ("there before", total("already")),
        ("repeated in these files", total("repeated")),
        ("recorded by pi-intent itself", total("recorded")),
        ("still running", total("still_running")),
        ("with an intent", total("intents")),
        ("rejected", total("rejected")),
    )
    return [f"{count:,} {what}" for what, count in parts if count]


def _print_unread(reports: Sequence[FileReport], redact: Callable[[str], str]) -> None:
    unread = [report for report in reports if report.unread_lines]
    for report in unread[:_MOST_NAMED]:
        more = report.unread_lines - 1
        rest = f" ({counted(more, 'more complaint')} about this file)" if more else ""
        path = safely(report.path, redact)
        _note(f"{_one_line(report.unread[0].text, redact)}{rest}: {path}", whole=[path])
    if len(unread) > _MOST_NAMED:
        _note(f"{len(unread) - _MOST_NAMED} more files with lines that were not read; --json names them")


def _print_left_out(reports: Sequence[FileReport], foreign: int) -> None:
    impossible = sum(report.impossible_times for report in reports)
    if impossible:
        one = "it" if impossible == 1 else "each"
        _note(f"{counted(impossible, 'time')} that cannot be true: the nearest before {one} counts instead")
    empty = sum(not report.calls for report in reports)
    if empty:
        _note(f"{counted(empty, 'session file')} with no calls in {'it' if empty == 1 else 'them'}")
    unpaired = sum(report.unpaired for report in reports)
    if unpaired:
        _note(f"{counted(unpaired, 'result')} without a call in the file: not kept, as nothing says what was done")
    per_edit = sum(report.per_edit for report in reports)
    if per_edit:
        _note(f"{counted(per_edit, 'intent')} inside single edits: counted only, as they are of no whole call")
    if foreign:
        _note(f"{counted(foreign, 'file')} that {'is' if foreign == 1 else 'are'} no session of an agent known here")


def _print_other_folders(
    folders: tuple[str, ...], reports: Sequence[FileReport], redact: Callable[[str], str]
) -> None:
    others = dict.fromkeys(cwd for report in reports for cwd in report.folders if not is_inside(cwd, folders))
    if others:
        named = [safely(cwd, redact) for cwd in others]
        more = f" and {len(named) - 3} more" if len(named) > 3 else ""
        said = (
            f"Some of it was done outside this project, in {', '.join(named[:3])}{more}: paths there stay as they are"
        )
        _note(said, whole=named[:3])


def _note(text: str, *, whole: Iterable[str] = ()) -> None:
    tell(f"· {text}", whole=whole, hang=2)


def _one_line(text: str, redact: Callable[[str], str]) -> str:
    return printable(redact(text), width=1000)


def print_failures(sentences: Iterable[str], redact: Callable[[str], str]) -> None:
    """Say on standard error what could not be imported."""
    for sentence in sentences:
        tell_error(f"Error: {_one_line(sentence, redact)}")


def reports_document(
    location: LedgerLocation,
    reports: Iterable[FileReport],
    foreign: int,
    failed: Sequence[str],
    redact: Callable[[str], str],
    *,
    dry_run: bool,
) -> str:
    """Return what was imported as JSON; `redact` takes out what is secret."""
    document = {
        "ledger": redact(str(location.segments)),
        "dryRun": dry_run,
        "files": [_document(report, redact) for report in reports],
        "foreign": foreign,
        "failed": [redact(sentence) for sentence in failed],
    }
    return json_text(document, indent=2)


def _document(report: FileReport, redact: Callable[[str], str]) -> dict[str, Any]:
    return {
        "path": redact(str(report.path)),
        "dialect": report.dialect,
        "sessions": [*map(redact, report.sessions)],
        "folders": [*map(redact, report.folders)],
        "calls": report.calls,
        "results": report.results,
        "errors": report.errors,
        "rejected": report.rejected,
        "intents": report.intents,
        "perEditIntents": report.per_edit,
        "unpaired": report.unpaired,
        "newCalls": report.new_calls,
        "newEnds": report.new_ends,
        "already": report.already,
        "recorded": report.recorded,
        "repeated": report.repeated,
        "impossibleTimes": report.impossible_times,
        "stillRunning": report.still_running,
        "unreadLines": report.unread_lines,
        "unread": [{"line": unread.line, "text": redact(unread.text)} for unread in report.unread],
    }
