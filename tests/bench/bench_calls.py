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

CALLS = 200
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
            f"read_call, {name:<11} {read * 1e6:9.1f} µs  json.loads {parse * 1e6:9.1f} µs  ratio {read / parse:5.2f}  floor ≤ 2"
        )


async def session_seconds(desk: Desk, turns: list[Any], *, intents: bool) -> list[float]:
    """Run one session; return the seconds between start and end of each call, by Tau's own events."""
    session = await desk.session([*turns, says("done")], intents=intents)
    seconds, began = [], 0.0
    async for event in session.prompt("go"):
        if event.type == "tool_execution_start":
            began = time.perf_counter()
        elif event.type == "tool_execution_end":
            seconds.append(time.perf_counter() - began)
    await session.aclose()
    return seconds


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
        for number, (name, (tool, arguments)) in enumerate(kinds.items()):
            medians: dict[bool, list[float]] = {True: [], False: []}
            for turn in range(ROUNDS):
                for intents in (True, False):
                    desk = Desk(root / f"{number}-{turn}-{intents}")
                    os.chdir(desk.project)
                    filler = "".join(f"line {n} of an ordinary file\n" for n in range(150))
                    (desk.project / "a.py").write_text("x = 1\n" + filler)
                    stated = {"intent": "Measure the call", **arguments} if intents else arguments
                    if tool == "edit":
                        edits = [
                            [{"oldText": f"x = {n}\n", "newText": f"x = {n + 1}\n"}] for n in range(1, CALLS + 1)
                        ]
                        each = [{**stated, "edits": edit} for edit in edits]
                    else:
                        each = [stated] * CALLS
                    seconds = await session_seconds(desk, [calls((tool, one)) for one in each], intents=intents)
                    medians[intents].append(statistics.median(seconds))
            ours, bare = min(medians[True]), min(medians[False])
            floor = "≤ 1.05" if name == "bash true" else "≤ 1.10, or 0.15 ms"
            print(
                f"a call of {name:<10} {ours * 1e3:7.3f} ms  bare {bare * 1e3:7.3f} ms  "
                f"ratio {ours / bare:5.2f}  added {(ours - bare) * 1e3:6.3f} ms  floor {floor}"
            )


def python_seconds(code: str) -> float:
    def run() -> None:
        subprocess.run([sys.executable, "-c", code], check=True)

    run()
    return best(run, 5)


def starting() -> None:
    bare = python_seconds("pass")
    ours = python_seconds("import pi_intent")
    print(f"import pi_intent   {(ours - bare) * 1e3:6.1f} ms over bare Python ({bare * 1e3:.1f} ms)   floor ≤ 25 ms")
    tau = "import tau_coding.cli, tau_coding.session, tau_coding.tools, anyio, tomllib, asyncio"
    started = python_seconds(tau)
    extended = python_seconds(f"{tau}; import pi_intent.hosts.tau.setup")
    print(
        f"the extension      {(extended - started) * 1e3:6.1f} ms over a loaded Tau ({started * 1e3:.0f} ms)   floor ≤ 30 ms"
    )


if __name__ == "__main__":
    reading()
    starting()
    asyncio.run(in_sessions())
