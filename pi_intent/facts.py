"""Read short facts off a tool's result: its size, what it replaced, its exit code, its test run.

A fact holds only numbers and words that stand in this file, so untrusted output cannot speak through it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Literal, NamedTuple

LIMIT = 60
"""Characters of a fact at most."""

SEPARATOR = " · "

# A runner's summary stands at the end of its output; further up, the same words are more often somebody's text.
_TAIL_CHARACTERS = 4096
_TAIL_LINES = 60
# Where a runner sums up each part of a run for itself, the parts lie further apart.
_RUN_CHARACTERS = 65_536


def counted(count: int, noun: str) -> str:
    """Return a count with its noun: `1 line`, `2 lines`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def many(count: int, noun: str) -> str:
    """Return the same with thousands apart, for a report: `12,000 calls`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def human_size(size: int) -> str:
    """Return a number of bytes as people read it, in powers of a thousand: `812 B`, `4.1 kB`, `12 MB`."""
    amount = float(size)
    for unit in ("B", "kB", "MB"):
        if amount < 999.5:
            return f"{amount:.0f} {unit}" if unit == "B" or amount >= 9.95 else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} GB"


def read_facts(lines: int | None, size: int | None) -> str | None:
    """Say how much was read; None where neither the lines nor the bytes are known."""
    parts = [counted(lines, "line")] if lines is not None else []
    if size is not None:
        parts.append(human_size(size))
    return SEPARATOR.join(parts) or None


def write_facts(op: Literal["create", "modify"] | None, content: str | None) -> str | None:
    """Say whether a file is new and how many lines it has now; what is None is left out."""
    parts = [] if op is None else ["created" if op == "create" else "replaced"]
    if content is not None:
        parts.append(counted(content.count("\n") + (not content.endswith("\n") and content != ""), "line"))
    return SEPARATOR.join(parts) or None


def edit_facts(count: int) -> str:
    """Say how many replacements were made."""
    return counted(count, "replacement")


def bash_facts(exit_code: int | None, output: str) -> str | None:
    """Say how a command ended: the last test run's summary where its output ends with one, and the exit code.

    Behind a summary an exit code of 0 says nothing more and is left out; any other stays, because a command can fail
    after its tests passed. A negative code is the signal that ended the command.
    """
    ending = None
    if exit_code is not None:
        ending = f"exit {exit_code}" if exit_code >= 0 else f"signal {-exit_code}"
    summary = runner_summary(output)
    if summary is None:
        return ending
    if ending is None or exit_code == 0:
        return _cut(summary, LIMIT)
    return _cut(summary, LIMIT - len(SEPARATOR) - len(ending)) + SEPARATOR + ending


def runner_summary(output: str) -> str | None:
    """Return in short what the last test runner said at the end of an output, or None where none did."""
    tail = "\n".join(_end(output, _TAIL_CHARACTERS).split("\n")[-_TAIL_LINES:])
    runs = [
        (found.end(), found, runner) for runner in _RUNNERS for found in _found(runner.mark, runner.pattern, tail)
    ]
    if not runs:
        return None
    _, found, runner = max(runs, key=lambda run: run[0])
    return runner.short(found, output)


def _found(mark: str, pattern: str, text: str) -> Iterator[re.Match[str]]:
    """Yield where a pattern matches from the beginning of a line that holds `mark`."""
    at = text.find(mark)
    while at >= 0:
        if found := re.compile(pattern, re.MULTILINE).match(text, text.rfind("\n", 0, at) + 1):
            yield found
        end = text.find("\n", at)
        at = text.find(mark, end) if end >= 0 else -1


def _end(output: str, characters: int) -> str:
    """Return the last whole lines of an output, without the colours that some are told to use in pipes."""
    end = output[-characters:]
    if len(end) < len(output):
        end = end.partition("\n")[2]  # the first line has lost its beginning
    return re.sub(r"\x1b\[[0-9;]*m", "", end).replace("\r\n", "\n")


def _cut(text: str, limit: int) -> str:
    """Return at most `limit` characters, whole parts where there are commas."""
    if len(text) <= limit:
        return text
    head = text[: limit - 1].rpartition(", ")[0]
    return (head or text[: limit - 1]) + "…"


def _in_order(parts: Iterable[str]) -> str:
    """Join parts like `3 passed`: those that count failures first, and without those that count nothing."""
    parts = list(parts)
    shown = [part for part in parts if not part.startswith("0 ")] or parts[:1]
    return ", ".join(sorted(shown, key=lambda part: not re.search(r"\b(?:fail|error|cancel|timed)", part)))


class _Runner(NamedTuple):
    """How a test runner sums up: the lines it writes, and how to say them in short.

    `mark` stands in the first of the lines and is quick to look for. `pattern` takes whole lines, repeats nothing
    without a bound, and takes in nothing that it does not spell out but the numbers.
    """

    mark: str
    pattern: str
    short: Callable[[re.Match[str], str], str]


_N = "[0-9]{1,9}"


def _list(words: str, separator: str = ", ", most: int = 12) -> str:
    """Return the pattern of a list such as `3 failed, 12 passed`."""
    item = f"{_N} (?:{words})"
    return f"{item}(?:{separator}{item}){{0,{most}}}"


def _words(found: re.Match[str], _: str) -> str:
    return found[1]


def _commas(found: re.Match[str], _: str) -> str:
    return _in_order(found[1].split(", "))


def _bars(found: re.Match[str], _: str) -> str:
    return _in_order(found[1].split(" | "))


def _named(found: re.Match[str], _: str) -> str:
    return _in_order(f"{count} {name.replace('_', ' ')}" for name, count in found.groupdict("0").items())


def _pytest(found: re.Match[str], _: str) -> str:
    # A warning or a test that was not asked for says nothing about how the run went.
    parts = found[1].split(", ")
    return _in_order([part for part in parts if "warning" not in part and "deselected" not in part] or parts)


def _unittest(found: re.Match[str], _: str) -> str:
    return f"{found[1]}: {found[2]}"


def _surefire(_: re.Match[str], output: str) -> str:
    totals = _totals("Tests run: ", _SUREFIRE, output)
    words = {"run": "Tests run", "failures": "Failures", "errors": "Errors", "skipped": "Skipped"}
    shown = [name for name in words if totals[name] or name in ("run", "failures")]
    return ", ".join(f"{words[name]}: {totals[name]}" for name in shown)


def _cargo(_: re.Match[str], output: str) -> str:
    totals = _totals("test result: ", _CARGO, output)
    return _in_order(f"{totals[name]} {name}" for name in ("passed", "failed", "ignored"))


def _go(_: re.Match[str], output: str) -> str:
    passed = sum(1 for _ in _parts("ok  \t", _GO, output))
    failed = sum(1 for _ in _parts("FAIL\t", _GO, output))
    return (
        f"{failed} of {counted(passed + failed, 'package')} failed" if failed else f"{counted(passed, 'package')} ok"
    )


def _parts(mark: str, pattern: str, output: str) -> Iterator[re.Match[str]]:
    """Yield every part of a run that a runner sums up for itself, as far back as it is looked for."""
    return _found(mark, pattern, _end(output, _RUN_CHARACTERS))


def _totals(mark: str, pattern: str, output: str) -> Counter[str]:
    """Return the sums of what the parts of a run counted, by name."""
    totals: Counter[str] = Counter()
    for part in _parts(mark, pattern, output):
        totals.update({name: int(count) for name, count in part.groupdict().items()})
    return totals


_SUREFIRE = (
    rf"(?:\[(?:INFO|WARNING|ERROR)\] )?Tests run: (?P<run>{_N}), Failures: (?P<failures>{_N}), "
    rf"Errors: (?P<errors>{_N}), Skipped: (?P<skipped>{_N})$"
)
_CARGO = (
    rf"test result: (?:ok|FAILED)\. (?P<passed>{_N}) passed; (?P<failed>{_N}) failed; (?P<ignored>{_N}) "
    rf"ignored; {_N} measured; {_N} filtered out(?:; finished in [0-9.]{{1,12}}s)?$"
)
_GO = (
    r"(?:ok  \t[^\s]{1,300}\t(?:[0-9.]{1,12}s|\(cached\))[^\n]{0,200}"
    r"|FAIL\t[^\s]{1,300}(?:\t[0-9.]{1,12}s| \[(?:build|setup) failed\]))$"
)
_PYTEST_WORDS = (
    "failed|passed|skipped|deselected|xfailed|xpassed|warnings?|errors?|rerun|"
    "subtests? (?:passed|failed|skipped)"
)  # fmt: skip
_UNITTEST_WORDS = "failures|errors|skipped|expected failures|unexpected successes"
_PHPUNIT_WORDS = (
    "Assertions|Errors|Failures|Warnings|PHPUnit Warnings|Deprecations|PHPUnit Deprecations|Notices|Skipped|"
    "Incomplete|Risky"
)  # fmt: skip
_NODE = r"\n(?:# |ℹ )"

_RUNNERS = (
    _Runner(  # pytest, with and without -q
        " in ",
        rf"(?:={{1,200}} )?({_list(_PYTEST_WORDS)}|no tests ran) in [0-9]{{1,7}}\.[0-9]{{2}}s"
        r"(?: \([0-9a-z:, ]{1,30}\))?(?: ={1,200})?$",
        _pytest,
    ),
    _Runner(  # unittest, and Django's
        "Ran ",
        rf"(Ran {_N} tests?) in [0-9.]{{1,12}}s\n\n"
        rf"((?:OK|FAILED|NO TESTS RAN)(?: \((?:{_UNITTEST_WORDS})={_N}(?:, (?:{_UNITTEST_WORDS})={_N}){{0,5}}\))?)$",
        _unittest,
    ),
    _Runner("test result: ", _CARGO, _cargo),
    _Runner(  # cargo nextest
        " Summary [",
        rf" {{1,20}}Summary \[ {{0,12}}[0-9.]{{1,12}}s\] (?:{_N}/)?{_N} tests? run: "
        rf"({_list('passed|failed|skipped|timed out')})$",
        _commas,
    ),
    _Runner("ok  \t", _GO, _go),
    _Runner("FAIL\t", _GO, _go),
    _Runner(  # Jest
        "Test Suites: ",
        rf"Test Suites: [^\n]{{1,150}} total\n"
        rf"Tests: {{1,12}}({_list('failed|skipped|todo|passed')}), {_N} total$",
        _commas,
    ),
    _Runner(  # Vitest
        " Test Files  ",
        rf" {{1,12}}Test Files  [^\n]{{1,150}}\n {{1,12}}Tests  "
        rf"({_list('failed|passed|skipped|todo|expected fail', r' \| ')}|no tests)(?: \({_N}\))?$",
        _bars,
    ),
    _Runner(  # node --test, both of its reporters
        "tests ",
        rf"(?:# |ℹ )tests {_N}(?:{_NODE}suites {_N})?{_NODE}pass (?P<pass>{_N}){_NODE}fail (?P<fail>{_N})"
        rf"{_NODE}cancelled (?P<cancelled>{_N}){_NODE}skipped (?P<skipped>{_N}){_NODE}todo (?P<todo>{_N})"
        rf"{_NODE}duration_ms [0-9.]{{1,24}}$",
        _named,
    ),
    _Runner(  # Mocha
        " passing (",
        rf"  (?P<passing>{_N}) passing \([0-9]{{1,6}}(?:ms|s|m|h|d)\)"
        rf"(?:\n  (?P<pending>{_N}) pending)?(?:\n  (?P<failing>{_N}) failing)?$",
        _named,
    ),
    _Runner(  # RSpec and ExUnit
        "Finished in ",
        rf"Finished in [^\n]{{1,150}}\n({_list('(?:example|doctest|test)s?|properties|property', most=2)}, "
        rf"{_N} failures?(?:, {_list('pending|skipped|excluded|invalid|errors? occurred outside of examples')})?)$",
        _words,
    ),
    _Runner(  # minitest
        " assertions, ",
        rf"(?P<runs>{_N}) runs, {_N} assertions, (?P<failures>{_N}) failures, (?P<errors>{_N}) errors, "
        rf"(?P<skips>{_N}) skips$",
        _named,
    ),
    _Runner(  # PHPUnit, and JUnit's console
        "OK (",
        rf"OK \(({_N} tests?(?:, {_N} assertions?)?)\)$",
        _words,
    ),
    _Runner(
        ", Assertions: ",
        rf"(Tests: {_N}(?:, (?:{_PHPUNIT_WORDS}): {_N}){{1,10}})\.$",
        _words,
    ),
    _Runner("Tests run: ", _SUREFIRE, _surefire),
    _Runner(  # CTest
        " tests failed out of ",
        rf"{_N}% tests passed, ({_N} tests failed out of {_N})$",
        _words,
    ),
    _Runner(  # Gradle, which sums up only what failed
        " completed, ",
        rf"{_N} tests? completed, ({_list('failed|skipped', most=1)})$",
        _commas,
    ),
)
