"""Writing a session's calls while they happen: what fails stays away from the call."""

from __future__ import annotations

import json
import os
import resource
import stat
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from ledger_events import a_start, an_end

from pi_intent.errors import LedgerError
from pi_intent.ledger.calls import calls, read_ledger
from pi_intent.ledger.journal import SessionJournal
from pi_intent.ledger.location import LedgerLocation
from pi_intent.ledger.naming import file_stem
from pi_intent.ledger.record import SessionInfo, stated_and_true_hash
from pi_intent.ledger.segment import Segment
from pi_intent.protocols import CallContext, Journal, Settlement

START = a_start(
    call_id="call-0",
    seq=17,
    intent="Verify no regressions",
)
END = an_end(
    call_id="call-0",
    seq=18,
)
CONTEXT = CallContext(turn=4, policy="require", profile="lean", bytes_in=812)
SETTLEMENT = Settlement(status="ok", is_error=False, bytes_out=96)
NOW = 1_900_000_000.0


class Told(list[str]):
    """Collects what a person is told."""

    def __call__(self, problem: str) -> None:
        self.append(problem)


@pytest.fixture
def told() -> Told:
    return Told()


def journal_in(root: Path, told: Told, *, session: str = "s-1", **options: Any) -> SessionJournal:
    location = LedgerLocation(root=root, project=root.parent)
    info = SessionInfo(session=session, host="tau", agent="main", cwd=str(root.parent), version="0")
    return SessionJournal(location, info, environ={}, on_problem=told, clock=lambda: NOW, **options)


def run_call(journal: SessionJournal, call_id: str) -> None:
    journal.opened(replace(START, call_id=call_id), CONTEXT)
    journal.closed(replace(END, call_id=call_id), SETTLEMENT)


def states(root: Path) -> list[tuple[str, str]]:
    return sorted((call.id, call.state) for call in calls(root))


def records(root: Path) -> list[list[dict[str, Any]]]:
    return [
        [json.loads(line) for line in path.read_bytes().splitlines()] for path in sorted((root / "ledger").iterdir())
    ]


def descriptor_of(path: Path) -> int:
    wanted = path.stat()
    for number in range(3, 256):
        try:
            status = os.fstat(number)
        except OSError:
            continue
        if (status.st_dev, status.st_ino) == (wanted.st_dev, wanted.st_ino):
            return number
    raise AssertionError(f"{path} is not open")


def test_a_call_leaves_its_records_in_order_and_chained(tmp_path: Path, told: Told) -> None:
    journal: Journal = journal_in(tmp_path / "root", told)
    journal.opened(START, CONTEXT)
    journal.closed(END, SETTLEMENT)
    (segment,) = records(tmp_path / "root")
    assert [record["t"] for record in segment] == ["session", "call", "done"]
    assert [record["prev"] for record in segment] == ["", segment[0]["hash"], segment[1]["hash"]]
    assert {record["ts"] for record in segment} == {"2030-03-17T17:46:40.000Z"}
    assert (segment[2]["bytesIn"], segment[2]["bytesOut"]) == (812, 96)
    (path,) = (tmp_path / "root" / "ledger").iterdir()
    for line in path.read_bytes().splitlines():
        hashes = stated_and_true_hash(line)
        assert hashes is not None
        assert hashes[0] == hashes[1]
    assert told == []


def test_the_record_of_a_call_is_there_before_its_tool_runs(tmp_path: Path, told: Told) -> None:
    journal = journal_in(tmp_path / "root", told)
    journal.opened(START, CONTEXT)
    assert states(tmp_path / "root") == [("call-0", "running")]
    journal.closed(END, SETTLEMENT)
    assert states(tmp_path / "root") == [("call-0", "settled")]


def test_a_call_that_never_ended_is_open_once_its_journal_is_closed(tmp_path: Path, told: Told) -> None:
    journal = journal_in(tmp_path / "root", told)
    journal.opened(START, CONTEXT)
    journal.close()
    journal.close()
    assert states(tmp_path / "root") == [("call-0", "open")]


