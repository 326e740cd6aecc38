"""`pi-intent check`: read one call as an agent's host would, and show what would run."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import BinaryIO, NoReturn, get_args

import click

from pi_intent.cli.console import complain, json_text
from pi_intent.contract.read_call import Derive
from pi_intent.contract.rows import ROWS
from pi_intent.defaults import read_call
from pi_intent.errors import IntentRejected, PiIntentError
from pi_intent.types import IntentCall, Policy

MOST_BYTES = 64 << 20
"""More than any model sends; what is larger is not a call, or never ends."""


@click.command()
@click.argument("tool")
@click.argument("file", metavar="[FILE|-]", default="-")
@click.option(
    "--policy",
    type=click.Choice(get_args(Policy)),
    default="require",
    show_default=True,
    help="What a missing intent means; adaptive is read as in its first round.",
)
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print a refusal as JSON too, to standard output, and say nothing on standard error.",
)
def check(tool: str, file: str, policy: Policy, as_json: bool) -> None:
    """Show what would run of one call of TOOL, or why it is refused.

    The call's arguments are read as JSON, as the model sent them, from FILE or standard input. Nothing is executed,
    and the repairs that a host makes before or after are not made. Only the intent and the rationale decide: the
    tool's own arguments are the tool's to judge, and a missing one is named when the call is refused anyway.

    A call that may run is printed as JSON: intent, rationale, intentSource, arguments (what the tool gets) and flags.
    A refusal is the text that the model would get, on standard error, and exit code 1; with --json it is
    {"rejected": {"text", "codes"}} on standard output.

    \b
    Examples:
      echo '{"intent": "Look around", "command": "ls"}' | pi-intent check bash
      pi-intent check edit arguments.json --policy optional
    """
    if not as_json:
        _remark_on(tool)
    arguments = _parsed(_input(file))
    try:
        call = read_call(tool, arguments, policy=policy, derive=_derive(tool) if policy == "derive" else None)
    except IntentRejected as refusal:
        if as_json:
            click.echo(json_text({"rejected": {"text": str(refusal), "codes": refusal.codes}}, indent=2))
        else:
            complain(str(refusal))
        raise SystemExit(1) from None
    click.echo(_document(call))


def _derive(tool: str) -> Derive:
    from pi_intent.pipeline import target_of  # takes as long to load as all the rest, and is rarely asked for

    return lambda arguments: target_of(tool, arguments)


def _remark_on(tool: str) -> None:
    if tool in ROWS:
        return
    import difflib  # only where a word may be wrong

    nearest = difflib.get_close_matches(tool.lower(), ROWS, n=1)
    meant = f" (did you mean {nearest[0]}?)" if nearest else ""
    complain(f"{tool} is none of {', '.join(ROWS)}{meant}: only intent and rationale are checked.")


def _input(file: str) -> str:
    """Return the text of a file or of standard input. Raises `PiIntentError` in words where there is none."""
    name = "standard input" if file == "-" else file
    try:
        if file == "-":
            content = _standard_input().read(MOST_BYTES + 1)
        else:
            with Path(file).open("rb") as opened:
                content = opened.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:  # a path with NUL in it is a ValueError
        why = getattr(error, "strerror", None) or str(error)
        raise PiIntentError(f"{name} cannot be read: {why}") from error
    if len(content) > MOST_BYTES:
        raise PiIntentError(f"{name} is larger than {MOST_BYTES >> 20} MB, which is no call")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise PiIntentError(f"{name} is not UTF-8 text, from byte {error.start + 1} on: save it as UTF-8") from error


def _standard_input() -> BinaryIO:
    if sys.stdin is None:
        raise PiIntentError("standard input is closed: name a file, or pipe the arguments in")
    if sys.stdin.isatty():
        end = "Ctrl-Z and Enter" if sys.platform == "win32" else "Ctrl-D"
        complain(f"Type or paste the arguments of the call as JSON, then press {end} on a line of its own.")
    return sys.stdin.buffer


def _parsed(text: str) -> object:
    """Return what the JSON says, or the text itself where it is none: then it is judged as what a model sent."""
    try:
        return json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return text


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _document(call: IntentCall) -> str:
    document = {
        "intent": call.intent,
        "rationale": call.rationale,
        "intentSource": call.intent_source,
        "arguments": call.arguments,
        "flags": call.flags,
    }
    try:
        try:
            return json_text(document, indent=2)
        except RecursionError:
            return json_text(document)  # indenting goes less deep than reading
    except RecursionError as error:
        raise PiIntentError("the call would run, but its arguments are nested too deeply to be printed") from error
    except ValueError as error:
        raise PiIntentError(
            f"the call would run, but JSON cannot hold a number of its arguments ({error})"
        ) from error
