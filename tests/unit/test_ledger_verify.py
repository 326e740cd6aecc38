"""Checking segments: every change shows, and what is no tampering is not called so."""

from __future__ import annotations

import hashlib
import io
import json
import resource
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ledger_events import a_start, an_end

from pi_intent.cli.progress import Progress
from pi_intent.ledger.entries import DoneEntry, parse_entry
from pi_intent.ledger.journal import SessionJournal
from pi_intent.ledger.location import LedgerLocation
from pi_intent.ledger.open_calls import FOLLOWED, OpenCalls
from pi_intent.ledger.reader import LINE_LIMIT, Line, Segment
from pi_intent.ledger.record import SessionInfo, seal
from pi_intent.ledger.verify import Verdict, check_lines
from pi_intent.protocols import CallContext, Settlement

CONTEXT = CallContext(turn=4, policy="require", profile="lean", bytes_in=812)


@pytest.fixture(scope="module")
def lines(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    """The eight lines of a segment: three calls that ended and one that was left open."""
    root = tmp_path_factory.mktemp("ledger")
    info = SessionInfo(session="s-1", host="tau", agent="main", cwd="/", version="0")
    journal = SessionJournal(LedgerLocation(root=root, project=None), info, environ={}, on_problem=pytest.fail)
    for number in range(4):
        start = a_start(call_id=f"call-{number}", seq=2 * number, intent="Say why")
        journal.opened(start, CONTEXT)
        if number < 3:
            end = an_end(call_id=start.call_id, seq=2 * number + 1, facts="exit 0")
            journal.closed(end, Settlement(status="ok", is_error=False))
    path = journal.path
    journal.close()
    assert path is not None
    return path.read_bytes().splitlines(keepends=True)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "s.w.jsonl"


def check(path: Path, content: bytes | list[bytes], *, running: bool = False) -> Verdict:
    path.write_bytes(content if isinstance(content, bytes) else b"".join(content))
    segment = Segment(path=path, running=running)
    return check_lines(segment.lines(), running=running)


def told(verdict: Verdict) -> tuple[int, str, int] | None:
    """The first bad line, what is wrong with it, and how many there are."""
    return None if verdict.first is None else (verdict.first.line, verdict.first.kind, verdict.bad)


def test_what_was_written_holds(path: Path, lines: list[bytes]) -> None:
    verdict = check(path, lines)
    assert (verdict.holds, verdict.torn, verdict.records, verdict.newer) == (True, None, 8, 0)
    assert (verdict.session, verdict.calls.begun, verdict.calls.ended) == ("s-1", {"call-3"}, set())


def test_an_empty_file_holds(path: Path) -> None:
    verdict = check(path, b"")
    assert (verdict.holds, verdict.torn, verdict.records, verdict.session) == (True, None, 0, None)


def test_a_cut_at_any_byte_leaves_all_before_it_and_is_told(path: Path, lines: list[bytes]) -> None:
    content = b"".join(lines)
    ends = [len(b"".join(lines[: count + 1])) for count in range(len(lines))]
    for size in range(len(content) + 1):
        verdict = check(path, content[:size])
        whole = sum(end - 1 <= size for end in ends)  # a record is whole without its line feed, too
        assert (verdict.holds, verdict.records) == (True, whole)
        if size in (0, *ends):
            assert verdict.torn is None  # which hashes cannot tell
        else:
            assert verdict.torn is not None
            cut_in = whole if size + 1 in ends else whole + 1
            assert (verdict.torn.line, verdict.torn_lines) == (cut_in, 1)


def test_no_cut_of_a_running_writers_file_is_told(path: Path, lines: list[bytes]) -> None:
    content = b"".join(lines)
    for size in range(0, len(content) + 1, 7):
        verdict = check(path, content[:size], running=True)
        assert (verdict.holds, verdict.torn) == (True, None)


def test_every_changed_byte_shows_and_in_all_but_the_last_line_as_tampering(path: Path, lines: list[bytes]) -> None:
    content = b"".join(lines)
    before_last = len(content) - len(lines[-1])
    flips = (0x01, 0x20, 0x80)
    for position in range(len(content)):
        # The same kinds of lines come three times before the last one, so there each flip has its turn.
        turn = (position + content[:position].count(b"\n") // 2) % 3
        for flip in flips if position >= before_last else flips[turn : turn + 1]:
            changed = bytearray(content)
            changed[position] ^= flip
            verdict = check(path, bytes(changed))
            assert not verdict.holds or (position >= before_last and verdict.torn is not None), (position, flip)
            number = content[:position].count(b"\n") + 1
            if verdict.first is not None:
                assert verdict.first.line in (number, number + 1), (position, flip)


def test_only_a_lost_line_feed_makes_a_change_in_the_last_line_look_like_a_cut(
    path: Path, lines: list[bytes]
) -> None:
    content = b"".join(lines)
    for position in range(len(content) - len(lines[-1]), len(content)):
        changed = bytearray(content)
        changed[position] ^= 0x01
        assert check(path, bytes(changed)).holds == (position == len(content) - 1), position


@pytest.mark.parametrize("gone", range(7))
def test_a_removed_line_is_missed_by_the_one_behind_it(path: Path, lines: list[bytes], gone: int) -> None:
    assert told(check(path, lines[:gone] + lines[gone + 1 :])) == (gone + 1, "broken", 1)


def test_a_removed_tail_is_beyond_what_hashes_tell(path: Path, lines: list[bytes]) -> None:
    assert check(path, lines[:-1]).holds
    assert check(path, lines[:1]).holds


@pytest.mark.parametrize("first", range(7))
def test_swapped_lines_show(path: Path, lines: list[bytes], first: int) -> None:
    moved = [*lines]
    moved[first], moved[first + 1] = moved[first + 1], moved[first]
    assert told(check(path, moved)) == (first + 1, "broken", 3 if first < 6 else 2)


@pytest.mark.parametrize("twice", range(8))
def test_a_line_that_stands_there_twice_is_called_that(path: Path, lines: list[bytes], twice: int) -> None:
    verdict = check(path, [*lines[: twice + 1], *lines[twice:]])
    assert (told(verdict), verdict.records) == ((twice + 2, "repeated", 1), 8)


def test_a_line_repeated_further_down_shows(path: Path, lines: list[bytes]) -> None:
    assert told(check(path, [*lines[:6], lines[2], *lines[6:]])) == (7, "broken", 2)


def test_a_changed_record_that_was_sealed_anew_is_missed_by_the_next(path: Path, lines: list[bytes]) -> None:
    record = json.loads(lines[3])
    prev = record.pop("prev")
    del record["hash"]
    forged, _ = seal(json.dumps(record | {"intent": "Something else"}, separators=(",", ":")), prev)
    assert told(check(path, [*lines[:3], forged, *lines[4:]])) == (5, "broken", 1)


def test_the_first_bad_line_is_named_and_the_others_are_counted(path: Path, lines: list[bytes]) -> None:
    bad = [lines[0], lines[1].replace(b"Say why", b"Say wha"), b"hello\n", *lines[2:5], *lines[6:]]
    verdict = check(path, bad)
    assert told(verdict) == (2, "changed", 3)
    assert verdict.first is not None
    assert verdict.first.text == "was changed: its hash does not fit what stands there"


@pytest.mark.parametrize(
    ("foreign", "text"),
    [
        (b"hello", "is not a record"),
        (b"\xff\xfe", "is not a record"),
        (b"[" * 5000, "is not a record"),
        (b'{"a":1}', "is not a record"),
        (b'{"v":1,"t":"call"}', "is not a whole record: id: field required"),
        (b"x" * (LINE_LIMIT + 1), f"is longer than {LINE_LIMIT} bytes, so it is no record"),
    ],
    ids=["word", "bytes", "deep", "object", "part", "long"],
)
def test_a_foreign_line_is_the_only_one_that_is_bad(
    path: Path, lines: list[bytes], foreign: bytes, text: str
) -> None:
    for place in (0, 4, 8):
        verdict = check(path, [*lines[:place], foreign + b"\n", *lines[place:]])
        assert told(verdict) == (place + 1, "foreign", 1)
        assert (verdict.first and verdict.first.text, verdict.records) == (text, 8)


def test_a_line_torn_by_a_full_disk_is_no_tampering_where_the_chain_goes_on_over_it(
    path: Path, lines: list[bytes]
) -> None:
    torn = lines[4][:70]
    verdict = check(path, [*lines[:3], torn, b"\n", b"\n", torn[:9], b"\n", *lines[3:]])
    assert (verdict.holds, verdict.records, verdict.torn_lines) == (True, 8, 2)
    assert verdict.torn is not None
    assert (verdict.torn.line, verdict.torn.text) == (4, "was cut off while it was written, and its writer went on")


def test_a_disk_that_fills_up_at_any_byte_is_no_tampering(tmp_path: Path) -> None:
    unlimited = resource.getrlimit(resource.RLIMIT_FSIZE)
    info = SessionInfo(session="s-1", host="tau", agent="main", cwd="/", version="0")

    def run(journal: SessionJournal, call_id: str) -> None:
        journal.opened(a_start(call_id=call_id, seq=1, intent="Say why"), CONTEXT)
        journal.closed(an_end(call_id=call_id, seq=2), Settlement(status="ok", is_error=False))

    lost: set[int] = set()
    room = -1
    while 0 not in lost:
        room += 1
        location = LedgerLocation(root=tmp_path / str(room), project=None)
        told: list[str] = []
        journal = SessionJournal(location, info, environ={}, on_problem=told.append)
        run(journal, "a")
        path = journal.path
        assert path is not None
        resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + room, unlimited[1]))
        try:
            run(journal, "b")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, unlimited)
        run(journal, "c")
        journal.close()
        verdict = check_lines(Segment(path=path, running=False).lines(), running=False)
        assert (verdict.first, verdict.records) == (None, 7 - journal.lost), room
        assert verdict.torn_lines <= journal.lost
        lost.add(journal.lost)
    assert lost == {0, 1, 2}


