"""Print which calls of real session files redaction touches: each, with the kind and length of what it replaced.

Run it as a script: `PI_INTENT_SAMPLES=FOLDER python tests/bench/bench_redaction.py`. Every call that
any of the dialects writes down is read, whatever the tool; then every string of the files, results and prompts too.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from redaction_samples import Touched, call_arguments, files_in, strings_in, touched_by


def told(what: str, touched: list[Touched], count: int) -> None:
    print(f"{len(touched)} of {count:,} {what} touched, {len(touched) / count:.3%}")
    for found in touched:
        print(f"  {found.where}: {', '.join(f'{kind} of {size} characters' for kind, size in found.replaced)}")


def main(folder: Path) -> None:
    begin = time.perf_counter()
    calls = call_arguments(folder)
    told("calls", touched_by(calls), len(calls))
    strings = [item for path in files_in(folder) for item in strings_in(folder, path)]
    told("strings, each once a file,", touched_by(strings), len(strings))
    size = sum(len(text) for _, text in strings)
    print(f"{size / 1e6:.1f} million characters in {time.perf_counter() - begin:.1f} s, reading included")


if __name__ == "__main__":
    samples = os.environ.get("PI_INTENT_SAMPLES")
    if not samples:
        sys.exit("PI_INTENT_SAMPLES names no folder with session files")
    main(Path(samples))
