"""What commands print can be shown on any terminal, in any encoding."""

from __future__ import annotations

import codecs
import io
import json
import os
import re
import sys
from collections.abc import Iterable

from pi_intent.characters import UNSEEN
from pi_intent.cli.telling import tell_error
from pi_intent.labels.printable import printable

_MESSAGE_WIDTH = 2000
_SPELL_OUT = "pi_intent.spell_out"
_SIGNS = {
    "✓": "+",
    "✗": "x",
    "↺": "~",
    "▸": ">",
    "→": "->",
    "·": "-",
    "…": "...",
    "⟨": "<",
    "⟩": ">",
    "“": '"',
    "”": '"',
    "’": "'",
}

# What a terminal obeys, what nobody sees, what ends a line for some, and half characters, which cannot be encoded.
_HIDDEN = re.compile(f"[{UNSEEN}\x85\u2028\u2029\ud800-\udfff]")
_NOT_ASCII = re.compile(r"[^\n -~]")


def prepare_streams() -> None:
    """Make standard output and error take any text: what their encoding lacks is spelt out in ASCII.

    What is printed to a standard output that was closed before we began fails when it is flushed, as on a full disk;
    a closed standard error takes everything to nowhere.
    """
    codecs.register_error(_SPELL_OUT, _spell_out)
    if sys.stdout is None:
        unwritable = os.open(os.devnull, os.O_RDONLY)
        sys.stdout = open(unwritable, "w", encoding="utf-8")  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=_SPELL_OUT)


def _spell_out(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    return "".join(
        _SIGNS.get(sign) or sign.encode("ascii", "backslashreplace").decode() for sign in lacking
    ), error.end


def flush_streams() -> OSError | None:
    """Hand over what was printed; return what went wrong, after which nothing more is printed.

    Without it the interpreter would do this at its end, and show a broken pipe or a full disk as a traceback.
    """
    failure: OSError | None = None
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError as error:
            failure = failure or error
            _discard(stream.fileno())
    return failure


def _discard(descriptor: int) -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)


def complain(message: str) -> None:
    """Print one line to standard error, made safe: it may quote what others wrote. Never raises `OSError`."""
    tell_error(printable(message, width=_MESSAGE_WIDTH))


def write_items(items: Iterable[str]) -> None:
    """Write what stands between the brackets of a JSON array, each item on a line of its own and none kept."""
    separator = "\n"
    for item in items:
        sys.stdout.write(separator + item)
        separator = ",\n"


def json_text(value: object, *, indent: int | None = None) -> str:
    """Return a value as JSON that standard output can take and a person can read.

    Raises `RecursionError` for what is nested too deeply, and `ValueError` for numbers that JSON does not have.
    """
    return shown_json(json.dumps(value, ensure_ascii=False, indent=indent, allow_nan=False, check_circular=False))


def shown_json(text: str, *, encoding: str | None = None) -> str:
    """Return JSON text with escapes for what must not reach a screen and for what the output cannot encode.

    Other scripts stay as they are where they can. It means the same: such characters stand inside strings only.
    `encoding` is that of the output where it is not standard output.
    """
    if text.isascii() and "\x7f" not in text:
        return text
    encoding = encoding or getattr(sys.stdout, "encoding", None)
    escaped = _HIDDEN if _encodes_everything(encoding) else _NOT_ASCII
    return escaped.sub(lambda found: json.dumps(found[0])[1:-1] if found[0] != "\x7f" else "\\u007f", text)


def _encodes_everything(encoding: str | None) -> bool:
    try:
        return encoding is not None and codecs.lookup(encoding).name.startswith("utf")
    except LookupError:
        return False
