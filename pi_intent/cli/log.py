"""`pi-intent log`: the calls of this project, each with what it was for."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain

import click

from pi_intent.cli.asking import FAILED, OUTCOMES, WORDS, Asked, nothing_found, nothing_recorded
from pi_intent.cli.console import complain, json_text, shown_json, write_items
from pi_intent.cli.here import ledger_here, without_secrets
from pi_intent.cli.noting import AT_ONCE, Notes, left_out, notes_in, notes_json
from pi_intent.cli.paging import is_drawn, print_lines
from pi_intent.cli.progress import opened_index
from pi_intent.cli.session_choice import choose_session
from pi_intent.cli.time_limit import no_longer_than
from pi_intent.cli.unread import problem_json, tell_unread
from pi_intent.errors import PiIntentError
from pi_intent.labels.printable import UNCUT, printable
from pi_intent.ledger.calls import LedgerCall
from pi_intent.ledger.entries import entry_json
from pi_intent.ledger.index import Filter, Index, Stretch
from pi_intent.ledger.location import LedgerLocation
from pi_intent.render.sessions import SessionCalls, first_entries
from pi_intent.render.timeline import Line, aim, short_id, stated, timeline

SHOWN = 50
_MOST_OPEN = 5
_ALL = 1 << 62
"""More calls than there can be: SQLite counts no further than to twice as many."""
_LONGEST_SEARCH = 20
"""Seconds for `--grep`; most expressions take a second for a hundred thousand calls, at most."""
_FROM_THE_END = 2_000
"""Calls that a pager may be made to read to the end before it shows any: they take it half a second."""


@click.command()
@click.option("--session", metavar="ID", help="Only this session; the beginning of its id is enough.")
@click.option(
    "--tool",
    "tools",
    metavar="GLOB",
    multiple=True,
    help='Only calls of this tool: "bash", "mcp__*", "github/*" for all of a server; - and _ are alike, and so are'
    " capitals. Repeatable.",
)
@click.option(
    "--path",
    "paths",
    metavar="PATH",
    multiple=True,
    help='Only calls that were aimed at this file or changed it: a path, a folder, a name, or a glob such as "*.py".'
    " Repeatable.",
)
@click.option(
    "--status", "outcomes", type=click.Choice(OUTCOMES), multiple=True, help="Only calls that ended so. Repeatable."
)
@click.option("--failed", is_flag=True, help=f"Only what went wrong: {', '.join(sorted(FAILED))}.")
@click.option("--since", metavar="TIME", help='Only calls from then on: "2 hours ago", "90m", "yesterday", a date.')
@click.option(
    "--grep",
    metavar="TEXT",
    help="Only calls where this stands in the intent, rationale, target, outcome, facts or error, as they are shown:"
    " a regular expression, in capitals or not.",
)
@click.option(
    "--asked",
    is_flag=True,
    help="Only calls that were asked about, or ruled on, before they ran.",
)
@click.option(
    "--decided",
    type=click.Choice(WORDS),
    multiple=True,
    help='Only calls that were asked about and ended so; "waiting": without an answer. Repeatable.',
)
@click.option(
    "--limit",
    metavar="N",
    type=click.IntRange(min=0),
    help=f"Only the last N calls, 0 for all of them.  [default: {SHOWN}; all with --json]",
)
@click.option(
    "--notes/--no-notes",
    "with_notes",
    default=None,
    help="Doubts about the words of an intent.  [default: where the sessions are short; with --json none]",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead.")
def log(
    session: str | None,
    tools: tuple[str, ...],
    paths: tuple[str, ...],
    outcomes: tuple[str, ...],
    failed: bool,
    since: str | None,
    grep: str | None,
    asked: bool,
    decided: tuple[str, ...],
    limit: int | None,
    with_notes: bool | None,
    as_json: bool,
) -> None:
    """Show what was done in this project, and why: the ledger's calls by session, the newest last.

    Each call has its time, the intent as the model stated it (nothing here checks whether it is true), the evidence
    that the model named, the tool and what it was aimed at, what a person was asked about it and decided, and what
    came of it. Under the time stands the end of its id: "pi-intent show" tells everything about it. Calls of one
    message of the model stand together. A "note" says what is doubtful about the words of an intent (docs/notes.md);
    it is deterministic, and no verdict. A call without an end is "running" while its agent is, and "open" where the
    process ended under it. What could not be read of the ledger is told on standard error.

    Filters combine: a call is shown where all of them fit. Where none does, that is told, and is no failure; a
    session that is not there is one. On a terminal, what is longer than it goes through your PAGER, which
    begins with the newest, or of more than 2,000 calls with the oldest, as it need not read them all then.

    With --json it is one document, a call a line, with the ledger's own records:

    \b
    {"ledger": FOLDER,
     "calls": [{"id": ID, "state": "running", "open" or "settled",
                "call": RECORD or null, "done": RECORD or null,
                "decisions": [RECORD, in order],
                "notes": [{"kind": KIND, "text": SENTENCE}], with --notes}],
     "problems": [{"path": FILE, "line": NUMBER or null, "text": SENTENCE}]}

    \b
    Examples:
      pi-intent log
      pi-intent log --failed --since yesterday
      pi-intent log --path src/pay.py --tool edit --tool write
      pi-intent log --session 01J8 --limit 0
      pi-intent log --decided denied --decided waiting
      pi-intent log --grep "retry|again" --json | jq '.calls[].call.intent'
    """
    for option, values in {"--session": (session,), "--tool": tools, "--path": paths, "--grep": (grep,)}.items():
        if "" in values:
            raise click.UsageError(f"{option} is empty")
    limit = None if limit is None else min(limit, _ALL)
    location = ledger_here()
    question = Asked(
        tools=tools,
        paths=paths,
        outcomes=outcomes,
        failed=failed,
        since=since,
        grep=grep,
        asked=asked,
        decided=decided,
    )
    if failed and outcomes and FAILED.isdisjoint(outcomes):
        raise click.UsageError(f"--failed and --status {outcomes[0]} let no call through together; leave one out")
    wanted = question.filter(location.project)  # what cannot be read is told before anything is looked for
    with opened_index(location.root) as index:
        if session is not None:
            session = choose_session(session, index.session_ids(), location.segments)
            question, wanted = replace(question, session=session), replace(wanted, session=session)
        if grep is not None:
            _search(index, wanted, grep)
        if as_json:
            _print_json(location, index, wanted, limit or None, bool(with_notes))
        else:
            _print(location, index, question, wanted, SHOWN if limit is None else limit, with_notes)
            tell_unread(index.problems(session=session), index.others(), where_all_are="; --json lists all of them")


def _search(index: Index, wanted: Filter, grep: str) -> None:
    """Find what an expression matches, which is remembered. Raises `PiIntentError` where that takes too long."""
    shown = printable(grep, width=60)
    late = PiIntentError(
        f"the search for {shown!r} was given up after {_LONGEST_SEARCH} seconds: an expression that repeats what "
        "repeats, such as (a+)+, can be tried in endless ways; repeat less, or look for a plain text"
    )
    with no_longer_than(_LONGEST_SEARCH, late):
        index.counts(wanted)


def _print(
    location: LedgerLocation,
    index: Index,
    asked: Asked,
    wanted: Filter,
    limit: int,
    with_notes: bool | None,
) -> None:
    counts = index.counts(wanted)
    if not counts:
        if index.counts() and asked != Asked(session=asked.session):
            complain(nothing_found(index, asked, location.project))
            return
        what = nothing_recorded(index)
        why = f" ({location.note})" if location.note is not None else f" (looked in {location.segments})"
        complain(
            f"{what}{why}. Let an agent with pi-intent work here, take in what agents did before with "
            '"pi-intent import", or watch "pi-intent demo".'
        )
        return
    within = index.last(wanted, limit) if limit else Stretch()
    shown = index.counts(wanted, within=within)
    notes, untaken = _notes(index, location, shown, with_notes)
    groups = session_groups(index, wanted, within, shown, counts)
    lines = timeline(groups, notes=notes) if is_drawn() else timeline(groups, notes=notes, label=UNCUT)
    count = sum(shown.values())
    at_the_end = count <= _FROM_THE_END
    earlier = chain(_from_the_top(0 if at_the_end else count), _earlier(sum(counts.values()) - count))
    print_lines(chain(earlier, lines, _left_open(index, wanted, within), untaken), newest_last=at_the_end)


def session_groups(
    index: Index, wanted: Filter, within: Stretch, shown: Mapping[str, int], counts: Mapping[str, int]
) -> Iterator[SessionCalls]:
    """Yield the sessions of a stretch, each with calls that are only read when they are asked for.

    `shown` says how many calls of the stretch there are by session, `counts` how many there are in all.
    """
    entries = first_entries(index.sessions())
    for session, count in shown.items():
        yield SessionCalls(
            session=session,
            entry=entries.get(session),
            calls=index.calls(wanted, within=replace(within, session=session)),
            shown=count,
            omitted=counts.get(session, count) - count,
        )


def _notes(
    index: Index, location: LedgerLocation, sessions: Iterable[str], with_notes: bool | None
) -> tuple[Notes, list[Line]]:
    """Return the notes that are wanted, and what to say of those that are left out."""
    if history := left_out(index, sessions, with_notes, most=AT_ONCE):
        text = f"no notes were taken, as these sessions have {history} calls; --notes takes them"
        return {}, [Line(lead=None), Line(((text, "dim"),), lead=None)]
    return ({} if with_notes is False else notes_in(index, location, sessions)), []


def _from_the_top(count: int) -> Iterator[Line]:
    """Say how to come to the newest of many calls, which stand at the end of what a pager shows from the top."""
    if count and is_drawn():
        yield Line(((f"{count} calls, the oldest first; in the pager G goes to the newest", "dim"),), lead=None)
        yield Line(lead=None)


def _earlier(count: int) -> Iterator[Line]:
    if count > 0:
        calls = "call is" if count == 1 else "calls are"
        yield Line(((f"{count} earlier {calls} not shown; --limit 0 shows all", "dim"),), lead=None)
        yield Line(lead=None)


def _left_open(index: Index, wanted: Filter, within: Stretch) -> Iterator[Line]:
    """Name the calls before those that are shown that were left open: nobody may ever have looked."""
    if within.start is None or (wanted.outcomes and "open" not in wanted.outcomes):
        return
    opened = replace(wanted, outcomes=frozenset({"open"}), live=True)
    before = Stretch(stop=within.start)
    earlier = sum(index.counts(opened, within=before).values())
    if not earlier:
        return
    calls, them = ("call was", "it") if earlier == 1 else ("calls were", "them")
    yield Line(lead=None)
    yield Line(((f"{earlier} earlier {calls} left open: the process ended under {them}", "yellow"),), lead=None)
    for call in index.calls(opened, within=index.last(opened, _MOST_OPEN, within=before)):
        if call.call is not None:
            yield Line(((f"{short_id(call.id)}  ", "dim"), *stated(call.call, UNCUT)), lead=None, cut=True)
            yield Line((((" " * 10) + aim(call.call, call.call.args), "dim"),), lead=None, cut=True)
    if earlier > _MOST_OPEN:
        yield Line(((f"{earlier - _MOST_OPEN} more: pi-intent log --status open", "dim"),), lead=None)


def _print_json(location: LedgerLocation, index: Index, wanted: Filter, limit: int | None, with_notes: bool) -> None:
    """Print the document with each call on a line of its own, as `grep` likes it, without holding it whole."""
    sys.stdout.write(f'{{"ledger":{json_text(without_secrets(location.segments))},"calls":[')
    notes: Notes | None = notes_in(index, location, index.counts(wanted)) if with_notes else None
    within = Stretch() if limit is None else index.last(wanted, limit)
    write_items(_noted_json(call, notes) for call in index.calls(wanted, within=within))
    sys.stdout.write('],"problems":[')
    write_items(json_text(problem_json(problem)) for problem in index.problems(session=wanted.session))
    sys.stdout.write("]}\n")


def _noted_json(call: LedgerCall, notes: Notes | None) -> str:
    text = call_json(call)
    return text if notes is None else f'{text[:-1]},"notes":{json_text(notes_json(notes.get(call.id, ())))}}}'


def call_json(call: LedgerCall) -> str:
    """Return a call as JSON text: its state and the ledger's own records."""
    begun = "null" if call.call is None else shown_json(entry_json(call.call))
    ended = "null" if call.done is None else shown_json(entry_json(call.done))
    decided = ",".join(shown_json(entry_json(entry)) for entry in call.decisions)
    return (
        f'{{"id":{json_text(call.id)},"state":{json_text(call.state)},"call":{begun},"done":{ended}'
        f',"decisions":[{decided}]}}'
    )
