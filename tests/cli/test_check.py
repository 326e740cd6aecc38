"""`pi-intent check` gives the verdict that an agent's host would give, on whatever it is fed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from pi_intent import IntentRejected, read_call
from pi_intent.cli.main import commands

CASES = json.loads((Path(__file__).parents[1] / "cases" / "reading_a_call.json").read_text())
SECONDS = 30
IN_A_PROCESS = {"good-edit", "missing", "string-args-cut", "none", "surrogate", "other-script", "text-too-deep"}
NOT_JSON = "Nothing was executed: the arguments are not valid JSON, cut off or malformed. "


def check(*args: str, sent: str | bytes = b"") -> Result:
    return CliRunner().invoke(commands, ["check", *args], input=sent.encode() if isinstance(sent, str) else sent)


def text_of(arguments: Any) -> str:
    """What a host would have got: the text itself, where the case has text."""
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


def verdict(tool: str, arguments: Any) -> dict[str, Any]:
    try:
        call = read_call(tool, arguments)
    except IntentRejected as refusal:
        return {"rejected": {"text": str(refusal), "codes": [*refusal.codes]}}
    return {
        "intent": call.intent,
        "rationale": call.rationale,
        "intentSource": call.intent_source,
        "arguments": call.arguments,
        "flags": [flag for flag in call.flags if flag != "sent_as_text" or not isinstance(arguments, str)],
    }


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_the_verdict_is_the_one_of_the_case(case: dict[str, Any]) -> None:
    want = verdict(case["tool"], case["arguments"])
    result = check(case["tool"], "--json", sent=text_of(case["arguments"]))
    assert json.loads(result.stdout) == want
    assert (result.exit_code, result.stderr) == (1 if "rejected" in want else 0, "")
    assert want.get("rejected", {}).get("codes", []) == case["want"].get("violation", [])

    plain = check(case["tool"], sent=text_of(case["arguments"]))
    if "rejected" in want:
        assert (plain.exit_code, plain.stdout, plain.stderr) == (1, "", want["rejected"]["text"] + "\n")
    else:
        assert (plain.exit_code, plain.stdout, plain.stderr) == (0, result.stdout, "")


@pytest.mark.parametrize("case", [case for case in CASES if case["id"] in IN_A_PROCESS], ids=lambda case: case["id"])
def test_a_process_gives_the_same_verdict(case: dict[str, Any]) -> None:
    want = verdict(case["tool"], case["arguments"])
    ended = subprocess.run(
        [sys.executable, "-I", "-m", "pi_intent", "check", case["tool"], "--json"],
        input=text_of(case["arguments"]).encode(),
        capture_output=True,
        timeout=SECONDS,
        check=False,
        env=os.environ | {"LC_ALL": "C"},
    )
    assert (json.loads(ended.stdout), ended.stderr) == (want, b"")
    assert ended.returncode == (1 if "rejected" in want else 0)


def test_what_would_run_is_shown_in_the_order_it_was_sent(tmp_path: Path) -> None:
    call = {"rationale": "You asked", "timeout": 5, "command": "ls\n", "intent": " Zeig alles é ", "description": "x"}
    (tmp_path / "call.json").write_bytes(b"\xef\xbb\xbf" + json.dumps(call).encode())
    for args, sent in (
        ((str(tmp_path / "call.json"),), b""),
        (("-",), json.dumps(call).encode()),
        ((), json.dumps(json.dumps(call)).encode()),
    ):
        result = check("bash", *args, sent=sent)
        flags = [] if args else ["sent_as_text"]
        shown = {"intent": "Zeig alles é", "rationale": "You asked", "intentSource": "model"}
        shown |= {"arguments": {"timeout": 5, "command": "ls\n"}, "flags": flags}
        assert (result.exit_code, result.stderr) == (0, "")
        assert result.stdout == json.dumps(shown, indent=2, ensure_ascii=False) + "\n"


@pytest.mark.parametrize(
    ("policy", "sent", "intent", "source", "flags"),
    [
        ("optional", {}, None, "absent", []),
        ("optional", {"intent": 3, "rationale": ""}, None, "absent", ["intent_dropped", "rationale_dropped"]),
        ("adaptive", {"intent": "Look", "rationale": ""}, "Look", "model", ["rationale_dropped"]),
        ("derive", {}, "read a.py", "derived", []),
        ("omit", {"intent": "Look"}, "Look", "model", []),
    ],
)
def test_the_policy_is_the_one_asked_for(
    policy: str, sent: dict[str, Any], intent: str | None, source: str, flags: list[str]
) -> None:
    result = check("read", "--policy", policy, sent=json.dumps(sent | {"path": "a.py"}))
    assert result.exit_code == 0
    assert json.loads(result.stdout) == {
        "intent": intent,
        "rationale": None,
        "intentSource": source,
        "arguments": {"path": "a.py"},
        "flags": flags,
    }


def test_adaptive_is_read_as_in_its_first_round() -> None:
    result = check("read", "--policy", "adaptive", sent='{"path": "a.py"}')
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("Nothing was executed: `intent` is missing.")


@pytest.mark.parametrize(
    "sent",
    [
        "",
        " \n",
        "\0",
        "not JSON",
        '{"intent": "Look", "command": "ls"',
        '{"intent": "Look", "command": NaN}',
        '{"intent": "Look", "command": ' + "7" * 5000 + "}",
        "[" * 100_000,
        '{"intent": "Look", "command": ' * 100_000,
        '"a JSON text, and no JSON in it"',
    ],
    ids=["nothing", "spaces", "nul", "words", "cut", "nan", "long-number", "deep", "deep-objects", "text"],
)
def test_what_is_no_json_is_judged_as_what_the_model_sent(sent: str) -> None:
    result = check("bash", sent=sent)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == NOT_JSON + "Call bash again with one complete JSON object.\n"


def test_a_huge_call_is_read_like_any_other() -> None:
    content = "x" * 10_000_000
    result = check("write", sent=json.dumps({"intent": "Fill", "path": "a", "content": content}))
    assert result.exit_code == 0
    assert json.loads(result.stdout)["arguments"] == {"path": "a", "content": content}


@pytest.mark.parametrize("depth", [200, 400, 900, 2000, 5000])
def test_deep_arguments_end_in_a_verdict_or_a_sentence(depth: int) -> None:
    arguments = f'{{"intent": "Look", "command": {"[" * depth}{"]" * depth}}}'
    result = check("bash", sent=arguments)
    if result.exit_code == 0:
        assert result.stdout.count("[") == depth + 1  # and the flags
    else:
        assert result.stdout == ""
        assert result.stderr.startswith(
            (NOT_JSON, "Error: the call would run, but its arguments are nested too deeply to be printed")
        )


def test_a_number_beyond_json_is_told_and_not_printed() -> None:
    result = check("bash", sent='{"intent": "Look", "timeout": 1e999}')
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("Error: the call would run, but JSON cannot hold a number of its arguments")


@pytest.mark.parametrize("sent", [b'{"intent": "caf\xe9"}', '{"intent": "Look"}'.encode("utf-16")])
def test_text_that_is_not_utf_8_is_told(sent: bytes) -> None:
    result = check("bash", sent=sent)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("Error: standard input is not UTF-8 text, from byte ")


@pytest.mark.parametrize(
    ("name", "why"),
    [("absent.json", "No such file or directory"), ("", "Is a directory"), ("a\0b", "embedded null byte")],
)
def test_a_file_that_cannot_be_read_is_told(name: str, why: str, tmp_path: Path) -> None:
    result = check("bash", f"{tmp_path}/{name}")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith(f"Error: {tmp_path}/")
    assert result.stderr.endswith(f"cannot be read: {why}\n")


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="there is no file without an end")
def test_a_file_without_an_end_is_not_read_for_ever() -> None:
    result = check("bash", "/dev/zero")
    assert (result.exit_code, result.stderr) == (1, "Error: /dev/zero is larger than 64 MB, which is no call\n")


def test_a_closed_standard_input_is_told() -> None:
    ended = subprocess.run(
        ["sh", "-c", '"$0" -m pi_intent check bash <&-', sys.executable],
        capture_output=True,
        timeout=SECONDS,
        check=False,
    )
    told = "Error: standard input is closed: name a file, or pipe the arguments in\n"
    assert (ended.returncode, ended.stdout, ended.stderr.decode()) == (1, b"", told)


@pytest.mark.parametrize(
    ("tool", "note"),
    [
        ("search", "search is none of read, write, edit, bash: only intent and rationale are checked.\n"),
        ("Bash", "Bash is none of read, write, edit, bash (did you mean bash?): only intent"),
        ("\x1b[31mred\x1b[0m", "red is none of"),
    ],
)
def test_of_another_tool_only_our_fields_are_checked_and_that_is_said_once(tool: str, note: str) -> None:
    sent = '{"intent": "Look", "q": 1}'
    result = check(tool, sent=sent)
    assert result.exit_code == 0
    assert result.stderr.startswith(note)
    assert result.stderr.count("\n") == 1
    silent = check(tool, "--json", sent=sent)
    assert (silent.exit_code, silent.stdout, silent.stderr) == (0, result.stdout, "")
