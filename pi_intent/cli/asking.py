"""Turn what is asked on the command line into a filter of calls, and say what to try where nothing was found."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import get_args

import click

from pi_intent.cli.here import without_secrets
from pi_intent.cli.moments import since
from pi_intent.labels.printable import printable
from pi_intent.ledger.index import Filter, Index, Outcome
from pi_intent.past import LastWord
from pi_intent.render.moments import Moments
from pi_intent.settings.load import user_file
from pi_intent.types import Status

OUTCOMES: tuple[Outcome, ...] = (*get_args(Status), "running", "open")
WORDS: tuple[LastWord, ...] = get_args(LastWord)
"""What can have been decided of a call that somebody was asked about."""

FAILED: frozenset[Outcome] = frozenset(OUTCOMES) - {"ok", "running"}
"""What `--failed` means: all that did not do what it was for."""

_MOST_TOLD = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The options of a command that name calls, as they were given. `session` is a whole id."""

    session: str | None = None
    tools: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    outcomes: tuple[str, ...] = ()
    failed: bool = False
    since: str | None = None
    grep: str | None = None
    asked: bool = False
    decided: tuple[str, ...] = ()

    def filter(self, project: Path | None) -> Filter:
        """Return the filter. Raises `click.BadParameter` for a time or an expression that cannot be read."""
        chosen: frozenset[Outcome] = frozenset(outcome for outcome in OUTCOMES if outcome in self.outcomes)
        return Filter(
            session=self.session,
            tool=_tool_filter(self.tools) if self.tools else None,
            path=path_filter(self.paths, Path.cwd(), project) if self.paths else None,
            outcomes=chosen & FAILED or FAILED if self.failed else chosen,
            since=None if self.since is None else since(self.since),
            grep=None if self.grep is None else _expression(self.grep),
            asked=True if self.asked else None,
            decided=frozenset(word for word in WORDS if word in self.decided),
        )

    @property
    def options(self) -> dict[str, Asked]:
        """What was asked, option by option: the words, and the question with this one alone."""
        words = {
            "--session": (self.session or "", Asked(session=self.session)),
            "--tool": (" ".join(self.tools), Asked(tools=self.tools)),
            "--path": (" ".join(self.paths), Asked(paths=self.paths)),
            "--status": (" ".join(self.outcomes), Asked(outcomes=self.outcomes)),
            "--failed": ("", Asked(failed=self.failed)),
            "--since": (self.since or "", Asked(since=self.since)),
            "--grep": (self.grep or "", Asked(grep=self.grep)),
            "--asked": ("", Asked(asked=self.asked)),
            "--decided": (" ".join(self.decided), Asked(decided=self.decided)),
        }
        return {
            " ".join(filter(None, (option, said and repr(printable(said, width=60))))): alone
            for option, (said, alone) in words.items()
            if alone != Asked()
        }


def nothing_found(index: Index, asked: Asked, project: Path | None) -> str:
    """Say which filter lets no call through, and what there is instead."""
    for words, alone in asked.options.items():
        if index.counts(alone.filter(project)):
            continue
        return f"No call fits {words}; {_instead(index, alone)}."
    return f"No call fits {' and '.join(asked.options)} together; leave one out."


def nothing_recorded(index: Index) -> str:
    """Say why there is no call in the ledger."""
    if index.sessions():
        return "Sessions began here, but no call was recorded"
    if index.problems() or index.others():
        return "Nothing readable is recorded here"
    return "No call is recorded here yet"


def _instead(index: Index, alone: Asked) -> str:
    if alone.tools:
        names = [name if source is None else f"{source}/{name}" for name, source in index.tools()]
        more = f" and {len(names) - _MOST_TOLD} more" if len(names) > _MOST_TOLD else ""
        return f"the tools here are {', '.join(printable(name) for name in names[:_MOST_TOLD])}{more}"
    if alone.since is not None:
        return f"the last one began on {Moments().told(index.latest_time())}"
    if alone.paths:
        return 'a name alone is found in every folder, a folder with all that is below it, and a glob such as "*.py"'
    if alone.grep is not None and "\n" in alone.grep:
        return 'no line feed stands in what is searched: put a space for it, or " ⏎ " in a command'
    if alone.grep is not None:
        return "it is looked for in intents, rationales, targets, outcomes, facts and errors: try less of it"
    if alone.asked or alone.decided:
        decided: dict[str, int] = {word: _count(index, Filter(decided=frozenset({word}))) for word in WORDS}
        file = without_secrets(user_file(os.environ))
        return (
            _listed(decided) or f"nobody was asked about any call here (to be asked, set ask or check_in in {file})"
        )
    return _listed({outcome: _count(index, Filter(outcomes=frozenset({outcome}))) for outcome in OUTCOMES})


def _count(index: Index, wanted: Filter) -> int:
    return sum(index.counts(wanted).values())


def _listed(counts: Mapping[str, int]) -> str:
    there_are = ", ".join(f"{count} {word}" for word, count in counts.items() if count)
    return f"there are {there_are}" if there_are else ""


def _tool_filter(patterns: Sequence[str]) -> Callable[[str, str | None], bool]:
    from pi_intent.settings.tool import ToolRule  # it takes longer to load than most questions

    rules = [ToolRule(pattern=pattern.lower(), origin="--tool") for pattern in patterns]

    def fits(tool: str, source: str | None) -> bool:
        names = (tool.lower(),) if source is None else (tool.lower(), f"{source}/{tool}".lower())
        return any(rule.matches(names) for rule in rules)

    return fits


def path_filter(patterns: Sequence[str], cwd: Path, project: Path | None) -> Callable[[str], bool]:
    """Return whether a path of the ledger is meant: by a path, a folder above it, its name, or a glob.

    A pattern counts as it stands in the ledger, relative to the project; one that is absolute, or relative to the
    working directory, means the same file.
    """
    meant = {form for pattern in patterns for form in _forms(pattern, cwd, project)}
    globs = {form for form in meant if set(form) & set("*?[")}
    plain = meant - globs
    below = tuple(f"{form}/" for form in plain)
    inside = f"{project}/" if project is not None else None

    def fits(path: str) -> bool:
        if inside is not None and path.startswith(inside):
            path = path[len(inside) :]
        name = path.rpartition("/")[2]
        return (
            path in plain
            or name in plain
            or path.startswith(below)
            or any(fnmatchcase(path, glob) or fnmatchcase(name, glob) for glob in globs)
        )

    return fits


def _forms(pattern: str, cwd: Path, project: Path | None) -> set[str]:
    plain = pattern.strip()
    plain = plain.rstrip("/") or plain
    forms = {plain, plain.removeprefix("./"), plain.replace("**/", "")}
    if project is not None:
        relative = os.path.relpath(os.path.normpath(cwd / plain), project)
        if not relative.startswith("..") and relative != ".":
            forms.add(relative)
    return forms


def _expression(text: str) -> str:
    try:
        re.compile(text, re.IGNORECASE)
    except (re.error, RecursionError, OverflowError) as error:
        shown = printable(text, width=60)
        why = printable(str(error), width=100)
        raise click.BadParameter(
            f"{shown!r} is no regular expression ({why}); put a backslash before a sign that is meant literally, "
            r'such as "\(".',
            param_hint="--grep",
        ) from error
    return text
