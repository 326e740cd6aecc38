"""`pi-intent export`: the calls of this project for other programs. It loads only the format that is asked for."""

from __future__ import annotations

import difflib
from importlib import import_module

import click

from pi_intent.labels.printable import printable

# Each has its command under its own name.
_MODULES = {
    "jsonl": "pi_intent.cli.export_rows",
    "csv": "pi_intent.cli.export_rows",
    "otel": "pi_intent.cli.export_otel",
}


class _Lazy(click.Group):
    """Commands that are loaded when they are called, or when the help tells of them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*_MODULES]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _MODULES:
            return None
        command: click.Command = getattr(import_module(_MODULES[cmd_name]), cmd_name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in _MODULES and not args[0].startswith("-"):
            nearest = difflib.get_close_matches(args[0].lower(), _MODULES, n=1)
            hint = f"did you mean {nearest[0]}?" if nearest else f"the formats are {', '.join(_MODULES)}."
            raise click.UsageError(f"there is no format {printable(args[0], width=60)!r}; {hint}", ctx)
        return super().resolve_command(ctx, args)


@click.group(cls=_Lazy, invoke_without_command=True)
@click.pass_context
def export(ctx: click.Context) -> None:
    """Give the calls of this project to other programs: JSON lines, a table, or spans for OpenTelemetry."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
