"""Whether a program of awk's runs others. Its texts and patterns run nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pi_intent.gates.shell.operands import operands
from pi_intent.gates.shell.running.given import given_to
from pi_intent.gates.shell.script import Word

AWKS = ("awk", "gawk", "mawk", "nawk", "original-awk", "goawk")
_VALUED = ("--assign", "--field-separator", "--file", "--source", "--include", "--load", "--exec")
_ASIDE = re.compile(
    r"""(?x)
      "(?:\\.|[^"\\])*"
    | \#[^\n]*
    | (?P<before>(?:^|[(,!~&|{};\n])\s*)/(?:\\.|\[(?:\\.|[^]\\\n])*\]|[^/\\\n])*/
    """
)
"""Texts, comments and patterns: a pattern stands where no number can."""
_RUNS = re.compile(r"\bsystem\s*\(|(?<!\|)\|(?!\|)|@load")


def runs_programs(words: tuple[Word, ...]) -> bool:
    """Whether a program among the arguments calls `system`, or has a pipe."""
    return any(_RUNS.search(_ASIDE.sub(lambda found: found["before"] or "", text.start)) for text in _programs(words))


def _programs(words: tuple[Word, ...]) -> Iterator[Word]:
    yield from given_to(words, "", ("-e", "--source"))
    yield from (word.after(2) for word in words if re.match("-e.", word.start))
    yield from list(operands(words, "FvfieEl", _VALUED))[:1]
