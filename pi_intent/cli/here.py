"""The ledger that a command is about, and what takes the secrets out of all that is told of its place.

The name of a folder can hold a secret. What is printed of a path passes through `without_secrets`, whichever command
prints it: sentences do so in `tell` and `complain`, and JSON where a path is put into it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from pi_intent.ledger.location import LedgerLocation, find_ledger

if TYPE_CHECKING:
    from pi_intent.types import JSONValue

_ROOT: ContextVar[Path | None] = ContextVar("pi_intent_ledger", default=None)
"""Of the ledger that was found last: its key makes the tokens."""


def ledger_here() -> LedgerLocation:
    """Find the ledger of the project around the working directory. Its key counts for what is told from now on."""
    location = find_ledger(Path(), os.environ)
    _ROOT.set(location.root)
    return location


def without_secrets(text: str | Path) -> str:
    """Return a path, or a sentence with paths in it, with tokens in place of secrets. Never raises."""
    return _redactor()[0](str(text))


def values_without_secrets(value: JSONValue) -> JSONValue:
    """Return a JSON value with tokens in place of secrets. Never raises."""
    return _redactor()[1](value)


def _redactor() -> tuple[Callable[[str], str], Callable[[JSONValue], JSONValue]]:
    return _made(_ROOT.get(), tuple(sorted(os.environ.items())))


@cache
def _made(
    root: Path | None, environ: tuple[tuple[str, str], ...]
) -> tuple[Callable[[str], str], Callable[[JSONValue], JSONValue]]:
    from pi_intent.errors import LedgerError  # only where something is told
    from pi_intent.ledger.keys import key_to_look, redaction_key
    from pi_intent.redaction import Redactor

    try:
        key = key_to_look(root)
    except LedgerError:  # it is told where the key is needed
        key = key_to_look(None)
    redactor = Redactor(redaction_key(key), dict(environ))
    return redactor.text, redactor.value
