"""The options that the commands on clients of MCP servers share."""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from pathlib import Path
from typing import Any, get_args

import click

from pi_intent.cli.telling import wrong_usage
from pi_intent.hosts.mcp.clients.client import ClientName, Scope
from pi_intent.labels.printable import printable


class Nearest(click.Choice[str]):
    """A choice that tells of a wrong word which right one is the nearest."""

    def __init__(self, what: str, choices: tuple[str, ...]) -> None:
        super().__init__(choices)
        self._what = what

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value in self.choices:
            return str(value)
        nearest = get_close_matches(str(value).lower(), self.choices, n=1)
        hint = f"did you mean {nearest[0]}?" if nearest else f"they are {', '.join(self.choices)}."
        raise wrong_usage(f"there is no {self._what} {printable(str(value), width=60)!r}; {hint}", ctx)


CLIENT = Nearest("client", get_args(ClientName))
SCOPE = Nearest("scope", get_args(Scope))
_SCOPES = (
    "user: yours everywhere; local: yours in this project (Claude Code); project: a file that all who have the "
    "project share. May be given again."
)

project_option = click.option(
    "--project",
    metavar="DIR",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    default=Path(),
    help="Whose project.  [default: this directory]",
)
only_option = click.option("--only", metavar="SERVER", multiple=True, help="Only this server. May be given again.")


def scope_option[F: Callable[..., Any]](default: str) -> Callable[[F], F]:
    """Return the option that chooses scopes."""
    return click.option("--scope", "scopes", multiple=True, type=SCOPE, help=f"{_SCOPES}  [default: {default}]")


def chosen_client(command: str, option: ClientName | None, argument: ClientName | None) -> ClientName:
    """Return the one client that was named, in either way. Raises `UsageError`."""
    name = option or argument
    if name is None:
        clients = ", ".join(get_args(ClientName))
        raise wrong_usage(f"say whose servers: pi-intent mcp {command} --client NAME; the names are {clients}")
    if argument is not None and argument != name:
        raise wrong_usage(f"{argument} and --client {option} are two clients: give one")
    return name
