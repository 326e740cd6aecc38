"""`pi-intent import`: take the sessions that agents wrote themselves into this project's ledger."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import click

from pi_intent.cli.console import complain
from pi_intent.cli.here import ledger_here
from pi_intent.cli.import_offers import offers_document, print_offers
from pi_intent.cli.import_telling import print_failures, print_reports, reports_document
from pi_intent.cli.progress import Progress
from pi_intent.cli.telling import tell
from pi_intent.errors import SessionError
from pi_intent.ledger.keys import lost_key
from pi_intent.ledger.location import LedgerLocation
from pi_intent.sessions.into_ledger import (
    NoSession,
    import_session,
    import_target,
    project_folders,
    redactor_to_look,
)
from pi_intent.sessions.places import is_event_folder, session_files, size_and_time
from pi_intent.sessions.report import FileReport
from pi_intent.sessions.session_writer import Target
from pi_intent.sessions.survey import survey
from pi_intent.settings import Settings, load_settings, project_root


@dataclass(slots=True)
class Outcome:
    """What came of the files: reports, how many in folders were no sessions, and sentences on what went wrong."""

    reports: list[FileReport] = field(default_factory=list)
    foreign: int = 0
    failed: list[str] = field(default_factory=list)


@click.command("import")
@click.argument("paths", metavar="[PATH]...", nargs=-1)
@click.option("--dry-run", is_flag=True, help="Write nothing, and say what would be new.")
@click.option("--yes", is_flag=True, help="Without a PATH: import what is found, and do not ask.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead.")
def import_(paths: tuple[str, ...], dry_run: bool, yes: bool, as_json: bool) -> None:
    """Take the sessions that agents wrote themselves into this project's ledger.

    PATH is a session file of Tau, pi, oh-my-pi, Claude Code, Codex or OpenHands, or a folder that is searched for
    some. Whose a file is, it tells itself. Then "pi-intent log" shows these calls like those that were recorded while
    they happened: what ran, what came of it, and the intent where the agent's model was asked for one. No intent is
    ever guessed.

    Without a PATH, the places where agents keep their sessions are looked through for those of this project; on a
    terminal you are asked before anything is imported.

    A file may be imported again, or a longer copy of it: only what is new is added. A call that pi-intent recorded
    itself is recognised and not taken in twice. The session files are never changed. Secrets are taken out as they
    are from every record, and the rules for redact_args hold.

    Exits with 1 where a PATH is no session, or could not be read; the others are imported all the same.

    With --json it is one document; without a PATH, and without --yes, it lists what was found instead:

    \b
    {"ledger": FOLDER, "dryRun": BOOLEAN,
     "files": [{"path": FILE, "dialect": NAME, "sessions": [ID],
                "folders": [FOLDER], "calls": N, "results": N, "errors": N,
                "rejected": N, "intents": N, "perEditIntents": N,
                "unpaired": N, "newCalls": N, "newEnds": N, "already": N,
                "recorded": N, "repeated": N, "stillRunning": N,
                "impossibleTimes": N, "unreadLines": N,
                "unread": [{"line": N, "text": SENTENCE}]}],
     "foreign": N, "failed": [SENTENCE]}
    {"ledger": FOLDER,
     "found": [{"path": FILE, "dialect": NAME, "session": ID,
                "cwd": FOLDER, "bytes": N, "modified": TIME,
                "lastUsed": TIME}],
     "elsewhere": N}

    \b
    Examples:
      pi-intent import
      pi-intent import ~/.claude/projects/-home-me-shop --dry-run
      pi-intent import session.jsonl && pi-intent log
    """
    location = ledger_here()
    outcome = Outcome()
    chosen = _named(paths, outcome) if paths else _found(location, as_json=as_json, go_on=yes or dry_run)
    if chosen is None:
        return
    lost = None if dry_run else lost_key(location.root)
    with import_target(location, environ=os.environ, dry_run=dry_run) as target:
        if lost is not None:
            complain(lost)
        _import_all(target, _settings(os.environ), chosen, outcome)
    redact, reports, foreign = target.redactor.text, outcome.reports, outcome.foreign
    if as_json:
        click.echo(reports_document(location, reports, foreign, outcome.failed, redact, dry_run=dry_run))
    else:
        print_reports(location, target.folders, reports, foreign, redact, dry_run=dry_run)
    print_failures(outcome.failed, redact)
    raise SystemExit(1 if outcome.failed else 0)


def _named(paths: Iterable[str], outcome: Outcome) -> dict[Path, bool]:
    """Return the files that were named, and those in folders that were; True for what has to be a session."""
    chosen: dict[Path, bool] = {}
    for name in paths:
        path = Path(os.path.abspath(name))
        if not path.is_dir() or is_event_folder(path):
            chosen[path] = True
            continue
        inside = [*session_files(path)]
        if not inside:
            # A folder of events may lie deeper than it is looked for; the reader knows, or says that it is none.
            chosen[path] = True
        for file in inside:
            chosen.setdefault(file, False)
    return chosen


def _found(location: LedgerLocation, *, as_json: bool, go_on: bool) -> dict[Path, bool] | None:
    """Look through the usual places; return the files to import, or None where that was all."""
    seen = survey(os.environ, project_folders(location, os.environ))
    chosen = {offer.path: False for offer in seen.offers}
    if as_json and go_on:
        return chosen
    redact = redactor_to_look(location, os.environ).text
    if as_json:
        click.echo(offers_document(location, seen, redact))
        return None
    print_offers(location, seen, redact)
    if not chosen or go_on:
        return chosen or None
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        click.echo()
        tell('"pi-intent import --yes" imports them; add --dry-run to see first what would be new.')
        return None
    if click.confirm("\nImport them?", default=True):
        return chosen
    tell("Nothing was imported.")
    return None


def _settings(environ: Mapping[str, str]) -> Settings:
    # PI_INTENT=off takes us out of sessions; what must not be kept of one holds all the same.
    kept = {name: value for name, value in environ.items() if name != "PI_INTENT"}
    loaded = load_settings(project=project_root(Path.cwd()), environ=kept)
    for warning in loaded.warnings:
        complain(warning)
    return loaded.settings


def _import_all(target: Target, settings: Settings, chosen: Mapping[Path, bool], outcome: Outcome) -> None:
    sizes = {path: _size(path) for path in chosen}
    progress = Progress("Importing:", sum(sizes.values()))
    try:
        for path, has_to_be in chosen.items():
            try:
                outcome.reports.append(import_session(target, settings, path, reached=progress.reached))
            except NoSession as error:
                if has_to_be:
                    outcome.failed.append(str(error))
                else:
                    outcome.foreign += 1
            except SessionError as error:
                outcome.failed.append(str(error))
            progress.file_done(sizes[path])
    finally:
        progress.close()


def _size(path: Path) -> int:
    try:
        return size_and_time(path)[0]
    except OSError:
        return 0
