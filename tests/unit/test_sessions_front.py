"""The front of all session files: whose a file is, or a sentence on why it is nobody's."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest
from session_files import as_bytes, counts, pi_header, small_sessions, unread, user

from pi_intent.errors import SessionError
from pi_intent.sessions import front
from pi_intent.sessions.front import names, read_session
from pi_intent.sessions.lines import Numbered
from pi_intent.sessions.values import Dialect, Head

SESSIONS = small_sessions()


def refusal(path: Path) -> str:
    with pytest.raises(SessionError) as caught:
        read_session(path)
    return str(caught.value)


@pytest.mark.parametrize("dialect", SESSIONS)
def test_a_dialect_is_told_by_what_stands_first_and_not_by_the_name(dialect: str, tmp_path: Path) -> None:
    path = tmp_path / "anything.txt"
    path.write_bytes(as_bytes(*SESSIONS[dialect]))
    told, items = read_session(path)
    assert told == dialect
    found = counts(items)
    assert {name: found[name] for name in ("calls", "results", "errors", "intents")} == {
        "calls": 2, "results": 2, "errors": 1, "intents": 1,
    }  # fmt: skip


@pytest.mark.parametrize("dialect", SESSIONS)
def test_a_torn_beginning_does_not_hide_whose_a_file_is(dialect: str, tmp_path: Path) -> None:
    path = tmp_path / "torn.jsonl"
    path.write_bytes(b'ng": "2026-05", "x": [\n' + as_bytes(*SESSIONS[dialect]))
    told, items = read_session(path)
    assert told == dialect
    assert unread(items)[0] == "line 1 holds something that is not whole JSON"


def test_the_bytes_read_are_told_on_the_way(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(as_bytes(*SESSIONS["pi"]))
    told: list[int] = []
    _, items = read_session(path, at=told.append)
    assert list(items)
    assert told == sorted(told)
    assert (len(told), told[-1]) == (len(SESSIONS["pi"]), path.stat().st_size)


def test_a_file_is_read_as_it_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(as_bytes(pi_header(), *({"type": "x"} for _ in range(1000))))
    told: list[int] = []
    _, items = read_session(path, at=told.append)
    assert isinstance(next(items), Head)
    assert len(told) == 1


@pytest.mark.parametrize(
    ("content", "looks"),
    [
        (b"", "is empty"),
        (b"\n\n", "is empty"),
        (b"hello\nworld\n", "holds no JSON objects, one a line"),
        (b"\x00\xff\xfe" * 100, "holds no JSON objects, one a line"),
        (b"7\n", "holds no JSON objects, one a line"),
        (b'{"type": "strange"}\n', "is JSON, but no session that we know"),
        (
            as_bytes(pi_header(), {"type": "agent_start"}),
            "is the event stream of an agent's JSON mode; name the session file that the same run wrote",
        ),
        (
            as_bytes({"id": "a", "path": "/s", "provider_name": "p", "updated_at": 1.0}),
            "is Tau's list of sessions; name one of the session files beside it",
        ),
        (as_bytes({"type": "metadata"}, {"type": "config.update"}), "is a session of Kimi Code"),
        (b'{\n  "environment": "x",\n  "trajectory": [\n', "is a trajectory of SWE-agent"),
        (b'[\n  {\n    "role": "system"\n', "is a list of messages, as mini-SWE-agent keeps its trajectories"),
        (b'{\n  "type": "session"\n}\n', "is one JSON document, not one object a line"),
    ],
)
def test_what_is_no_session_is_refused_with_what_it_looks_like(content: bytes, looks: str, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    told = "" if looks == "is empty" else f" (sessions of {names()} can be read)"
    assert refusal(path) == f"{path} {looks}{told}"


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert refusal(tmp_path / "pipe") == f"{tmp_path / 'pipe'} is neither a file nor a folder"
    assert refusal(tmp_path / "none") == f"{tmp_path / 'none'} cannot be read: No such file or directory"
    assert refusal(tmp_path) == f"{tmp_path}: no session file in this folder"
    assert refusal(Path("nul\0")).startswith("nul cannot be read: ")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_what_must_not_be_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(as_bytes(pi_header()))
    path.chmod(0)
    assert refusal(path) == f"{path} cannot be read: Permission denied"


def test_only_the_first_objects_tell_whose_a_file_is(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(as_bytes(*({"type": "strange"} for _ in range(31)), pi_header()))
    assert read_session(path)[0] == "pi"
    path.write_bytes(as_bytes(*({"type": "strange"} for _ in range(32)), pi_header()))
    assert "no session that we know" in refusal(path)


def test_a_name_is_shown_made_safe(tmp_path: Path) -> None:
    path = tmp_path / "a\x1b[2Jb"
    assert refusal(path) == f"{tmp_path / 'ab'} cannot be read: No such file or directory"


@pytest.mark.parametrize("above", ["", "events", "base/events"])
def test_a_folder_of_events_is_read_in_their_order(
    above: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(front.WAYS, "openhands", front.WAYS["pi"])  # any dialect can lie in a folder
    folder = tmp_path / above
    folder.mkdir(parents=True, exist_ok=True)
    numbers = ["99999", "100000", "100001", "100002", "100003", "100004"]
    for number, entry in zip(numbers, SESSIONS["pi"], strict=True):
        (folder / f"event-{number}-x.json").write_bytes(as_bytes(entry))
    (folder / "event-100005-x.json").write_bytes(b'{"torn": ')
    (folder / "event-100006-x.json").write_bytes(b"[]")
    (folder / "other.json").write_bytes(b"{}")
    told: list[int] = []
    _, items = read_session(tmp_path, at=told.append)
    read = list(items)
    assert Counter(type(item).__name__ for item in read) == {
        "Head": 1, "Prompt": 1, "FoundCall": 2, "FoundResult": 2, "Unread": 2,
    }  # fmt: skip
    assert isinstance(read[0], Head)
    assert unread(read) == [
        "event-100005-x.json was skipped: Expecting value: line 1 column 10 (char 9)",
        "event-100006-x.json holds JSON that is not an object",
    ]
    assert told[-1] == len(as_bytes(*SESSIONS["pi"]))


def test_every_dialect_recognises_its_own_and_no_other() -> None:
    ours: dict[str, list[Dialect]] = {
        name: [dialect for dialect, way in front.WAYS.items() if way.is_ours(entries)]
        for name, entries in SESSIONS.items()
    }
    assert {name: dialects[0] for name, dialects in ours.items()} == {name: name for name in SESSIONS}
    for way in front.WAYS.values():
        assert not way.is_ours([])
        assert not way.is_ours([{}, {"type": None}, {"type": []}, {"message": 7}, {"payload": "x"}])
        assert list(way.read([Numbered(1, {}, 2)])) is not None
        assert not way.is_ours([user("hi")])