def test_opening_finds_the_ledger_and_says_whose_segment_it_is(tmp_path: Path, told: Told) -> None:
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "GIT_CEILING_DIRECTORIES": str(tmp_path.parent)}
    info = SessionInfo(session="s-1", host="tau", agent="main", cwd=str(tmp_path), version="0.1", host_version="0.4")
    journal = SessionJournal.open(info, environ=environ, on_problem=told)
    assert journal.location.root.is_relative_to(tmp_path / ".local" / "state" / "pi-intent")
    assert journal.path is not None
    (session,) = read_ledger(journal.location.root).sessions
    assert (session.host_version, session.pid, session.cwd) == ("0.4", os.getpid(), str(tmp_path))
    assert journal.path.name == f"s-1.{session.writer}.jsonl"
    assert told == []


def test_a_segment_of_its_own_for_every_writer(tmp_path: Path, told: Told) -> None:
    root = tmp_path / "root"
    first, second = journal_in(root, told), journal_in(root, told)
    run_call(first, "a")
    run_call(second, "b")
    assert first.path != second.path
    assert [call.id for call in calls(root, session="s-1")] == ["a", "b"]
    assert calls(root, session="s") == []


def test_the_end_of_a_call_nobody_opened_is_kept_without_its_texts(tmp_path: Path, told: Told) -> None:
    journal = journal_in(tmp_path / "root", told)
    journal.closed(replace(END, facts="exit 0"), SETTLEMENT)
    (call,) = calls(tmp_path / "root")
    assert call.call is None
    assert call.done is not None
    assert (call.done.facts, call.done.bytes_in) == ("[withheld]", None)


def test_a_withheld_call_is_withheld_to_its_end(tmp_path: Path, told: Told) -> None:
    journal = journal_in(tmp_path / "root", told)
    journal.opened(replace(START, args={"command": "make it so"}), CONTEXT._replace(redact_args=True))
    journal.closed(replace(END, facts="exit 0"), SETTLEMENT._replace(error="no"))
    (path,) = (tmp_path / "root" / "ledger").iterdir()
    text = path.read_text()
    for secret in ("Verify no regressions", "make it so", "exit 0"):
        assert secret not in text


def test_a_secret_in_the_id_of_a_session_is_in_no_file_and_no_name(tmp_path: Path, told: Told) -> None:
    secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
    journal = journal_in(tmp_path / "root", told, session=secret)
    run_call(journal, "a")
    for path in (tmp_path / "root").rglob("*"):
        assert secret.lower() not in str(path).lower()
        assert path.is_dir() or secret.encode() not in path.read_bytes()
    assert states(tmp_path / "root") == [("a", "settled")]


def test_files_and_folders_are_private_under_any_umask(tmp_path: Path) -> None:
    script = (
        "import os, sys; from pi_intent.ledger.journal import SessionJournal;"
        "from pi_intent.ledger.record import SessionInfo; os.umask(int(sys.argv[2], 8));"
        "info = SessionInfo(session='s', host='tau', agent='main', cwd='/', version='0');"
        "environ = {'XDG_STATE_HOME': sys.argv[1], 'PATH': '/nonexistent'};"
        "print(SessionJournal.open(info, environ=environ, on_problem=sys.exit).location.root)"
    )
    for umask in ("0", "777"):
        command = (sys.executable, "-B", "-c", script, str(tmp_path / umask), umask)
        done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60)
        root = Path(done.stdout.strip())
        modes = {path.suffix or path.name: stat.S_IMODE(path.stat().st_mode) for path in root.rglob("*")}
        assert modes == {"ledger": 0o700, "key": 0o600, ".jsonl": 0o600}
        outside = [stat.S_IMODE(path.stat().st_mode) for path in (root, root.parent, root.parent.parent)]
        assert outside == [0o700, 0o700, 0o700]


def test_a_ledger_that_cannot_be_made_is_told_once_and_works_when_it_can(tmp_path: Path, told: Told) -> None:
    (tmp_path / "file").write_text("")
    root = tmp_path / "file" / "root"
    journal = journal_in(root, told)
    run_call(journal, "a")
    run_call(journal, "b")
    assert journal.lost == 4
    assert told == [
        f"the ledger {root / 'ledger'} could not be written (Not a directory): free some space, or look at who owns "
        "the folder; calls go on, but are not recorded until it works"
    ]
    (tmp_path / "file").unlink()
    run_call(journal, "c")
    assert states(root) == [("c", "settled")]
    assert (journal.lost, len(told)) == (4, 1)