def test_a_record_that_was_cut_down_later_is_missed(path: Path, lines: list[bytes]) -> None:
    assert told(check(path, [*lines[:3], lines[3][:70] + b"\n", *lines[4:]])) == (4, "cut", 1)
    assert told(check(path, [*lines[:7], lines[7][:70] + b"\n"])) == (8, "cut", 1)


def test_zeros_that_a_power_cut_left_are_a_torn_end(path: Path, lines: list[bytes]) -> None:
    for rest in (b"\0" * 300, lines[7][:20] + b"\0" * 300):
        verdict = check(path, [*lines[:7], rest])
        assert (verdict.holds, verdict.records, verdict.torn_lines) == (True, 7, 1)


def test_a_carriage_return_is_a_change(path: Path, lines: list[bytes]) -> None:
    assert told(check(path, b"".join(lines).replace(b"\n", b"\r\n"))) == (1, "changed", 8)


def newer(line: bytes, prev: str) -> tuple[bytes, str]:
    record = json.loads(line)
    del record["prev"], record["hash"]
    return seal(json.dumps(record | {"v": 2, "new": []}, separators=(",", ":")), prev)


def test_records_of_a_newer_version_are_counted_and_hold_if_they_are_sealed_as_ours_are(
    path: Path, lines: list[bytes]
) -> None:
    line, _ = newer(lines[7], json.loads(lines[6])["hash"])
    verdict = check(path, [*lines[:7], line])
    assert (verdict.holds, verdict.records, verdict.newer) == (True, 8, 1)


