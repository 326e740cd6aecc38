"""Inject into thousands of random schemas and print what came of it; exits with 1 where the contract was broken.

Run: python tests/bench/bench_injection.py [COUNT]
"""

from __future__ import annotations

import sys
from pathlib import Path
from time import perf_counter

sys.path.insert(0, str(Path(__file__).parents[1]))

from injection_run import Figures, run

FIRST_SEED = 1_000_000  # other schemas than the tests take


def main(count: int) -> int:
    runs: dict[str, Figures] = {}
    for draft, draft_7, share in (("2020-12", False, 1), ("7", True, 5)):
        started = perf_counter()
        runs[draft] = run(count // share, first_seed=FIRST_SEED, draft_7=draft_7)
        print(f"draft {draft} ({perf_counter() - started:.0f} s)\n{runs[draft].report()}\n")
    faults = [fault for figures in runs.values() for fault in (*figures.mismatches, *figures.unconfirmed)]
    for fault in faults[:5]:
        print(fault)
    return 1 if faults or any(figures.share_skipped >= 0.05 for figures in runs.values()) else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 5000))
