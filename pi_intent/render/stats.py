"""Draw the figures of a history as short charts of text, as wide as the screen and no more than 80 columns."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pi_intent.facts import many
from pi_intent.labels.printable import printable
from pi_intent.render.moments import duration
from pi_intent.render.timeline import Line
from pi_intent.stats import BUCKETS, Answers, Share, Stats

WIDTH = 80
_LEAST = 20  # columns, however narrow the screen says it is
_INDENT = 4
_BAR, _LEAST_BAR = 24, 6
_NAME, _LEAST_NAME = 26, 8
_MOST = 8
_EIGHTHS = " ▏▎▍▌▋▊▉█"
_STEPS = "▁▂▃▄▅▆▇█"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Look:
    """How wide the screen is, and how much of it a name and a bar get; a bar of no columns is left out."""

    width: int
    name: int
    bar: int
    blocks: bool


def _look(stats: Stats, width: int, blocks: bool) -> _Look:
    """Leave room for the longest figures that there can be, and share out the rest."""
    width = max(_LEAST, min(width, WIDTH))
    room = width - _INDENT - len(f" {_of(Share(n=stats.calls, of=stats.calls))}")
    name = min(_NAME, room * 3 // 5)
    bar = min(_BAR, room - name - 1)
    if bar < _LEAST_BAR:
        name, bar = max(_LEAST_NAME, min(_NAME, room)), 0
    return _Look(width=width, name=name, bar=bar, blocks=blocks)


def stats_lines(stats: Stats, *, width: int = WIDTH, blocks: bool = True) -> Iterator[Line]:
    """Yield the lines of a screen of so many columns; without `blocks` the charts are drawn in ASCII."""
    look = _look(stats, width, blocks)
    for line in _screen(stats, look):
        # Only sentences of ours can be too long.
        indent = " " * (len(line) - len(line.lstrip()) + 2)
        folded = textwrap.wrap(line, look.width, subsequent_indent=indent) if len(line) > look.width else [line]
        style = "bold" if line and not line.startswith(" ") else ""
        for piece in folded:
            yield Line(((piece.rstrip(), style),), lead=None)


def _screen(stats: Stats, look: _Look) -> Iterator[str]:
    yield f"{many(stats.calls, 'call')} in {many(stats.sessions, 'session')}"
    yield from _counts(stats.status, stats.calls, look)
    yield from _compliance(stats, look)
    yield from _rejections(stats, look)
    yield from _failures(stats, look)
    yield from _check_ins(stats, look)
    yield from _notes(stats, look)
    spent = stats.spent
    yield from _title("Spent on saying why", "estimated from the length of the texts")
    yield f"  intents     about {spent.intents:,} tokens in {many(spent.with_intent, 'call')}"
    yield f"  rationales  about {spent.rationales:,} tokens in {many(spent.with_rationale, 'call')}"


def _compliance(stats: Stats, look: _Look) -> Iterator[str]:
    found = stats.compliance
    if not found.calls.of:
        yield from _title("Stated an intent", "no call was asked for one")
        return
    yield from _title("Stated an intent", f"{_of(found.calls)} calls that were asked")
    yield "  by place in the session"
    yield from _shares(found.places, look)
    if len(found.models) > 1 or "unknown" not in found.models:
        yield f"  by model, over the places {' '.join(name for name, _ in BUCKETS)}"
        for model, places in [*found.models.items()][:_MOST]:
            whole = Share(n=sum(share.n for share in places.values()), of=sum(share.of for share in places.values()))
            yield f"    {_name(model, look)} {_curve(places, look)} {_of(whole)}"
        yield from _left_out(len(found.models))
    if len(found.hosts) > 1:
        yield "  by host"
        yield from _shares(found.hosts, look)
    if len(found.lengths) > 1:
        yield "  by length of the session, in calls"
        yield from _shares(found.lengths, look)


def _rejections(stats: Stats, look: _Look) -> Iterator[str]:
    found = stats.rejections
    yield from _title("Rejected", f"{_of(found.calls)} calls")
    if not found.calls.n:
        return
    reasons = {name.replace("_", " "): count for name, count in found.codes.items()}
    unexplained = {"no reason recorded": found.unexplained} if found.unexplained else {}
    yield from _counts(unexplained | reasons, found.calls.n, look)
    yield "  by tool"
    yield from _shares(_some(found.tools), look)
    yield "  by model"
    yield from _shares(_some(found.models), look)
    recovery = stats.recovery
    total = sum(recovery.rounds.values()) + recovery.never
    rounds = {f"after {name} round{'' if name == '1' else 's'}": n for name, n in recovery.rounds.items()}
    took = f", {duration(recovery.ms)} in all" if recovery.rounds else ""
    yield f"  until a call of the tool was let through, {many(total, 'time')}{took}"
    yield from _counts({**rounds, "never": recovery.never}, total, look)


def _failures(stats: Stats, look: _Look) -> Iterator[str]:
    found = stats.failures
    yield from _title("Failed", f"{_of(found.calls)} calls that ran")
    if not found.calls.n:
        return
    yield "  by tool"
    yield from _shares(_some(found.tools), look)
    for what, texts in (("intents", found.intents), ("targets", found.targets)):
        if texts:
            yield f"  {what} that failed most: times failed, times well"
            for before in texts[:5]:
                yield f"    {before.failed:5,} {before.ok:5,}  {printable(before.text, width=look.width - 18)}"
    if not found.complete:
        yield "  There were too many different ones to count all of them; later ones are missing."


def _check_ins(stats: Stats, look: _Look) -> Iterator[str]:
    found = stats.check_ins
    if not found.calls.n:
        return
    yield from _title("Asked about, or ruled on, before they ran", f"{_of(found.calls)} calls")
    answers = found.answers
    counts = {"approved": answers.approved, "denied": answers.denied, "waiting": answers.waiting}
    yield from _counts(counts, answers.asked, look)
    if found.median_ms is not None:
        yield f"  half of the {many(found.answered, 'answer')} came within {duration(found.median_ms)}"
    for what, by in (("rule", found.rules), ("tool", found.tools)):
        yield f"  by {what}: asked, approved, denied, waiting"
        for name, each in [*by.items()][:_MOST]:
            yield f"    {_name(name, look)} {_figures(each)}"
        yield from _left_out(len(by))


def _figures(answers: Answers) -> str:
    return " ".join(f"{n:5,}" for n in (answers.asked, answers.approved, answers.denied, answers.waiting))


def _notes(stats: Stats, look: _Look) -> Iterator[str]:
    if not stats.noted.of:
        return
    yield from _title("Notes on intents", f"on {_of(stats.noted)} calls that stated one")
    yield from _counts(stats.notes, stats.noted.of, look)


def _title(what: str, of: str) -> Iterator[str]:
    yield ""
    yield f"{what}: {of}"


def _some(shares: Mapping[str, Share]) -> dict[str, Share]:
    """Leave out what did not happen, and the rest of a long list."""
    return {name: share for name, share in [*shares.items()][:_MOST] if share.n}


def _left_out(count: int) -> Iterator[str]:
    if count > _MOST:
        yield f"    and {count - _MOST} more"


def _shares(shares: Mapping[str, Share], look: _Look) -> Iterator[str]:
    for name, share in [*shares.items()][:_MOST]:
        yield f"    {_name(name, look)}{_bar(share.n, share.of, look)} {_of(share)}"
    yield from _left_out(len(shares))


def _counts(counts: Mapping[str, int], total: int, look: _Look) -> Iterator[str]:
    for name, count in [*counts.items()][:_MOST]:
        if count:
            yield f"    {_name(name, look)}{_bar(count, total, look)} {count:,}"
    yield from _left_out(len(counts))


def _name(text: str, look: _Look) -> str:
    from rich.cells import cell_len  # a name can be in any script

    shown = printable(text, width=look.name) or "(no name)"[: look.name]
    return shown + " " * (look.name - cell_len(shown))


def _bar(n: int, of: int, look: _Look) -> str:
    """Draw a share with a space before it."""
    if not look.bar:
        return ""
    if not look.blocks:
        return " " + ("#" * _part(n, of, look.bar)).ljust(look.bar, ".")
    full, rest = divmod(_part(n, of, look.bar * 8), 8)
    return " " + ("█" * full + (_EIGHTHS[rest] if rest else "")).ljust(look.bar)


def _part(n: int, of: int, steps: int) -> int:
    """Return how many of so many steps, and at least one where there is anything."""
    return 0 if not n or not of else min(steps, max(1, round(n * steps / of)))


def _curve(places: Mapping[str, Share], look: _Look) -> str:
    """Draw the share at each place as one sign; a point where no session came that far."""
    steps = _STEPS if look.blocks else "0123456789"
    return "".join(_step(places.get(name), steps) for name, _ in BUCKETS)


def _step(share: Share | None, steps: str) -> str:
    if share is None or not share.of:
        return "."
    return steps[min(len(steps) - 1, share.n * len(steps) // share.of)]


def _of(share: Share) -> str:
    per_cent = 100 * share.n / share.of if share.of else 0.0
    shown = f"{per_cent:.1f}" if 0 < share.n < share.of and (per_cent < 10 or per_cent > 99) else f"{per_cent:.0f}"
    return f"{shown} %, {share.n:,} of {share.of:,}"
