"""`pi-intent demo`: watch a whole session without a key."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.option(
    "--keep",
    metavar="DIR",
    type=click.Path(path_type=Path, file_okay=False),
    help="Keep the project, its ledger and the agent's home in DIR, which must be empty or new.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document at the end instead.")
def demo(keep: Path | None, as_json: bool) -> None:
    """Watch a whole session on a scripted model: no key, no network, nothing left behind.

    The real Tau works with pi-intent on a small task; only the model's answers were written in advance. Each call is
    shown with what the model says it is for, as the ledger records it. Needs Tau (pip install tau-ai) and git.

    Exits with 1 where the session did not go as scripted.
    """
    from pi_intent.cli.demo.run import run_demo  # Rich and a web server: not for --help

    raise SystemExit(run_demo(keep=keep, as_json=as_json))
