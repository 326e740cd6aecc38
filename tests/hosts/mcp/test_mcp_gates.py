"""Permissions, credentials, artifacts and the limit on results, between a client and a server that is wrapped."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from user_config import write_config

from pi_intent import artifact_reference
from pi_intent.hosts.mcp.told import Told
from pi_intent.ledger.calls import calls
from pi_intent.ledger.location import find_ledger

CANARY = "c4n4ry-0f-the-m1ne-3141592"
SERVER = Path(__file__).with_name("gated_server.py")
PAGE = "<h1>Hello</h1>\n" * 3
REFERENCE = artifact_reference("page", PAGE)
SETTINGS = """
artifacts = true

[credentials]
mine = "env:WHERE_IT_IS"

[permissions]
external_net = "deny"

[tools]
"srv/own" = { needs = ["mine"] }
"srv/much" = { result_limit = 2048 }
"srv/fetch" = { stores = ["page"] }
"srv/keep" = { wants = { page = "page" } }
"srv/kepp" = "omit"
"srv/net" = { touches = ["external_net"] }
"""


class Talk:
    """A client that speaks to the wrapped server, and everything that it and others can see of that."""

    def __init__(self, folder: Path, environ: dict[str, str], stderr: int = subprocess.PIPE) -> None:
        self.folder = folder
        self.environ = environ
        self.seen = ""
        wrap = [
            sys.executable,
            "-m",
            "pi_intent",
            "mcp",
            "wrap",
            "--server",
            "srv",
            "--",
            sys.executable,
            str(SERVER),
        ]
        self.process = subprocess.Popen(
            wrap, cwd=folder, env=environ, text=True, errors="surrogateescape",
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr,
        )  # fmt: skip

    def start(self) -> None:
        self.ask("initialize", protocolVersion="2025-06-18", capabilities={})
        self.ask("tools/list")

    def ask(self, method: str, *, raw: bool = False, **params: Any) -> Any:
        message = {"jsonrpc": "2.0", "id": method, "method": method, "params": params}
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        self.seen += line
        return json.loads(line) if raw else json.loads(line)["result"]

    def call(self, name: str, **arguments: Any) -> tuple[str, bool]:
        result = self.ask("tools/call", name=name, arguments={"intent": f"Try {name}", **arguments})
        return result["content"][0]["text"], result.get("isError", False)

    def end(self) -> str:
        out, err = self.process.communicate(timeout=30)
        self.seen += out + err
        return err

    def everything(self) -> str:
        files = [path for path in self.folder.rglob("*") if path.is_file() and "config" not in path.parts]
        return self.seen + "".join(path.read_bytes().decode(errors="replace") for path in files)


@pytest.fixture
def talk(tmp_path: Path) -> Iterator[Talk]:
    write_config(tmp_path / "config", SETTINGS)
    environ = {name: text for name, text in os.environ.items() if not name.startswith("PI_INTENT")}
    environ |= {"XDG_CONFIG_HOME": str(tmp_path / "config"), "XDG_STATE_HOME": str(tmp_path / "state")}
    environ |= {"WHERE_IT_IS": CANARY, "GIT_CEILING_DIRECTORIES": str(tmp_path), "HOME": str(tmp_path)}
    talk = Talk(tmp_path, environ)
    yield talk
    if talk.process.poll() is None:
        talk.process.kill()
        talk.end()


def statuses(talk: Talk) -> list[tuple[str, str, tuple[str, ...]]]:
    root = find_ledger(talk.folder, talk.environ).root
    return [(call.call.tool, call.done.status, call.done.flags) for call in calls(root) if call.call and call.done]


def test_the_server_gets_what_it_needs_and_nobody_sees_it(talk: Talk):
    talk.start()
    assert talk.call("length") == (str(len(CANARY)), False)
    text, is_error = talk.call("own")
    assert text.startswith("own did run, and its result is withheld: it holds a credential")
    assert not is_error
    talk.end()
    assert CANARY not in talk.everything()
    assert statuses(talk) == [("length", "ok", ()), ("own", "ok", ("withheld",))]


@pytest.mark.parametrize("tool", ["escaped", "halves"])
def test_what_a_client_would_read_counts_and_not_how_a_line_is_written(talk: Talk, tool: str):
    talk.start()
    text, is_error = talk.call(tool)
    assert text.startswith(f"{tool} did run, and its result is withheld: it holds a credential")
    assert not is_error
    talk.end()
    assert CANARY not in talk.everything()
    assert "\\u0063" not in talk.everything().lower()
    assert CANARY[len(CANARY) // 2 :] not in talk.everything()
    assert statuses(talk) == [(tool, "ok", ("withheld",))]


def test_a_guard_of_a_tool_that_the_server_lacks_holds_what_may_be_meant(talk: Talk):
    write_config(talk.folder / "config", SETTINGS + '"srv/lenght" = { override = true }\n')
    talk.process.kill()
    talk.end()
    talk = Talk(talk.folder, talk.environ)
    talk.start()
    text, is_error = talk.call("length")
    assert is_error
    assert text.startswith("Nothing was executed: this call of length needs a person's approval (tier exec)")
    assert 'tools."srv/lenght" matches no tool; did you mean "srv/length"? It is to guard' in talk.end()


def test_what_the_server_says_beside_results_is_held_to_the_same(talk: Talk):
    talk.start()
    message = talk.ask("tools/call", raw=True, name="chatty", arguments={"intent": "Talk"})
    assert message["params"]["message"] == "half"  # two lines before it went nowhere
    assert talk.process.stdout is not None
    talk.seen += (answer := talk.process.stdout.readline())
    assert "result" in json.loads(answer)
    error = talk.ask("resources/read", raw=True, uri="x")["error"]
    assert "holds a credential" in error["message"]
    assert "said a credential that it was given" in talk.end()
    assert CANARY not in talk.everything()


def test_its_log_says_all_but_what_it_was_given(talk: Talk):
    talk.start()
    talk.call("length")
    log = talk.end()
    assert CANARY not in talk.everything()
    lines = log.splitlines()
    assert lines[0] == "starting \udcff"
    assert re.fullmatch(r"with \[redacted:env:[0-9a-f]{8}\]", lines[1])
    assert re.fullmatch(r"with \[redacted:env:[0-9a-f]{8}\] for the header", lines[2])
    assert lines[3] == "x" * 300_000
    assert any(line.endswith('tools."srv/kepp" matches no tool; did you mean "srv/keep"?') for line in lines)
    assert re.fullmatch(r"ends with \[redacted:env:[0-9a-f]{8}\]", lines[-1])


def test_without_it_the_server_is_not_started(talk: Talk):
    talk.process.kill()
    talk.end()
    environ = {name: text for name, text in talk.environ.items() if name != "WHERE_IT_IS"}
    again = Talk(talk.folder, environ)
    assert again.process.wait(timeout=30) == 126
    assert (
        "srv was not started: could not fetch the credential mine: the variable WHERE_IT_IS is not set" in again.end()
    )


def test_a_result_over_the_limit_goes_nowhere(talk: Talk):
    talk.start()
    text, is_error = talk.call("much")
    assert "much did run, and its result is withheld: it has " in text
    assert "the limit here is 2048" in text
    assert not is_error
    talk.end()
    assert "p4yl0ad" not in talk.everything()
    assert statuses(talk) == [("much", "ok", ("withheld",))]


def test_an_argument_can_refer_to_what_was_stored(talk: Talk):
    talk.start()
    assert talk.call("fetch")[0] == "fetched"
    text, _ = talk.call("keep", page=REFERENCE, other="as it was")
    assert json.loads(text) == {"page": PAGE, "other": "as it was"}
    text, is_error = talk.call("keep", page=REFERENCE[:-1])
    assert f"it is no whole reference. Those that can be named here: {REFERENCE}" in text
    assert is_error
    assert len(list(talk.folder.rglob("page.*"))) == 1
    talk.end()
    assert list(talk.folder.rglob("page.*")) == []
    assert [status for _, status, _ in statuses(talk)] == ["ok", "ok", "denied"]


def test_what_is_not_permitted_does_not_run(talk: Talk):
    talk.start()
    text, is_error = talk.call("net")
    assert text.startswith("Nothing was executed: net touches external_net, which is not permitted here")
    assert is_error
    talk.end()
    assert statuses(talk) == [("net", "denied", ())]


def told(*pieces: bytes, secret: str = CANARY) -> bytes:
    passed: list[bytes] = []
    log = Told([secret], passed.append)
    for piece in pieces:
        log.feed(piece)
    log.end()
    return b"".join(passed)


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n", b""])
@pytest.mark.parametrize("before", [0, 1, 60_000, 65_530, 70_000, 200_000])
def test_a_log_is_the_same_but_for_the_credential_however_it_comes(before: int, end: bytes):
    whole = b"\xff" + b"." * before + CANARY.encode() + b"." * 90_000 + end + b"next" + end
    for size in (7_001, 65_536, len(whole)):
        passed = told(*(whole[at : at + size] for at in range(0, len(whole), size)))
        assert CANARY.encode() not in passed
        assert re.sub(rb"\[redacted:env:[0-9a-f]{8}\]", CANARY.encode(), passed) == whole


def test_a_line_that_never_ends_is_not_kept_until_it_does():
    passed: list[bytes] = []
    log = Told([CANARY], passed.append)
    for _ in range(100):
        log.feed(b"." * 10_000)
    assert sum(map(len, passed)) > 900_000


def test_a_terminal_that_nobody_reads_holds_nobody_up(talk: Talk):
    talk.process.kill()
    talk.end()
    ours, theirs = os.openpty()
    again = Talk(talk.folder, talk.environ, stderr=theirs)
    os.close(theirs)
    again.start()  # its log has 300,000 characters, and a terminal takes a few thousand
    assert again.call("length") == (str(len(CANARY)), False)
    assert again.process.stdin is not None
    again.process.stdin.close()
    assert again.process.wait(timeout=30) == 0
    os.close(ours)
    assert again.process.stdout is not None
    again.process.stdout.close()
