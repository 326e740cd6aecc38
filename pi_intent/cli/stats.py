"""`pi-intent stats`: what is rejected, what fails, and which models say why."""

from __future__ import annotations

import codecs
import sys
from collections import Counter
from dataclasses import asdict
from fnmatch import fnmatchcase

import click

from pi_intent.cli.asking import Asked, nothing_recorded
from pi_intent.cli.console import complain, json_text
from pi_intent.cli.here import ledger_here
from pi_intent.cli.paging import drawn_width, print_lines
from pi_intent.cli.progress import Progress, opened_index
from pi_intent.cli.project_files import ProjectFiles
from pi_intent.cli.session_choice import choose_session
from pi_intent.cli.unread import tell_unread
from pi_intent.facts import counted
from pi_intent.labels.printable import printable
from pi_intent.ledger.index import Filter
from pi_intent.past import PastCall
from pi_intent.render.stats import WIDTH, stats_lines
from pi_intent.stats import stats_of

_MOST_MODELS = 5


@click.command()
@click.option("--session", metavar="ID", help="Only this session; the beginning of its id is enough.")
@click.option("--since", metavar="TIME", help='Only calls from then on: "2 hours ago", "90m", "yesterday", a date.')
@click.option("--model", metavar="GLOB", help='Only calls of this model, such as "gpt-*".')
@click.option("--no-notes", is_flag=True, help="Leave out the quality notes, which take most of the time.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead.")
def stats(session: str | None, since: str | None, model: str | None, no_notes: bool, as_json: bool) -> None:
    """Show the figures of this project's ledger: who states an intent, what is rejected, what fails.

    A share says of what it is one. "Asked" are the calls of tools whose policy asks for an intent. The places 1-5,
    6-10 and so on are those of a call in its session: models that begin well may leave the intent out later. A round
    is one message of the model, however many calls of a tool in it were rejected. Notes are doubts about the words of
    an intent (docs/notes.md says when each is given); nothing is rejected for one. Tokens are estimated from the
    length of the texts.

    With --since and --model, the calls before and of other models are not counted, but keep their places. A project
    without a ledger is told on standard error and is no failure.

    With --json it is one document; every share is {"n": NUMBER, "of": NUMBER}.

    \b
    Examples:
      pi-intent stats
      pi-intent stats --since "7 days ago" --model "claude-*"
      pi-intent stats --json | jq '.compliance.models'
    """
    location = ledger_here()
    asked = Asked(since=since).filter(location.project).since
    with opened_index(location.root) as index:
        if session is not None:
            session = choose_session(session, index.session_ids(), location.segments)
        of_session = Filter(session=session)
        total = sum(index.counts(of_session).values())
        where_all_are = '; "pi-intent log --json" lists all of them'
        tell_unread(index.problems(session=session), index.others(), where_all_are=where_all_are)
        if not total:
            what = nothing_recorded(index)
            complain(
                f"{what} (looked in {location.segments}). Let an agent with pi-intent work here, or read what others "
                'recorded with "pi-intent import".'
            )
            if not as_json:
                return

        models: Counter[str] = Counter()

        def wanted(call: PastCall) -> bool:
            models[call.model or ""] += 1
            return (asked is None or call.ts >= asked) and (model is None or fnmatchcase(call.model or "", model))

        progress = Progress("Counting:", total)
        try:
            calls = progress.across(index.past(of_session), total)
            exists = ProjectFiles(location, index.sessions()).may_be_there
            found = stats_of(calls, wanted=wanted, with_notes=not no_notes, exists=exists)
        finally:
            progress.close()
    if as_json:
        click.echo(json_text(asdict(found), indent=1))
    elif found.calls:
        print_lines(stats_lines(found, width=drawn_width() or WIDTH, blocks=_has_blocks()))
    elif total:
        complain(_none_fits(total, since, model, models))
    headless = total - models.total()
    if headless:
        complain(
            f"Not counted: {counted(headless, 'call')} whose beginning is missing, so that nothing is known of what "
            "was asked; pi-intent log counts such a call."
        )


def _none_fits(total: int, since: str | None, model: str | None, models: Counter[str]) -> str:
    if since is not None and model is not None:
        return f"None of the {counted(total, 'call')} recorded here fits --since and --model; leave one out."
    if model is None:
        return f"None of the {counted(total, 'call')} recorded here began since then; leave --since out."
    named = ", ".join(printable(name, width=60) for name, _ in models.most_common(_MOST_MODELS) if name)
    instead = f"the models here are {named}" if named else "no call here says which model made it"
    shown = printable(model, width=60)
    return f"None of the {counted(total, 'call')} recorded here is of a model {shown!r}; {instead}."


def _has_blocks() -> bool:
    """Say whether standard output can take the signs that charts are drawn with."""
    try:
        "█▏▁".encode(codecs.lookup(sys.stdout.encoding or "ascii").name)
    except (LookupError, UnicodeEncodeError):
        return False
    return True
