"""`pi-intent schema`: show the tools as the model sees them, taken from the real Tau."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

import click

from pi_intent.cli.console import complain, json_text
from pi_intent.contract.rows import ROWS
from pi_intent.errors import HostError
from pi_intent.labels.printable import printable, printable_block
from pi_intent.settings import load_settings
from pi_intent.settings.wording import setting_path
from pi_intent.types import Profile

_PROFILE = "PI_INTENT_PROFILE"


@click.command(context_settings={"allow_interspersed_args": False, "ignore_unknown_options": True})
@click.option("--tool", metavar="NAME", help="Show this tool only; may be one that is not shadowed.")
@click.option(
    "--profile",
    type=click.Choice(get_args(Profile)),
    help="Show what this profile would say; it is chosen for Tau as by PI_INTENT_PROFILE.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document, with every order kept.")
@click.option("--mcp", is_flag=True, help="Show the tools of the MCP server that the words behind it start.")
@click.option("--diff", is_flag=True, help="With --mcp: show what pi-intent changes, against the server's own.")
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="[COMMAND ARGS...]")
@click.pass_context
def schema(
    ctx: click.Context,
    tool: str | None,
    profile: str | None,
    as_json: bool,
    mcp: bool,
    diff: bool,
    words: tuple[str, ...],
) -> None:
    """Show what the model is told about the tools: names, descriptions, parameters, in the order on the wire.

    Taken from the Tau on PATH as it would start in this folder, with your settings and your own extensions. Below
    the tools stands what the system prompt says of them: snippets, guidelines and the section on intents. Where
    pi-intent is not installed in Tau yet, this is how it would be.

    With --mcp it is the tools of an MCP server, as a client gets them through "pi-intent mcp wrap", with what each
    costs; write what you would write behind "mcp wrap": pi-intent schema --mcp --diff npx -y @acme/server. The
    server is started for a moment.

    Exits with 1 where Tau or the server cannot be asked, and with 2 where there is no tool of that name.
    """
    if mcp:
        from pi_intent.cli.schema_mcp import show_server

        show_server(ctx, words, tool=tool, profile=profile, as_json=as_json, diff=diff)
        return
    if words or diff:
        raise click.UsageError("a command and --diff are for --mcp", ctx)
    from pi_intent.hosts.tau.locate import find_tau
    from pi_intent.hosts.tau.probe import ENTRY, probe_tau

    environ = {**os.environ, **({_PROFILE: profile} if profile is not None else {})}
    try:
        cwd = Path.cwd()
    except FileNotFoundError as error:
        raise HostError("this folder is gone: change to another one and try again") from error
    probe = probe_tau(find_tau(environ), cwd=cwd, environ=environ, with_calls=False, entry=ENTRY)
    if environ.get("PI_INTENT", "").strip().lower() == "off":
        complain("PI_INTENT=off is set: these are Tau's own tools, without pi-intent.")
    elif probe.package is None:
        raise HostError('Tau does not load pi-intent, so there is nothing to show: "pi-intent doctor" says why')
    for rule in load_settings(project=None, environ=environ).settings.tools if profile is not None else ():
        if rule.profile not in (None, profile) and rule.matches(ROWS):
            path = setting_path("tools", rule.pattern, "profile")
            complain(f"{rule.origin}: {path} goes before --profile, as it is for single tools.")
    shown = [found for found in probe.tools if found.name == tool or (tool is None and found.name in ROWS)]
    if tool is not None and not shown:
        names = ", ".join(printable(found.name, width=60) for found in probe.tools)
        raise click.BadParameter(
            f"Tau has no tool {printable(tool, width=60)!r}; it has {names}.", param_hint="--tool"
        )
    tools: list[dict[str, Any]] = [
        {
            "name": found.name,
            "description": found.description,
            "parameters": found.parameters,
        }
        for found in shown
    ]
    prompt: dict[str, Any] = {
        "snippets": {found.name: found.snippet for found in shown if found.snippet is not None},
        "guidelines": {found.name: [*found.guidelines] for found in shown if found.guidelines},
        "sections": [{"title": section.title, "body": section.body} for section in probe.sections],
    }
    if as_json:
        click.echo(json_text({"host": "tau", "version": probe.tau, "tools": tools, "systemPrompt": prompt}, indent=2))
    else:
        _draw(tools, prompt)


def _draw(tools: Sequence[dict[str, Any]], prompt: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.syntax import Syntax
    from rich.text import Text

    console = Console(highlight=False)

    def line(text: str, style: str = "") -> None:
        console.print(Text(text, style), soft_wrap=True)

    def block(text: str) -> None:
        for part in printable_block(text, width=10_000, max_lines=1_000):
            line(f"  {part}")

    for tool in tools:
        line(printable(tool["name"]), "bold")
        block(tool["description"])
        text = json_text(tool["parameters"], indent=2)
        if console.is_terminal:
            console.print(Syntax(text, "json", background_color="default", word_wrap=True))
        else:
            line(text)
        for name in ("snippets", "guidelines"):
            said = prompt[name].get(tool["name"], ())
            for sentence in [said] if isinstance(said, str) else said:
                block(f"{name.removesuffix('s')}: {sentence}")
        line("")
    for section in prompt["sections"]:
        line(printable(section["title"] or "(no title)"), "bold")
        block(section["body"])
