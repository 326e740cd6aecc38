"""Check the lines of a segment against their hashes and their chain: lines in, one verdict out, nothing kept."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from pi_intent.ledger.entries import Entry, OtherEntry, SessionEntry, parse_entry
from pi_intent.ledger.open_calls import OpenCalls
from pi_intent.ledger.reader import LINE_LIMIT, Line
from pi_intent.ledger.version import VERSION

Kind = Literal["changed", "repeated", "broken", "cut", "foreign", "unchecked", "torn"]
"""`changed`: the hash does not fit · `repeated`: there twice · `broken`: what stood before is lost, moved or added ·
`cut`: only part of a record, and the chain does not bridge it · `foreign`: no record at all · `unchecked`: of a newer
version and not to be checked here · `torn`: cut off while it was written, which is no tampering."""

LIMITS = (
    "What hashes cannot prove: that no end of a file was cut off and no file removed as a whole; that nobody who may "
    "write the ledger wrote a file anew; and that an intent is true. A file that is being written is checked as far "
    "as it is written."
)

# Exactly how `seal` ends a line; a quotation mark inside a text of the record would have a backslash before it.
_SEAL = re.compile(rb',"prev":"([0-9a-f]{64}|)"(,"hash":"([0-9a-f]{64})"\})')
_SEAL_BYTES = len(b',"prev":"","hash":""}') + 2 * 64
_BEGINNING = b'{"v":'


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What is wrong with a line; `text` goes on after the words "line N"."""

    line: int
    kind: Kind
    text: str


@dataclass(slots=True, kw_only=True)
class Verdict:
    """What checking a segment gave. It holds where there is no `first`.

    `first` is the first line that does not hold and `bad` their number; `torn` the first line that was cut off while
    it was written and `torn_lines` their number. `records` counts whatever is a record, `newer` those of a newer
    version. `session` is whose segment it says it is.
    """

    session: str | None = None
    records: int = 0
    newer: int = 0
    first: Finding | None = None
    bad: int = 0
    torn: Finding | None = None
    torn_lines: int = 0
    calls: OpenCalls = field(default_factory=OpenCalls)

    @property
    def holds(self) -> bool:
        """Whether everything that was written is still there as it was written, as far as hashes can tell."""
        return self.first is None


def check_lines(lines: Iterable[Line], *, running: bool) -> Verdict:
    """Check the lines of one segment, in order. `running`: its writer lives, so the end may still be to come."""
    check = _Check()
    for line in lines:
        check.take(line)
    check.end(running=running)
    return check.verdict


class _Check:
    def __init__(self) -> None:
        self.verdict = Verdict()
        self._last: bytes | None = b""
        """The hash that the next record must follow; None where the record before it cannot say."""
        self._torn: tuple[int, int] | None = None
        """The first of the torn lines since the last record, and their number: only a next record tells of them."""
        self._ends_whole = True

    def take(self, line: Line) -> None:
        self._ends_whole = line.complete
        if line.too_long:
            self._bad(line, "foreign", f"is longer than {LINE_LIMIT} bytes, so it is no record")
        elif line.content:
            seal = _SEAL.fullmatch(line.content, line.content.rfind(b',"prev":"', -_SEAL_BYTES))
            if seal is None:
                self._unsealed(line)
            else:
                self._sealed(line, seal)
        # An empty line is what a failed write leaves.

    def end(self, *, running: bool) -> None:
        """Judge the torn lines that no record follows."""
        if self._torn is None:
            return
        first, count = self._torn
        self._torn = None
        if running or not self._ends_whole:
            self._tear(first, count, "was cut off while it was written")
        else:
            # A writer ends a torn line only when it has another record to write.
            self._cut(first, count, "is only part of a record, though its line ends like a whole one")

    def _sealed(self, line: Line, seal: re.Match[bytes]) -> None:
        prev, stated = seal[1], seal[3]
        true = hashlib.sha256(line.content[: seal.start(2)] + b"}").hexdigest().encode("ascii")
        follows = self._last is None or prev == self._last
        if self._torn is not None:
            first, count = self._torn
            self._torn = None
            if follows:
                self._tear(first, count, "was cut off while it was written, and its writer went on")
            else:
                self._cut(first, count, "is only part of a record, and the next one does not follow the one before")
                follows = True  # that was the one cause
        repeated = stated == self._last
        self._last = stated
        entry = parse_entry(line.content)
        if stated != true:
            if isinstance(entry, OtherEntry) and entry.v > VERSION:
                self._count(entry)
                self._bad(line, "unchecked", f"is of version {entry.v}, which only a newer pi-intent can check")
            else:
                if not isinstance(entry, str):
                    self._count(entry)
                self._bad(line, "changed", "was changed: its hash does not fit what stands there")
            return
        if isinstance(entry, str):
            self._bad(line, "foreign", entry)
            return
        if repeated:
            self._bad(line, "repeated", "is the record before it once more")
            return
        self._count(entry)
        if not follows:
            self._bad(line, "broken", "does not follow the record before it: records were lost, moved or added there")
        if not line.complete:
            self._tear(line.number, 1, "is whole but for its line feed: it was cut off while it was written")

    def _count(self, entry: Entry) -> None:
        self.verdict.records += 1
        self.verdict.calls.take(entry)
        if isinstance(entry, SessionEntry) and self.verdict.session is None:
            self.verdict.session = entry.session
        self.verdict.newer += isinstance(entry, OtherEntry) and entry.v > VERSION

    def _unsealed(self, line: Line) -> None:
        entry = parse_entry(line.content)
        if not isinstance(entry, str):
            self._last = None
            self._count(entry)
            if isinstance(entry, OtherEntry) and entry.v > VERSION:
                self._bad(line, "unchecked", f"is of version {entry.v}, which only a newer pi-intent can check")
            else:
                self._bad(line, "changed", "was changed: it does not end with the hash that every record ends with")
        elif _may_be_torn(line.content):
            first, count = self._torn or (line.number, 0)
            self._torn = first, count + 1
        else:
            self._bad(line, "foreign", entry)

    def _tear(self, first: int, count: int, text: str) -> None:
        self.verdict.torn = self.verdict.torn or Finding(line=first, kind="torn", text=text)
        self.verdict.torn_lines += count

    def _cut(self, first: int, count: int, text: str) -> None:
        self._note(Finding(line=first, kind="cut", text=text), count)

    def _bad(self, line: Line, kind: Kind, text: str) -> None:
        self._note(Finding(line=line.number, kind=kind, text=text), 1)

    def _note(self, finding: Finding, count: int) -> None:
        first = self.verdict.first
        # A torn line is judged by what comes after it, and stands before it.
        if first is None or finding.line < first.line:
            self.verdict.first = finding
        self.verdict.bad += count


def _may_be_torn(content: bytes) -> bool:
    """Is this how a record begins? A power cut can leave zeros behind it, or nothing else."""
    rest = content.rstrip(b"\0")
    if not (rest.startswith(_BEGINNING) or _BEGINNING.startswith(rest)):
        return False
    try:
        json.loads(rest)
    except (ValueError, RecursionError):
        return True
    return False
