"""`pi-intent export jsonl` and `csv`: one call a line, for programs and for spreadsheets."""

from __future__ import annotations

import csv as comma_separated
import json
import math
import sys
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, TextIO

import click

from pi_intent.cli.console import complain, shown_json
from pi_intent.cli.exporting import SESSION, SINCE, Source
from pi_intent.cli.whole_file import whole_file
from pi_intent.labels.literal import spelled_out
from pi_intent.ledger.calls import LedgerCall
from pi_intent.ledger.entries import entry_object
from pi_intent.redaction import Redactor

_CALL_KEYS = (
    "session",
    "host",
    "agent",
    "group",
    "turn",
    "seq",
    "parent",
    "toolCallId",
    "ts",
    "tool",
    "toolSource",
    "intent",
    "intentSource",
    "rationale",
    "args",
    "argsDigest",
    "policy",
    "profile",
    "flags",
    "model",
    "head",
)
_DONE_KEYS = (
    "status",
    "isError",
    "ms",
    "codes",
    "outcome",
    "outcomePatch",
    "facts",
    "error",
    "files",
    "ranArgs",
    "bytesIn",
    "bytesOut",
)
_DECISION_KEYS = ("ts", "number", "reasons", "digest", "approved", "by", "scope", "note", "shown")
_ALIKE = ("session", "host", "agent", "tool", "toolSource", "model", "head", "facts")
"""Columns that say the same of many calls."""
_OWN = (
    *("group", "parent", "toolCallId", "ts", "intent", "rationale", "args", "argsDigest", "flags", "endTs", "codes"),
    *("outcome", "outcomePatch", "error", "files", "ranArgs", "decisions"),
)
"""Columns that say something else of each call. The others are numbers, or words that the reader knows."""

COLUMNS = ("id", "state", *_CALL_KEYS, "endTs", *_DONE_KEYS, "decisions")

# A spreadsheet takes a cell that begins so for a formula, behind blanks as well; the wide forms are the same to some.
_FORMULA = ("=", "+", "-", "@", "\t", "＝", "＋", "－", "＠")

_OUT = click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Write to a file that only you can read; - is standard output.",
)


@click.command()
@_OUT
@SESSION
@SINCE
def jsonl(output: Path | None, session: str | None, since: str | None) -> None:
    """Print the calls of this project as JSON, one call a line.

    Each line has all these keys, null where the ledger says nothing:

    \b
    id, state ("settled", "running" or "open"), session, host, agent,
    group, turn, seq, parent, toolCallId, ts, tool, toolSource, intent,
    intentSource, rationale, args, argsDigest, policy, profile, flags,
    model, head, endTs, status, isError, ms, codes, outcome,
    outcomePatch, facts, error, files, ranArgs, bytesIn, bytesOut,
    decisions

    They mean what they mean in the ledger, see docs/export.md. Texts that the setting redact_args withheld are not
    there, and secrets are taken out once more.

    \b
    Examples:
      pi-intent export jsonl | jq 'select(.status == "error") | .intent'
      pi-intent export jsonl --since 7d -o calls.jsonl
    """
    _export(Source(session=session, since=since), output, _write_jsonl)


@click.command()
@_OUT
@SESSION
@SINCE
def csv(output: Path | None, session: str | None, since: str | None) -> None:
    """Print the calls of this project as a table of comma-separated values, with the keys of "jsonl" as its header.

    As RFC 4180 has it, in UTF-8, one call a line: line breaks and what cannot be seen are spelt out, such as \\n,
    and lists and objects are JSON. A cell that a spreadsheet would take for a formula gets a ' in front, because
    what a model wrote must not be computed.

    \b
    Examples:
      pi-intent export csv -o calls.csv
      pi-intent export csv --session 01J8
    """
    _export(Source(session=session, since=since), output, _write_csv)


def _export(source: Source, output: Path | None, write: Callable[[Iterator[dict[str, Any]], TextIO], int]) -> None:
    rows = _rows(source)
    if output is not None and str(output) == "-":  # as other programs have it
        output = None
    if output is None:
        count = write(rows, sys.stdout)
    else:
        with whole_file(output) as file:
            count = write(rows, file)
        complain(f"{count} {'call' if count == 1 else 'calls'} written to {output}")
    source.report()
    if not count and output is None:
        complain(f"{source.nothing()} in {source.location.segments}.")


def _rows(source: Source) -> Iterator[dict[str, Any]]:
    rows = Rows(source.redactor())
    for call in source.calls():
        if source.wants(call):
            yield rows.row(call)


class Rows:
    """Makes rows without secrets of calls; what many calls say alike is looked at once."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._alike = lru_cache(maxsize=4096)(redactor.value)

    def row(self, call: LedgerCall) -> dict[str, Any]:
        """Return a call as one flat object with all the columns."""
        begun = {} if call.call is None else entry_object(call.call)
        ended = {} if call.done is None else entry_object(call.done)
        row: dict[str, Any] = {"id": call.id, "state": call.state}
        row |= {key: begun.get(key) for key in _CALL_KEYS}
        row["endTs"] = ended.get("ts")
        row |= {key: ended.get(key) for key in _DONE_KEYS}
        records = map(entry_object, call.decisions)
        row["decisions"] = [{key: record[key] for key in _DECISION_KEYS} for record in records]
        for key in _ALIKE:
            row[key] = self._alike(row[key])
        own = {key: row[key] for key in _OWN if row[key]}
        safe = self._redactor.value(own)
        if safe is not own and isinstance(safe, dict):
            row |= safe
        return row


def _write_jsonl(rows: Iterator[dict[str, Any]], file: TextIO) -> int:
    count = 0
    for row in rows:
        file.write(shown_json(_json(row), encoding=file.encoding) + "\n")
        count += 1
    return count


def _write_csv(rows: Iterator[dict[str, Any]], file: TextIO) -> int:
    writer = comma_separated.writer(file, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    count = 0
    for row in rows:
        writer.writerow([cell(row[column]) for column in COLUMNS])
        count += 1
    return count


def cell(value: Any) -> str:
    """Return a value as the text of one cell, which no spreadsheet computes."""
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case int() | float():
            return str(value)
        case str():
            text = spelled_out(value)
        case _:
            text = spelled_out(_json(value))
    return f"'{text}" if text.startswith("\t") or text.lstrip().startswith(_FORMULA) else text


def _json(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except ValueError:  # a number that JSON does not have, in a line that others wrote
        return json.dumps(_finite(value), ensure_ascii=False, separators=(",", ":"))


def _finite(value: Any) -> Any:
    match value:
        case float():
            return value if math.isfinite(value) else None
        case list():
            return [_finite(item) for item in value]
        case dict():
            return {key: _finite(item) for key, item in value.items()}
        case _:
            return value
