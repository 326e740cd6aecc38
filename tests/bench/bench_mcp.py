"""Print what the proxy adds to a call, to a start and to memory, next to the same server spoken to directly.

Run it as a script: `python tests/bench/bench_mcp.py`. The floors are 0.15 ms a call, 80 ms a start, 20 MB.
"""

from __future__ import annotations

import io
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

CALLS = 1_000
ROUNDS = 5
PIPELINED = 5_000
STARTS = 15

SERVER = Path(__file__).parents[1] / "hosts" / "mcp" / "hostile_server.py"
DIRECT = (sys.executable, "-S", "-E", str(SERVER), "{}")
# As a client's configuration starts it: the command of the environment, which also skips what `-m` looks for.
COMMAND = Path(sys.executable).with_name("pi-intent")
WRAPPED = (str(COMMAND), "mcp", "wrap", "--server", "hostile", *DIRECT)

INITIALIZE = (
    b'{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},'
    b'"clientInfo":{"name":"bench","version":"1"}}}\n'
)
LIST = b'{"jsonrpc":"2.0","id":"list","method":"tools/list"}\n'
PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n'
STATED = '"intent":"Verify that the retry limit holds",'

type Ask = Callable[[bytes], bytes]


def call(number: int, *, stated: bool) -> bytes:
    path = "src/pay.py"
    arguments = f'{{{STATED if stated else ""}"path":"{path}","offset":200,"limit":80,"text":"{"x" * 200}"}}'
    params = f'{{"name":"echo","arguments":{arguments}}}'
    return f'{{"jsonrpc":"2.0","id":{number},"method":"tools/call","params":{params}}}\n'.encode()


@contextmanager
def started(command: tuple[str, ...], home: Path) -> Iterator[subprocess.Popen[bytes]]:
    environment = {**os.environ, "HOME": str(home), "XDG_STATE_HOME": str(home / "state")}
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=home, env=environment, bufsize=0
    )
    try:
        yield process
    finally:
        process.stdin.close()
        process.wait(20)
        process.stdout.close()


def asker(process: subprocess.Popen[bytes]) -> Ask:
    """Return a function that sends a line and waits for the next one."""
    answers = io.BufferedReader(process.stdout)

    def ask(line: bytes) -> bytes:
        process.stdin.write(line)
        return answers.readline()

    return ask


def ready(process: subprocess.Popen[bytes]) -> Ask:
    ask = asker(process)
    ask(INITIALIZE)
    ask(LIST)
    return ask


def memory(pid: int) -> float:
    """Return what a process holds in memory, in MB."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


def each(ask: Ask, line: Callable[[int], bytes]) -> list[float]:
    times = []
    for number in range(CALLS):
        sent = line(number)
        begin = time.perf_counter()
        ask(sent)
        times.append((time.perf_counter() - begin) * 1000)
    return times


def pipelined(process: subprocess.Popen[bytes], ask: Ask, *, stated: bool) -> float:
    """Return calls a second when the client waits for none of them."""
    lines = b"".join(call(number, stated=stated) for number in range(PIPELINED))
    begin = time.perf_counter()
    if os.fork() == 0:  # somebody has to read while the lines are written
        process.stdin.write(lines)
        os._exit(0)
    last = f'"id":{PIPELINED - 1},'.encode()
    while last not in ask(b""):
        pass
    os.wait()
    return PIPELINED / (time.perf_counter() - begin)


def first_answer(command: tuple[str, ...], home: Path) -> float:
    begin = time.perf_counter()
    with started(command, home) as process:
        asker(process)(INITIALIZE)
        return (time.perf_counter() - begin) * 1000


def compare(what: str, direct: float, wrapped: float, unit: str, floor: str) -> None:
    added = wrapped - direct
    print(f"{what:28} {direct:10.3f} {wrapped:10.3f} {unit:6} {added:+10.3f} {wrapped / direct:7.2f} ×   {floor}")


def main() -> None:
    print(f"{'':28} {'direct':>10} {'wrapped':>10} {'':6} {'added':>10} {'ratio':>9}   floor")
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        with started(DIRECT, home) as plain, started(WRAPPED, home) as proxied:
            ask_plain, ask_proxied = ready(plain), ready(proxied)
            assert b'"intent"' not in ask_proxied(call(0, stated=True)), "the proxy does not strip the intent"
            bare = memory(proxied.pid)
            calls: tuple[list[float], list[float]] = ([], [])
            pings: tuple[list[float], list[float]] = ([], [])
            for _ in range(ROUNDS):  # in turns, so that what else the machine does falls on both
                calls[0].extend(each(ask_plain, lambda number: call(number, stated=False)))
                calls[1].extend(each(ask_proxied, lambda number: call(number, stated=True)))
                pings[0].extend(each(ask_plain, lambda _: PING))
                pings[1].extend(each(ask_proxied, lambda _: PING))
            compare("a call, median", *map(statistics.median, calls), "ms", "≤ +0.15 ms")
            compare("a call, quickest tenth", *(statistics.quantiles(times, n=10)[0] for times in calls), "ms", "")
            compare("a call, 99 of 100", *(statistics.quantiles(times, n=100)[98] for times in calls), "ms", "")
            compare("a ping, median", *map(statistics.median, pings), "ms", "")
            rates = pipelined(plain, ask_plain, stated=False), pipelined(proxied, ask_proxied, stated=True)
            compare("pipelined calls", rates[0] / 1000, rates[1] / 1000, "k/s", "")
            after = memory(proxied.pid)
            served = memory(plain.pid)
        starts: tuple[list[float], list[float]] = ([], [])
        for _ in range(STARTS):
            starts[0].append(first_answer(DIRECT, home))
            starts[1].append(first_answer(WRAPPED, home))
        compare("start to first answer", *map(statistics.median, starts), "ms", "≤ +80 ms")
        compare("start, the quickest", *map(min, starts), "ms", "")
        compare("memory after one call", served, bare, "MB", "≤ 20 MB, the proxy alone")
        compare(f"memory after {CALLS * ROUNDS + PIPELINED:,} calls", served, after, "MB", "")
        recorded = sum(
            line.startswith(b'{"v":1,"t":"call"')
            for path in home.rglob("*.jsonl")
            for line in path.read_bytes().splitlines()
        )
        print(f"{recorded:,} of {1 + CALLS * ROUNDS + PIPELINED:,} calls stand in the ledger")


if __name__ == "__main__":
    main()
