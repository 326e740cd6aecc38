"""Say what of a ledger could not be read: on standard error, and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pi_intent.cli.console import complain
from pi_intent.cli.here import without_secrets
from pi_intent.ledger.reader import Problem
from pi_intent.types import JSONValue

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


def problem_json(problem: Problem) -> dict[str, JSONValue]:
    """Return a problem as a JSON value, without secrets."""
    return {
        "path": without_secrets(problem.path),
        "line": problem.line,
        "text": without_secrets(problem.text),
    }