def test_under_strict_a_call_is_vetoed_while_it_cannot_be_recorded(tmp_path: Path, told: Told) -> None:
    (tmp_path / "file").write_text("")
    journal = journal_in(tmp_path / "file" / "root", told, strict=True)
    with pytest.raises(LedgerError, match="Not a directory"):
        journal.opened(START, CONTEXT)
    journal.closed(END, SETTLEMENT)
    assert journal.lost == 2
    assert [problem.rpartition("; ")[2] for problem in told] == ["calls are refused until it works"]
    (tmp_path / "file").unlink()
    run_call(journal, "a")
    assert states(tmp_path / "file" / "root") == [("a", "settled")]


def test_a_damaged_key_is_told_and_nothing_is_written(tmp_path: Path, told: Told) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / "key").write_bytes(b"damaged")
    journal = journal_in(root, told)
    run_call(journal, "a")
    assert (journal.lost, len(told)) == (2, 1)
    assert told[0].startswith(f"the key of the ledger, {root / 'key'}, is damaged")
    assert [path.name for path in root.iterdir()] == ["key"]


def test_a_callback_that_raises_and_a_fault_of_ours_cost_a_record_and_not_the_call(tmp_path: Path) -> None:
    def angry(problem: str) -> None:
        raise RuntimeError(problem)

    location = LedgerLocation(root=tmp_path / "root", project=None)
    info = SessionInfo(session="s-1", host="tau", agent="main", cwd="/", version="0")
    journal = SessionJournal(location, info, environ={}, on_problem=angry)
    broken: Any = 5
    journal.opened(replace(START, call_id="a", intent=broken), CONTEXT)
    journal.closed(replace(END, call_id="a"), SETTLEMENT)
    assert journal.lost == 1
    assert states(tmp_path / "root") == [("a", "settled")]


def test_what_comes_after_closing_is_counted(tmp_path: Path, told: Told) -> None:
    journal = journal_in(tmp_path / "root", told)
    journal.opened(START, CONTEXT)
    journal.close()
    journal.closed(END, SETTLEMENT)
    assert journal.lost == 1
    assert told == ["the ledger of this session is closed already; calls go on, but are not recorded until it works"]


