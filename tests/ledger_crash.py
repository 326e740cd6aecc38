"""Write one ledger from many processes, kill some and take away their room, and compare what is left with the truth.

Run as a script it is one of the writers.
"""

from __future__ import annotations

import json
import os
import random
import resource
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from queue import Queue
from typing import Any

from ledger_events import a_question, a_start, an_end

from pi_intent.ledger.journal import SessionJournal
from pi_intent.ledger.location import find_ledger
from pi_intent.ledger.reader import Segment, read_segments
from pi_intent.ledger.record import NAME_LIMIT, SessionInfo
from pi_intent.ledger.verify import check_lines
from pi_intent.protocols import CallContext, Settlement

BALLAST = "ballast"
LOSSES_UNTIL_THERE_IS_ROOM = 20
WORDS = 4
"""Records of a call: its beginning, a question about it, the answer, and its end."""

_CONTEXT = CallContext(turn=1, policy="require", profile="lean", bytes_in=1)
_SETTLEMENT = Settlement(status="ok", is_error=False)


def text_of(call: str) -> str:
    """What a call says in every text: told by its id, and of many lengths."""
    return f"{call} " * (1 + sum(map(ord, call)) * 31 % 70)


def environment(folder: Path) -> dict[str, str]:
    """The ledger lies in the folder itself, whatever repository may be around it."""
    keep = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    return keep | {"XDG_STATE_HOME": str(folder / "state"), "GIT_CEILING_DIRECTORIES": str(folder.parent)}


def write(folder: Path, name: str, count: int, room: int) -> None:
    """Be a writer: after each record say to standard output what became of it, and make room after some losses.

    `room` is how large the file may grow at first, 0 for no limit.
    """
    told: list[str] = []
    info = SessionInfo(session=f"s-{name}", host="tau", agent="main", cwd=str(folder), version="0")
    journal = SessionJournal.open(info, environ=os.environ, on_problem=told.append)
    if room:
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, resource.RLIM_INFINITY))
    if journal.path is not None:
        say("segment", journal.path.name)
    for number in range(count):
        call = f"{name}-{number}"
        text = text_of(call)
        before = journal.lost
        journal.opened(a_start(call_id=call, seq=2 * number, intent=text, args={"command": text}), _CONTEXT)
        say("lost" if journal.lost > before else "kept", f"call {call}")
        asked = a_question(call, reasons=(text[:NAME_LIMIT],))
        for kind, decision in (("asked", asked), ("answered", asked._replace(approved=True, by="person", note=call))):
            before = journal.lost
            journal.decided(decision)
            say("lost" if journal.lost > before else "kept", f"{kind} {call}")
        before = journal.lost
        journal.closed(an_end(call_id=call, seq=2 * number + 1, facts=text[:1000]), _SETTLEMENT)
        say("lost" if journal.lost > before else "kept", f"done {call}")
        if journal.lost >= LOSSES_UNTIL_THERE_IS_ROOM:
            resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
            (folder / BALLAST).unlink(missing_ok=True)
    journal.close()
    say("told", json.dumps(told))


def say(*words: str) -> None:
    os.write(1, " ".join(words).encode() + b"\n")


