"""`pi-intent schema --mcp`: an MCP server's tools as its client gets them, and what the intents in them cost."""

from __future__ import annotations

import difflib
import json
import os
from collections.abc import Callable
from typing import Any

import click

from pi_intent.cli.console import complain, json_text
from pi_intent.descriptions import model_texts
from pi_intent.hosts.mcp.options import WrongUsage, read_options
from pi_intent.hosts.mcp.shown import ShownTool, shown_tools
from pi_intent.labels.printable import printable, printable_block

_CHARACTERS_A_TOKEN = 4
"""About what JSON of schemas takes, where no tokenizer is installed."""


def show_server(
    ctx: click.Context, words: tuple[str, ...], *, tool: str | None, profile: str | None, as_json: bool, diff: bool
) -> None:
    """Print the tools of the server that the words start. Raises `HostError` where it cannot be asked."""
    try:
        options = read_options(words)
    except WrongUsage as error:
        raise click.UsageError(str(error), ctx) from error
    environ = {**os.environ, **({"PI_INTENT_PROFILE": profile} if profile is not None else {})}
    warnings: list[str] = []
    found = shown_tools(options, texts=model_texts(), environ=environ, warnings=warnings)
    for warning in warnings:
        complain(warning)
    chosen = [one for one in found if tool is None or one.name == tool]
    if tool is not None and not chosen:
        names = ", ".join(printable(one.name, width=60) for one in found)
        raise click.BadParameter(
            f"the server has no tool {printable(tool, width=60)!r}; it has {names}.", param_hint="--tool"
        )
    count, exact = _counter()
    if as_json:
        document = {"host": "mcp", "tokensAreExact": exact, "tools": [_document(one, count, diff) for one in chosen]}
        click.echo(json_text(document, indent=2))
        return
    for one in chosen:
        _draw(one, count, exact, diff)
    if len(chosen) > 1:
        about = "" if exact else "about "
        after, before = sum(count(_wire(one.shown)) for one in chosen), sum(count(_wire(one.own)) for one in chosen)
        click.echo(f"{len(chosen)} tools: {about}{after} tokens, {about}{after - before} of them for the intents")


def _document(one: ShownTool, count: Callable[[str], int], diff: bool) -> dict[str, Any]:
    return {
        **one.shown,
        **({"original": one.own.get("inputSchema")} if diff else {}),
        "tokens": count(_wire(one.shown)),
        "added": count(_wire(one.shown)) - count(_wire(one.own)),
        "noIntentBecause": one.reason,
    }


def _draw(one: ShownTool, count: Callable[[str], int], exact: bool, diff: bool) -> None:
    from rich.console import Console
    from rich.syntax import Syntax
    from rich.text import Text

    console = Console(highlight=False)

    def line(text: str, style: str = "") -> None:
        console.print(Text(text, style), soft_wrap=True)

    after, before = count(_wire(one.shown)), count(_wire(one.own))
    about = "" if exact else "about "
    line(printable(one.name), "bold")
    line(f"  {about}{after} tokens, {about}{after - before} of them for the intent", "dim")
    if one.reason is not None:
        line(f"  no intent: {printable(one.reason, width=500)}", "yellow")
    if diff:
        for text in _diff(one):
            style = "green" if text.startswith("+") else "red" if text.startswith("-") else ""
            line(text, style)
    else:
        for text in printable_block(str(one.shown.get("description", "")), width=10_000, max_lines=1_000):
            line(f"  {text}")
        schema = json_text(one.shown.get("inputSchema"), indent=2)
        if console.is_terminal:
            console.print(Syntax(schema, "json", background_color="default", word_wrap=True))
        else:
            line(schema)
    line("")


def _diff(one: ShownTool) -> list[str]:
    old, new = (json_text(part.get("inputSchema"), indent=2).splitlines() for part in (one.own, one.shown))
    return [text for text in difflib.unified_diff(old, new, lineterm="", n=2) if not text.startswith(("---", "+++"))]


def _wire(tool: dict[str, Any]) -> str:
    """Return what a client hands to its model of a tool, as compact JSON."""
    told = {"name": tool.get("name"), "description": tool.get("description"), "parameters": tool.get("inputSchema")}
    return json.dumps(told, ensure_ascii=False, separators=(",", ":"))


def _counter() -> tuple[Callable[[str], int], bool]:
    """Return what counts tokens (o200k), and whether it does so exactly: that takes the extra `tokens`."""
    try:
        from bpe_openai import get_encoding  # type: ignore[import-untyped]
    except ImportError:
        return lambda text: len(text) // _CHARACTERS_A_TOKEN, False
    encode = get_encoding("o200k_base").encode
    return lambda text: len(encode(text)), True
