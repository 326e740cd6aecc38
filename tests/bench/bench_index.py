"""Print what the index of a ledger of 100,000 calls costs, next to `json.loads` of all its lines in the same run.

Run it as a script: `python tests/bench/bench_index.py [CALLS [CALLS_A_SESSION [ASKED_ONE_IN]]]`. The floors:
making it ≤ 4 ×, `log --grep` ≤ 0.2 ×, and no process above 200 MB. It needs /proc.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from pi_intent.events import FileChange, ToolExecutionEnd, ToolExecutionStart
from pi_intent.ids import ulid
from pi_intent.ledger.keys import Digester
from pi_intent.ledger.location import find_ledger, make_private_folder
from pi_intent.ledger.record import Recorder, SessionInfo, seal, timestamp
from pi_intent.protocols import CallContext, Decision, Settlement
from pi_intent.redaction import Redactor
from pi_intent.types import JSONObject, Status

CALLS = 100_000
CALLS_A_SESSION = 250
ASKED_ONE_IN = 20
BEGINS = 1_896_091_200.0
REPEATS = 3

_VERBS = ("Find", "Stop", "Verify", "Rewrite", "Move", "Read", "Explain", "Measure", "Remove", "Check")
_THINGS = ("the payment client", "the retry loop", "the failing test", "the parser", "the cache", "the settings")
_WHY = (
    "as the test expects",
    "because the log says so",
    "before it is changed",
    "to see who calls it",
    "after the move",
)
_STATUSES: tuple[Status, ...] = ("ok",) * 17 + ("error", "rejected", "timeout")


def arguments(random_: random.Random, tool: str, path: str) -> JSONObject:
    match tool:
        case "read":
            return {"path": path, "offset": random_.randrange(1000), "limit": 80}
        case "bash":
            return {"command": f"python -m pytest -q tests/{path} -k retry 2>&1 | tail -{random_.randrange(90)}"}
        case "write":
            return {"path": path, "content": "for attempt in range(3):\n" * 20}
        case _:
            return {"path": path, "edits": [{"oldText": "range(5)", "newText": "range(3)"}]}


def write_ledger(
    folder: Path, calls: int, calls_a_session: int = CALLS_A_SESSION, asked_one_in: int = ASKED_ONE_IN
) -> int:
    """Write a ledger through the recorder, and return its bytes; a person was asked about one of so many calls."""
    random_ = random.Random(0)
    recorder = Recorder(Redactor(b"k" * 32, {}), Digester(b"k" * 32), project=(str(folder),), cwd=str(folder))
    segments = find_ledger(folder, os.environ).segments
    make_private_folder(segments)
    written, now = 0, BEGINS
    for first in range(0, calls, calls_a_session):
        session = f"{random_.getrandbits(64):016x}"
        writer = f"{random_.getrandbits(48):012x}"
        info = SessionInfo(
            session=session, host="tau", agent="main", cwd=str(folder), version="0", host_version="0.4"
        )
        record = recorder.session(
            info, record_id=ulid(int(now * 1000), b"0" * 10), ts=timestamp(now), writer=writer, pid=1
        )
        line, prev = seal(record, "")
        lines = [line]
        for number in range(min(calls_a_session, calls - first)):
            now += 3
            asked = (first + number) % asked_one_in == 0
            for record in one_call(random_, recorder, session, number, now, asked):
                line, prev = seal(record, prev)
                lines.append(line)
        content = b"".join(lines)
        (segments / f"{session}.{writer}.jsonl").write_bytes(content)
        written += len(content)
    return written


def one_call(
    random_: random.Random, recorder: Recorder, session: str, number: int, now: float, asked: bool
) -> tuple[str, ...]:
    tool = random_.choice(("read", "bash", "edit", "write", "read"))
    path = f"src/{random_.choice(('pay', 'shop', 'cart'))}/module_{random_.randrange(400)}.py"
    call_id = ulid(int(now * 1000), random_.randbytes(10))
    status = random_.choice(_STATUSES)
    ids = {
        "call_id": call_id,
        "tool_call_id": f"call_{number:08x}",
        "session_id": session,
        "agent_id": "main",
        "group_id": f"g-{number // 3}",
        "host": "tau",
        "tool_name": tool,
    }
    start = ToolExecutionStart(
        **ids,
        seq=2 * number,
        args=arguments(random_, tool, path),
        intent=f"{random_.choice(_VERBS)} {random_.choice(_THINGS)} in {path} {random_.choice(_WHY)}",
        rationale=None if number % 3 else f"tests/test_pay.py::test_{number} says that a fourth attempt is made",
        intent_source="model",
        model="a-model-2030-01",
    )
    changed = (FileChange(path=path, op="modify", pre="hmac:" + "0" * 32, post="hmac:" + "1" * 32),)
    end = ToolExecutionEnd(
        **ids,
        seq=2 * number + 1,
        status=status,
        is_error=status != "ok",
        duration_ms=random_.randrange(3000),
        facts="exit 0" if tool == "bash" else "120 lines",
        files=changed if tool in ("edit", "write") else (),
    )
    error = None if status == "ok" else f"1 failed, {number} passed"
    context = CallContext(turn=number // 3, policy="require", profile="lean", bytes_in=100)
    settlement = Settlement(status=status, is_error=status != "ok", error=error, bytes_out=96)
    question = Decision(call_id, 1, ("tier exec", f"deletes: rm -rf {path}"), "hmac:" + "2" * 32)
    shown = f"{tool}, in /home/me/shop\n$ rm -rf {path}\nAsked because of: tier exec\n> {start.intent}"
    answer = question._replace(approved=number % 3 > 0, by="person", scope="once", note="No", shown=shown)
    return (
        recorder.call(start, context, ts=timestamp(now), head=hashlib.sha1(session.encode()).hexdigest()),
        *(
            recorder.decision(decision, ts=timestamp(now + at), withheld=False)
            for at, decision in ((0.1, question), (0.9, answer))
            if asked
        ),
        recorder.done(end, settlement, ts=timestamp(now + 1), bytes_in=100, withheld=False),
    )


READ_EVERYTHING = """
import json, sys
from pathlib import Path
for path in sorted(Path(sys.argv[1]).iterdir()):
    with path.open("rb") as file:
        for line in file:
            json.loads(line)
