"""Let eight processes make 2,000 calls each while 20 are killed and a disk fills up, and assert what is left.

Run it as a script: `python tests/bench/bench_ledger_crash.py [SEED]`. What it asserts is in `tests/ledger_crash.py`:
every record that was acknowledged is there and whole, none that was told as lost is, no line holds parts of two, and
`pi-intent verify` is right about every segment.
"""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from ledger_crash import BALLAST, Outcome, run

PROCESSES = 8
CALLS = 2_000
KILLS = 20

DISK_MB, BALLAST_MB = 20, 6
"""All calls need about 30 MB. The ballast goes when the disk was full for a while; then it fills up once more."""
ROOM = 1 << 20
"""Where no file system of our own may be mounted: how large a file may grow at first."""


def told(what: str, seed: int, outcome: Outcome) -> None:
    print(f"{what} (seed {seed}): {PROCESSES} processes x {CALLS:,} calls, {outcome.kills} kills")
    rate = (outcome.kept + outcome.lost) / outcome.seconds
    print(f"  {outcome.writers} processes in all, {outcome.seconds:.1f} s, {rate:,.0f} records/s with acknowledging")
    print(f"  {outcome.kept:,} records acknowledged: all there and whole")
    print(f"  {outcome.lost:,} records lost: each told to its caller; {outcome.torn} torn lines: each told by verify")
    print(f"  {outcome.unacknowledged} records there that a killed process could not acknowledge any more")


def crash(folder: Path, seed: int, room: int = 0) -> Outcome:
    outcome = run(folder, processes=PROCESSES, calls=CALLS, kills=KILLS, seed=seed, room=room)
    assert outcome.kills == KILLS
    return outcome


def mounted(folder: Path, *command: str) -> tuple[str, ...]:
    """A command that runs where `folder` is a small disk, which vanishes with it."""
    mount = f'mount -t tmpfs -o size={DISK_MB}m none "$0" && exec "$@"'
    return ("unshare", "-rm", "sh", "-c", mount, str(folder), *command)


def can_mount(folder: Path) -> bool:
    try:
        return subprocess.run(mounted(folder, "true"), capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


def fill(folder: Path, seed: int) -> None:
    (folder / BALLAST).write_bytes(bytes(BALLAST_MB << 20))
    outcome = crash(folder, seed)
    assert outcome.lost
    assert not (folder / BALLAST).exists()
    told(f"a disk of {DISK_MB} MB, filled to the brim twice", seed, outcome)


def main(seed: int) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        wide, full = Path(temporary) / "wide", Path(temporary) / "full"
        wide.mkdir()
        full.mkdir()
        told("enough room", seed, crash(wide, seed))
        sys.stdout.flush()
        if can_mount(full):
            command = (sys.executable, __file__, str(seed), "--fill", str(full))
            subprocess.run(mounted(full, *command), check=True)
        else:
            outcome = crash(full, seed, ROOM)
            assert outcome.lost
            told(f"files that could not grow beyond {ROOM:,} bytes for a while", seed, outcome)


if __name__ == "__main__":
    chosen = int(sys.argv[1]) if len(sys.argv) > 1 else random.SystemRandom().randrange(10**6)
    if sys.argv[2:3] == ["--fill"]:
        fill(Path(sys.argv[3]), chosen)
    else:
        main(chosen)
