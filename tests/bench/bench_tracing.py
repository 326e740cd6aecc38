"""Measure what tracing adds to a call, in one run: off, on without texts, on with texts; and an export.

Run: python tests/bench/bench_tracing.py
"""

from __future__ import annotations

import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from otlp_receiver import Receiver, end_provider, receiving

from pi_intent.pipeline import CallRequest
from pi_intent.protocols import Settlement
from pi_intent.runtime import SessionRuntime
from pi_intent.tracing.environment import CAPTURE

CALLS = 400
ROUNDS = 7
EXPORTED = 20_000


async def seconds_a_call(folder: Path, *, traced: bool) -> float:
    """Return the median seconds from start to end of a call, in the best of several sessions."""
    best = float("inf")
    for number in range(ROUNDS):
        runtime = SessionRuntime(
            session_id=f"s-{traced}-{number}",
            host="tau",
            host_version="0",
            cwd=folder,
            strict=False,
            tell=print,
            withholds=lambda tool_name: False,
            traced=traced,
        )
        await runtime.start()
        took = []
        for at in range(CALLS):
            sent = {"intent": "Prove it", "rationale": "test_pay.py:31", "command": f"pytest -k {at}"}
            request = CallRequest("bash", str(at), sent, group_id=str(at), turn=at, policy="require")
            began = time.perf_counter()
            call = runtime.pipeline.open(request)
            call.settle(Settlement(status="ok", is_error=False, facts="exit 0"))
            took.append(time.perf_counter() - began)
        best = min(best, statistics.median(took))
        runtime.close()
    return best


def record(folder: Path) -> None:
    """Fill a ledger for the export."""
    from pi_intent.ledger.journal import SessionJournal
    from pi_intent.ledger.record import SessionInfo

    sys.path.insert(0, str(Path(__file__).parents[1]))
    from ledger_events import a_start, an_end

    from pi_intent.protocols import CallContext

    info = SessionInfo(session="s-1", host="tau", agent="main", cwd=str(folder), version="0")
    journal = SessionJournal.open(info, environ=os.environ, on_problem=print)
    context = CallContext(turn=1, policy="require", profile="lean", bytes_in=40)
    for at in range(EXPORTED):
        call_id = f"01J8{at:022d}"
        journal.opened(a_start(call_id=call_id, seq=2 * at, intent="Prove that the rounding is right"), context)
        journal.closed(
            an_end(call_id=call_id, seq=2 * at + 1, facts="exit 0"), Settlement(status="ok", is_error=False)
        )
    journal.close()


def export(folder: Path, received: Receiver, *arguments: str) -> None:
    """Run an export in a process of its own, and tell its time and memory."""
    code = (
        "import resource, sys\n"
        "from pi_intent.cli.main import commands\n"
        "try:\n    commands.main(['export', *sys.argv[1:]])\n"
        "finally:\n    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)\n"
    )
    began = time.perf_counter()
    environ = {**os.environ, "OTEL_EXPORTER_OTLP_ENDPOINT": received.url}
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], cwd=folder, env=environ, capture_output=True, text=True, check=True
    )
    memory = int(done.stderr.split()[-1]) / 1024
    seconds = time.perf_counter() - began
    told = f"{seconds:5.1f} s, {seconds / EXPORTED * 1e6:5.0f} µs a call, {memory:4.0f} MB"
    print(f"export {' '.join(arguments):<14} {EXPORTED:,} calls in {told}")


async def main() -> None:
    with tempfile.TemporaryDirectory() as name, receiving() as received:
        folder = Path(name) / "shop"
        subprocess.run(["git", "init", "-q", str(folder)], check=True)
        os.environ |= {"HOME": name, "XDG_RUNTIME_DIR": name, "OTEL_EXPORTER_OTLP_ENDPOINT": received.url}
        off = await seconds_a_call(folder, traced=False)
        print(f"a call, ledger and all, tracing off   {off * 1e6:7.1f} µs")
        for texts in ("false", "true"):
            os.environ[CAPTURE] = texts
            on = await seconds_a_call(folder, traced=True)
            what = "with texts" if texts == "true" else "without texts"
            print(f"tracing on, {what:<13}             {on * 1e6:7.1f} µs  added {(on - off) * 1e6:6.1f} µs")
        end_provider()
        other = Path(name) / "other"
        subprocess.run(["git", "init", "-q", str(other)], check=True)
        record(other)
        for arguments in (("jsonl",), ("csv",), ("otel",), ("otel", "--dry-run")):
            export(other, received, *arguments)


if __name__ == "__main__":
    asyncio.run(main())
