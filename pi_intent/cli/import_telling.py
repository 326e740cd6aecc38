"""Say what an import found and did, for people and as JSON."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

import click

from pi_intent.cli.console import complain, json_text
from pi_intent.facts import counted, human_size
from pi_intent.labels.printable import printable
from pi_intent.ledger.location import LedgerLocation
from pi_intent.ledger.record import timestamp
from pi_intent.sessions.front import WAYS
from pi_intent.sessions.places import is_inside, usual_places
from pi_intent.sessions.report import FileReport
from pi_intent.sessions.survey import Offer, Survey
from pi_intent.sessions.values import Dialect

_MOST_NAMED = 10


def print_offers(location: LedgerLocation, seen: Survey) -> None:
    """Say what lies in the usual places, by agent."""
    if seen.offers:
        _say(f"Sessions of this project ({location.project or location.root}):")
        width = max(len(WAYS[offer.dialect].name) for offer in seen.offers)
        for dialect, offers in _by_dialect(seen.offers).items():
            sessions = counted(len({offer.session for offer in offers}), "session")
            size = human_size(sum(offer.size for offer in offers))
            click.echo(f"  {WAYS[dialect].name:{width}}  {sessions:>12}  {size:>7}  last used {_local(offers)}")
    else:
        places = [str(place.folder) for place in usual_places(os.environ) if place.folder.is_dir()]
        where = f"looked in {', '.join(places)}" if places else "no agent keeps any in the usual places"
        complain(f"No session of this project was found ({where}). Name a file or a folder to import it.")
    if seen.elsewhere:
        complain(
            f"{counted(seen.elsewhere, 'session file')} of other projects: import them there, or name them here."
        )


def _by_dialect[T: (Offer, FileReport)](found: Iterable[T]) -> dict[Dialect, list[T]]:
    grouped: dict[Dialect, list[T]] = {}
    for item in found:
        grouped.setdefault(item.dialect, []).append(item)
    return grouped


def _local(offers: Sequence[Offer]) -> str:
    latest = max(offer.modified for offer in offers)
    try:
        return datetime.fromtimestamp(latest, UTC).astimezone().strftime("%Y-%m-%d %H:%M")
    except (ValueError, OverflowError, OSError):  # a file can be dated by anybody
        return "at no date that a calendar has"


def print_reports(
    location: LedgerLocation, folders: tuple[str, ...], reports: Sequence[FileReport], foreign: int, *, dry_run: bool
) -> None:
    """Say what was imported, by agent, what was left out, and what to do next."""
    grouped = _by_dialect(reports)
    if grouped:
        _say(f"{'Would go' if dry_run else 'Read'} into the ledger of {location.project or location.root}:")
    width = max((len(WAYS[dialect].name) for dialect in grouped), default=0)
    for dialect, of_one in grouped.items():
        click.echo(f"  {WAYS[dialect].name:{width}}  {_amount(of_one)}")
    running = sum(report.still_running for report in reports)
    if running:
        _say(
            f"· {counted(running, 'call')} may still be running and {'is' if running == 1 else 'are'} left out: "
            "import again when the session has ended"
        )
    _print_left_out(reports, foreign)
    _print_other_folders(folders, reports)
    new = sum(report.new_calls + report.new_ends for report in reports)
    if new and not dry_run:
        _say('Next: "pi-intent log" shows them, "pi-intent stats" counts them.')
    elif new:
        _say("Nothing was written. Without --dry-run it is.")
    elif grouped:
        _say("Nothing else is new." if running else "Nothing new: the ledger has all of it.")
    elif foreign:
        _say("No session was found among the files.")


def _amount(reports: Sequence[FileReport]) -> str:
    def total(name: str) -> int:
        return sum(getattr(report, name) for report in reports)

    sessions = len({session for report in reports for session in report.sessions})
    parts = (
        ("new", total("new_calls")),
        ("that have ended since", 0 if total("new_calls") else total("new_ends")),
        ("there before", total("already")),
        ("recorded by pi-intent itself", total("recorded")),
        ("still running", total("still_running")),
        ("with an intent", total("intents")),
        ("rejected", total("rejected")),
    )
    told = ", ".join(f"{count:,} {what}" for what, count in parts if count)
    calls = total("calls")
    return (
        f"{counted(sessions, 'session')}, {calls:,} {'call' if calls == 1 else 'calls'}{': ' if told else ''}{told}"
    )


def _print_left_out(reports: Sequence[FileReport], foreign: int) -> None:
    unread = [report for report in reports if report.unread_lines]
    for report in unread[:_MOST_NAMED]:
        more = report.unread_lines - 1
        rest = f" ({more} more in this file)" if more else ""
        _say(f"· {report.path.name}: {report.unread[0].text}{rest}")
    if len(unread) > _MOST_NAMED:
        _say(f"· {len(unread) - _MOST_NAMED} more files with lines that were not read; --json names them")
    unpaired = sum(report.unpaired for report in reports)
    if unpaired:
        _say(f"· {counted(unpaired, 'result')} without a call in the file: not kept, as nothing says what was done")
    per_edit = sum(report.per_edit for report in reports)
    if per_edit:
        _say(f"· {counted(per_edit, 'intent')} inside single edits: counted only, as they are of no whole call")
    if foreign:
        _say(f"· {counted(foreign, 'file')} that {'is' if foreign == 1 else 'are'} no session of an agent known here")


def _print_other_folders(folders: tuple[str, ...], reports: Sequence[FileReport]) -> None:
    others = [*dict.fromkeys(cwd for report in reports for cwd in report.folders if not is_inside(cwd, folders))]
    if others:
        named = ", ".join(others[:3]) + (f" and {len(others) - 3} more" if len(others) > 3 else "")
        _say(f"· Some of it was done outside this project, in {named}: paths there stay as they are")


def _say(text: str) -> None:
    click.echo(printable(text, width=1000))


def offers_document(location: LedgerLocation, seen: Survey) -> str:
    """Return what lies in the usual places as JSON."""
    found = [
        {
            "path": str(offer.path),
            "dialect": offer.dialect,
            "session": offer.session,
            "cwd": offer.cwd,
            "bytes": offer.size,
            "modified": _time(offer.modified),
        }
        for offer in seen.offers
    ]
    return json_text({"ledger": str(location.segments), "found": found, "elsewhere": seen.elsewhere}, indent=2)


def _time(seconds: float) -> str | None:
    try:
        return timestamp(seconds)
    except (ValueError, OverflowError, OSError):
        return None


def reports_document(
    location: LedgerLocation, reports: Iterable[FileReport], foreign: int, failed: Sequence[str], *, dry_run: bool
) -> str:
    """Return what was imported as JSON."""
    document = {
        "ledger": str(location.segments),
        "dryRun": dry_run,
        "files": [_document(report) for report in reports],
        "foreign": foreign,
        "failed": [*failed],
    }
    return json_text(document, indent=2)


def _document(report: FileReport) -> dict[str, Any]:
    return {
        "path": str(report.path),
        "dialect": report.dialect,
        "sessions": [*report.sessions],
        "folders": [*report.folders],
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
        "stillRunning": report.still_running,
        "unreadLines": report.unread_lines,
        "unread": [{"line": unread.line, "text": unread.text} for unread in report.unread],
    }
