"""A command whose subcommands are loaded when they are called, or when the help tells of them."""

from __future__ import annotations

import difflib
from importlib import import_module
from typing import Any

import click

from pi_intent.labels.printable import printable


class LazyGroup(click.Group):
    """`modules` names the module of each subcommand, which has it under its own name.

    `what` and `all_of_them` are the words for one of them and for all, in the sentence about one that there is not.
    """

    def __init__(self, *args: Any, modules: dict[str, str], what: str, all_of_them: str, **more: Any) -> None:
        super().__init__(*args, **more)
        self._modules = modules
        self._what = what
        self._all_of_them = all_of_them

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*self._modules]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self._modules:
            return None
        command: click.Command = getattr(import_module(self._modules[cmd_name]), cmd_name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in self._modules and not args[0].startswith("-"):
            nearest = difflib.get_close_matches(args[0].lower(), self._modules, n=1)
            hint = f"did you mean {nearest[0]}?" if nearest else f"{self._all_of_them} {', '.join(self._modules)}."
            raise click.UsageError(f"there is no {self._what} {printable(args[0], width=60)!r}; {hint}", ctx)
        return super().resolve_command(ctx, args)
