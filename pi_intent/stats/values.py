"""The figures of a history, as one value that can be written as JSON."""

from __future__ import annotations

from dataclasses import dataclass, field

BUCKETS: tuple[tuple[str, int], ...] = (
    ("1-5", 5),
    ("6-10", 10),
    ("11-20", 20),
    ("21-50", 50),
    ("51-100", 100),
    ("101+", 1 << 62),
)
"""Places in a session, or lengths of one: the name, and the last number that belongs to it."""

ROUNDS = ("1", "2", "3", "4-5", "6+")
"""Numbers of rounds until a call was let through."""


def bucket(number: int) -> str:
    """Return the name of the bucket that a number from 1 belongs to."""
    return next(name for name, last in BUCKETS if number <= last)


def rounds_name(number: int) -> str:
    """Return the name that a number of rounds is counted under."""
    return str(number) if number <= 3 else "4-5" if number <= 5 else "6+"


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """So many of so many."""

    n: int
    of: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejections:
    """Calls that were refused when they were read; by tool and by model of all calls of it.

    A call may have several of the `codes`, which say why; `unexplained` counts those that have none.
    """

    calls: Share
    unexplained: int = 0
    codes: dict[str, int] = field(default_factory=dict)
    tools: dict[str, Share] = field(default_factory=dict)
    models: dict[str, Share] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovery:
    """What came after rejections: `rounds` until the tool's next call was let through, and what never was.

    A round is one assistant message, however many calls of the tool in it were rejected. `ms` is the time from the
    first rejected call to the one that was let through, all together.
    """

    rounds: dict[str, int]
    never: int
    ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Before:
    """A text that stood before failures: how many calls of it failed, and how many went well."""

    text: str
    failed: int
    ok: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Failures:
    """Calls that ran and ended in an error or ran out of time, of all that ran.

    `intents` and `targets` are what stood before most of them. `complete` is false where there were so many
    different ones that later ones were not counted.
    """

    calls: Share
    tools: dict[str, Share]
    intents: tuple[Before, ...]
    targets: tuple[Before, ...]
    complete: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """Tokens of the texts that models wrote, estimated by their length, and of how many calls."""

    intents: int
    rationales: int
    with_intent: int
    with_rationale: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Compliance:
    """Calls that stated an intent, of those that were asked for one.

    `places` is the omission curve: by the call's place in its session; `models` the same for each model, `lengths`
    by the length that the session came to.
    """

    calls: Share
    places: dict[str, Share]
    models: dict[str, dict[str, Share]]
    hosts: dict[str, Share]
    lengths: dict[str, Share]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """Calls that were asked about, by the last word on each; `waiting` have no answer."""

    asked: int
    approved: int
    denied: int
    waiting: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckIns:
    """Calls that a person was to be asked about, of all calls.

    `by` counts who decided, as the ledger names them; `rules` and `tools` have those that asked most first.
    `answered` are the questions that somebody answered while the call waited, and `median_ms` is how long half of
    them took at most, rounded to two digits; None where there are none.
    """

    calls: Share
    answers: Answers
    by: dict[str, int] = field(default_factory=dict)
    rules: dict[str, Answers] = field(default_factory=dict)
    tools: dict[str, Answers] = field(default_factory=dict)
    answered: int = 0
    median_ms: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """The figures of a history. `status` has `open` for calls without an end."""

    calls: int
    sessions: int
    status: dict[str, int]
    rejections: Rejections
    recovery: Recovery
    failures: Failures
    notes: dict[str, int]
    noted: Share
    spent: Spent
    compliance: Compliance
    check_ins: CheckIns
