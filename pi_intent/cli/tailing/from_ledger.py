"""Read what is added to a ledger as the events that it was made from."""

from __future__ import annotations

import json
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

from pi_intent.contract.rows import target_argument
from pi_intent.ledger.entries import CallEntry, DecisionEntry, DoneEntry
from pi_intent.ledger.location import LedgerLocation
from pi_intent.ledger.naming import SUFFIX
from pi_intent.ledger.reader import Segment, SegmentTail, read_segments
from pi_intent.ledger.record import timestamp
from pi_intent.types import Code, Flag

START, END, UPDATE = "tool_execution_start", "tool_execution_end", "tool_intent_update"
REQUEST, DECISION = "check_in_request", "check_in_decision"


class LedgerFollower:
    """What is added to a ledger, as the events it was made from: calls in flight now, and all that come."""

    def __init__(self, location: LedgerLocation) -> None:
        self._segments = location.segments
        self._since = timestamp(time.time())
        self._tails: dict[Path, SegmentTail] = {}
        self._sizes: dict[Path, int | None] = {}
        self._begun: dict[str, CallEntry] = {}
        # A segment without a writer gets no more records: it is looked at only if it grows nevertheless.
        for found in read_segments(location.root):
            if isinstance(found, Segment) and not found.running:
                self._sizes[found.path] = _size_of(found.path)

    def new_lines(self) -> Iterator[tuple[Path, str]]:
        """Yield the new events, each with the segment that it is from."""
        for path in sorted(self._segments.glob(f"*{SUFFIX}")):
            size = _size_of(path)
            if size is None or size == self._sizes.get(path):
                continue
            self._sizes[path] = size
            is_first = path not in self._tails
            entries = [record.entry for record in self._tails.setdefault(path, SegmentTail(path)).read_new()]
            ended = {entry.id for entry in entries if isinstance(entry, DoneEntry)} if is_first else set()
            for entry in entries:
                match entry:
                    case CallEntry() if entry.ts >= self._since or entry.id not in ended:
                        self._begun[entry.id] = entry
                        yield path, _line(_start(entry))
                    case DecisionEntry() if (begun := self._begun.get(entry.id)) is not None:
                        yield path, _line(_asked(begun, entry))
                    case DoneEntry() if (begun := self._begun.pop(entry.id, None)) is not None:
                        yield path, _line(_end(begun, entry))
                    case _:
                        pass


def _line(fields: dict[str, Any]) -> str:
    return json.dumps(
        {name: value for name, value in fields.items() if value not in (None, [], ())}, separators=(",", ":")
    )


def _start(entry: CallEntry) -> dict[str, Any]:
    return {
        "type": START,
        **_identity(entry),
        "args": entry.args,
        "intentSource": entry.intent_source,
        "intent": entry.intent,
        "rationale": entry.rationale,
        "toolSource": entry.tool_source,
        "parentToolCallId": entry.parent,
        "model": entry.model,
        "flags": [flag for flag in entry.flags if flag in get_args(Flag)],
    }


def _asked(begun: CallEntry, entry: DecisionEntry) -> dict[str, Any]:
    if entry.approved is None:
        target = target_argument(begun.tool, begun.args)
        return {"type": REQUEST, **_identity(begun), "request": target if isinstance(target, str) else begun.tool}
    by = entry.by or "nobody"
    return {"type": DECISION, **_identity(begun), "approved": entry.approved, "by": by, "note": entry.note}


def _end(begun: CallEntry, entry: DoneEntry) -> dict[str, Any]:
    patch = entry.outcome_patch
    return {
        "type": END,
        **_identity(begun),
        "status": entry.status,
        "isError": entry.is_error,
        "durationMs": entry.ms,
        "outcome": entry.outcome,
        "outcomePatch": None if patch is None else {"from": patch.from_, "to": patch.to},
        "facts": entry.facts,
        "codes": [code for code in entry.codes if code in get_args(Code)],
        "files": [
            {name: value for name in ("path", "op", "pre", "post") if (value := getattr(file, name)) is not None}
            for file in entry.files
        ],
    }


def _identity(entry: CallEntry) -> dict[str, Any]:
    return {
        "callId": entry.id,
        "toolCallId": entry.tool_call_id,
        "sessionId": entry.session,
        "agentId": entry.agent,
        "groupId": entry.group,
        "seq": entry.seq,
        "host": entry.host,
        "toolName": entry.tool,
    }


def _size_of(path: Path) -> int | None:
    """Return the bytes of a file; None of what is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_size if stat.S_ISREG(status.st_mode) else None