def test_a_newer_record_that_cannot_be_checked_is_not_called_good(path: Path, lines: list[bytes]) -> None:
    line, _ = newer(lines[3], json.loads(lines[2])["hash"])
    for odd in (line.replace(b"Say why", b"Say wha"), b'{"v":2,"t":"call","sum":"1"}\n'):
        verdict = check(path, [*lines[:3], odd, *lines[4:]])
        assert verdict.first is not None
        assert (verdict.first.line, verdict.first.kind, verdict.newer) == (4, "unchecked", 1)
        assert verdict.first.text == "is of version 2, which only a newer pi-intent can check"


def test_an_unknown_kind_of_this_version_holds(path: Path, lines: list[bytes]) -> None:
    line, _ = seal('{"v":1,"t":"remark","id":"d"}', json.loads(lines[7])["hash"])
    assert check(path, [*lines, line]).holds


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_any_bytes_get_a_verdict_and_foreign_ones_are_never_called_good(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], data: st.DataObject
) -> None:
    path = tmp_path_factory.getbasetemp() / "noise.w.jsonl"
    junk = data.draw(st.binary(min_size=1, max_size=60).filter(lambda junk: junk.strip(b"\0\n") != b""))
    check(path, junk)
    place = data.draw(st.integers(0, 7))
    whole = not junk.lstrip(b"\n").startswith(b"{")
    verdict = check(path, [*lines[:place], junk + b"\n", *lines[place:]])
    assert not (verdict.holds and whole)


