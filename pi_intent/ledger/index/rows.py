"""Turn the entries of the ledger into rows of the index."""

from __future__ import annotations

import json
from dataclasses import astuple
from json.encoder import encode_basestring as _quoted

from pi_intent.contract.rows import PATHS, action_text
from pi_intent.labels.literal import literal
from pi_intent.labels.printable import UNCUT, printable
from pi_intent.ledger.entries import CallEntry, DoneEntry, SessionEntry
from pi_intent.types import JSONObject

type Row = tuple[str | int | None, ...]

_LARGEST = 2**63 - 1

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), check_circular=False).encode


def call_row(entry: CallEntry, n: int, ended: bool, place: tuple[int, int, int, int]) -> Row:
    """Return the row of a call. `place` is its segment, line, offset and length."""
    args = entry.args
    return (
        n,
        entry.id,
        entry.ts,
        _kept(entry.seq),
        entry.session,
        ended,
        *place,
        entry.host,
        entry.agent,
        entry.group,
        _kept(entry.turn),
        entry.tool,
        entry.tool_source,
        entry.intent,
        entry.intent_source,
        entry.rationale,
        _object(args) if args else None,
        entry.policy,
        _json(entry.flags) if entry.flags else None,
        entry.model,
        aimed_at(args),
        entry.tool_call_id,
    )


def done_row(entry: DoneEntry, n: int, place: tuple[int, int, int, int]) -> Row:
    """Return the row of the end of a call."""
    return (
        n,
        *place,
        entry.status,
        _json(entry.codes) if entry.codes else None,
        _kept(entry.ms),
        entry.outcome,
        entry.facts,
        entry.error,
        _json([file.path for file in entry.files]) if entry.files else None,
    )


def session_row(entry: SessionEntry, place: tuple[int, int]) -> Row:
    """Return the row of a session's record."""
    return (*place, entry.ts, entry.session, entry.writer, _json(astuple(entry)))


def call_texts(entry: CallEntry) -> str:
    """Return what is searched of a call: three lines, as `log` shows them."""
    action = _literal(action_text(entry.tool, entry.args))
    return f"{_shown(entry.intent)}\n{_shown(entry.rationale)}\n{action}\n"


def done_texts(entry: DoneEntry) -> str:
    """Return what is searched of the end of a call, in the same way."""
    return f"{_shown(entry.outcome)}\n{_shown(entry.facts)}\n{_shown(entry.error)}\n"


def aimed_at(args: JSONObject) -> str | None:
    """Return the file that a call's arguments name; None where they name none."""
    path = args.get("path")
    if isinstance(path, str):
        return path
    return next((value for name in PATHS if isinstance(value := args.get(name), str)), None)


def _shown(text: str | None) -> str:
    return "" if text is None else text if _is_plain(text) else printable(text, width=UNCUT)


def _literal(text: str) -> str:
    # Nothing to spell out is by far the most common.
    plain = text.isascii() and text.isprintable() and not text.endswith(" ")
    return text if plain else literal(text, width=UNCUT)


def _is_plain(text: str) -> bool:
    return text.isprintable() and "  " not in text


def _kept(number: int) -> int:
    """Return a number that a column can hold; an honest one always is."""
    return number if -_LARGEST <= number <= _LARGEST else _LARGEST if number > 0 else -_LARGEST


def _object(value: JSONObject) -> str:
    """Write an object of plain values, as arguments are, in half the time that setting up an encoder takes."""
    parts: list[str] = []
    for name, item in value.items():
        if type(item) is str:
            parts.append(f"{_quoted(name)}:{_quoted(item)}")
        elif type(item) is int and -_LARGEST <= item <= _LARGEST:
            parts.append(f"{_quoted(name)}:{item}")
        else:
            return _json(value)
    return f"{{{','.join(parts)}}}"


def _json(value: object) -> str:
    try:
        return _encode(value)
    except (ValueError, RecursionError):  # numbers of thousands of digits
        return "null"