@dataclass(slots=True)
class Writer:
    """One process, and what it said before it ended."""

    slot: int
    name: str
    count: int
    process: subprocess.Popen[bytes]
    kept: set[tuple[str, str]] = field(default_factory=set)
    lost: set[tuple[str, str]] = field(default_factory=set)
    segment: str | None = None
    told: list[str] | None = None
    is_aimed_at: bool = False

    @property
    def was_killed(self) -> bool:
        return self.process.returncode == -signal.SIGKILL

    def hear(self, line: str) -> None:
        match line.split():
            case ["segment", name]:
                self.segment = name
            case ["kept", kind, call]:
                self.kept.add((kind, call))
            case ["lost", kind, call]:
                self.lost.add((kind, call))
            case ["told", *words]:
                self.told = json.loads(" ".join(words))
            case _:
                pass  # the kill came in the middle of a word


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What happened, in numbers for a person."""

    writers: int
    kills: int
    kept: int
    lost: int
    torn: int
    unacknowledged: int
    seconds: float


def run(folder: Path, *, processes: int, calls: int, kills: int, seed: int, room: int = 0) -> Outcome:
    """Let `processes` writers make `calls` calls each, kill `kills` of them, and assert that the ledger is the truth.

    A writer that was killed is started anew for the calls that are left.
    """
    chance = random.Random(seed)
    heard: Queue[tuple[Writer, bytes]] = Queue(maxsize=64)  # so that no writer is far ahead of the one who kills
    # The last tenth of the words is left to catch up in.
    moments = sorted(chance.sample(range(processes * calls * WORDS * 9 // 10), kills))
    all_writers: list[Writer] = []

    def start(slot: int, count: int) -> None:
        name = f"{slot}_{len(all_writers)}"
        command = (sys.executable, "-B", __file__, str(folder), name, str(count), str(room and room + slot * 97))
        process = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment(folder), pipesize=4096)
        writer = Writer(slot, name, count, process)
        all_writers.append(writer)
        threading.Thread(target=listen, args=(writer,), daemon=True).start()

    def listen(writer: Writer) -> None:
        assert writer.process.stdout is not None
        with writer.process.stdout as words:
            for line in words:
                heard.put((writer, line))
        heard.put((writer, b""))

    begin = time.perf_counter()
    words = ends = 0
    try:
        for slot in range(processes):
            start(slot, calls)
        while ends < len(all_writers):
            writer, line = heard.get(timeout=120)
            if line:
                words += 1
                writer.hear(line.decode() if line.endswith(b"\n") else "")
            else:
                writer.process.wait(timeout=60)
                ends += 1
                left = writer.count - len({call for _, call in writer.kept | writer.lost})
                if writer.was_killed and left:
                    start(writer.slot, left)
                elif writer.is_aimed_at and not writer.was_killed:  # it had just ended by itself: another one instead
                    moments.insert(0, words)
            alive = [writer for writer in all_writers if writer.process.poll() is None and not writer.is_aimed_at]
            if moments and words >= moments[0] and alive:
                moments.pop(0)
                victim = chance.choice(alive)
                victim.is_aimed_at = True
                victim.process.kill()
        seconds = time.perf_counter() - begin
    finally:
        for writer in all_writers:
            writer.process.kill()
            writer.process.wait(timeout=60)
    return compare(folder, all_writers, seconds)


def compare(folder: Path, writers: list[Writer], seconds: float) -> Outcome:
    """Assert that what is in the ledger is what the writers were told, and that `verify` says so of each segment."""
    root = find_ledger(folder, environment(folder)).root
    found = {segment.path.name: segment for segment in read_segments(root) if isinstance(segment, Segment)}
    verified = verify_command(folder)
    assert set(verified) == set(found)
    torn_in_all = unacknowledged = 0
    for writer in writers:
        assert writer.process.returncode == (-signal.SIGKILL if writer.was_killed else 0), writer.name
        names = [name for name in found if name.startswith(f"s-{writer.name}.")]
        assert len(names) <= 1
        assert writer.segment in (None, *names)
        whole: Counter[tuple[str, str]] = Counter()
        torn = 0
        for name in names:
            whole, torn = read_independently(found[name].path)
            verdict = check_lines(found[name].lines(), running=found[name].running)
            assert (verdict.first, verdict.records, verdict.torn_lines) == (None, whole.total(), torn), name
            told = verified[name]
            assert (told["ok"], told["records"], told["tornLines"]) == (True, whole.total(), torn), name
            assert not told["running"]
        assert max(whole.values(), default=1) == 1
        records = {record for record in whole if record[0] != "session"}
        assert writer.kept <= records
        assert not writer.lost & records
        assert len(records - writer.kept) <= writer.was_killed, "what nobody asked for"
        assert torn <= len(writer.lost) + writer.was_killed
        if not writer.was_killed:
            assert len(writer.kept | writer.lost) == WORDS * writer.count
            assert writer.told is not None
            assert len(writer.told) == bool(writer.lost), writer.told
        torn_in_all += torn
        unacknowledged += len(records - writer.kept)
    return Outcome(
        writers=len(writers),
        kills=sum(writer.was_killed for writer in writers),
        kept=sum(len(writer.kept) for writer in writers),
        lost=sum(len(writer.lost) for writer in writers),
        torn=torn_in_all,
        unacknowledged=unacknowledged,
        seconds=seconds,
    )


def read_independently(path: Path) -> tuple[Counter[tuple[str, str]], int]:
    """Return the whole records of a segment, each checked word by word, and the number of torn lines."""
    whole: Counter[tuple[str, str]] = Counter()
    lines = path.read_bytes().split(b"\n")
    torn = 0
    for number, line in enumerate(lines, 1):
        if not line:
            continue
        assert line.count(b'{"v":1,') <= 1, f"{path}, line {number}, holds parts of two records"
        try:
            record = json.loads(line)
        except ValueError:
            torn += 1
            continue
        torn += number == len(lines)
        text = text_of(record["id"])
        kind = record["t"]
        match kind:
            case "call":
                assert (record["intent"], record["args"]) == (text, {"command": text})
            case "done":
                assert record["facts"] == text[:1000]
            case "decision":
                assert (record["reasons"], record["note"]) == (
                    [text[:NAME_LIMIT]],
                    None if record["approved"] is None else record["id"],
                )
                kind = "asked" if record["approved"] is None else "answered"
            case _:
                assert (kind, number) == ("session", number)
        whole[kind, record["id"]] += 1
    return whole, torn


def verify_command(folder: Path) -> dict[str, dict[str, Any]]:
    """What `pi-intent verify --json` says of each segment, by the file's name."""
    command = (sys.executable, "-B", "-m", "pi_intent", "verify", "--json")
    done = subprocess.run(command, cwd=folder, env=environment(folder), capture_output=True, timeout=120, check=True)
    return {Path(segment["path"]).name: segment for segment in json.loads(done.stdout)["segments"]}


if __name__ == "__main__":
    with suppress(BrokenPipeError):
        write(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
