"""`pi-intent mcp wrap`: run an MCP server so that each call of its tools says why."""

from __future__ import annotations

import os

import click

from pi_intent.hosts.mcp.options import WrongUsage, read_options
from pi_intent.types import STRICTNESS


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option(
    "--policy",
    metavar="POLICY",
    help=f"What a call without an intent means: {', '.join(reversed(STRICTNESS))}. Default: optional.",
)
@click.option("--tools", metavar="GLOB", multiple=True, help="Ask for intents on these tools only; may be repeated.")
@click.option("--exempt", metavar="GLOB", multiple=True, help="Leave these tools alone; may be repeated.")
@click.option("--server", metavar="NAME", help="What the server is called in the ledger; else taken from COMMAND.")
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="COMMAND ARGS...")
@click.pass_context
def wrap(
    ctx: click.Context,
    policy: str | None,
    tools: tuple[str, ...],
    exempt: tuple[str, ...],
    server: str | None,
    command: tuple[str, ...],
) -> None:
    """Start an MCP server and put intents on its tools.

    Give it to your client in place of the server: "npx -y @acme/server" becomes "pi-intent mcp wrap npx -y
    @acme/server". "pi-intent mcp install" does that for you. Options come before COMMAND; everything after it is the
    server's, and no -- is needed.

    Each tool's schema opens with an intent and a rationale. They are taken out of a call before the server gets it.
    Calls, refusals and how they ended are kept in the ledger of the folder that the client starts servers in.
    Everything else passes through unchanged.

    \b
    optional   the model is asked; a call without an intent runs
    require    such a call is refused with a result that tells the model what to send, and nothing runs
    adaptive   it is refused in three answers of the model in a row, and then runs
    derive     the model is not asked; the ledger names the tool
    omit       the model is not asked

    What "require" costs: clients that call tools from scripts (pi does by default) write no intents, and their calls
    are refused; so is the call of a tool that no list has shown. A tool whose schema cannot carry an intent is named
    on standard error and runs without one.

    Ends as the server ends: with its exit code or its signal; 127 where COMMAND is not there, 126 where it cannot be
    run, 2 for wrong options.
    """
    words = (("--policy", [policy]), ("--server", [server]), ("--tools", tools), ("--exempt", exempt))
    given = [f"{name}={value}" for name, values in words for value in values if value is not None]
    try:
        options = read_options([*given, *command])
    except WrongUsage as error:
        raise click.UsageError(str(error), ctx) from error
    from pi_intent.hosts.mcp.wrap import wrap as run

    run(options, os.environ)
