"""Draw the calls of a ledger as a timeline of what each was for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, tzinfo
from types import MappingProxyType
from typing import IO, TYPE_CHECKING

from pi_intent.contract.rows import action_text, full_name
from pi_intent.labels.literal import at_words, literal
from pi_intent.labels.printable import UNCUT, printable
from pi_intent.ledger.calls import UNKNOWN, LedgerCall
from pi_intent.ledger.entries import CallEntry
from pi_intent.render.asked import asked_line
from pi_intent.render.moments import Moments, day, duration
from pi_intent.render.sessions import SessionCalls
from pi_intent.types import NOT_ASKED, JSONObject, Status

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from pi_intent.notes import Note

MARKS: dict[Status, tuple[str, str]] = {
    "ok": ("✓", "green"),
    "rejected": ("↺", "yellow"),
    "denied": ("✗", "magenta"),
    "cancelled": ("✗", "yellow"),
    "interrupted": ("✗", "yellow"),
    "timeout": ("✗", "red"),
    "error": ("✗", "red"),
}
_LABEL = 240  # columns of a model's sentence on a terminal, which folds it
_COLUMN = 10  # columns of the time
_LEAST = 10  # columns for a text, however narrow the terminal says it is
_NARROW = 60  # columns below which the text goes under the time and not beside it
_TIME = "%H:%M:%S"
_PRINTED_AT_ONCE = 200  # lines: Rich has a price for every print


SHORT_ID = 8
"""Characters at the end of a call's id that name it: eight of a ULID are as good as unique within a project."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of pieces of text, each with its style.

    `lead` is the time of the call where this is the first line of one, '' on any other line of a call, and None where
    a line belongs to no call. `name` is the call's short id, on its first line: it stands under the time. With `cut`
    a terminal shows what fits on one line. Where a terminal breaks it, what follows stands `hang` columns further in.
    """

    pieces: tuple[tuple[str, str], ...] = ()
    lead: str | None = ""
    cut: bool = False
    name: str = ""
    hang: int = 0

    @property
    def plain(self) -> str:
        """The text without its styles."""
        return "".join(text for text, _ in self.pieces)


def write_lines(file: IO[str], lines: Iterable[Line]) -> None:
    """Write lines to a file, whole and plain."""
    written: list[str] = []
    name = ""
    for line in lines:
        lead = line.lead or name
        name = line.name
        indent = "" if line.lead is None else lead.ljust(_COLUMN)
        written.append(f"{indent}{line.plain}\n")
        if len(written) == _PRINTED_AT_ONCE:
            file.write("".join(written))
            written.clear()
    file.write("".join(written))


def timeline(
    groups: Iterable[SessionCalls],
    *,
    notes: Mapping[str, Sequence[Note]] = MappingProxyType({}),
    zone: tzinfo | None = None,
    label: int = _LABEL,
) -> Iterator[Line]:
    """Yield the lines of sessions. Calls of one assistant message stand together, a blank line between messages.

    `notes` are the quality notes by the id of the call.
    """
    moments = Moments(zone)
    for number, group in enumerate(groups):
        if number:
            yield Line(lead=None)
        today: date | None = None
        message: str | None = None
        for call in group.calls:
            moment = moments.local(call.ts)
            if message is None:
                began = moment if group.entry is None else moments.local(group.entry.ts)
                told = "" if began is None else f"{day(began)} {began:%H:%M}{moments.zone(began)}"
                yield from _heading(group, told)
                today = began.date() if began is not None else None
            elif _message(call) != message:
                yield Line(lead=None)
            message = _message(call)
            zone_now = "" if moment is None else moments.zone(moment)
            if moment is not None and (zone_now or moment.date() != today):
                today = moment.date()
                yield _line(day(moment) + zone_now, "dim", lead=None)
            yield from _call(call, "--:--:--" if moment is None else moment.strftime(_TIME), label)
            yield from noted(notes.get(call.id, ()))


def noted(notes: Iterable[Note]) -> Iterator[Line]:
    """Yield a line for each quality note on a call; what a note quotes is made safe."""
    for note in notes:
        yield _line(f"note: {note.kind}: {_safe(note.text)}", "magenta")


def short_id(call_id: str) -> str:
    """Return the end of a call's id, enough to name it by."""
    return printable(call_id[-SHORT_ID:], width=SHORT_ID)


def _message(call: LedgerCall) -> str:
    return call.id if call.call is None else call.call.group


def _line(text: str, style: str = "", *, lead: str | None = "", cut: bool = False) -> Line:
    return Line(((text, style),), lead, cut)


def _heading(group: SessionCalls, began: str) -> Iterator[Line]:
    name = "calls of an unknown session" if group.session == UNKNOWN else f"session {_safe(group.session)}"
    yield _line(name, "bold", lead=None)
    entry = group.entry
    count = group.shown + group.omitted
    facts = [
        "" if entry is None else _safe(f"{entry.host} {entry.host_version or ''}"),
        began,
        f"{count} call{'' if count == 1 else 's'}" + (f", the last {group.shown} shown" if group.omitted else ""),
        "" if entry is None else _safe(entry.cwd),
    ]
    yield _joined(facts, "dim", lead=None)