"""
OPEN_INDEX = """
import sys
from pathlib import Path
from pi_intent.ledger.index import open_index
with open_index(Path(sys.argv[1]).parent) as index:
    pass
"""
ALL_PAST = OPEN_INDEX.replace("    pass", "    print(sum(1 for _ in index.past()))")


MEASURED = """
import runpy, sys
how, what, *sys.argv[1:] = sys.argv[1:]
try:
    if how == "-m":
        runpy.run_module(what, run_name="__main__", alter_sys=True)
    else:
        exec(what)
finally:
    with open("/proc/self/status") as status:
        print(*(line.split()[1] for line in status if line.startswith("VmHWM")), file=sys.stderr)
"""


def timed(*command: str, cwd: Path) -> tuple[float, float]:
    """Return the wall time of a process, start-up included, and the peak of its memory in MB, as it says itself.

    What the system tells of a process that is over may be what its parent had in memory when it started it.
    """
    begin = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-c", MEASURED, *command], cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stderr is not None
    while process.stdout.read(1 << 16):
        pass
    said = process.stderr.read().decode()
    assert process.wait() == 0, said
    taken = time.perf_counter() - begin
    process.stdout.close()
    process.stderr.close()
    return taken, int(said.split()[-1]) / 1024


def baseline_seconds(segments: Path) -> float:
    """The time of `json.loads` of every line, without a process to start."""
    begin = time.perf_counter()
    for path in sorted(segments.iterdir()):
        with path.open("rb") as file:
            for line in file:
                json.loads(line)
    return time.perf_counter() - begin


def main() -> None:
    sizes = [int(size) for size in sys.argv[1:]]
    calls, calls_a_session, asked_one_in = [*sizes, *(CALLS, CALLS_A_SESSION, ASKED_ONE_IN)[len(sizes) :]]
    with tempfile.TemporaryDirectory(prefix="bench-index-") as name:
        folder = Path(name)
        subprocess.run(["git", "init", "-q", name], check=True)
        size = write_ledger(folder, calls, calls_a_session, asked_one_in)
        location = find_ledger(folder, os.environ)
        segments, index = str(location.segments), location.root / "index.sqlite"
        print(f"{calls:,} calls, {size / 1e6:.1f} MB in {len(list(location.segments.iterdir()))} segments")
        baselines: list[float] = []
        rows: list[tuple[str, float, float, float | None]] = []

        def show(what: str, *command: str, before: str = "", floor: float | None = None) -> None:
            # The baseline over and over: the machine may have more to do at one time than at another.
            baselines.append(baseline_seconds(location.segments))
            runs = []
            for _ in range(REPEATS):
                if before == "remove":
                    index.unlink(missing_ok=True)
                runs.append(timed(*command, cwd=folder))
            rows.append((what, min(run[0] for run in runs), max(run[1] for run in runs), floor))

        log = ("-m", "pi_intent", "log")
        show("json.loads, as a process", "-c", READ_EVERYTHING, segments)
        show("make the index", "-c", OPEN_INDEX, segments, before="remove", floor=4)
        show("open it, with nothing new", "-c", OPEN_INDEX, segments)
        show("all past calls", "-c", ALL_PAST, segments)
        show("log --grep, a word", *log, "--grep", "module_37.py", floor=0.2)
        show("log --grep, nothing found", *log, "--grep", "no such words", floor=0.2)
        show("log --grep, an expression", *log, "--grep", r"retry loop in src/\w+/module_3\d\.py", floor=0.2)
        show("log --grep, every call", *log, "--grep", "a")
        show("log --grep, every line by itself", *log, "--grep", r"[^x]\s(?=the)")
        show("log", *log)
        show("log --failed --tool bash", *log, "--failed", "--tool", "bash")
        show("log --path src/pay", *log, "--path", "src/pay")
        (last,) = json.loads(subprocess.check_output([sys.executable, *log, "--json", "--limit", "1"], cwd=folder))[
            "calls"
        ]
        show("show CALL", "-m", "pi_intent", "show", last["id"])
        show("log --limit 0", *log, "--limit", "0")
        show("log --limit 0 --notes", *log, "--limit", "0", "--notes")
        show("log --decided denied --limit 0", *log, "--decided", "denied", "--limit", "0")
        show("audit", "-m", "pi_intent", "audit")
        show("audit --md, everything", "-m", "pi_intent", "audit", "--md", "--limit", "0")
        show("audit --json, everything", "-m", "pi_intent", "audit", "--json")
        show("log --json, everything", *log, "--json")
        baseline = min(baselines)
        print(f"{index.stat().st_size / 1e6:.1f} MB of index")
        print(f"json.loads of every line: {baseline:.3f} s (in this process, the best of {len(baselines)})")
        for what, taken, memory, wanted in rows:
            held = "" if wanted is None else f"  (floor {wanted} x)"
            print(f"{what:34} {taken:7.3f} s  {taken / baseline:6.3f} x  {memory:6.1f} MB{held}")


if __name__ == "__main__":
    main()
