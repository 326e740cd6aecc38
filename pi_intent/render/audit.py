"""Draw a report for a reviewer on a terminal: what was asked and decided, and what ran without."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from datetime import tzinfo

from pi_intent.gates.tiers import Tier
from pi_intent.labels.literal import literal
from pi_intent.labels.printable import UNCUT, printable
from pi_intent.ledger.audit import WORDS, Audit, Numbers, Soundness
from pi_intent.past import last_word
from pi_intent.render.asked import STYLES, reasons_text
from pi_intent.render.audit_words import (
    INTENT_WIDTH,
    NOT_PROVEN,
    TITLES,
    Told,
    deciders,
    nothing_said,
    rows,
    soundness_text,
    span,
    tables,
    times,
    told,
)
from pi_intent.render.moments import Moments
from pi_intent.render.timeline import Line, short_id

WIDTH = 80

LISTED: tuple[Tier, ...] = ("exec", "write")
"""The tiers whose calls are listed where nobody was asked about them."""

_FIGURES = 4 + 7 + 10 + 8 + 9  # columns of a row with four numbers, without its name
_NAME, _LEAST_NAME = 26, 8  # columns of a rule or a tool
_ROW = 44 + 7  # columns of a row of the summary
_REASONS = 32


def audit_lines(
    audit: Audit, about: Iterable[str], *, limit: int | None, width: int = WIDTH, zone: tzinfo | None = None
) -> Iterator[Line]:
    """Yield the lines of a report for a screen of so many columns.

    `about` says what it is on; `limit` is how many calls of a tier are listed, None for all of them.
    """
    moments = Moments(zone)
    numbers = audit.numbers()
    for number, text in enumerate(about):
        yield _line(printable(text, width=UNCUT), "dim" if number else "bold")
    yield from _span(numbers, moments)
    soundness = audit.soundness()
    if soundness.holds is False:
        yield _line(f"{soundness_text(soundness)[0]} What was changed stands at the end.", "bold red")
    yield from _summary(numbers, min(width, WIDTH))
    for word in WORDS:
        if count := numbers.asked[word]:
            yield from _title(f"{TITLES[word]} ({count:,})")
            for call in audit.asked(word):
                yield from _asked(told(call, moments), moments)
    for tier in LISTED:
        if count := numbers.unasked[tier]:
            yield from _title(f"Ran, or may have, without being asked: {tier} ({count:,})")
            yield from _earlier(count, limit)
            for call in audit.unasked(tier, limit):
                yield from _unasked(told(call, moments), moments)
    yield from _not_proven(soundness)


def _span(numbers: Numbers, moments: Moments) -> Iterator[Line]:
    if numbers.first is not None and numbers.last is not None:
        text = f"{span(numbers)}, {moments.told(numbers.first)} to {moments.told(numbers.last)}"
        yield _line(text, "dim")


def _summary(numbers: Numbers, width: int) -> Iterator[Line]:
    is_narrow = width < max(_ROW, _FIGURES + _LEAST_NAME)
    name_width = min(_NAME, width - _FIGURES)
    yield from _title("Summary")
    for row in rows(numbers):
        indent = "    " if row.part else "  "
        text = f"{row.calls:,} {row.what}" if is_narrow else f"{row.what.ljust(44 - len(indent))}{row.calls:7,}"
        yield _line(indent + text, "" if row.part else "bold")
    if decided := deciders(numbers):
        yield _line(f"  Decided by: {', '.join(f'{printable(by, width=60)} ({count:,})' for by, count in decided)}")
    if said := times(numbers):
        yield _line(f"  {said}")
    for what, table in tables(numbers):
        if is_narrow:
            yield _line(f"  By {what}", "dim")
            for name, each in table.items():
                figures = ", ".join(f"{word} {count:,}" for word, count in asdict(each).items() if count)
                yield _line(f"    {printable(name, width=UNCUT)}: {figures}")
            continue
        yield _line(f"  {f'By {what}'.ljust(name_width)}    asked  approved  denied  waiting", "dim")
        for name, each in table.items():
            figures = f"{each.asked:7,}{each.approved:10,}{each.denied:8,}{each.waiting:9,}"
            yield _line(f"    {_padded(name, name_width)}{figures}")


def _asked(call: Told, moments: Moments) -> Iterator[Line]:
    yield from _action(call, moments)
    style = STYLES[last_word(call.call.decisions[-1].approved)]
    reasons = call.call.decisions[-1].reasons
    yield _line(f"asked because of {reasons_text(reasons, most=_REASONS)}", lead="")
    yield _line(call.decision, style, lead="")
    if call.note and (note := printable(call.note, width=UNCUT)):
        yield _line(f'note to the agent: "{note}"', style, lead="")
    yield _line(call.when, "dim", lead="")
    if call.digest:
        yield _line(f"call digest {printable(call.digest, width=60)}", "dim", lead="")
    if call.surprises:
        yield _line(f"and yet: {call.came}", "bold red", lead="")
    elif call.came:
        yield _line(f"what came of it: {call.came}", lead="")
    if call.given:
        yield _line(printable(call.given, width=UNCUT), lead="")
    yield _said(call)
    if call.rationale:
        yield _line(f'and points at: "{printable(call.rationale, width=INTENT_WIDTH)}"', "italic", lead="")
    for title, text in call.basis:
        yield _line(f"{title[0].lower()}{title[1:]} {literal(text, width=UNCUT)}", lead="")


def _unasked(call: Told, moments: Moments) -> Iterator[Line]:
    yield from _action(call, moments)
    if call.came:
        yield _line(call.came, "dim", lead="")
    if call.given:
        yield _line(printable(call.given, width=UNCUT), lead="")
    yield _said(call)


def _action(call: Told, moments: Moments) -> Iterator[Line]:
    yield Line(lead=None)
    moment = moments.local(call.call.ts)
    lead = "--:--:--" if moment is None else f"{moment:%H:%M:%S}"
    text = f"{printable(call.tool, width=120)} {literal(call.action, width=UNCUT)}".strip()
    yield Line(((text, "bold"),), lead, name=short_id(call.call.id))
    if call.ran_as is not None:
        yield _line(f"ran as: {literal(call.ran_as, width=UNCUT)}", "bold", lead="")


def _said(call: Told) -> Line:
    said = printable(call.intent or "", width=INTENT_WIDTH)
    if not said:
        return _line(nothing_said(call), "italic", lead="")
    return _line(f'the agent said, unverified: "{said}"', "italic", lead="")


def _earlier(count: int, limit: int | None) -> Iterator[Line]:
    if limit is not None and count > limit:
        yield _line(f"{count - limit:,} earlier ones are not shown; --limit 0 shows all", "dim")


def _not_proven(soundness: Soundness) -> Iterator[Line]:
    yield from _title("What this does not prove")
    style = {True: "green", False: "bold red", None: "yellow"}[soundness.holds]
    for text in soundness_text(soundness):
        yield _line(f"  {printable(text, width=1_000)}", style)
    for text in NOT_PROVEN:
        yield _line(f"  {text}")


def _title(text: str) -> Iterator[Line]:
    yield Line(lead=None)
    yield _line(text, "bold")


def _line(text: str, style: str = "", *, lead: str | None = None) -> Line:
    return Line(((text, style),), lead)


def _padded(name: str, width: int) -> str:
    from rich.cells import cell_len  # a name can be in any script

    shown = printable(name, width=width) or "(no name)"[:width]
    return shown + " " * (width - cell_len(shown))
