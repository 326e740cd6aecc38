"""However much is asked for, it is not held in memory."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from indexed_ledger import Ledger

from pi_intent.ledger.location import find_ledger

CALLS = 8_000
A_FEW = 32.0
"""MB. The pages that SQLite keeps are 16; the calls here, held or put in order in memory, would be 48 or more."""

PEAK = """
import sys
from pi_intent.cli.main import main
try:
    main()
finally:
    with open("/proc/self/status") as status:
        print(*(line.split()[1] for line in status if line.startswith("VmHWM")), file=sys.stderr)
"""


@pytest.fixture(scope="module")
def environ(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A working directory whose ledger has one long session, and one that begins at the same time."""
    folder = tmp_path_factory.mktemp("shop")
    environ = os.environ | {"XDG_STATE_HOME": str(folder / "state"), "GIT_CEILING_DIRECTORIES": str(folder.parent)}
    ledger = Ledger(find_ledger(folder, environ).root)
    begun = ledger.call("A" * 26, "long", intent=f"Read the manual {'x' * 3000}", rationale="y" * 3000)
    ended = ledger.done("A" * 26, files=())
    with ledger.path("long", "w").open("wb") as segment:
        segment.write(ledger.session("long", "w"))
        for number in range(CALLS):
            segment.write(begun.replace(b"A" * 26, b"%026d" % number) + ended.replace(b"A" * 26, b"%026d" % number))
    other = [ledger.session("short", "w"), ledger.call("B" * 26, "short"), ledger.done("B" * 26)]
    ledger.path("short", "w").write_bytes(b"".join(other))
    return environ | {"PWD": str(folder)}


def peak(environ: dict[str, str], *question: str) -> float:
    """Return the most memory, in MB, that a process had that answers a question."""
    run = subprocess.run(
        [sys.executable, "-c", PEAK, *question],
        cwd=environ["PWD"],
        env=environ,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        timeout=120,
        check=True,
    )
    return int(run.stderr.split()[-1]) / 1024


@pytest.fixture(scope="module")
def little(environ: dict[str, str]) -> float:
    """The peak where next to nothing is asked for, once the index is made."""
    peak(environ, "log", "--limit", "1")
    return peak(environ, "log", "--limit", "1")


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="this system does not tell the peak of a process")
@pytest.mark.parametrize(
    "question", ["log --limit 0", "log --limit 0 --notes", "log --json --limit 7000", "stats --session long"]
)
def test_what_is_asked_for_is_not_held(question: str, environ: dict[str, str], little: float) -> None:
    assert peak(environ, *question.split()) - little < A_FEW
