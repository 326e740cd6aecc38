"""Follow the ledger of a running process, record by record."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from pi_intent.ledger.entries import Entry
from pi_intent.ledger.naming import SUFFIX
from pi_intent.ledger.reader import SegmentTail

_INTERVAL = 0.03  # seconds between two looks: shorter than what an eye sees as a delay


def follow(segments: Path, process: subprocess.Popen[bytes], deadline: float) -> Iterator[Entry]:
    """Yield the records in the folder `segments` as they appear, until the process has ended and all are read.

    Ends at `deadline` (of `time.monotonic`) as well; the process is left as it is.
    """
    tails: dict[Path, SegmentTail] = {}
    while True:
        ended = process.poll() is not None  # asked before reading: what it wrote last is then in the file
        for path in sorted(segments.glob(f"*{SUFFIX}")):
            for record in tails.setdefault(path, SegmentTail(path)).read_new():
                yield record.entry
        if ended or time.monotonic() > deadline:
            return
        try:
            process.wait(_INTERVAL)
        except subprocess.TimeoutExpired:
            continue
