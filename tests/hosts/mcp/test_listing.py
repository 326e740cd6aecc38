"""A server is asked for its tools and ended, whatever it does."""

from __future__ import annotations

import os
import sys
import threading
import time
from pathlib import Path

import pytest
from client_configs import ends

from pi_intent.errors import HostError
from pi_intent.hosts.mcp.listing import list_tools

# A server by hand: `tell` sends, `ask` reads, `answer` is the usual answer to a request.
SERVER = """
import json, os, signal, subprocess, sys, time
def tell(message): print(json.dumps(message), flush=True)
def ask():
    line = sys.stdin.readline()
    return json.loads(line) if line else sys.exit(0)
def result(request, value): tell({"jsonrpc": "2.0", "id": request["id"], "result": value})
def hello(capabilities={"tools": {}}):
    request = ask()
    assert request["method"] == "initialize" and request["params"]["protocolVersion"] == "2025-06-18", request
    result(request, {"protocolVersion": "2025-06-18", "capabilities": capabilities, "serverInfo": {"name": "x"}})
    assert ask() == {"jsonrpc": "2.0", "method": "notifications/initialized"}
"""
ENVIRON = {"PATH": os.environ["PATH"]}


def ask(script: str, timeout: float = 20, **environ: str) -> list[dict[str, object]]:
    return list_tools([sys.executable, "-c", SERVER + script], environ={**ENVIRON, **environ}, timeout=timeout)


def refusal(script: str, timeout: float = 20) -> str:
    with pytest.raises(HostError) as refused:
        ask(script, timeout)
    assert "\n" not in str(refused.value)
    return str(refused.value)


def test_all_pages_come_in_order_with_everything_that_a_tool_says() -> None:
    tools = ask("""
hello()
request = ask()
assert request["params"].get("cursor") is None
result(request, {"tools": [{"name": "a", "x": {"y": 1}}], "nextCursor": "2"})
request = ask()
assert request["params"] == {"cursor": "2"}
result(request, {"tools": [{"name": "b"}]})
""")
    assert tools == [{"name": "a", "x": {"y": 1}}, {"name": "b"}]


def test_banners_notifications_batches_and_questions_of_the_server_are_in_nobodys_way() -> None:
    tools = ask("""
print("Welcome!", "{", "[1]", "null", sep="\\n")
print("\\xff\\xfe", file=sys.stderr)
hello()
request = ask()
tell({"jsonrpc": "2.0", "method": "notifications/message", "params": {}})
tell({"jsonrpc": "2.0", "id": "q", "method": "ping"})
assert ask() == {"jsonrpc": "2.0", "id": "q", "result": {}}
tell({"jsonrpc": "2.0", "id": request["id"], "method": "roots/list"})
assert ask()["error"]["code"] == -32601
tell({"jsonrpc": "2.0", "id": 77, "result": {"tools": []}})
tell([{"jsonrpc": "2.0", "id": request["id"], "result": {"tools": [{"name": "a"}, 3]}}])
""")
    assert tools == [{"name": "a"}]


def test_a_server_without_tools_has_none() -> None:
    assert ask('hello({"prompts": {}}); ask()') == []


def test_a_page_of_megabytes_comes_whole() -> None:
    (tool,) = ask('hello(); result(ask(), {"tools": [{"name": "a", "description": "x" * 5_000_000}]})')
    assert len(str(tool["description"])) == 5_000_000


def test_it_gets_the_environment_and_the_folder_it_was_given(tmp_path: Path) -> None:
    script = 'hello(); result(ask(), {"tools": [{"name": os.environ["A"], "cwd": os.getcwd()}]})'
    command = [sys.executable, "-c", SERVER + script]
    assert list_tools(command, environ={**ENVIRON, "A": "b"}, cwd=tmp_path) == [{"name": "b", "cwd": str(tmp_path)}]


@pytest.mark.parametrize(
    ("script", "says"),
    [
        ("print('oh', file=sys.stderr); sys.exit(1)", "ended before it answered initialize; the last it said: oh"),
        ("hello(); ask()", "ended before it answered tools/list"),
        ("result(ask(), 3)", "refused initialize: None"),
        (
            'tell({"jsonrpc": "2.0", "id": ask()["id"], "error": {"code": -1, "message": "no\\nway"}})',
            "refused initialize: no way",
        ),
        ('hello(); result(ask(), {"tools": "x"})', "gave no list of tools"),
        ('hello()\nwhile True: result(ask(), {"tools": [], "nextCursor": "1"})', "has no last page of tools"),
    ],
)  # fmt: skip
def test_a_server_that_does_not_do_it_is_a_sentence(script: str, says: str) -> None:
    sentence = refusal(script)
    assert sentence.startswith("the server ")
    assert sentence.endswith(says)


def test_a_server_that_says_nothing_is_waited_for_no_longer_than_asked() -> None:
    began = time.monotonic()
    assert refusal("time.sleep(60)", timeout=0.5).endswith("did not answer initialize within 0.5 seconds")
    assert time.monotonic() - began < 20


def test_one_that_talks_all_the_time_is_not_waited_for_any_longer() -> None:
    said = refusal("while True: tell({'method': 'notifications/x'})", timeout=0.5)
    assert "did not answer initialize within 0.5 seconds" in said


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="needs Linux to wait for a process of another")
def test_a_server_that_ignores_every_request_to_end_is_ended_with_its_children(tmp_path: Path) -> None:
    noted = tmp_path / "pids"
    assert ask(f"""
signal.signal(signal.SIGTERM, signal.SIG_IGN)
deaf = "import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(60)"
child = subprocess.Popen([sys.executable, "-c", deaf])
open({str(noted)!r}, "w").write(f"{{os.getpid()}} {{child.pid}}")
hello()
result(ask(), {{"tools": []}})
time.sleep(60)
""") == []  # fmt: skip
    assert all(map(ends, map(int, noted.read_text().split())))


@pytest.mark.parametrize("command", [["/nowhere/server"], ["/"], ["a\0b"], [""]])
def test_a_command_that_cannot_be_started_is_a_sentence(command: list[str]) -> None:
    with pytest.raises(HostError, match=r"^the server .*cannot be started \(.+\)$"):
        list_tools(command, environ=ENVIRON)


def test_no_secret_of_the_command_line_or_the_environment_is_in_what_is_said_of_a_failure() -> None:
    plain, known, named = "hunter2plainword", "ghp_" + "a1B2c3D4" * 5, "value0f1the2environment"
    script = "import os, sys; sys.exit(f'no: {sys.argv[2]} {sys.argv[3]} {os.environ[\"API_TOKEN\"]}')"
    for program in (sys.executable, "/nowhere/server"):
        with pytest.raises(HostError) as refused:
            list_tools(
                [program, "-c", script, "--token", plain, known], environ={**ENVIRON, "API_TOKEN": named}, timeout=20
            )
        assert not [secret for secret in (plain, known, named) if secret in str(refused.value)]
    assert "the last it said" not in str(refused.value)
    with pytest.raises(HostError, match=r"the last it said: no: \[redacted:\S+ \[redacted:github:\S+ \[redacted:"):
        list_tools([sys.executable, "-c", script, "--token", plain, known], environ={**ENVIRON, "API_TOKEN": named})


def test_one_that_nobody_waits_for_any_longer_is_ended() -> None:
    stop = threading.Event()
    stop.set()
    began = time.monotonic()
    with pytest.raises(HostError, match="was not waited for any longer"):
        list_tools([sys.executable, "-c", SERVER + "time.sleep(60)"], environ=ENVIRON, timeout=50, stop=stop)
    assert time.monotonic() - began < 20
