"""The command `pi-intent`: it loads only the command that is asked for, and every failure ends in a sentence."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from shutil import get_terminal_size
from typing import Any

import click
from click.formatting import wrap_text

from pi_intent import __version__
from pi_intent.cli.console import complain, flush_streams, prepare_streams
from pi_intent.errors import PiIntentError
from pi_intent.labels.printable import printable

FAILED, WRONG_USAGE, INTERRUPTED, UNREAD = 1, 2, 130, 141
DEBUG = "PI_INTENT_DEBUG"
_NARROW, _LEAST = 52, 28
"""Columns below which a help is wrapped for them, and the fewest that it is wrapped for."""

_ABOUT = """Makes a coding agent say why, before it reads, writes, edits or runs.

Every call states its intent. You see it while the agent works, and find it in the project's ledger later. It is what
the model says of itself: nothing here checks whether it is true."""

_EXIT_CODES = (
    ("0", "done"),
    (str(FAILED), "the answer is no, or something failed; a sentence on standard error says what"),
    (str(WRONG_USAGE), "the command line is wrong"),
    (str(INTERRUPTED), "interrupted from the keyboard"),
    (str(UNREAD), 'whoever read the output wanted no more of it, as "head" does; that is no failure'),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """A command as the help tells of it. `module` has it under its own name; it is loaded when the command is.

    `attribute` is its name there where Python does not allow its own.
    """

    name: str
    module: str
    summary: str
    example: str
    attribute: str | None = None


SECTIONS: dict[str, tuple[Listed, ...]] = {
    "Begin": (
        Listed(
            name="demo",
            module="pi_intent.cli.demo_command",
            summary="Watch a session on a scripted model; needs no key, leaves nothing.",
            example="pi-intent demo",
        ),
        Listed(
            name="install",
            module="pi_intent.cli.install",
            summary="Add pi-intent to your agent.",
            example="pi-intent install tau",
        ),
        Listed(
            name="uninstall",
            module="pi_intent.cli.install",
            summary="Take it out again; the ledgers stay.",
            example="pi-intent uninstall tau",
        ),
        Listed(
            name="mcp",
            module="pi_intent.cli.mcp",
            summary="Put intents on the tools of MCP servers, in four clients.",
            example="pi-intent mcp install --client claude --dry-run",
        ),
        Listed(
            name="doctor",
            module="pi_intent.cli.doctor",
            summary="Find out whether it works here, and what to do if not.",
            example="pi-intent doctor",
        ),
    ),
    "Look back": (
        Listed(
            name="log",
            module="pi_intent.cli.log",
            summary="What was done in this project, and why.",
            example="pi-intent log --limit 10",
        ),
        Listed(
            name="import",
            module="pi_intent.cli.import_command",
            summary="Take in the sessions that agents wrote themselves.",
            example="pi-intent import",
            attribute="import_",
        ),
        Listed(
            name="show",
            module="pi_intent.cli.show",
            summary="Everything about one call.",
            example="pi-intent show 4F2A9C1B",
        ),
        Listed(
            name="stats",
            module="pi_intent.cli.stats",
            summary="What is rejected, what fails, and who says why.",
            example="pi-intent stats --since 7d",
        ),
        Listed(
            name="audit",
            module="pi_intent.cli.audit",
            summary="Who was asked about what, and what ran without.",
            example="pi-intent audit --since yesterday",
        ),
        Listed(
            name="tail",
            module="pi_intent.cli.tail",
            summary="Watch it happen, from another terminal.",
            example="pi-intent tail",
        ),
        Listed(
            name="verify",
            module="pi_intent.cli.verify",
            summary="Is the ledger still as it was written?",
            example="pi-intent verify",
        ),
        Listed(
            name="export",
            module="pi_intent.cli.export",
            summary="The calls as JSON lines, as a table, or as spans.",
            example="pi-intent export csv -o calls.csv",
        ),
        Listed(
            name="purge",
            module="pi_intent.cli.purge",
            summary="Remove what is old from the ledger.",
            example="pi-intent purge --before 90d --dry-run",
        ),
    ),
    "Look inside": (
        Listed(
            name="schema",
            module="pi_intent.cli.schema",
            summary="What the model is told about the tools.",
            example="pi-intent schema",
        ),
        Listed(
            name="check",
            module="pi_intent.cli.check",
            summary="What would run of one call, or why it is refused.",
            example="pi-intent check bash arguments.json",
        ),
    ),
}
_COMMANDS = {command.name: command for commands in SECTIONS.values() for command in commands}


class _NoReader(Exception):
    """Nobody reads the output any more. Not an `OSError`, as click ends with 1 on one of those."""


@contextmanager
def _reader_may_leave() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError as error:
        raise _NoReader from error
    except SystemExit as stopped:
        if isinstance(stopped.__context__, BrokenPipeError):  # Rich ends with 1 on one
            raise _NoReader from stopped
        raise


class Commands(click.Group):
    """The commands by name. Its `main` is the boundary where every exception becomes a sentence and an exit code."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*_COMMANDS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        listed = _COMMANDS.get(cmd_name)
        if listed is None:
            return None
        command: click.Command = getattr(import_module(listed.module), listed.attribute or listed.name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in _COMMANDS and not name.startswith("-"):
            import difflib  # only where a word is wrong

            nearest = difflib.get_close_matches(name.lower(), _COMMANDS, n=1)
            hint = f"did you mean {nearest[0]}?" if nearest else f"the commands are {', '.join(_COMMANDS)}."
            raise click.UsageError(f"there is no command {printable(name, width=60)!r}; {hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Tell what there is, in the order in which a person needs it, without loading any of it."""
        self.format_usage(ctx, formatter)
        for paragraph in _ABOUT.split("\n\n"):
            formatter.write_paragraph()
            formatter.write_text(paragraph)
        width = max(map(len, _COMMANDS))
        for title, commands in SECTIONS.items():
            with formatter.section(title):
                for command in commands:
                    for head, text in ((command.name, command.summary), ("", f"$ {command.example}")):
                        start, after = f"  {head:{width}}  ", " " * (width + 4)
                        # click leaves two columns free
                        formatter.write(f"{wrap_text(text, formatter.width + 2, start, after)}\n")
        self.format_options(ctx, formatter)
        with formatter.section("Exit codes"):
            formatter.write_dl(_EXIT_CODES)
        formatter.write_paragraph()
        formatter.write_text("pi-intent COMMAND --help tells more.")

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        records = [record for param in self.get_params(ctx) if (record := param.get_help_record(ctx)) is not None]
        with formatter.section("Options"):
            formatter.write_dl(records)

    def make_context(self, *args: Any, **options: Any) -> click.Context:
        columns = get_terminal_size().columns
        if columns < _NARROW:  # click would take it for wider, and words would break at the edge
            options.setdefault("terminal_width", max(columns - 2, _LEAST))
        with _reader_may_leave():  # --help and --version are printed here
            return super().make_context(*args, **options)

    def invoke(self, ctx: click.Context) -> Any:
        with _reader_may_leave():
            return super().invoke(ctx)

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        try:
            returned = super().main(args, prog_name, complete_var, standalone_mode=False, **extra)
            code = returned if isinstance(returned, int) else 0
        except SystemExit as stopped:  # a command's verdict
            code = stopped.code if isinstance(stopped.code, int) else FAILED if stopped.code else 0
        except Exception as error:
            code = _explain(error)
        failure = flush_streams()
        if failure is not None and code == 0:
            code = _explain(failure)
        sys.exit(code)


def _explain(error: Exception) -> int:
    """Tell a person what went wrong, and return the exit code for it."""
    if os.environ.get(DEBUG, "0") not in ("", "0"):
        import traceback

        traceback.print_exception(error)
    match error:
        case click.ClickException():
            with suppress(OSError):
                error.show()
            return error.exit_code
        case click.Abort():
            complain("Interrupted.")
            return INTERRUPTED
        case PiIntentError():
            complain(f"Error: {error}")
        case _NoReader() | BrokenPipeError():
            return UNREAD
        case OSError():
            what, then = error.filename, "see that it is there and yours"
            if what is None:
                what, then = "the output", "see where it goes"
            complain(f"Error: {what} could not be read or written ({error.strerror or error}): {then}")
        case _:
            text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
            complain(f"Error: this is a fault of pi-intent ({text}); run it again with {DEBUG}=1 to see where it is")
    return FAILED


@click.group(
    "pi-intent",
    cls=Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, message="pi-intent %(version)s")
@click.pass_context
def commands(ctx: click.Context) -> None:
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def main() -> None:
    """Run the command that the command line asks for, and exit."""
    prepare_streams()
    commands.main(prog_name="pi-intent")


if __name__ == "__main__":
    main()
