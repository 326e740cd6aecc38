"""Print what a record costs, next to a bare write of the same bytes, and whether eight processes lose one.

Run it as a script: `python tests/bench/bench_ledger.py`. The floor is 30 µs a record without fsync.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from pi_intent.events import FileChange, ToolExecutionEnd, ToolExecutionStart
from pi_intent.ids import ulid
from pi_intent.ledger.calls import read_ledger
from pi_intent.ledger.journal import SessionJournal
from pi_intent.ledger.location import find_ledger, read_head
from pi_intent.ledger.reader import Record, Segment
from pi_intent.ledger.record import SessionInfo
from pi_intent.protocols import CallContext, Settlement
from pi_intent.redaction import Redactor
from pi_intent.types import JSONObject

CALLS = 50
ROUNDS = 200
WORKERS = 8
RECORDS_EACH = 2_000

CONTEXT = CallContext(turn=4, policy="require", profile="lean", bytes_in=812)
CHANGE = FileChange(path="src/pay.py", op="modify", pre="hmac:" + "0" * 32, post="hmac:" + "1" * 32)
SETTLEMENT = Settlement(status="ok", is_error=False, bytes_out=96)


def arguments(tool: str, folder: Path) -> JSONObject:
    path = str(folder / "src" / "pay.py")
    match tool:
        case "read":
            return {"path": path, "offset": 200, "limit": 80}
        case "bash":
            return {"command": "python -m pytest -q tests/test_pay.py -k retry", "timeout": 60}
        case "write":
            return {"path": path, "content": "for attempt in range(3):\n" * 100}
        case _:
            old, new = "for attempt in range(5):\n" * 4, "for attempt in range(3):\n" * 4
            return {"path": path, "edits": [{"oldText": old, "newText": new}]}


def start(number: int, folder: Path, tool: str = "edit") -> ToolExecutionStart:
    return ToolExecutionStart(
        call_id=ulid(1_900_000_000_000 + number, os.urandom(10)),
        tool_call_id=f"call_{number:08x}",
        session_id="0d2f6c9a7b3e4f51",
        agent_id="main",
        group_id=f"group-{number // 3}",
        seq=2 * number,
        host="tau",
        tool_name=tool,
        args=arguments(tool, folder),
        intent="Stop the payment client after three attempts, as the failing test expects",
        rationale=None if tool == "read" else "tests/test_pay.py::test_retry says that a fourth attempt is made",
        intent_source="model",
        model="a-model-2030-01",
    )


def end(begun: ToolExecutionStart) -> ToolExecutionEnd:
    return ToolExecutionEnd(
        call_id=begun.call_id,
        tool_call_id=begun.tool_call_id,
        session_id=begun.session_id,
        agent_id=begun.agent_id,
        group_id=begun.group_id,
        seq=begun.seq + 1,
        host=begun.host,
        tool_name=begun.tool_name,
        status="ok",
        is_error=False,
        duration_ms=14,
        facts="exit 0" if begun.tool_name == "bash" else "2 replacements",
        files=() if begun.tool_name in ("read", "bash") else (CHANGE,),
    )


def open_journal(folder: Path) -> SessionJournal:
    info = SessionInfo(session="0d2f6c9a7b3e4f51", host="tau", agent="main", cwd=str(folder), version="0")
    return SessionJournal.open(info, environ=dict(os.environ), on_problem=lambda text: sys.exit(text))


def microseconds_each(seconds: float, count: int) -> float:
    return seconds / count * 1e6


def time_records(folder: Path, tool: str = "edit") -> tuple[float, float, list[bytes]]:
    """Return the best time of a record, of a bare write of the same bytes, and the lines."""
    journal = open_journal(folder)
    times = []
    for turn in range(ROUNDS):
        pairs = [(begun := start(turn * CALLS + number, folder, tool), end(begun)) for number in range(CALLS)]
        begin = time.perf_counter()
        for begun, ended in pairs:
            journal.opened(begun, CONTEXT)
            journal.closed(ended, SETTLEMENT)
        times.append(time.perf_counter() - begin)
    segment = journal.path
    journal.close()
    assert segment is not None
    lines = segment.read_bytes().splitlines(keepends=True)[1:]
    bare_times = []
    for turn in range(ROUNDS):
        fd = os.open(folder / f"bare-{turn}", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        begin = time.perf_counter()
        for line in lines[: 2 * CALLS]:
            os.write(fd, line)
        bare_times.append(time.perf_counter() - begin)
        os.close(fd)
    return microseconds_each(min(times), 2 * CALLS), microseconds_each(min(bare_times), 2 * CALLS), lines


def time_parts(folder: Path) -> None:
    git_dir = folder / ".git"
    redactor = Redactor(bytes(32), dict(os.environ))
    text = start(0, folder).intent or ""
    for name, part in (
        ("read_head", lambda: read_head(git_dir)),
        ("one Redactor.text", lambda: redactor.text(text)),
    ):
        begin = time.perf_counter()
        for _ in range(CALLS):
            part()
        print(f"  of which {name}: {microseconds_each(time.perf_counter() - begin, CALLS):.1f} µs")


def time_sync(folder: Path) -> float:
    journal = open_journal(folder)
    begin = time.perf_counter()
    for number in range(50):
        journal.opened(start(number, folder), CONTEXT)
        journal.flush()
    seconds = time.perf_counter() - begin
    journal.close()
    return microseconds_each(seconds, 50)


def work(folder: Path) -> None:
    journal = open_journal(folder)
    sys.stdin.readline()
    for number in range(RECORDS_EACH // 2):
        begun = start(number, folder)
        journal.opened(begun, CONTEXT)
        journal.closed(end(begun), SETTLEMENT)
    journal.close()


def many_processes(folder: Path) -> None:
    command = (sys.executable, __file__, "--work", str(folder))
    workers = [subprocess.Popen(command, stdin=subprocess.PIPE) for _ in range(WORKERS)]
    begin = time.perf_counter()
    for worker in workers:
        worker.communicate(b"\n", timeout=120)
    seconds = time.perf_counter() - begin
    reading = read_ledger(find_ledger(folder, os.environ).root)
    settled = [call for call in reading.calls if call.call is not None and call.done is not None]
    expected = WORKERS * RECORDS_EACH // 2
    print(
        f"{WORKERS} processes x {RECORDS_EACH} records: {len(settled)} of {expected} calls whole, "
        f"{len(reading.problems)} problems, {seconds:.1f} s"
    )
    assert len(settled) == expected
    assert not reading.problems


def time_reading(folder: Path, lines: list[bytes]) -> None:
    path = folder / "long.0.jsonl"
    with path.open("wb") as file:
        written = 0
        while written < 100_000:
            file.writelines(lines)
            written += len(lines)
    begin = time.perf_counter()
    read = sum(isinstance(item, Record) for item in Segment(path=path, running=False).read())
    seconds = time.perf_counter() - begin
    assert read == written
    print(f"reading: {microseconds_each(seconds, written):.1f} µs a record of {written}")


def project(name: str, parent: Path) -> Path:
    folder = parent / name
    folder.mkdir()
    identity = ("-c", "user.name=n", "-c", "user.email=n@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(("git", "init", "-q", str(folder)), check=True)
    subprocess.run(("git", *identity, "-C", str(folder), "commit", "-q", "--allow-empty", "-m", "first"), check=True)
    return folder


def main() -> None:
    with tempfile.TemporaryDirectory() as temporary:
        one = project("one", Path(temporary))
        begin = time.perf_counter()
        open_journal(one).close()
        print(f"opening: {(time.perf_counter() - begin) * 1e3:.1f} ms, once a session, in a thread")
        for tool in ("read", "bash", "write", "edit"):
            mine, bare, lines = time_records(one, tool)
            size = sum(map(len, lines)) / len(lines)
            ratio = f"bare os.write {bare:.1f} µs, {mine / bare:.0f} x"
            print(f"append, {tool}: {mine:.1f} µs a record of {size:.0f} bytes ({ratio})")
        time_parts(one)
        print(f"append and fsync: {time_sync(one):.0f} µs")
        time_reading(one, lines)
        many_processes(project("many", Path(temporary)))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        work(Path(sys.argv[2]))
    else:
        main()
