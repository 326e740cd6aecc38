"""Measure what a call costs with pi-intent, beside the same without it, in one run.

Run: python tests/bench/bench_calls.py
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from tau_desk import Desk, calls, says

from pi_intent import read_call

CALLS = 60
ROUNDS = 7


def best(run: Callable[[], object], times: int) -> float:
    """Return the best seconds of one run, out of several series."""
    series = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        for _ in range(times):
            run()
        series.append((time.perf_counter() - start) / times)
    return min(series)


def reading() -> None:
    samples = {
        "bash": {"intent": "List the files", "command": "ls -la"},
        "edit": {"intent": "Set x", "path": "a", "edits": [{"oldText": "a" * 200, "newText": "b" * 200}] * 5},
        "write 1 MB": {"intent": "Write it", "path": "a", "content": "x = 1\n" * 170_000},
    }
    for name, arguments in samples.items():
        text = json.dumps(arguments)
        times = 2_000 if len(text) < 10_000 else 20
        tool = name.partition(" ")[0]
        parse = best(lambda text=text: json.loads(text), times)
        read = best(lambda arguments=arguments, tool=tool: read_call(tool, arguments), times)
        print(
            f"read_call, {name:<11} {read * 1e6:8.1f} µs  json.loads {parse * 1e6:8.1f} µs  "
            f"ratio {read / parse:5.2f}  floor ≤ 2"
        )


async def session_seconds(desk: Desk, turns: list[Any], *, intents: bool) -> tuple[float, float]:
    """Run one session with JSONL storage.

    Return the median seconds between start and end of a call, by Tau's own events, and the seconds of the whole run
    for each call, with all that Tau does around it.
    """
    session = await desk.session([*turns, says("done")], intents=intents, session_id=f"bench-{intents}")
    seconds, began = [], 0.0
    start = time.perf_counter()
    async for event in session.prompt("go"):
        if event.type == "tool_execution_start":
            began = time.perf_counter()
        elif event.type == "tool_execution_end":
            seconds.append(time.perf_counter() - began)
    whole = (time.perf_counter() - start) / len(seconds)
    await session.aclose()
    return statistics.median(seconds), whole


async def in_sessions() -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        os.environ.update(HOME=folder, TAU_HOME=folder, XDG_STATE_HOME=folder, XDG_CONFIG_HOME=folder)
        os.environ.pop("PI_INTENT", None)
        kinds: dict[str, tuple[str, dict[str, Any]]] = {
            "read": ("read", {"path": "a.py"}),
            "edit": ("edit", {"path": "a.py", "edits": [{"oldText": "x = 1", "newText": "x = 1 "}]}),
            "bash true": ("bash", {"command": "true"}),
        }
        print(f"\nin a real session with JSONL storage, best of {ROUNDS} medians of {CALLS} calls, taken in turn")
        for number, (name, (tool, arguments)) in enumerate(kinds.items()):
            medians: dict[bool, list[float]] = {True: [], False: []}
            wholes: dict[bool, list[float]] = {True: [], False: []}
            for turn in range(ROUNDS):
                for intents in (True, False):
                    desk = Desk(root / f"{number}-{turn}-{intents}")
                    os.chdir(desk.project)
                    filler = "".join(f"line {n} of an ordinary file\n" for n in range(150))
                    (desk.project / "a.py").write_text("x = 1\n" + filler)
                    stated = {"intent": "Measure the call", **arguments} if intents else arguments
                    each = [stated] * CALLS
                    if tool == "edit":
                        edits = [
                            [{"oldText": f"x = {n}\n", "newText": f"x = {n + 1}\n"}] for n in range(1, CALLS + 1)
                        ]
                        each = [{**stated, "edits": edit} for edit in edits]
                    median, whole = await session_seconds(desk, [calls((tool, one)) for one in each], intents=intents)
                    medians[intents].append(median)
                    wholes[intents].append(whole)
            ours, bare = min(medians[True]), min(medians[False])
            print(
                f"{name:<10} start to end {ours * 1e3:6.3f} ms  bare {bare * 1e3:6.3f} ms  "
                f"ratio {ours / bare:5.2f}  added {(ours - bare) * 1e3:6.3f} ms  floors ≤ 0.15 ms, bash ≤ 1.05"
            )
            ours, bare = min(wholes[True]), min(wholes[False])
            print(
                f"{'':<10} whole turn   {ours * 1e3:6.3f} ms  bare {bare * 1e3:6.3f} ms  "
                f"ratio {ours / bare:5.2f}  floor ≤ 1.10"
            )


def seconds_to_import(module: str, after: str) -> float:
    """Return the best of some fresh processes' seconds for importing a module after others."""
    code = f"{after}; import time; start = time.perf_counter(); import {module}; print(time.perf_counter() - start)"
    found = [subprocess.run([sys.executable, "-c", code], capture_output=True, check=True) for _ in range(ROUNDS)]
    return min(float(done.stdout) for done in found)


def starting() -> None:
    bare = best(lambda: subprocess.run([sys.executable, "-c", "pass"], check=True), 3)
    tau = "import tau_coding.cli, tau_coding.session, tau_coding.tools, tomllib, asyncio, anyio"
    for what, seconds, floor in (
        ("bare Python starts in", bare, ""),
        ("import pi_intent", seconds_to_import("pi_intent", "pass"), "floor ≤ 25 ms"),
        ("the extension, in a started Tau", seconds_to_import("pi_intent.hosts.tau.setup", tau), "floor ≤ 30 ms"),
    ):
        print(f"{what:<32} {seconds * 1e3:6.1f} ms  {seconds / bare:5.2f} × bare Python   {floor}")


if __name__ == "__main__":
    starting()
    reading()
    asyncio.run(in_sessions())
