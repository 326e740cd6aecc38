"""The command line as a whole: what it teaches, what it loads, and how every failure ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner
from syrupy.assertion import SnapshotAssertion

import pi_intent
from pi_intent.cli.main import SECTIONS, Commands, commands
from pi_intent.errors import LedgerError

SECONDS = 30
NAMES = [listed.name for section in SECTIONS.values() for listed in section]
OWN = ["demo", "log", "check"]

# What was loaded by the time the command ended.
LOADED = """
import sys
from pi_intent.cli.main import commands
try:
    commands.main(sys.argv[1:], prog_name="pi-intent")
except SystemExit as end:
    print(end.code, *sorted({name.partition(".")[0] for name in sys.modules} & {"rich", "pydantic", "sqlite3",
          "tau_coding", "tau_agent", "tau_ai", "anyio", "asyncio", "httpx"}), file=sys.stderr)
"""


def run(*args: str, **options: Any) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "pi_intent", *args]
    return subprocess.run(command, timeout=SECONDS, check=False, **{"capture_output": True} | options)


class Failing(Commands):
    """The commands, each of which raises one exception."""

    def __init__(self, error: BaseException) -> None:
        super().__init__("pi-intent")
        self.error = error

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
        def fail() -> None:
            raise self.error

        return click.Command(cmd_name, callback=fail)


@pytest.fixture(autouse=True)
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("PI_INTENT_DEBUG", raising=False)


def test_the_help_says_what_there_is_in_the_order_a_person_needs_it(snapshot: SnapshotAssertion) -> None:
    result = CliRunner().invoke(commands, ["--help"])
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == snapshot


def test_without_a_command_it_is_the_help() -> None:
    bare, asked, short = (CliRunner().invoke(commands, args) for args in ([], ["--help"], ["-h"]))
    assert (bare.exit_code, bare.stdout) == (0, asked.stdout)
    assert short.stdout == asked.stdout


@pytest.mark.parametrize("name", OWN)
def test_the_help_of_a_command(name: str, snapshot: SnapshotAssertion) -> None:
    result = CliRunner().invoke(commands, [name, "--help"])
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == snapshot


@pytest.mark.parametrize("name", NAMES)
def test_every_command_that_the_help_lists_is_there_under_its_name(name: str) -> None:
    command = commands.get_command(click.Context(commands), name)
    assert command is not None
    assert command.name == name
    assert command.get_short_help_str()


def test_no_line_of_the_help_is_wider_than_a_terminal() -> None:
    shown = "".join(
        CliRunner().invoke(commands, args).stdout for args in (["--help"], *([name, "-h"] for name in OWN))
    )
    assert [line for line in shown.splitlines() if len(line) > 80] == []


def test_it_tells_its_version() -> None:
    for options in ([], ["-I"]):
        command = [sys.executable, *options, "-m", "pi_intent", "--version"]
        told = subprocess.run(command, capture_output=True, timeout=SECONDS, check=True)
        assert told.stdout.decode().split() == ["pi-intent", pi_intent.__version__]


@pytest.mark.parametrize(
    ("args", "code"),
    [(["--help"], 0), (["--version"], 0), (["demo", "--help"], 0), (["check", "bash"], 0), (["nonsense"], 2)],
    ids=str,
)
def test_nothing_heavy_is_loaded_where_it_is_not_needed(args: list[str], code: int) -> None:
    call = b'{"intent": "List the files", "command": "ls"}'
    ended = subprocess.run(
        [sys.executable, "-c", LOADED, *args], input=call, capture_output=True, timeout=SECONDS, check=True
    )
    assert ended.stderr.decode().splitlines()[-1] == str(code)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("instal", "did you mean install?"),
        ("LOG", "did you mean log?"),
        ("xyz", f"the commands are {', '.join(NAMES)}."),
        ("\x1b[31m", f"the commands are {', '.join(NAMES)}."),
    ],
)
def test_a_command_that_there_is_not_is_wrong_usage_with_the_nearest_one(name: str, hint: str) -> None:
    result = CliRunner().invoke(commands, [name])
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.endswith(f"; {hint}\n")
    assert "\x1b" not in result.stderr


@pytest.mark.parametrize(
    "args", [["--nope"], ["check"], ["log", "--limit", "-1"], ["check", "bash", "--policy", "x"]]
)
def test_wrong_usage_ends_with_2_and_says_what_is_wrong(args: list[str]) -> None:
    result = CliRunner().invoke(commands, args)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "Error: " in result.stderr


@pytest.mark.parametrize(
    ("error", "code", "told"),
    [
        (LedgerError("the ledger\nis \x1b[31mlocked"), 1, "Error: the ledger is locked\n"),
        (
            FileNotFoundError(2, "No such file or directory", "a.json"),
            1,
            "Error: a.json could not be read or written (No such file or directory): "
            "see that it is there and yours\n",
        ),
        (
            OSError(28, "No space left"),
            1,
            "Error: the output could not be read or written (No space left): see where it goes\n",
        ),
        (BrokenPipeError(32, "Broken pipe"), 141, ""),
        (KeyboardInterrupt(), 130, "\nInterrupted.\n"),
        (click.Abort(), 130, "Interrupted.\n"),
        (click.ClickException("no such thing"), 1, "Error: no such thing\n"),
        (SystemExit(1), 1, ""),
        (SystemExit(None), 0, ""),
        (
            KeyError("x\x07"),
            1,
            r"Error: this is a fault of pi-intent (KeyError: 'x\x07'); "
            "run it again with PI_INTENT_DEBUG=1 to see where it is\n",
        ),
        (
            RecursionError(),
            1,
            "Error: this is a fault of pi-intent (RecursionError); "
            "run it again with PI_INTENT_DEBUG=1 to see where it is\n",
        ),
    ],
    ids=lambda value: repr(value) if isinstance(value, BaseException) else "",
)
def test_every_failure_is_a_sentence_and_an_exit_code(error: BaseException, code: int, told: str) -> None:
    result = CliRunner().invoke(Failing(error), ["log"])
    assert (result.exit_code, result.stdout, result.stderr) == (code, "", told)


@pytest.mark.parametrize(("value", "shown"), [("1", True), ("0", False), ("", False)])
def test_the_traceback_is_shown_on_request(value: str, shown: bool) -> None:
    result = CliRunner().invoke(Failing(KeyError("x")), ["log"], env={"PI_INTENT_DEBUG": value})
    assert result.exit_code == 1
    assert ("Traceback" in result.stderr) is shown
    assert "this is a fault of pi-intent (KeyError: 'x')" in result.stderr


@pytest.mark.parametrize("args", [["--help"], ["schema", "--json"], ["schema"], ["check", "bash"]], ids=" ".join)
@pytest.mark.parametrize("drawn", ["", "1"])
def test_a_reader_that_leaves_early_is_no_failure_and_no_answer(args: list[str], drawn: str) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "pi_intent", *args],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"FORCE_COLOR": drawn},
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    process.stdin.write(b'{"intent": "List the files", "command": "ls"}')
    process.stdin.close()
    with process.stderr as stderr:
        assert stderr.read() == b""
    assert process.wait(SECONDS) == 141


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device that is always full is Linux's")
def test_a_full_disk_under_the_output_is_told() -> None:
    with Path("/dev/full").open("wb") as full:
        ended = run("--help", capture_output=False, stdout=full, stderr=subprocess.PIPE)
    assert (ended.returncode, ended.stderr.decode()) == (
        1,
        "Error: the output could not be read or written (No space left on device): see where it goes\n",
    )


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_a_closed_standard_output_is_a_failure_as_a_full_one_is_and_no_other_stream(closed: str) -> None:
    ended = subprocess.run(
        ["sh", "-c", f'"$0" -m pi_intent --help {closed}', sys.executable],
        capture_output=True,
        timeout=SECONDS,
        check=False,
    )
    without = ">&-" in closed.split()
    assert (ended.returncode, ended.stdout == b"") == (int(without), without)
    said = b"Error: the output could not be read or written (Bad file descriptor): see where it goes\n"
    assert ended.stderr == (said if closed == ">&-" else b"")


def test_an_interrupt_ends_with_130_and_one_word() -> None:
    master, slave = os.openpty()
    try:
        process = subprocess.Popen(
            [sys.executable, "-m", "pi_intent", "check", "bash"],
            stdin=slave,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        with process:
            assert process.stdout is not None
            assert process.stderr is not None
            waiting = process.stderr.readline().decode()  # said before it reads
            process.send_signal(signal.SIGINT)
            rest, stdout = process.stderr.read().decode(), process.stdout.read()
            assert process.wait(SECONDS) == 130
    finally:
        os.close(master)
        os.close(slave)
    assert waiting == "Type or paste the arguments of the call as JSON, then press Ctrl-D on a line of its own.\n"
    assert (stdout, rest.strip()) == (b"", "Interrupted.")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "utf-8"])
def test_what_the_output_cannot_encode_is_spelt_out_and_the_json_stays_the_same(encoding: str) -> None:
    call = {"intent": "検索中 ✓ é \u202e\x9b\x7f\u2028 \U000e0067", "command": "ls \ud83d"}
    environ = os.environ | {"PYTHONIOENCODING": encoding}
    ended = run("check", "bash", input=json.dumps(call).encode(), env=environ)
    text = ended.stdout.decode(encoding)
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert json.loads(text)["intent"] == call["intent"]
    assert json.loads(text)["arguments"] == {"command": "ls \ud83d"}
    assert ("検索中" in text) is (encoding == "utf-8")
    assert all(sign not in text for sign in "\u202e\x9b\x7f\u2028\U000e0067")


def test_signs_have_a_plain_spelling() -> None:
    ended = run("check", "✓é…", input=b"{}", env=os.environ | {"PYTHONIOENCODING": "ascii"})
    assert ended.stderr.decode("ascii").splitlines()[0] == (
        r"+\xe9... is none of read, write, edit, bash: only intent and rationale are checked."
    )