def endless(count: int) -> Iterator[Line]:
    prev = ""
    for number in range(count):
        line, prev = seal(
            f'{{"v":1,"t":"done","id":"{number}","ts":"2030-01-31T12:00:00.000Z","status":"ok","isError":false,"ms":1,'
            '"codes":[],"outcome":null,"outcomePatch":null,"facts":null,"error":null,"files":[],"ranArgs":null,'
            '"bytesIn":null,"bytesOut":0}',
            prev,
        )
        yield Line(number + 1, line[:-1], 0)


def test_memory_does_not_grow_with_the_number_of_bad_lines() -> None:
    bad = (Line(number, b"hello %d" % number, 0) for number in range(1, 20_001))
    tracemalloc.start()
    try:
        verdict = check_lines(bad, running=False)
        assert tracemalloc.get_traced_memory()[1] < 300_000
    finally:
        tracemalloc.stop()
    assert told(verdict) == (1, "foreign", 20_000)


def test_calls_with_one_record_are_remembered_up_to_a_number_and_then_counted() -> None:
    (line,) = endless(1)
    entry = parse_entry(line.content)
    assert isinstance(entry, DoneEntry)
    known = OpenCalls()
    for number in range(FOLLOWED + 3):
        known.take(replace(entry, id=str(number)))
    known.take(replace(entry, id="0"))
    assert (len(known.ended), known.not_followed) == (FOLLOWED, 3)
    known = OpenCalls()
    known.take(replace(entry, id="x" * 100_000))
    assert known.ended == {hashlib.sha256(b"x" * 100_000).hexdigest()}


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_is_shown_after_a_second_on_a_terminal_and_wiped() -> None:
    times = iter(number * 0.3 for number in range(1000))
    screen = Screen()
    progress = Progress("Checking:", 4000, stream=screen, clock=lambda: next(times))
    for number in (1, 2, 3, 4):
        assert len([*progress.over(Line(line, b"", line) for line in range(1, 1001))]) == 1000, number
    progress.close()
    assert screen.getvalue().startswith("\r\x1b[KChecking: 50 %")
    assert screen.getvalue().endswith("\r\x1b[KChecking: 100 %\r\x1b[K")
    for stream, step in ((io.StringIO(), 100.0), (Screen(), 0.0)):
        progress = Progress("Checking:", 4000, stream=stream, clock=lambda step=step: step)  # type: ignore[misc]
        assert len([*progress.over(endless(600))]) == 600
        progress.close()
        assert stream.getvalue() == ""
