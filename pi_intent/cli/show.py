"""`pi-intent show`: everything that the ledger knows of one call."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pi_intent.cli.console import json_text
from pi_intent.cli.here import ledger_here, without_secrets
from pi_intent.cli.log import call_json
from pi_intent.cli.noting import FOR_ONE, left_out, notes_in, notes_json
from pi_intent.cli.paging import print_lines
from pi_intent.cli.progress import opened_index
from pi_intent.errors import PiIntentError
from pi_intent.labels.printable import printable
from pi_intent.ledger.calls import LedgerCall
from pi_intent.ledger.index import Index, Place
from pi_intent.ledger.record import stated_and_true_hash
from pi_intent.render.call import call_lines
from pi_intent.render.timeline import Line, short_id

if TYPE_CHECKING:
    from pi_intent.notes import Note

_MOST_NAMED = 5
_COMPARED = 2_000  # of the latest calls, where none has the name that was given
_MOST_NEIGHBOURS = 50


@click.command()
@click.argument("call")
@click.option(
    "--notes/--no-notes",
    "with_notes",
    default=None,
    help=f"Doubts about the words of the intent.  [default: where the session has no more than {FOR_ONE:,} calls]",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead.")
def show(call: str, with_notes: bool | None, as_json: bool) -> None:
    """Show everything that the ledger knows of one call.

    CALL is its id, a beginning or an end of the id that no other call has ("pi-intent log" shows the end), or the id
    that the host gave it.

    It tells what the model said it was for, what literally was to run (of contents and long texts the ledger keeps
    only the size and a digest), what a person was asked about it and decided, what came of it, which files changed,
    what it was held to, what there is to doubt about its words (docs/notes.md), where its records stand in the
    ledger, and whether the hash of each fits what stands there. What else may have been changed is not looked at:
    "pi-intent verify" does that. A note on one call needs all of its session, so that a long one is left out unless
    it is asked for.

    With --json it is one document:

    \b
    {"id": ID, "state": "running", "open" or "settled",
     "call": RECORD or null, "done": RECORD or null,
     "decisions": [RECORD, in order],
     "notes": [{"kind": KIND, "text": SENTENCE}] or null, not taken,
     "records": [{"t": "call", "decision" or "done", "path": FILE,
                  "line": NUMBER, "holds": BOOLEAN}],
     "message": [ID, of all calls of the same message of the model]}

    \b
    Examples:
      pi-intent show 4F2A9C1B
      pi-intent show 01J8Z3M4Q5R6S7T8V9WXYZ0123 --json | jq .call.args
    """
    if not call.strip():
        raise click.UsageError("CALL is empty; pi-intent log shows the end of each id")
    location = ledger_here()
    with opened_index(location.root) as index:
        call_id = _chosen(index, call, location.segments)
        found = index.one(call_id)
        if found is None:
            raise PiIntentError(f"the call {printable(call, width=60)} is not in {location.segments} any more")
        it, places = found
        untaken = left_out(index, [it.session], with_notes, most=FOR_ONE)
        notes = None if untaken or with_notes is False else notes_in(index, location, [it.session]).get(call_id, ())
        message = [call_id] if it.call is None else index.of_message(it.session, it.call.group)
        if as_json:
            _print_json(it, places, notes, message)
        else:
            _print(index, it, places, notes or (), message, untaken)


def _chosen(index: Index, name: str, segments: Path) -> str:
    """Return the id that is meant. Raises `PiIntentError` where that is none, or not one."""
    found = index.named(name)
    if len(found) == 1:
        return found[0]
    shown = printable(name, width=60)
    if found:
        raise PiIntentError(
            f"{len(found)} calls may be meant by {shown}: {_listed(index, found)}; give more of the id"
        )
    latest = index.latest_ids(_COMPARED)
    if not latest:
        raise PiIntentError(f"there is no call {shown}: no call is recorded in {segments}")
    wanted = name.upper()
    by_end = {call_id[-max(1, len(wanted)) :].upper(): call_id for call_id in reversed(latest)}
    by_name = by_end | {call_id.upper(): call_id for call_id in latest}
    nearest = [by_name[form] for form in difflib.get_close_matches(wanted, by_name, n=3, cutoff=0.6)]
    if nearest:
        raise PiIntentError(f"there is no call {shown} in {segments}; the nearest are {_listed(index, nearest)}")
    raise PiIntentError(f"there is no call {shown} in {segments}; the latest are {_listed(index, latest[:3])}")


def _listed(index: Index, ids: Sequence[str]) -> str:
    named = []
    for call_id in ids[:_MOST_NAMED]:
        found = index.one(call_id)
        said = None if found is None or found[0].call is None else found[0].call.intent
        name = short_id(call_id) if len({short_id(other) for other in ids}) == len(ids) else printable(call_id)
        named.append(f"{name} ({printable(said, width=60)})" if said else name)
    more = f" and {len(ids) - _MOST_NAMED} more" if len(ids) > _MOST_NAMED else ""
    return ", ".join(named) + more


def _print(
    index: Index,
    call: LedgerCall,
    places: Sequence[Place],
    notes: Sequence[Note],
    message: Sequence[str],
    untaken: int,
) -> None:
    at = message.index(call.id) if call.id in message else 0
    near = message[max(0, at - _MOST_NEIGHBOURS) : at + _MOST_NEIGHBOURS + 1]
    others = [call if name == call.id else found[0] for name in near if (found := index.one(name)) is not None]
    here = others.index(call) if call in others else 0
    standing = [(place.kind, place.path.name, place.line, place.raw) for place in places]
    lines = call_lines(call, standing, notes=notes, before=others[:here], after=others[here + 1 :])
    print_lines(chain(lines, _not_taken(untaken)))


def _not_taken(history: int) -> Iterator[Line]:
    if history:
        yield Line(lead=None)
        text = f"no notes were taken, as its session has {history} calls; --notes takes them"
        yield Line(((text, "dim"),), lead=None)


def _print_json(
    call: LedgerCall, places: Sequence[Place], notes: Sequence[Note] | None, message: Sequence[str]
) -> None:
    records = [
        {"t": place.kind, "path": without_secrets(place.path), "line": place.line, "holds": _holds(place.raw)}
        for place in places
    ]
    noted = None if notes is None else notes_json(notes)
    rest = json_text({"notes": noted, "records": records, "message": list(message)})
    sys.stdout.write(f"{call_json(call)[:-1]},{rest[1:]}\n")


def _holds(raw: bytes) -> bool:
    hashes = stated_and_true_hash(raw)
    return hashes is not None and hashes[0] == hashes[1]
