"""`pi-intent mcp`: intents on the tools of MCP servers. It loads only the command that is asked for."""

from __future__ import annotations

import click

from pi_intent.cli.lazy import LazyGroup

# Each has its command under its own name.
_MODULES = {
    "wrap": "pi_intent.cli.mcp_wrap",
    "install": "pi_intent.cli.mcp_install",
    "uninstall": "pi_intent.cli.mcp_install",
    "status": "pi_intent.cli.mcp_status",
}


@click.group(
    cls=LazyGroup,
    invoke_without_command=True,
    modules=_MODULES,
    what="command mcp",
    all_of_them="the commands are",
)
@click.pass_context
def mcp(ctx: click.Context) -> None:
    """Put intents on the tools of MCP servers, in Claude Code, Codex, Cursor and VS Code."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
