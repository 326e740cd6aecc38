"""Say on standard error what of a ledger could not be read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pi_intent.cli.console import complain
from pi_intent.ledger.reader import Problem

_MOST_PROBLEMS = 10


def tell_unread(
    problems: Iterable[Problem], others: Mapping[tuple[int, str], int], *, where_all_are: str = ""
) -> None:
    """Tell each problem once, the first few of many, and how many records of kinds that are not known were skipped.

    `where_all_are` ends the sentence about those that are not told.
    """
    sentences = [*dict.fromkeys(problem.text for problem in problems)]
    for sentence in sentences[:_MOST_PROBLEMS]:
        complain(f"Not read: {sentence}")
    if len(sentences) > _MOST_PROBLEMS:
        complain(f"Not read: {len(sentences) - _MOST_PROBLEMS} more{where_all_are}")
    for (version, kind), count in others.items():
        complain(f"Skipped: {count} of the kind {kind} (version {version}), which this pi-intent does not know")
