"""Draw the figures of a history as short charts of text, 80 columns wide."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from pi_intent.labels.printable import printable
from pi_intent.stats import BUCKETS, Share, Stats

WIDTH = 80
_BAR = 24
_NAME = 26
_MOST = 8
_EIGHTHS = " ▏▎▍▌▋▊▉█"
_STEPS = "▁▂▃▄▅▆▇█"


def stats_lines(stats: Stats, *, blocks: bool = True) -> Iterator[str]:
    """Yield the lines of a screen; without `blocks` the charts are drawn in ASCII."""
    yield f"{_many(stats.calls, 'call')} in {_many(stats.sessions, 'session')}"
    yield from _counts(stats.status, stats.calls, blocks)
    yield from _compliance(stats, blocks)
    yield from _rejections(stats, blocks)
    yield from _failures(stats, blocks)
    yield from _notes(stats, blocks)
    spent = stats.spent
    yield from _title("Spent on saying why", "estimated from the length of the texts")
    yield f"  intents     about {spent.intents:,} tokens in {_many(spent.with_intent, 'call')}"
    yield f"  rationales  about {spent.rationales:,} tokens in {_many(spent.with_rationale, 'call')}"


def _compliance(stats: Stats, blocks: bool) -> Iterator[str]:
    found = stats.compliance
    if not found.calls.of:
        yield from _title("Stated an intent", "no call was asked for one")
        return
    yield from _title("Stated an intent", f"{_of(found.calls)} calls that were asked")
    yield "  by place in the session"
    yield from _shares(found.places, blocks)
    if len(found.models) > 1 or "unknown" not in found.models:
        yield f"  by model, over the places {' '.join(name for name, _ in BUCKETS)}"
        for model, places in [*found.models.items()][:_MOST]:
            whole = Share(n=sum(share.n for share in places.values()), of=sum(share.of for share in places.values()))
            yield f"    {_name(model)} {_curve(places, blocks)} {_of(whole)}"
        yield from _left_out(len(found.models))
    if len(found.hosts) > 1:
        yield "  by host"
        yield from _shares(found.hosts, blocks)
    if len(found.lengths) > 1:
        yield "  by length of the session, in calls"
        yield from _shares(found.lengths, blocks)


def _rejections(stats: Stats, blocks: bool) -> Iterator[str]:
    found = stats.rejections
    yield from _title("Rejected", f"{_of(found.calls)} calls")
    if not found.calls.n:
        return
    yield from _counts({name.replace("_", " "): count for name, count in found.codes.items()}, found.calls.n, blocks)
    yield "  by tool"
    yield from _shares(_some(found.tools), blocks)
    yield "  by model"
    yield from _shares(_some(found.models), blocks)
    recovery = stats.recovery
    total = sum(recovery.rounds.values()) + recovery.never
    rounds = {f"after {name} round{'' if name == '1' else 's'}": n for name, n in recovery.rounds.items()}
    yield f"  until the tool was called rightly, {_many(total, 'time')}, {_duration(recovery.ms)} in all"
    yield from _counts({**rounds, "never again": recovery.never}, total, blocks)


def _failures(stats: Stats, blocks: bool) -> Iterator[str]:
    found = stats.failures
    yield from _title("Failed", f"{_of(found.calls)} calls that ran")
    if not found.calls.n:
        return
    yield "  by tool"
    yield from _shares(_some(found.tools), blocks)
    for what, texts in (("intents", found.intents), ("targets", found.targets)):
        if texts:
            yield f"  {what} that failed most: times failed, times well"
            for before in texts[:5]:
                yield f"    {before.failed:5,} {before.ok:5,}  {printable(before.text, width=WIDTH - 18)}"
    if not found.complete:
        yield "  There were too many different ones to count all of them; later ones are missing."


def _notes(stats: Stats, blocks: bool) -> Iterator[str]:
    if not stats.noted.of:
        return
    yield from _title("Notes on intents", f"on {_of(stats.noted)} calls that stated one")
    yield from _counts(stats.notes, stats.noted.of, blocks)


def _title(what: str, of: str) -> Iterator[str]:
    yield ""
    yield f"{what}: {of}"


def _some(shares: Mapping[str, Share]) -> dict[str, Share]:
    """Leave out what did not happen, and the rest of a long list."""
    return {name: share for name, share in [*shares.items()][:_MOST] if share.n}


def _left_out(count: int) -> Iterator[str]:
    if count > _MOST:
        yield f"    and {count - _MOST} more"


def _shares(shares: Mapping[str, Share], blocks: bool) -> Iterator[str]:
    for name, share in [*shares.items()][:_MOST]:
        yield f"    {_name(name)} {_bar(share.n, share.of, blocks)} {_of(share)}"
    yield from _left_out(len(shares))


def _counts(counts: Mapping[str, int], total: int, blocks: bool) -> Iterator[str]:
    for name, count in [*counts.items()][:_MOST]:
        if count:
            yield f"    {_name(name)} {_bar(count, total, blocks)} {count:,}"
    yield from _left_out(len(counts))


def _name(text: str) -> str:
    from rich.cells import cell_len  # a name can be in any script

    shown = printable(text, width=_NAME) or "(no name)"
    return shown + " " * (_NAME - cell_len(shown))


def _bar(n: int, of: int, blocks: bool) -> str:
    if not blocks:
        return ("#" * _part(n, of, _BAR)).ljust(_BAR, ".")
    full, rest = divmod(_part(n, of, _BAR * 8), 8)
    return ("█" * full + (_EIGHTHS[rest] if rest else "")).ljust(_BAR)


def _part(n: int, of: int, steps: int) -> int:
    """Return how many of so many steps, and at least one where there is anything."""
    return 0 if not n or not of else min(steps, max(1, round(n * steps / of)))


def _curve(places: Mapping[str, Share], blocks: bool) -> str:
    """Draw the share at each place as one sign; a point where no session came that far."""
    steps = _STEPS if blocks else "0123456789"
    return "".join(_step(places.get(name), steps) for name, _ in BUCKETS)


def _step(share: Share | None, steps: str) -> str:
    if share is None or not share.of:
        return "."
    return steps[min(len(steps) - 1, share.n * len(steps) // share.of)]


def _of(share: Share) -> str:
    per_cent = 100 * share.n / share.of if share.of else 0.0
    shown = f"{per_cent:.1f}" if 0 < share.n < share.of and (per_cent < 10 or per_cent > 99) else f"{per_cent:.0f}"
    return f"{shown} %, {share.n:,} of {share.of:,}"


def _duration(ms: int) -> str:
    seconds = ms // 1000
    if seconds < 60:
        return f"{ms / 1000:.1f} s"
    return (
        f"{seconds // 60} min {seconds % 60} s" if seconds < 3600 else f"{seconds // 3600} h {seconds // 60 % 60} min"
    )


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"


def lines_text(lines: Iterable[str]) -> str:
    """Return lines as one text without spaces at their ends."""
    return "".join(f"{line.rstrip()}\n" for line in lines)
