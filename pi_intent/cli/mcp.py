"""`pi-intent mcp`: intents on the tools of MCP servers. It loads only the command that is asked for."""

from __future__ import annotations

from importlib import import_module

import click

# Each has its command under its own name.
_MODULES = {
    "wrap": "pi_intent.cli.mcp_wrap",
    "install": "pi_intent.cli.mcp_install",
    "uninstall": "pi_intent.cli.mcp_install",
    "status": "pi_intent.cli.mcp_status",
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


@click.group(cls=_Lazy)
def mcp() -> None:
    """Put intents on the tools of MCP servers, in Claude Code, Codex, Cursor and VS Code."""