def test_a_deleted_segment_or_ledger_is_missed_and_begun_anew(tmp_path: Path, told: Told) -> None:
    root = tmp_path / "root"
    journal = journal_in(root, told)
    run_call(journal, "a")
    assert journal.path is not None
    journal.path.unlink()
    run_call(journal, "b")
    for path in sorted(root.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    root.rmdir()
    run_call(journal, "c")
    assert states(root) == [("c", "settled")]
    assert [record["t"] for record in records(root)[0]] == ["session", "call", "done"]
    assert (journal.lost, told) == (0, [])


def test_a_descriptor_that_somebody_closed_is_replaced_and_foreign_files_are_left_alone(
    tmp_path: Path, told: Told
) -> None:
    root = tmp_path / "root"
    journal = journal_in(root, told)
    run_call(journal, "a")
    assert journal.path is not None
    number = descriptor_of(journal.path)
    os.close(number)
    run_call(journal, "b")
    assert journal.path is not None
    number = descriptor_of(journal.path)
    foreign = os.open(tmp_path / "foreign", os.O_WRONLY | os.O_CREAT)
    os.dup2(foreign, number)  # closes ours, and gives its number to another file
    run_call(journal, "c")
    assert (tmp_path / "foreign").read_bytes() == b""
    os.write(number, b"still open")
    os.close(number)
    os.close(foreign)
    assert states(root) == [("a", "settled"), ("b", "settled"), ("c", "settled")]
    assert (journal.lost, told) == (0, [])


def test_a_full_device_fails_with_its_own_error_and_breaks_no_chain() -> None:
    segment = Segment(Path("/dev/full"), "w", os.open("/dev/full", os.O_WRONLY))
    with pytest.raises(OSError, match="No space left"):
        segment.append('{"v":1}')
    assert segment.prev == ""
    segment.close()


@pytest.fixture
def room() -> Iterator[Any]:
    """Sets how large a file may grow: the kernel then writes short and fails, just as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    yield lambda size: resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_short_write_costs_its_record_and_the_next_one_starts_on_a_new_line(
    tmp_path: Path, told: Told, room: Any
) -> None:
    root = tmp_path / "root"
    journal = journal_in(root, told)
    run_call(journal, "a")
    assert journal.path is not None
    size = journal.path.stat().st_size
    room(size + 100)
    run_call(journal, "b")  # the first record is cut after 100 bytes, the second fails at once
    run_call(journal, "c")
    room(resource.RLIM_INFINITY)
    assert journal.path.stat().st_size == size + 100
    assert journal.lost == 4
    assert len(told) == 1
    assert "No space left on device" in told[0]
    run_call(journal, "d")
    reading = read_ledger(root)
    assert [(call.id, call.state) for call in reading.calls] == [("a", "settled"), ("d", "settled")]
    assert [problem.line for problem in reading.problems] == [4]
    lines = journal.path.read_bytes().split(b"\n")
    before, after = json.loads(lines[2]), json.loads(lines[4])
    assert after["prev"] == before["hash"]
    assert told == told[:1]


def test_a_segment_that_could_not_even_begin_begins_when_there_is_room(tmp_path: Path, told: Told, room: Any) -> None:
    root = tmp_path / "root"
    journal = journal_in(root, told)
    room(50)  # enough for the key
    run_call(journal, "a")
    assert journal.lost == 2
    room(resource.RLIM_INFINITY)
    run_call(journal, "b")
    assert states(root) == [("b", "settled")]
    assert len(list((root / "ledger").iterdir())) == 1
    (session,) = read_ledger(root).sessions
    assert session.prev == ""


def test_a_flush_that_fails_is_told_and_raises_nothing(tmp_path: Path, told: Told) -> None:
    journal = journal_in(tmp_path / "root", told)
    run_call(journal, "a")
    assert journal.path is not None
    os.close(descriptor_of(journal.path))
    assert journal.is_dirty
    journal.flush()
    assert len(told) == 1
    assert "Bad file descriptor" in told[0]


def test_a_segment_is_dirty_from_a_write_to_its_flush(tmp_path: Path) -> None:
    segment = Segment.create(tmp_path, "s")
    assert not segment.is_dirty
    segment.append('{"v":1}')
    assert segment.is_dirty
    segment.flush()
    assert not segment.is_dirty
    segment.close()


ODD_IDS = [
    "", ".", "..", "../../etc/passwd", "/", "a/b", "a\\b", "a.b", "a b", "a\0b", "a\nb", "A", "a", "ａ", "á",
    "a\u0301",
    "con", "CON", "nul", "com1", "-", "-x", "~", "a~b", "x" * 64, "x" * 65, "x" * 300, "X" * 300, "x" * 299 + "y",
    "\ud800", "\udfff", "😀", "0d2f6c9a-7b3e-4f51-9c22-6a5b4c3d2e1f", "0D2F6C9A-7B3E-4F51-9C22-6A5B4C3D2E1F",
    "*", "?",
]  # fmt: skip


def test_no_two_sessions_share_a_name_even_where_case_does_not_count() -> None:
    stems = [file_stem(session) for session in ODD_IDS]
    assert len({stem.lower() for stem in stems}) == len(ODD_IDS)
    for stem in stems:
        assert stem
        assert len(stem) <= 64
        assert set(stem) <= set("abcdefghijklmnopqrstuvwxyz0123456789_-~")
    assert file_stem("0d2f6c9a-7b3e-4f51-9c22-6a5b4c3d2e1f") == "0d2f6c9a-7b3e-4f51-9c22-6a5b4c3d2e1f"
    assert file_stem("con") != "con"


def test_sessions_with_odd_ids_have_ledgers_that_are_found_again(tmp_path: Path, told: Told) -> None:
    root = tmp_path / "root"
    for number, session in enumerate(ODD_IDS):
        journal = journal_in(root, told, session=session)
        run_call(journal, f"call-{number}")
        journal.close()
    found = [[call.id for call in calls(root, session=session)] for session in ODD_IDS]
    assert found == [[f"call-{number}"] for number in range(len(ODD_IDS))]
    assert sorted(path.name for path in root.iterdir()) == ["key", "ledger"]
    assert list(tmp_path.iterdir()) == [root]
    assert told == []
