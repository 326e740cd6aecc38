"""Write a report for a reviewer as Markdown for GitHub: nothing that others wrote can mean anything there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import UTC

from pi_intent.labels.literal import literal
from pi_intent.labels.printable import UNCUT, escape_markdown, printable
from pi_intent.ledger.audit import WORDS, Audit, Numbers
from pi_intent.render.audit import LISTED
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

_TIMES = re.compile(r"(?:[A-Za-z0-9 ,.+-]|(?<=\d):(?=\d))*")


def audit_markdown(audit: Audit, about: Iterable[str], *, limit: int | None) -> Iterator[str]:
    """Yield the lines of a report; times are UTC. `about` and `limit` are those of `audit_lines`."""
    moments = Moments(UTC)
    numbers = audit.numbers()
    first, *more = about
    yield f"# {_text(first)}"
    yield ""
    yield from (f"{_text(text)}  " for text in more)
    soundness = audit.soundness()
    if soundness.holds is False:
        yield from ("", f"**{_text(soundness_text(soundness)[0])} What was changed stands at the end.**")
    yield from _summary(numbers, moments)
    for word in WORDS:
        if count := numbers.asked[word]:
            yield from _title(f"{TITLES[word]} ({count:,})")
            for call in audit.asked(word):
                yield from _asked(told(call, moments))
    if any(numbers.unasked.values()):
        counts = ", ".join(f"{count:,} {tier}" for tier, count in numbers.unasked.items())
        yield from ("", f"## Ran, or may have, without being asked ({counts})")
    for tier in LISTED:
        if count := numbers.unasked[tier]:
            yield from _title(f"{tier} ({count:,})", level=3)
            if limit is not None and count > limit:
                yield f"{count - limit:,} earlier ones are not shown; `--limit 0` shows all."
                yield ""
            for call in audit.unasked(tier, limit):
                yield from _unasked(told(call, moments))
    yield from _title("What this does not prove")
    yield from (f"- {_text(text)}" for text in (*soundness_text(soundness), *NOT_PROVEN))


def _summary(numbers: Numbers, moments: Moments) -> Iterator[str]:
    if numbers.first is not None and numbers.last is not None:
        yield f"{span(numbers)}, {_when(moments.told(numbers.first))} to {_when(moments.told(numbers.last))}"
    yield from _title("Summary")
    yield "| calls | |"
    yield "|---|---:|"
    for row in rows(numbers):
        yield f"| {'· ' if row.part else '**'}{row.what}{'' if row.part else '**'} | {row.calls:,} |"
    yield ""
    if decided := deciders(numbers):
        yield f"Decided by: {', '.join(f'{_text(by)} ({count:,})' for by, count in decided)}."
    if said := times(numbers):
        yield said
    for what, table in tables(numbers):
        yield ""
        yield f"| {what} | asked | approved | denied | waiting |"
        yield "|---|---:|---:|---:|---:|"
        for name, each in table.items():
            yield f"| {_text(name)} | {each.asked:,} | {each.approved:,} | {each.denied:,} | {each.waiting:,} |"


def _asked(call: Told) -> Iterator[str]:
    yield f"- {_action(call)}"
    reasons = [f"{_text(rule)}{f' ({_code(piece)})' if piece else ''}" for rule, piece in call.reasons]
    yield f"  - asked because of {', '.join(reasons) or 'no reason that is recorded'}"
    yield f"  - **{_text(call.decision)}**, {_when(call.when)}"
    if note := _text(call.note or ""):
        yield f"  - note to the agent: “{note}”"
    if call.surprises:
        yield f"  - **and yet: {_text(call.came or '')}**"
    elif call.came:
        yield f"  - what came of it: {_text(call.came)}"
    if call.given:
        yield f"  - {_text(call.given)}"
    digest = f", call digest {_code(call.digest)}" if call.digest else ""
    yield f"  - call {_code(call.call.id)}{digest}"
    yield f"  - {_said(call)}"
    if points := _text(printable(call.rationale or "", width=INTENT_WIDTH)):
        yield f"  - and points at: “{points}”"
    for title, text in call.basis:
        yield f"  - {title[0].lower()}{title[1:]} {_text(text)}"


def _unasked(call: Told) -> Iterator[str]:
    yield f"- {_action(call)}"
    came = f"{_text(call.came)}, " if call.came else ""
    yield f"  - {came}call {_code(call.call.id)}, {_when(call.when)}"
    if call.given:
        yield f"  - {_text(call.given)}"
    yield f"  - {_said(call)}"


def _action(call: Told) -> str:
    ran_as = "" if call.ran_as is None else f", ran as {_code(call.ran_as)}"
    return f"**{_text(call.tool)}** {_code(call.action)}{ran_as}" if call.tool else f"**{_text(call.action)}**"


def _said(call: Told) -> str:
    said = _text(printable(call.intent or "", width=INTENT_WIDTH))
    return f"the agent said, unverified: “{said}”" if said else nothing_said(call)


def _title(text: str, *, level: int = 2) -> Iterator[str]:
    yield from ("", f"{'#' * level} {text}", "")


def _text(text: str) -> str:
    """Return a text as plain words: whom or what it mentions is no link, and nobody is told of it."""
    return re.sub(r"@|#(?=\d)", r"\g<0><!-- -->", escape_markdown(printable(text, width=UNCUT)))


def _when(text: str) -> str:
    """Return what says when something was; what is no time of ours is escaped like any other text."""
    return text if _TIMES.fullmatch(text) else _text(text)


def _code(text: str) -> str:
    """Return a literal text as it is, where nothing in it means anything."""
    shown = literal(text, width=UNCUT) or " "
    ticks = "`" * (1 + max((len(run) for run in re.findall("`+", shown)), default=0))
    return f"{ticks} {shown} {ticks}" if "`" in (shown[0], shown[-1]) else f"{ticks}{shown}{ticks}"
