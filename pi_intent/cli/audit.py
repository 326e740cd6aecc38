"""`pi-intent audit`: what a reviewer asks of a project: who was asked about what, and what ran without."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from dataclasses import asdict, replace

import click

from pi_intent.cli.asking import Asked
from pi_intent.cli.console import complain, json_text, write_items
from pi_intent.cli.here import ledger_here, without_secrets
from pi_intent.cli.log import call_json
from pi_intent.cli.paging import drawn_width, print_lines
from pi_intent.cli.progress import opened_index
from pi_intent.cli.session_choice import choose_session
from pi_intent.cli.unread import problem_json, tell_unread
from pi_intent.ledger.audit import WORDS, Audit, Numbers
from pi_intent.ledger.calls import LedgerCall
from pi_intent.ledger.index import Filter, Index
from pi_intent.ledger.location import LedgerLocation
from pi_intent.ledger.verify import LIMITS
from pi_intent.render.audit import LISTED, WIDTH, audit_lines
from pi_intent.settings.load import user_file

SHOWN = 50


@click.command()
@click.option("--session", metavar="ID", help="Only this session; the beginning of its id is enough.")
@click.option("--since", metavar="TIME", help='Only calls from then on: "2 hours ago", "90m", "yesterday", a date.')
@click.option(
    "--limit",
    metavar="N",
    type=click.IntRange(min=0),
    help=f"List only the last N calls of each kind that ran without being asked, 0 for all.  [default: {SHOWN}; all"
    " with --json]",
)
@click.option("--md", "as_markdown", is_flag=True, help="Print Markdown, for a review on GitHub.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead.")
def audit(session: str | None, since: str | None, limit: int | None, as_markdown: bool, as_json: bool) -> None:
    """Report to a reviewer what was asked and decided in this project, and what ran without being asked.

    \b
    The report has these parts:
      summary         how many calls were asked about, by rule and tool, who decided,
                      how long it took, and how many ran without
      waiting         questions without an answer
      denied          what was refused, by whom, and the note to the agent
      approved        what was let through, and what came of it
      not asked       how many calls only read; the calls that wrote, or could do
                      anything (exec), one by one
      not proven      whether the records are as they were written, and what no
                      record can tell

    Of each call stands first what it literally does, then why it was asked about, what was decided, by whom and when,
    the note, the digest that names exactly this call, and last, quoted, what the agent said it is for: that is the
    model's own statement, and had no part in any decision but a person's.

    Calls that were imported are counted apart: whether anybody was asked is unknown. What the ledger withholds
    (redact_args) is withheld here. docs/audit.md tells how to read it, and what --json has. It exits with 0 whatever
    was asked or decided, also where nobody was asked; "pi-intent verify" is what fails where a record was changed.

    \b
    Examples:
      pi-intent audit
      pi-intent audit --since yesterday --md > audit.md
      pi-intent audit --session 01J8 --limit 0
      pi-intent audit --json | jq '.denied[].call.args'
    """
    if as_markdown and as_json:
        raise click.UsageError("--md and --json are two forms of the same report; leave one out")
    for option, value in {"--session": session, "--since": since}.items():
        if value == "":
            raise click.UsageError(f"{option} is empty")
    location = ledger_here()
    wanted = Asked(since=since).filter(location.project)
    with opened_index(location.root) as index:
        if session is not None:
            session = choose_session(session, index.session_ids(), location.segments)
            wanted = replace(wanted, session=session)
        report = Audit(index, wanted)
        if as_json:
            _print_json(report, index, location, wanted, limit or None)
            return
        if not _has_any(index, wanted, location):
            return
        most = SHOWN if limit is None else limit or None
        about = _about(location, session, since)
        if as_markdown:
            from pi_intent.render.audit_markdown import audit_markdown

            for line in audit_markdown(report, about, limit=most):
                sys.stdout.write(f"{line}\n")
        else:
            print_lines(audit_lines(report, about, limit=most, width=drawn_width() or WIDTH))
        where_all_are = "; --json lists all of them"
        tell_unread(index.problems(session=session), index.others(), where_all_are=where_all_are)


def _has_any(index: Index, wanted: Filter, location: LedgerLocation) -> bool:
    if index.counts(wanted):
        return True
    if index.counts():
        complain("No call fits --session and --since together; leave one out.")
    else:
        complain(
            f"No call is recorded here yet (looked in {location.segments}). Let an agent with pi-intent work here, "
            f"and set what it has to ask about: ask or check_in in {without_secrets(user_file(os.environ))}."
        )
    return False


def _about(location: LedgerLocation, session: str | None, since: str | None) -> list[str]:
    whole = location.segments if location.project is None else location.project
    said = [f"What was asked and decided in {without_secrets(whole)}"]
    if session is not None:
        said.append(f"session {session}")
    if since is not None:
        said.append(f"since {since}")
    return said


def _print_json(report: Audit, index: Index, location: LedgerLocation, wanted: Filter, limit: int | None) -> None:
    """Print the document with each call on a line of its own, without holding it whole."""
    numbers = report.numbers()
    head = {
        "ledger": without_secrets(location.segments),
        "session": wanted.session,
        "since": wanted.since,
        "summary": _summary(numbers),
    }
    sys.stdout.write(json_text(head)[:-1])
    for word in WORDS:
        sys.stdout.write(f',\n"{word}":')
        _write_calls(report.asked(word))
    sys.stdout.write(',\n"unasked":{')
    for number, tier in enumerate(LISTED):
        sys.stdout.write(f'{"," if number else ""}"{tier}":')
        _write_calls(report.unasked(tier, limit))
    soundness = report.soundness()
    tail = {
        "verify": {
            "files": soundness.files,
            "bytes": soundness.size,
            "holds": soundness.holds,
            "bad": soundness.bad,
            "first": [fault._asdict() for fault in soundness.unsound],
        },
        "limits": LIMITS,
        "problems": [problem_json(problem) for problem in index.problems(session=wanted.session)],
    }
    sys.stdout.write(f"}},\n{json_text(tail)[1:]}\n")


def _summary(numbers: Numbers) -> dict[str, object]:
    found = numbers.check_ins
    return {
        "calls": numbers.calls,
        "sessions": numbers.sessions,
        "first": numbers.first,
        "last": numbers.last,
        "asked": {"calls": sum(numbers.asked.values())} | {word: numbers.asked[word] for word in WORDS},
        "by": found.by,
        "rules": {name: asdict(each) for name, each in found.rules.items()},
        "tools": {name: asdict(each) for name, each in found.tools.items()},
        "answered": found.answered,
        "medianMs": found.median_ms,
        "unasked": numbers.unasked,
        "rejected": numbers.rejected,
        "blocked": numbers.blocked,
        "imported": numbers.imported,
        "unknown": numbers.unknown,
    }


def _write_calls(calls: Iterable[LedgerCall]) -> None:
    sys.stdout.write("[")
    write_items(map(call_json, calls))
    sys.stdout.write("]")
