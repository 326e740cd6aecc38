"""Under `--policy require`, nothing without an intent reaches the server, whatever the client sends."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from abreast import Ahead, doing
from mcp_attempts import ATTEMPTS, FIRST, OK, STATED, Attempt, call
from mcp_lenient import SMUGGLED, smuggled_calls
from mcp_peer import Peer, lines_of
from mcp_scenarios import ENVELOPE, Run, environment, handshake, server_command, wrapped_command

GOOD = '"id":"good",'


def opened(folder: Path, attempt: Attempt) -> Peer:
    (folder / "project").mkdir(parents=True)
    (folder / "record").touch()
    command = server_command(attempt.options, Path("../record"))
    for _ in range(attempt.wraps):
        command = wrapped_command(command, "--policy", "require", "--server", "hostile")
    return Peer(command, cwd=folder / "project", env=environment(folder))


def make(attempt: Attempt, folder: Path) -> tuple[Run, list[bytes]]:
    """Make one attempt, then a good call; return what came of it, and the answers to the attempt alone."""
    with opened(folder, attempt) as peer:
        for step in handshake("2025-03-26", lists=attempt.listed):
            step(peer, True)
        for line in attempt.before:
            peer.send(line)
            peer.wait_for(b'"id":')
        said = len(peer.heard())
        peer.send(attempt.sent)
        if attempt.good:
            name = json.dumps(attempt.good)
            peer.send(call(f'{{{OK},"a":"good"}}', name=name, spelt='"good"', more="").encode() + b"\n")
            peer.wait_for(GOOD.encode())
        elif attempt.expected != "silent":
            peer.wait_for(b'"id":')
        run = Run(outcome=peer.finish(), received=(folder / "record").read_bytes())
    answers = [line for line in lines_of(run.outcome.stdout[said:]) if GOOD.encode() not in line]
    # A tool that says it has changed is answered after it says so.
    return run, [line for line in answers if b"list_changed" not in line]


@pytest.fixture(scope="module")
def attempts(request, tmp_path_factory) -> Iterator[Ahead[tuple[Run, list[bytes]]]]:
    """Every attempt of the tests that were chosen, begun a little before its test asks for it."""
    chosen = [item for item in request.session.items if item.fspath == request.fspath and hasattr(item, "callspec")]
    wanted = [item.callspec.params["attempt"] for item in chosen if "attempt" in item.callspec.params]
    folders = tmp_path_factory.mktemp("ways")
    made = {attempt.name: partial(make, attempt, folders / str(number)) for number, attempt in enumerate(wanted)}
    with doing(made) as ahead:
        yield ahead


@pytest.mark.parametrize("attempt", ATTEMPTS, ids=lambda attempt: attempt.name)
def test_nothing_without_an_intent_reaches_the_server(attempts, attempt: Attempt):
    run, answers = attempts[attempt.name]
    assert smuggled_calls(run.received) == []
    assert b"Traceback" not in run.outcome.stderr
    if attempt.good:
        assert b'"good"' in run.received
        assert OK.encode() not in run.received
    match attempt.expected:
        case "silent":
            assert answers == []
        case "any":
            assert all(is_readable(json.loads(line)) for line in answers)
        case _:
            (answer,) = map(json.loads, answers)
            assert answer["id"] in (attempt.id, None)
            assert is_readable(answer)
            if attempt.expected == "rejected":
                assert answer["id"] == attempt.id
                assert_rejection(answer)
            elif attempt.expected == "error":
                assert "error" in answer


def is_readable(answer: object) -> bool:
    """Whether a client can read an answer: a result, an error with code and words, or a batch of those."""
    match answer:
        case {"jsonrpc": "2.0", "id": _, "error": {"code": int(), "message": str(message)}}:
            return bool(message)
        case {"jsonrpc": "2.0", "id": _, "result": {**result}}:
            return result.get("isError") is not True or bool(result["content"])
        case [*parts]:
            return bool(parts) and all(map(is_readable, parts))
        case _:
            return False


def assert_rejection(answer: dict) -> None:
    """A rejection is a failed result with one short text that repeats nothing of the arguments."""
    assert answer["result"]["isError"] is True
    (block,) = answer["result"]["content"]
    assert block["type"] == "text"
    assert 0 < len(block["text"]) <= 300
    assert SMUGGLED not in block["text"]


def test_a_last_line_without_its_end_is_refused_too(tmp_path: Path):
    attempt = Attempt(name="", sent=b"")
    with opened(tmp_path, attempt) as peer:
        for step in handshake():
            step(peer, True)
        peer.send(call().encode())
        outcome = peer.finish()
    assert smuggled_calls((tmp_path / "record").read_bytes()) == []
    assert_rejection(json.loads(lines_of(outcome.stdout)[-1]))


def test_a_batch_keeps_its_good_calls_and_answers_the_others(tmp_path: Path):
    with opened(tmp_path, Attempt(name="", sent=b"")) as peer:
        for step in handshake("2025-03-26"):
            step(peer, True)
        peer.send(f"[{call(STATED, spelt='8', more='')},{call()}]\n".encode())
        peer.wait_for(b'"id":8,')
        outcome = peer.finish()
    received = (tmp_path / "record").read_bytes()
    assert smuggled_calls(received) == []
    assert b'"arguments":{"a":"stated"}' in received
    answers = {}
    for line in lines_of(outcome.stdout)[2:]:
        parts = json.loads(line)
        answers |= {part["id"]: part for part in (parts if isinstance(parts, list) else [parts])}
    assert_rejection(answers[7])
    assert answers[8]["result"] == {"content": [{"type": "text", "text": '{"a":"stated"}'}]}


ACCEPTED = {
    "our own text": '{"intent":"Mandatory goal","a":"stated"}',
    "JSON text": json.dumps(STATED),
    "an escaped key": r'{"\u0069ntent":"Find the way round","a":"stated"}',
    "both fields": f'{{{OK},"rationale":"It was asked","a":"stated"}}',
    "a rationale that is null": f'{{{OK},"rationale":null,"a":"stated"}}',
}


@pytest.mark.parametrize("wraps", [1, 2])
@pytest.mark.parametrize("arguments", ACCEPTED.values(), ids=list(ACCEPTED))
def test_a_call_that_states_an_intent_arrives_without_it(tmp_path: Path, arguments: str, wraps: int):
    with opened(tmp_path, Attempt(name="", sent=b"", wraps=wraps)) as peer:
        for step in handshake():
            step(peer, True)
        peer.send(call(arguments, more="").encode() + b"\n")
        answer = json.loads(peer.wait_for(b'"id":7,'))
        peer.finish()
    assert answer["result"] == {"content": [{"type": "text", "text": '{"a":"stated"}'}]}
    received = lines_of((tmp_path / "record").read_bytes())[-1]
    assert json.loads(received)["params"] == {"name": "echo", "arguments": {"a": "stated"}}


@pytest.mark.parametrize("spelt", [r'"intent":"",', r'"\u0069ntent":"Another",', f"{OK},"])
def test_of_an_intent_that_stands_twice_no_copy_arrives(tmp_path: Path, spelt: str):
    with opened(tmp_path, Attempt(name="", sent=b"")) as peer:
        for step in handshake():
            step(peer, True)
        peer.send(call(f'{{{spelt}{OK},"a":"twice"}}', more="").encode() + b"\n")
        peer.wait_for(b'"id":7,')
        peer.finish()
    received = (tmp_path / "record").read_bytes()
    assert b"twice" not in received or lines_of(received)[-1] == call('{"a":"twice"}', more="").encode() + b"\n"


@pytest.mark.parametrize("listed", [True, False])
def test_a_tool_that_no_page_has_shown_yet_is_asked_for(tmp_path: Path, listed: bool):
    attempt = Attempt(name="", sent=b"", options={"page": 3}, listed=listed)
    with opened(tmp_path, attempt) as peer:
        for step in handshake(lists=listed):
            step(peer, True)
        peer.send(call(STATED, name='"slow_task"', more="").encode() + b"\n")
        answer = json.loads(peer.wait_for(b'"id":7,'))
        outcome = peer.finish()
    assert answer["result"] == {"content": [{"type": "text", "text": '{"a":"stated"}'}]}
    # The client hears nothing of lists that are not its own.
    assert len(lines_of(outcome.stdout)) == (3 if listed else 2)


def test_a_list_of_the_proxy_s_own_says_what_the_call_said_of_its_era(tmp_path: Path):
    with opened(tmp_path, Attempt(name="", sent=b"")) as peer:
        peer.send(call(STATED, more=f",{ENVELOPE}").encode() + b"\n")
        answer = json.loads(peer.wait_for(b'"id":7,'))
        peer.finish()
    assert answer["result"]["resultType"] == "complete"
    asked, called = map(json.loads, lines_of((tmp_path / "record").read_bytes()))
    assert asked["method"] == "tools/list"
    assert asked["params"]["_meta"] == called["params"]["_meta"]


def test_a_retry_states_its_intent_again_and_arrives_without_it(tmp_path: Path):
    retry = call(STATED, name='"ask_first"', spelt="8", more=',"requestState":"load"').encode() + b"\n"
    with opened(tmp_path, Attempt(name="", sent=b"")) as peer:
        for step in handshake():
            step(peer, True)
        for line, answer in ((FIRST, b'"id":7,'), (retry, b'"id":8,')):
            peer.send(line)
            peer.wait_for(answer)
        peer.finish()
    sent = [json.loads(line)["params"] for line in lines_of((tmp_path / "record").read_bytes())[-2:]]
    assert [params["arguments"] for params in sent] == [{"a": "stated"}] * 2
    assert sent[1]["requestState"] == "load"
