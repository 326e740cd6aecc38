"""`pi-intent verify`: is everything in this project's ledger still as it was written?"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import click

from pi_intent.cli.console import complain, json_text, write_items
from pi_intent.cli.here import ledger_here, without_secrets
from pi_intent.cli.progress import Progress
from pi_intent.cli.session_choice import choose_session
from pi_intent.cli.telling import tell
from pi_intent.cli.unread import problem_json
from pi_intent.facts import counted
from pi_intent.labels.printable import printable
from pi_intent.ledger.location import LedgerLocation
from pi_intent.ledger.open_calls import OpenCalls
from pi_intent.ledger.owners import belongs_to, session_ids, session_of
from pi_intent.ledger.reader import Problem, Segment, read_segments
from pi_intent.ledger.verify import LIMITS, Finding, Verdict, check_lines


@dataclass(slots=True)
class _Sum:
    """What all files together gave."""

    files: int = 0
    records: int = 0
    newer: int = 0
    torn: int = 0
    bad_files: int = 0
    running: int = 0
    left_open: int = 0


@click.command()
@click.option("--session", metavar="ID", help="Only this session; the beginning of its id is enough.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead.")
def verify(session: str | None, as_json: bool) -> None:
    """Check that everything in this project's ledger is still as it was written.

    Reads every file of the ledger and checks each record's hash, and that each follows the one before it. Of every
    file that does not hold, the first bad line is named, with what is wrong, and the others are counted.

    A line that was cut off while it was written, because the process died or the disk was full, is named, too. That
    is no tampering: nothing that was whole is missing there, or the chain of hashes would not hold. So it does not
    change the exit code; nor does a call that was left open.

    Exits with 0 where everything holds that can be checked, and with 1 where something does not, or could not be
    read. A project without a ledger is told on standard error and is no failure.

    With --json it is one document, a file a line:

    \b
    {"ledger": FOLDER,
     "segments": [{"path": FILE, "session": ID or null, "running": BOOLEAN,
                   "ok": BOOLEAN, "records": N, "newer": N,
                   "bad": N, "first": FINDING or null,
                   "tornLines": N, "torn": FINDING or null}],
     "problems": [{"path": FILE, "line": null, "text": SENTENCE}],
     "calls": {"running": N, "open": N}, "limits": TEXT, "ok": BOOLEAN}

    A FINDING has "line", "kind" (changed, repeated, broken, cut, foreign, unchecked or torn) and "text".

    \b
    Examples:
      pi-intent verify
      pi-intent verify --session 01J8
      pi-intent verify --json | jq '.segments[] | select(.ok | not)'
    """
    location = ledger_here()
    found = [*read_segments(location.root)]
    segments = [item for item in found if isinstance(item, Segment)]
    problems = [item for item in found if isinstance(item, Problem)]
    if session is not None:
        owners = [session_of(segment) for segment in segments]
        chosen = choose_session(session, session_ids(owners), location.segments)
        segments = [
            segment for segment, owner in zip(segments, owners, strict=True) if belongs_to(segment, owner, chosen)
        ]
        problems = []  # of files whose session cannot be known
    total = _Sum(bad_files=len(problems))
    verdicts = _check(segments, problems, total)
    if as_json:
        _print_json(location, verdicts, problems, total)
    else:
        _print(location, verdicts, problems, total)
    raise SystemExit(1 if total.bad_files else 0)


def _check(segments: list[Segment], problems: list[Problem], total: _Sum) -> Iterator[tuple[Segment, Verdict]]:
    """Yield the verdict on each file, and add it up; what cannot be read becomes a problem."""
    progress = Progress("Checking the ledger:", sum(map(_size, segments)))
    running, ended = OpenCalls(), OpenCalls()
    try:
        for segment in segments:
            try:
                verdict = check_lines(progress.over(segment.lines()), running=segment.running)
            except OSError as error:
                total.bad_files += 1
                gone = isinstance(error, FileNotFoundError)
                why = "was deleted meanwhile" if gone else f"cannot be read ({error.strerror})"
                problems.append(Problem(path=segment.path, line=None, text=f"{segment.path} {why}"))
                continue
            total.files += 1
            total.records += verdict.records
            total.newer += verdict.newer
            total.torn += verdict.torn_lines
            total.bad_files += not verdict.holds
            (running if segment.running else ended).add(verdict.calls)
            progress.close()
            yield segment, verdict
    finally:
        progress.close()
    # The end of a call stands in another file where its first one was deleted while it ran.
    for call in running.begun & ended.ended:
        running.begun.discard(call)
    for call in ended.begun & running.ended:
        ended.begun.discard(call)
    total.running = len(running.begun)
    total.left_open = len(ended.begun) + running.not_followed + ended.not_followed


def _size(segment: Segment) -> int:
    try:
        return segment.path.stat().st_size
    except OSError:
        return 0


def _print(
    location: LedgerLocation, verdicts: Iterator[tuple[Segment, Verdict]], problems: list[Problem], total: _Sum
) -> None:
    for segment, verdict in verdicts:
        if verdict.first is not None:
            _print_finding("✗", segment, verdict.first, verdict.bad)
        if verdict.torn is not None:
            _print_finding("·", segment, verdict.torn, verdict.torn_lines)
    for problem in problems:
        _say(f"✗ {problem.text}")
    if not total.files and not problems:
        complain(f"There is nothing to check: no record in {location.segments}.")
        return
    where = printable(str(location.segments), width=1000)
    _say(f"{counted(total.records, 'record')} in {counted(total.files, 'file')} checked: {where}", whole=[where])
    if total.newer:
        _say(f"{counted(total.newer, 'record')} of a newer version of pi-intent: what they say was not looked at.")
    if total.torn:
        _say(f"{counted(total.torn, 'line')} cut off while written (·): no tampering, but what they told is lost.")
    if total.running or total.left_open:
        _say(f"{counted(total.running, 'call')} still running, {total.left_open} left open by a process that ended.")
    if total.bad_files:
        _say(f"✗ {counted(total.bad_files, 'file')} of the ledger cannot be trusted as a whole.")
    else:
        _say("✓ All that was written is as it was written, as far as hashes can tell.")
    click.echo()
    tell(LIMITS, hang=0)


def _print_finding(mark: str, segment: Segment, finding: Finding, count: int) -> None:
    more = f" ({count - 1} more in this file)" if count > 1 else ""
    _say(f"{mark} {segment.path.name}, line {finding.line}, {finding.text}{more}")


def _say(text: str, *, whole: Sequence[str] = ()) -> None:
    tell(printable(text, width=1000), whole=whole, hang=2)


def _print_json(
    location: LedgerLocation, verdicts: Iterator[tuple[Segment, Verdict]], problems: list[Problem], total: _Sum
) -> None:
    sys.stdout.write(f'{{"ledger":{json_text(without_secrets(location.segments))},"segments":[')
    write_items(json_text(_document(segment, verdict)) for segment, verdict in verdicts)
    rest = {
        "problems": [*map(problem_json, problems)],
        "calls": {"running": total.running, "open": total.left_open},
        "limits": LIMITS,
        "ok": not total.bad_files,
    }
    sys.stdout.write(f"],{json_text(rest)[1:]}\n")


def _document(segment: Segment, verdict: Verdict) -> dict[str, Any]:
    return {
        "path": without_secrets(segment.path),
        "session": verdict.session,
        "running": segment.running,
        "ok": verdict.holds,
        "records": verdict.records,
        "newer": verdict.newer,
        "bad": verdict.bad,
        "first": _finding(verdict.first),
        "tornLines": verdict.torn_lines,
        "torn": _finding(verdict.torn),
    }


def _finding(finding: Finding | None) -> dict[str, Any] | None:
    return None if finding is None else {"line": finding.line, "kind": finding.kind, "text": finding.text}