def _call(call: LedgerCall, time: str, label: int) -> Iterator[Line]:
    begun, done = call.call, call.done
    missing = (("the record of its beginning is missing", "italic"),)
    yield Line(missing if begun is None else stated(begun, label), time, name=short_id(call.id))
    if begun is not None:
        if rationale := printable(begun.rationale or "", width=label):
            yield _line(f"because: {rationale}")
        yield _line(aim(begun, begun.args), "dim", cut=True)
    if asked := asked_line(call):
        yield _line(*asked)
    if begun is not None and done is not None and done.ran_args is not None:
        yield _line(f"ran as: {aim(begun, done.ran_args)}", "dim", cut=True)
    yield ending(call, label)
    if done is None or (done.status == "rejected" and done.codes):
        return
    if done.status != "ok" and (error := _safe(done.error or "")):
        yield _line(error, "dim", cut=True)
    if done.status == "ok" and (outcome := printable(done.outcome or "", width=label)):
        yield _line(f"outcome: {outcome}")


def stated(call: CallEntry, label: int) -> tuple[tuple[str, str], ...]:
    """Return the intent of a call as pieces of a line."""
    text = "" if call.intent is None else printable(call.intent, width=label)
    if not text:
        why = "not asked for an intent" if call.policy in NOT_ASKED else "no intent stated"
        return ((why, "italic"),)
    if call.intent_source == "derived":
        return ((text, "italic"), (" (derived: none was stated)", "dim"))
    return ((text, "bold"),)


def aim(call: CallEntry, args: JSONObject) -> str:
    """Name the tool and what it does: its command, path or arguments, as far as the ledger keeps them."""
    who = "" if call.agent == "main" else f"{call.agent}: "
    text = action_text(call.tool, args)
    target = f"$ {text}" if text and call.tool == "bash" else text
    return f"{_safe(who + full_name(call.tool, call.tool_source))} {literal(target, width=UNCUT)}".rstrip()


def ending(call: LedgerCall, label: int) -> Line:
    """Return what came of a call."""
    flags = () if call.call is None else tuple(_words(flag) for flag in call.call.flags)
    done = call.done
    if done is None:
        if call.state == "running":
            waits = bool(call.decisions) and call.decisions[-1].approved is None
            return _joined(["▸ waiting for a person" if waits else "▸ running", *flags], "cyan")
        imported = call.call is not None and "imported" in call.call.flags
        why = "no result stands in the session file" if imported else "the process ended under it"
        return _joined([f"? open: {why}", *flags], "yellow")
    mark, style = MARKS[done.status]
    if done.status == "rejected":
        reasons = ", ".join(_words(code) for code in done.codes)
        return _joined([f"{mark} rejected: {reasons}" if reasons else f"{mark} rejected", "nothing ran"], style)
    facts = "" if done.facts is None else printable(done.facts, width=label)
    return _joined([f"{mark} {done.status}", facts, duration(done.ms), *flags], style)


def _words(code: str) -> str:
    return _safe(code.replace("_", " "))


def _joined(parts: Iterable[str], style: str, *, lead: str | None = "") -> Line:
    return _line(" · ".join(filter(None, parts)), style, lead=lead)


def _safe(text: str) -> str:
    return printable(text, width=UNCUT)


def folded(console: Console, lines: Iterable[Line]) -> Iterator[Text]:
    """Yield lines that fit the terminal; a call's text stands beside its time, or under it where that is narrow."""
    from rich.text import Text

    width = console.width
    narrow = width < _NARROW
    name = ""
    for line in lines:
        lead = f"{line.lead}  {line.name}" if narrow and line.name else line.lead or name
        name = "" if narrow else line.name
        column = 0 if line.lead is None else 2 if narrow else _COLUMN
        room = max(width - column, _LEAST)
        if narrow and lead:
            yield Text(lead, "dim")
            lead = ""
        text = Text.assemble(*line.pieces)
        if line.cut:
            text.truncate(room, overflow="ellipsis")
        for piece in hung(console, text, room, line.hang):
            yield Text.assemble((lead.ljust(column), "dim"), piece)
            lead = ""


def hung(console: Console, text: Text, room: int, hang: int) -> Iterator[Text]:
    """Yield a text in lines of so many columns, broken at words; all but the first stand `hang` further in.

    No space goes but those at the end of a line, where at most the one between two words stands.
    """
    from rich.text import Text

    if text.cell_len <= room:
        text.rstrip()
        yield text
        return
    hang = max(0, min(hang, room - _LEAST))
    first, *_ = at_words(text.plain, room, trimmed=True)
    stops = [len(first)]
    for more in at_words(text.plain[len(first) :], room - hang, trimmed=True):
        stops.append(stops[-1] + len(more))
    for number, piece in enumerate(text.divide(stops[:-1])):
        shown = Text(" " * hang).append_text(piece) if number else piece
        shown.rstrip()
        yield shown
