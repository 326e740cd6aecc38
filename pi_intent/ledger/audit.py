"""Answer what a reviewer asks a ledger: what was asked and decided, what ran without, whether the record holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple, get_args

from pi_intent.contract.rows import full_name
from pi_intent.gates.tiers import TIERS, Tier, own_tier
from pi_intent.ledger.calls import LedgerCall
from pi_intent.ledger.index import Filter, Index, Outcome, Stretch
from pi_intent.ledger.naming import has_writer
from pi_intent.ledger.reader import Segment
from pi_intent.ledger.verify import check_lines
from pi_intent.past import LastWord
from pi_intent.stats.asked import AskedSoFar
from pi_intent.stats.values import CheckIns
from pi_intent.types import Status

NEVER_RAN: frozenset[Outcome] = frozenset({"rejected", "denied"})
MAY_HAVE_RUN: frozenset[Outcome] = frozenset((*get_args(Status), "running", "open")) - NEVER_RAN
"""How calls end that ran, or of which it is not known that they did not."""

WORDS: tuple[LastWord, ...] = ("waiting", "denied", "approved")
"""In the order in which a reviewer needs them."""

CHECKED_AT_ONCE = 16_000_000
"""Bytes of segments that nobody waits for long: checking them takes about half a second."""

_MOST_BAD = 10
_EVERYTHING = Filter()


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbers:
    """A ledger, or a part of it, in numbers. Every call counts in one place.

    `asked` counts by the last word those that somebody was to be asked about; `check_ins` tells more of those whose
    beginning is known. Of the others, `unasked` counts by tier those that ran or may have run, `rejected` those that
    were refused when they were read, `blocked` those that something else denied, `imported` those that were taken in
    from what other agents wrote, and `unknown` those whose beginning is missing. `first` and `last` are when calls
    began; None where there are none.
    """

    calls: int
    sessions: int
    first: str | None
    last: str | None
    asked: dict[LastWord, int]
    check_ins: CheckIns
    unasked: dict[Tier, int]
    rejected: int
    blocked: int
    imported: int
    unknown: int


class Unsound(NamedTuple):
    """A segment that does not hold, and what is wrong with the first bad line of it."""

    name: str
    line: int | None
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Soundness:
    """Whether the records still are as they were written. `holds` is None where that was not looked at.

    `files` and `size` in bytes are of the segments concerned. `unsound` are some of those that do not hold, `bad` is
    their number.
    """

    files: int
    size: int
    holds: bool | None
    bad: int = 0
    unsound: tuple[Unsound, ...] = ()


class Audit:
    """What the index of a ledger tells a reviewer about the calls that are `wanted`: of a session, from a time on."""

    def __init__(self, index: Index, wanted: Filter = _EVERYTHING) -> None:
        self._index = index
        self._wanted = wanted
        self._asked = replace(wanted, asked=True)
        self._by_word = {word: replace(self._asked, decided=frozenset({word})) for word in WORDS}
        self._others = replace(wanted, asked=False, live=True)
        self._by_tier = {tier: replace(self._others, tool=_of_tier(tier), outcomes=MAY_HAVE_RUN) for tier in TIERS}

    def numbers(self) -> Numbers:
        """Count everything once."""
        by_session = self._index.counts(self._wanted)
        span = self._index.span(self._wanted) or (None, None)
        asked = AskedSoFar()
        for call in self._index.past(self._asked):
            asked.add(call, full_name(call.tool, call.tool_source))
        calls = sum(by_session.values())
        unasked = {tier: self._count(wanted) for tier, wanted in self._by_tier.items()}
        rejected, blocked = (
            self._count(replace(self._others, tool=_any, outcomes=frozenset({status})))
            for status in ("rejected", "denied")
        )
        imported = self._count(replace(self._wanted, asked=False)) - self._count(self._others)
        words = {word: self._count(wanted) for word, wanted in self._by_word.items()}
        known = sum(words.values()) + sum(unasked.values()) + rejected + blocked + imported
        return Numbers(
            calls=calls,
            sessions=len(by_session),
            first=span[0],
            last=span[1],
            asked=words,
            check_ins=asked.value(of=calls),
            unasked=unasked,
            rejected=rejected,
            blocked=blocked,
            imported=imported,
            unknown=calls - known,
        )

    def asked(self, word: LastWord) -> Iterator[LedgerCall]:
        """Yield the calls that somebody was to be asked about and of which this is the last word."""
        return self._index.calls(self._by_word[word])

    def unasked(self, tier: Tier, limit: int | None) -> Iterator[LedgerCall]:
        """Yield the calls of a tier that ran, or may have run, without being asked about: all, or the last ones."""
        wanted = self._by_tier[tier]
        within = Stretch() if limit is None else self._index.last(wanted, limit)
        return self._index.calls(wanted, within=within)

    def soundness(self) -> Soundness:
        """Check the segments that these calls stand in, if that is quick."""
        segments, size = [], 0
        for path in self._index.paths(self._wanted):
            try:
                size += path.stat().st_size
                segments.append(Segment(path=path, running=has_writer(path)))
            except OSError:
                segments.append(Segment(path=path, running=False))
        if size > CHECKED_AT_ONCE or not segments:
            return Soundness(files=len(segments), size=size, holds=None)
        unsound = [found for segment in segments if (found := _fault(segment)) is not None]
        return Soundness(
            files=len(segments), size=size, holds=not unsound, bad=len(unsound), unsound=tuple(unsound[:_MOST_BAD])
        )

    def _count(self, wanted: Filter) -> int:
        return sum(self._index.counts(wanted).values())


def _of_tier(tier: Tier) -> Callable[[str, str | None], bool]:
    return lambda tool, source: own_tier(tool, source) == tier


def _any(tool: str, source: str | None) -> bool:
    return True


def _fault(segment: Segment) -> Unsound | None:
    path: Path = segment.path
    try:
        verdict = check_lines(segment.lines(), running=segment.running)
    except OSError as error:
        return Unsound(path.name, None, f"cannot be read ({error.strerror})")
    return None if verdict.first is None else Unsound(path.name, verdict.first.line, verdict.first.text)
