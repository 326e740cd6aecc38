"""`pi-intent export`: the calls of this project for other programs. It loads only the format that is asked for."""

from __future__ import annotations

import click

from pi_intent.cli.lazy import LazyGroup

# Each has its command under its own name.
_MODULES = {
    "jsonl": "pi_intent.cli.export_rows",
    "csv": "pi_intent.cli.export_rows",
    "otel": "pi_intent.cli.export_otel",
}


@click.group(
    cls=LazyGroup,
    invoke_without_command=True,
    modules=_MODULES,
    what="format",
    all_of_them="the formats are",
)
@click.pass_context
def export(ctx: click.Context) -> None:
    """Give the calls of this project to other programs: JSON lines, a table, or spans for OpenTelemetry."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
