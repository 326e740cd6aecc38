"""`pi-intent log`: the calls of this project, each with what it was for."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterable
from pathlib import Path

import click
from pydantic import TypeAdapter
from rich.console import Console
from rich.text import Text

from pi_intent.cli.console import complain, json_text, shown_json
from pi_intent.cli.session_choice import choose_session
from pi_intent.ledger.calls import LedgerCall, Reading, read_ledger
from pi_intent.ledger.entries import CallEntry, DoneEntry
from pi_intent.ledger.location import LedgerLocation, find_ledger
from pi_intent.ledger.reader import Problem
from pi_intent.render.sessions import group_by_session, of_session, session_ids
from pi_intent.render.timeline import print_timeline

SHOWN = 50
_MOST_PROBLEMS = 10


@click.command()
@click.option("--session", metavar="ID", help="Only this session; the beginning of its id is enough.")
@click.option(
    "--limit",
    metavar="N",
    type=click.IntRange(min=0),
    help=f"Only the last N calls, 0 for all of them.  [default: {SHOWN}; all with --json]",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead.")
def log(session: str | None, limit: int | None, as_json: bool) -> None:
    """Show what was done in this project, and why: the ledger's calls by session, the newest last.

    Each call has its time, the intent as the model stated it (nothing here checks whether it is true), the evidence
    that the model named, the tool and what it was aimed at, and what came of it. A call without an end is "running"
    while its agent is, and "open" where the process ended under it. What could not be read of the ledger is told on
    standard error.

    A project without a ledger is told on standard error and is no failure; a session that is not there is one.

    With --json it is one document, a call a line, with the ledger's own records:

    \b
    {"ledger": FOLDER,
     "calls": [{"id": ID, "state": "running", "open" or "settled",
                "call": RECORD or null, "done": RECORD or null}],
     "problems": [{"path": FILE, "line": NUMBER or null, "text": SENTENCE}]}

    \b
    Examples:
      pi-intent log
      pi-intent log --session 01J8 --limit 0
      pi-intent log --json | jq '.calls[].call.intent'
    """
    location = find_ledger(Path(), os.environ)
    gc.disable()  # all that is read is kept, and looking through it again and again takes most of the time
    try:
        reading = read_ledger(location.root)
    finally:
        gc.freeze()
        gc.enable()
    if session is not None:
        reading = of_session(reading, choose_session(session, session_ids(reading), location.segments))
    if as_json:
        _print_json(location, reading, limit or 0)
    else:
        _print(location, reading, SHOWN if limit is None else limit)
        _report(reading)


def _print(location: LedgerLocation, reading: Reading, limit: int) -> None:
    if not reading.calls:
        what = "Sessions began here, but no call was recorded" if reading.sessions else "No call is recorded here yet"
        why = f" ({location.note})" if location.note is not None else f" (looked in {location.segments})"
        complain(f'{what}{why}. Let an agent with pi-intent work here, or watch "pi-intent demo".')
        return
    console = Console(markup=False, emoji=False, highlight=False)
    earlier = len(reading.calls) - limit if limit else 0
    if earlier > 0:
        calls = "call is" if earlier == 1 else "calls are"
        console.print(Text(f"{earlier} earlier {calls} not shown; --limit 0 shows all\n", "dim"), soft_wrap=True)
    print_timeline(console, group_by_session(reading, limit=limit or None))


def _report(reading: Reading) -> None:
    """Tell on standard error what could not be read, each thing once."""
    sentences = [*dict.fromkeys(problem.text for problem in reading.problems)]
    for sentence in sentences[:_MOST_PROBLEMS]:
        complain(f"Not read: {sentence}")
    if len(sentences) > _MOST_PROBLEMS:
        complain(f"Not read: {len(sentences) - _MOST_PROBLEMS} more; --json lists all of them")
    for (version, kind), count in reading.others.items():
        complain(f"Skipped: {count} of the kind {kind} (version {version}), which this pi-intent does not know")


def _print_json(location: LedgerLocation, reading: Reading, limit: int) -> None:
    """Print the document with each call on a line of its own, as `grep` likes it, without holding it whole."""
    sys.stdout.write(f'{{"ledger":{json_text(str(location.segments))},"calls":[')
    _write_items(_call(call) for call in reading.calls[-limit:])
    sys.stdout.write('],"problems":[')
    _write_items(_problem(problem) for problem in reading.problems)
    sys.stdout.write("]}\n")


def _write_items(items: Iterable[str]) -> None:
    separator = "\n"
    for item in items:
        sys.stdout.write(separator + item)
        separator = ",\n"


_CALL: TypeAdapter[CallEntry] = TypeAdapter(CallEntry)
_DONE: TypeAdapter[DoneEntry] = TypeAdapter(DoneEntry)


def _call(call: LedgerCall) -> str:
    begun = "null" if call.call is None else shown_json(_CALL.dump_json(call.call, by_alias=True).decode())
    ended = "null" if call.done is None else shown_json(_DONE.dump_json(call.done, by_alias=True).decode())
    return f'{{"id":{json_text(call.id)},"state":{json_text(call.state)},"call":{begun},"done":{ended}}}'


def _problem(problem: Problem) -> str:
    return json_text({"path": str(problem.path), "line": problem.line, "text": problem.text})
