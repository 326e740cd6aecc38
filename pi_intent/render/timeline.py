"""Draw the calls of a ledger as a timeline of what each was for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, tzinfo
from itertools import islice

from rich.console import Console
from rich.text import Text

from pi_intent.contract.rows import target_argument
from pi_intent.labels.literal import literal
from pi_intent.labels.printable import printable
from pi_intent.ledger.calls import LedgerCall
from pi_intent.ledger.entries import CallEntry, DoneEntry
from pi_intent.render.sessions import UNKNOWN, SessionCalls
from pi_intent.types import JSONObject, Status

MARKS: dict[Status, tuple[str, str]] = {
    "ok": ("✓", "green"),
    "rejected": ("↺", "yellow"),
    "denied": ("✗", "magenta"),
    "cancelled": ("✗", "yellow"),
    "interrupted": ("✗", "yellow"),
    "timeout": ("✗", "red"),
    "error": ("✗", "red"),
}
_UNCUT = 16_384  # columns: more than the ledger keeps of any text
_LABEL = 240  # columns of a model's sentence on a terminal, which folds it
_COLUMN = 10  # columns of the time
_LEAST = 10  # columns for a text, however narrow the terminal says it is
_NARROW = 60  # columns below which the text goes under the time and not beside it
_TIME = "%H:%M:%S"
_PRINTED_AT_ONCE = 200  # lines: Rich has a price for every print


@dataclass(frozen=True, slots=True)
class _Line:
    """One line. `lead` is the time of the call that it belongs to, where it is the first one of it, or '', and None
    where it belongs to no call; with `cut` a terminal shows what fits on one line."""

    text: Text
    lead: str | None = ""
    cut: bool = False


def print_timeline(console: Console, groups: Iterable[SessionCalls], *, zone: tzinfo | None = None) -> None:
    """Print sessions and their calls, times in `zone` or the local one.

    Folded and cut to the width of a terminal; anywhere else a line is a line, and whole.
    """
    if not console.is_terminal:
        for line in _timeline(groups, zone, _UNCUT):  # without Rich, which takes ten times as long for nothing
            indent = "" if line.lead is None else line.lead.ljust(_COLUMN)
            console.file.write(f"{indent}{line.text.plain}\n")
        return
    pieces = _folded(console, _timeline(groups, zone, _LABEL))
    while batch := [*islice(pieces, _PRINTED_AT_ONCE)]:
        console.print(Text("\n").join(batch), soft_wrap=True)


def _timeline(groups: Iterable[SessionCalls], zone: tzinfo | None, label: int) -> Iterator[_Line]:
    for number, group in enumerate(groups):
        if number:
            yield _Line(Text(), None)
        moments = [_moment(call.ts, zone) for call in group.calls]
        began = _moment(group.entry.ts, zone) if group.entry is not None else moments[0]
        yield from _heading(group, began)
        day = began.date() if began is not None else None
        for call, moment in zip(group.calls, moments, strict=True):
            if moment is not None and moment.date() != day:
                day = moment.date()
                yield _Line(Text(_date(day), "dim"), None)
            yield from _call(call, "--:--:--" if moment is None else moment.strftime(_TIME), label)


def _heading(group: SessionCalls, began: datetime | None) -> Iterator[_Line]:
    name = "calls of an unknown session" if group.session == UNKNOWN else f"session {_safe(group.session)}"
    yield _Line(Text(name, "bold"), None)
    entry = group.entry
    count = len(group.calls) + group.omitted
    facts = [
        "" if entry is None else _safe(f"{entry.host} {entry.host_version or ''}"),
        "" if began is None else f"{_date(began.date())} {began:%H:%M}",
        f"{count} call{'' if count == 1 else 's'}"
        + (f", the last {len(group.calls)} shown" if group.omitted else ""),
        "" if entry is None else _safe(entry.cwd),
    ]
    yield _Line(_joined(facts, "dim"), None)


def _call(call: LedgerCall, time: str, label: int) -> Iterator[_Line]:
    begun, done = call.call, call.done
    if begun is None:
        yield _Line(Text("the record of its beginning is missing", "italic"), time)
    else:
        yield _Line(_intent(begun, label), time)
        if rationale := printable(begun.rationale or "", width=label):
            yield _Line(Text(f"because: {rationale}"))
        yield _Line(Text(_target(begun, begun.args), "dim"), cut=True)
        if done is not None and done.ran_args is not None:
            yield _Line(Text(f"ran as: {_target(begun, done.ran_args)}", "dim"), cut=True)
    yield _Line(_ending(call, label))
    if done is None or done.status == "rejected":
        return
    if done.status != "ok" and (error := _safe(done.error or "")):
        yield _Line(Text(error, "dim"), cut=True)
    if done.status == "ok" and (outcome := printable(done.outcome or "", width=label)):
        yield _Line(Text(f"outcome: {outcome}"))


def _intent(call: CallEntry, label: int) -> Text:
    text = "" if call.intent is None else printable(call.intent, width=label)
    if not text:
        return Text("not asked for an intent" if call.policy in ("omit", "derive") else "no intent stated", "italic")
    if call.intent_source == "derived":
        return Text.assemble((text, "italic"), (" (derived: none was stated)", "dim"))
    return Text(text, "bold")


def _target(call: CallEntry, args: JSONObject) -> str:
    """Name the tool and what it was aimed at: a command or a path, as far as the ledger keeps it."""
    tool = call.tool if call.tool_source is None else f"{call.tool_source}/{call.tool}"
    who = "" if call.agent == "main" else f"{call.agent}: "
    mark = "$ " if call.tool == "bash" else ""
    match target_argument(call.tool, args):
        case str(text):
            target = f"{mark}{text}"
        case {"bytes": int(size)}:
            target = f"{mark}(a text of {size} bytes)"
        case _:
            target = ""
    return f"{_safe(f'{who}{tool}')} {literal(target, width=_UNCUT)}".rstrip()


def _ending(call: LedgerCall, label: int) -> Text:
    flags = () if call.call is None else tuple(_words(flag) for flag in call.call.flags)
    done = call.done
    if done is None:
        if call.state == "running":
            return _joined(["▸ running", *flags], "cyan")
        return _joined(["? open: the process ended under it", *flags], "yellow")
    mark, style = MARKS[done.status]
    if done.status == "rejected":
        reasons = ", ".join(_words(code) for code in done.codes)
        return _joined([f"{mark} rejected: {reasons}" if reasons else f"{mark} rejected", "nothing ran"], style)
    facts = "" if done.facts is None else printable(done.facts, width=label)
    return _joined([f"{mark} {done.status}", facts, _duration(done), *flags], style)


def _duration(done: DoneEntry) -> str:
    if done.ms < 1000:
        return f"{done.ms} ms"
    seconds = done.ms / 1000
    return f"{seconds:.1f} s" if seconds < 60 else f"{int(seconds // 60)} min {int(seconds % 60)} s"


def _words(code: str) -> str:
    return _safe(code.replace("_", " "))


def _joined(parts: Iterable[str], style: str) -> Text:
    return Text(" · ".join(filter(None, parts)), style)


def _safe(text: str) -> str:
    return printable(text, width=_UNCUT)


def _moment(ts: str, zone: tzinfo | None) -> datetime | None:
    try:
        return datetime.fromisoformat(ts).astimezone(zone)
    except (ValueError, OverflowError, OSError):  # written by somebody else
        return None


def _date(day: date) -> str:
    return f"{day:%a} {day.isoformat()}"


def _folded(console: Console, lines: Iterable[_Line]) -> Iterator[Text]:
    """Yield lines that fit the terminal; a call's text stands beside its time, or under it where that is narrow."""
    width = console.width
    narrow = width < _NARROW
    for line in lines:
        lead, column = line.lead or "", 0 if line.lead is None else 2 if narrow else _COLUMN
        room = max(width - column, _LEAST)
        if narrow and lead:
            yield Text(lead, "dim")
            lead = ""
        if line.cut:
            line.text.truncate(room, overflow="ellipsis")
        pieces = [line.text] if line.text.cell_len <= room else line.text.wrap(console, room)
        for piece in pieces:
            piece.rstrip()
            yield Text.assemble((lead.ljust(column), "dim"), piece)
            lead = ""
