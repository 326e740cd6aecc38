"""The demo: Tau with pi-intent on the scripted model, which goes as written and leaves nothing."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from otlp_receiver import Receiver, receiving_ours

from pi_intent.cli.demo import story
from pi_intent.cli.demo.run import run_demo
from pi_intent.cli.main import commands
from pi_intent.errors import PiIntentError


@pytest.fixture
def received(monkeypatch: pytest.MonkeyPatch) -> Iterator[Receiver]:
    """Who gets the spans of a person who traces everything."""
    monkeypatch.setenv("PI_INTENT_TRACING", "on")
    with receiving_ours(monkeypatch) as receiver:
        yield receiver


def test_the_demo_goes_as_scripted_and_leaves_its_ledger_where_it_was_told_to(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], received: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = tmp_path / "kept"
    code = run_demo(keep=kept, as_json=True)
    assert received.paths == []  # it needs no network, and uses none
    document = json.loads(capsys.readouterr().out)
    assert (code, document["ok"], document["differences"]) == (0, True, []), document["stderr"]
    scripted = [turn.calls[0].arguments for turn in story.SCRIPT[:-1]]
    fields = ("tool", "status", "intent", "rationale", "intentSource", "codes")
    assert [tuple(call[field] for field in fields) for call in document["calls"]] == [
        (
            tool,
            status,
            arguments.get("intent"),
            arguments.get("rationale"),
            "absent" if status == "rejected" else "model",
            ["intent_missing"] if status == "rejected" else [],
        )
        for arguments, (tool, status) in zip(scripted, story.EXPECTED, strict=True)
    ]
    assert (kept / "project" / "prices.py").read_text() == story.REPAIRED
    assert Path(document["ledger"]).parent == kept / "project" / ".git" / "pi-intent"
    assert len(list(Path(document["ledger"]).glob("*.jsonl"))) == 1
    monkeypatch.chdir(kept / "project")
    assert CliRunner().invoke(commands, ["export", "otel"]).exit_code == 0
    assert [span.name for span in received.spans[1:]] == [f"execute_tool {tool}" for tool, _ in story.EXPECTED]


def test_the_demo_tells_each_call_in_plain_lines_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert run_demo(keep=None, as_json=False) == 0
    told = capsys.readouterr()
    assert [line for line in told.out.splitlines() if line.startswith("→ ")] == [
        "→ " + turn.calls[0].arguments.get("intent", "(no stated intent)") for turn in story.SCRIPT[:-1]
    ]
    assert [line.split()[1] for line in told.out.splitlines() if line[2:3] in ("✓", "↺", "✗")] == [
        status for _, status in story.EXPECTED
    ]
    assert "\x1b" not in told.out
    assert (told.err, list(tmp_path.iterdir())) == ("", [])


def test_a_demo_that_goes_wrong_says_what_differed_and_how_tau_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "tau").write_text("#!/bin/sh\nprintf 'no \\033[31mprovider\\n' >&2\nexit 3\n")
    (tmp_path / "tau").chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    assert run_demo(keep=None, as_json=False) == 1
    assert capsys.readouterr().err == (
        "The demo did not go as scripted: Tau ended with exit code 3.\n  tau: no provider\n"
    )
    assert run_demo(keep=None, as_json=True) == 1
    document = json.loads(capsys.readouterr().out)
    assert (document["ok"], document["differences"], document["ledger"]) == (
        False,
        [
            "Tau ended with exit code 3",
            "the ledger is empty, no call went through pi-intent",
            "the last answer is not the script's",
            "prices.py does not hold the repair",
        ],
        None,
    )


def test_the_demo_keeps_out_of_a_folder_that_is_in_use(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("text")
    with pytest.raises(PiIntentError, match="is not empty; name a folder that is empty or does not exist yet"):
        run_demo(keep=tmp_path, as_json=True)
    with pytest.raises(PiIntentError, match=r"cannot be used: .*; name an empty folder"):
        run_demo(keep=tmp_path / "mine", as_json=True)
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]
