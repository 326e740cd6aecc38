"""Count what people were asked about calls, what came of it, and how long it took them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from pi_intent.past import LastWord, PastCall, last_word, questions, took
from pi_intent.stats.values import Answers, CheckIns, Share

ANSWERING = frozenset({"person", "application"})
"""Who can be waited for."""

MOST_RULES = 1_000
"""Different rules that are counted; people name a few."""

_DIGITS = 2
"""Of a time that are kept, so that there are only so many different ones."""


@dataclass(slots=True)
class AskedSoFar:
    """What is known so far of the questions of a history."""

    calls: int = 0
    of: int = 0
    words: Counter[LastWord] = field(default_factory=Counter)
    rules: dict[str, Counter[LastWord]] = field(default_factory=dict)
    tools: dict[str, Counter[LastWord]] = field(default_factory=dict)
    by: Counter[str] = field(default_factory=Counter)
    times: Counter[int] = field(default_factory=Counter)

    def add(self, call: PastCall, tool: str) -> None:
        """Take the next call; `tool` is what its tool is called."""
        self.of += 1
        if not call.decisions:
            return
        self.calls += 1
        last = call.decisions[-1]
        word = last_word(last.approved)
        self.words[word] += 1
        self.tools.setdefault(tool, Counter())[word] += 1
        if last.by is not None:
            self.by[last.by] += 1
        for rule in dict.fromkeys(reason.partition(": ")[0] for reason in last.reasons):
            if rule in self.rules or len(self.rules) < MOST_RULES:
                self.rules.setdefault(rule, Counter())[word] += 1
        for asked, answer in questions(call.decisions):
            passed = took(asked, answer)
            if passed is not None and answer is not None and answer.by in ANSWERING:
                self.times[_rounded(passed)] += 1

    def value(self, *, of: int | None = None) -> CheckIns:
        """Return the figures; `of` is how many calls there are, where not all of them were taken."""
        return CheckIns(
            calls=Share(n=self.calls, of=self.of if of is None else of),
            answers=_answers(self.words),
            by=dict(self.by.most_common()),
            rules=_ordered(self.rules),
            tools=_ordered(self.tools),
            answered=self.times.total(),
            median_ms=_median(self.times),
        )


def _answers(words: Counter[LastWord]) -> Answers:
    return Answers(asked=words.total(), approved=words["approved"], denied=words["denied"], waiting=words["waiting"])


def _ordered(found: dict[str, Counter[LastWord]]) -> dict[str, Answers]:
    ordered = sorted(found.items(), key=lambda item: (-item[1].total(), item[0]))
    return {name: _answers(words) for name, words in ordered}


def _rounded(ms: int) -> int:
    return round(ms, _DIGITS - len(str(ms))) if ms else 0


def _median(times: Counter[int]) -> int | None:
    before, half = 0, (times.total() + 1) // 2
    for ms in sorted(times):
        before += times[ms]
        if before >= half:
            return ms
    return None
