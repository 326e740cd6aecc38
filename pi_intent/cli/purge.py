"""`pi-intent purge`: remove what is old from this project's ledger, and say what went."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import click

from pi_intent.cli.console import complain, json_text
from pi_intent.cli.here import ledger_here, without_secrets
from pi_intent.cli.moments import read_date, stated
from pi_intent.cli.telling import tell
from pi_intent.facts import counted
from pi_intent.labels.printable import printable
from pi_intent.ledger.index.place import drop_index
from pi_intent.ledger.location import LedgerLocation
from pi_intent.ledger.purge import Plan, Stay, Survey, left_open, plan, remove_segment, survey
from pi_intent.ledger.reader import Segment, read_segments
from pi_intent.render.moments import Moments
from pi_intent.settings import FOREVER, days_of, load_settings, project_root

_WHY: dict[Stay, str] = {
    "running": "it is of a session that still runs",
    "tied": "a call in it has its other half in a file that stays",
    "undated": "no record in it says when it was written",
    "unreadable": "it could not be read",
    "link": "it is a link",
}
_NOT_REMOVED = {"gone": "somebody else removed it meanwhile", "in use": "it is in use", "changed": "it has changed"}


@dataclass(slots=True)
class _Outcome:
    removed: list[Survey] = field(default_factory=list)
    kept: list[tuple[Survey, str]] = field(default_factory=list)
    failed: list[tuple[Survey, str]] = field(default_factory=list)


@click.command()
@click.option(
    "--before",
    metavar="DATE|AGE",
    help='Remove what is older: than a day ("2025-01-31", a time may follow), or than an age ("90d", "12w").'
    "  [default: the setting keep]",
)
@click.option("--dry-run", is_flag=True, help="Remove nothing, and say what would go.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead.")
def purge(before: str | None, dry_run: bool, as_json: bool) -> None:
    """Remove what is old from this project's ledger, and say what went. It cannot be brought back.

    A file of the ledger is what one process wrote for one session. It goes as a whole, and only when its last record
    is older than asked for. What stays in any case, and is told: a file that a running session writes, a file with
    one half of a call whose other half stays, and a file that cannot be read or dated.

    Without --before the setting "keep" says what is old. Where that is "forever", as it is by default, nothing goes.
    Nothing is ever removed without this command.

    Exits with 0, also where there was nothing to remove, and with 1 where a file could not be removed.

    With --json it is one document:

    \b
    {"ledger": FOLDER, "before": TIME or null, "dryRun": BOOLEAN,
     "removed": [{"path": FILE, "session": ID or null, "calls": N,
                  "bytes": N, "first": TIME, "last": TIME}],
     "leftOpen": N, "kept": [{"path": FILE, "why": TEXT}],
     "failed": [{"path": FILE, "why": TEXT}]}

    \b
    Examples:
      pi-intent purge --before 90d --dry-run
      pi-intent purge --before 2025-01-31
    """
    location = ledger_here()
    now = datetime.now(UTC)
    limit = _kept_since(now, os.environ) if before is None else _parsed(before, now)
    outcome = _Outcome()
    if limit is not None:
        time = stated(limit)
        surveys: list[Survey] = []
        for found in read_segments(location.root):
            if isinstance(found, Segment):
                surveys.append(survey(found))
            else:
                complain(f"Kept: {found.text}")
        _carry_out(plan(surveys, before=time), outcome, dry_run=dry_run)
        if outcome.removed and not dry_run:
            drop_index(location.root)  # it repeats what was removed, and is made anew when it is asked
    else:
        time = None
        complain('Nothing is removed: the setting keep is "forever". Say what is old with --before, or set keep.')
    if as_json:
        click.echo(json_text(_document(location, time, outcome, dry_run=dry_run), indent=2))
    elif time is not None:
        _print(location, time, outcome, dry_run=dry_run)
    raise SystemExit(1 if outcome.failed else 0)


def _kept_since(now: datetime, environ: Mapping[str, str]) -> datetime | None:
    loaded = load_settings(project=project_root(Path.cwd()), environ=environ)
    for warning in loaded.warnings:
        complain(warning)
    return None if loaded.settings.keep == FOREVER else _ago(now, loaded.settings.keep)


def _ago(now: datetime, age: str) -> datetime | None:
    days = days_of(age)
    return None if days is None else now - timedelta(days=days)


def _parsed(before: str, now: datetime) -> datetime:
    """Return the time that `--before` means: a day begins at midnight here."""
    text = before.strip()
    if (ago := _ago(now, text.lower())) is not None:
        return ago
    limit = read_date(text)
    if limit is None:
        shown = printable(before, width=60)
        raise click.BadParameter(
            f'{shown!r} is no day such as 2025-01-31, and no age in days or weeks such as "90d" or "12w".',
            param_hint="--before",
        )
    if limit > now:
        raise click.BadParameter(
            f"{text} is still to come: all there is would go; say a day that is over, or an age.",
            param_hint="--before",
        )
    return limit


def _carry_out(decided: Plan, outcome: _Outcome, *, dry_run: bool) -> None:
    outcome.kept += [(found, _WHY[why]) for found, why in decided.kept]
    for found in decided.remove:
        try:
            said = "removed" if dry_run else remove_segment(found)
        except OSError as error:
            outcome.failed.append((found, error.strerror or str(error)))
            continue
        if said == "removed":
            outcome.removed.append(found)
        else:
            outcome.kept.append((found, _NOT_REMOVED[said]))


def _print(location: LedgerLocation, time: str, outcome: _Outcome, *, dry_run: bool) -> None:
    removed = outcome.removed
    moments = Moments()
    told = moments.told(time)
    if removed:
        by_session: dict[str, list[Survey]] = {}
        for found in removed:
            by_session.setdefault(found.session or found.path.name, []).append(found)
        verb = "Would remove" if dry_run else "Removed"
        sessions = counted(len(by_session), "session")
        _say(f"{verb} {sessions} with nothing from {told} or later: {_amount(removed, moments)}")
        for session, parts in by_session.items():
            _say(f"{session}: {_amount(parts, moments)}", indent="  ")
    elif not location.segments.is_dir():
        _say(f"Nothing to remove: there is no ledger here (looked in {location.segments}).")
    else:
        _say(f"Nothing to remove: no file in {location.segments} has only records from before {told}.")
    for found, why in outcome.kept:
        _say(f"Kept: {found.path.name}, as {why}")
    for found, why in outcome.failed:
        complain(f"Error: {found.path} could not be removed ({why}): see who owns the folder")


def _say(text: str, *, indent: str = "") -> None:
    tell(indent + printable(text, width=1000), hang=2)


def _amount(parts: Sequence[Survey], moments: Moments) -> str:
    calls = counted(sum(part.calls for part in parts), "call")
    unfinished = left_open(parts)
    open_calls = f" ({unfinished} left open)" if unfinished else ""
    first = moments.told(min(part.first or "" for part in parts))
    last = moments.told(max(part.last or "" for part in parts))
    size = f"{sum(part.size for part in parts):,} bytes"
    return f"{counted(len(parts), 'file')}, {calls}{open_calls}, {size}, from {first} to {last}"


def _document(location: LedgerLocation, time: str | None, outcome: _Outcome, *, dry_run: bool) -> dict[str, Any]:
    return {
        "ledger": without_secrets(location.segments),
        "before": time,
        "dryRun": dry_run,
        "removed": [
            {
                "path": without_secrets(found.path),
                "session": found.session,
                "calls": found.calls,
                "bytes": found.size,
                "first": found.first,
                "last": found.last,
            }
            for found in outcome.removed
        ],
        "leftOpen": left_open(outcome.removed),
        "kept": [{"path": without_secrets(found.path), "why": why} for found, why in outcome.kept],
        "failed": [{"path": without_secrets(found.path), "why": why} for found, why in outcome.failed],
    }
