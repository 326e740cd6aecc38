"""`pi-intent tail`: the calls of this project while they happen."""

from __future__ import annotations

import os

import click
from rich.console import Console

from pi_intent.cli.here import ledger_here
from pi_intent.cli.tailing.drawing import JsonLines, LabelLines
from pi_intent.cli.tailing.watch import Watch


@click.command()
@click.option("--session", metavar="ID", help="Only this session; the beginning of its id is enough.")
@click.option("--json", "as_json", is_flag=True, help="Print the events, one JSON object a line.")
def tail(session: str | None, as_json: bool) -> None:
    """Watch what is done in this project, and why, from another terminal, while it happens.

    Each line has the time at which it came, the intent as the model stated it (nothing here checks whether it is
    true), what came of it, and the tool and what it was aimed at. An agent that can be watched live shows an intent
    while it is being written; of any other the ledger tells when a call begins and ends. Which of the two it is
    stands on standard error. Agents may come and go; it ends with Ctrl-C, or when whoever reads the output has seen
    enough.

    With --json it is the events, one a line, without secrets. A start or an end that was read from the ledger, which
    can be quicker, has contents with their digests, and an end the `seq` of its start.

    \b
    Examples:
      pi-intent tail
      pi-intent tail --session 01J8
      pi-intent tail --json | jq -c 'select(.type == "tool_execution_start").intent'
    """
    location = ledger_here()
    watch = Watch(location, os.environ, session or "")
    watch.look()  # before anything is drawn that a sentence could disturb
    screen = JsonLines() if as_json else LabelLines(Console(markup=False, emoji=False, highlight=False))
    try:
        watch.run(screen)
    finally:
        screen.close()
