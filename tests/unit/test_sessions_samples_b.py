"""Real session files of Claude Code, Codex and OpenHands, where their folder is present: nothing is missed."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from session_lines import calls, endings, is_sound, prompts, results, told, unread

from pi_intent.sessions import claude_code, codex, openhands
from pi_intent.sessions.lines import Numbered, objects
from pi_intent.sessions.values import Found

SAMPLES = Path(os.environ["PI_INTENT_SAMPLES"])
READERS = {"claude-code": claude_code, "codex": codex, "openhands": openhands}
EXPECTED: dict[str, dict[str, int]] = {
    name: counts
    for name, counts in json.loads((SAMPLES / "expected.json").read_bytes()).items()
    if name.partition("/")[0] in READERS
}
AGENTPILE = "other/agentpile-0.3.1"
CODEX_SHAPES = sorted((SAMPLES / "codex/claude_code_log-1.7.0").rglob("*/*.json"))

# Calls, results and prompts of each, counted by eye.
BY_EYE = {
    "claude_code/api_error": (0, 0, 1),
    "claude_code/attachment_beside_result": (1, 1, 1),
    "claude_code/compaction": (0, 0, 1),  # the summary is no prompt
    "claude_code/duplicates": (2, 1, 1),  # a line three times, and an id for two calls, of which one is answered
    "claude_code/early_result": (1, 1, 1),
    "claude_code/edit_branch": (0, 0, 3),
    "claude_code/images": (1, 1, 1),
    "claude_code/split_interleaved": (2, 2, 1),
    "claude_code/subagents": (4, 4, 1),
    "claude_code/subagents/subagents/agent-afx0000000000001": (0, 0, 0),
    "claude_code/subagents/subagents/agent-afx0000000000002": (0, 0, 0),
    "claude_code/subagents/subagents/agent-afx0000000000003": (1, 1, 0),
    "claude_code/subagents/subagents/agent-afx0000000000004": (0, 0, 0),
    "claude_code/subagents/subagents/workflows/wf_fx_w/agent-afx0000000000005": (0, 0, 0),
    "claude_code/subagents/subagents/workflows/wf_fx_w/agent-afx0000000000006": (0, 0, 0),
    "claude_code/unknown": (0, 0, 1),
    "claude_code/unpaired": (1, 2, 1),  # a call without a result, and two results without a call
    "trace_commons/sessions/claude_code/session-tc-01": (0, 0, 1),
    "trace_commons/sessions/claude_code/session-tc-02": (1, 1, 1),
}


def read(dialect: str, name: str) -> list[Found]:
    with (SAMPLES / name).open("rb") as file:
        return list(READERS[dialect].read(objects(file)))


def agentpile(name: str) -> list[Found]:
    return read("claude-code", f"{AGENTPILE}/{name}.jsonl")


def shapes(path: Path) -> list[Any]:
    value = json.loads(path.read_bytes())
    return value if isinstance(value, list) else [value]


@pytest.mark.parametrize("name", EXPECTED)
def test_all_that_is_in_a_sample_is_found(name: str) -> None:
    dialect = name.partition("/")[0]
    found = read(dialect, name)
    statuses = Counter(one.status for one in results(found))
    counts = {
        "calls": len(calls(found)),
        "results": len(results(found)),
        "errors": sum(one.is_error for one in results(found)),
        "intents": sum(one.intent is not None for one in calls(found)),
        "rejected": statuses["rejected"],
    }
    if dialect == "openhands":  # there a refused call has no result but an event of its own
        counts["results"] -= counts["rejected"]
    assert {kind: counts[kind] for kind in EXPECTED[name]} == EXPECTED[name]
    assert is_sound(found)


@pytest.mark.parametrize("name", BY_EYE)
def test_what_was_counted_by_eye_is_found(name: str) -> None:
    found = agentpile(name)
    assert (len(calls(found)), len(results(found)), len(prompts(found))) == BY_EYE[name]
    assert is_sound(found)


def test_nobody_was_left_out_of_the_count_by_eye() -> None:
    files = (SAMPLES / AGENTPILE).rglob("*.jsonl")
    named = {str(path.relative_to(SAMPLES / AGENTPILE).with_suffix("")) for path in files}
    assert named == {*BY_EYE, "trace_commons/sessions/cursor/cursor-ignored"}


def test_what_is_odd_about_those_files_is_told_as_it_is() -> None:
    assert endings(agentpile("claude_code/unpaired")) == [(None, "ok"), (None, "ok")]
    assert endings(agentpile("claude_code/early_result")) == [("msg_fx_b:toolu_fx_b1", "ok")]
    assert [one.turn for one in calls(agentpile("claude_code/split_interleaved"))] == [1, 1]
    assert [one.key for one in calls(agentpile("claude_code/duplicates"))] == [
        "msg_fx_h1:toolu_fx_reuse",
        "msg_fx_h2:toolu_fx_reuse",
    ]
    assert [one.text for one in results(agentpile("claude_code/images"))] == ["Inspection result:"]
    (inside,) = calls(agentpile("claude_code/subagents/subagents/agent-afx0000000000003"))
    assert (inside.agent, inside.tool) == ("afx0000000000003", "Agent")
    assert unread(agentpile("claude_code/unknown")) == [
        "1 record of an unknown kind (“future-widget-event”), on line 2",
        "1 record of an unknown kind (“block future_gadget”), on line 4",
    ]


@pytest.mark.parametrize("path", CODEX_SHAPES, ids=lambda path: path.stem)
def test_the_single_shapes_of_codex_are_read(path: Path) -> None:
    values = shapes(path)
    found = told(codex.read, *values)
    sent = [value["payload"]["call_id"] for value in values if value["payload"].get("type", "").endswith("_call")]
    assert codex.is_ours(values)
    assert [one.key for one in calls(found)] == sent
    assert endings(found) == [(call_id, "ok") for call_id in sent]
    assert unread(found) == []


def test_the_runs_of_openhands_0x_are_read() -> None:
    found = read("openhands", "openhands/openhands-0.x__resolver-mock.output.jsonl")
    assert (len(calls(found)), len(results(found)), len(prompts(found))) == (26, 24, 2)
    assert sum(one.intent is not None for one in calls(found)) == 24  # all but the two that say they are done
    assert is_sound(found)


@pytest.mark.parametrize("path", sorted(SAMPLES.rglob("*.jsonl")), ids=lambda path: str(path.relative_to(SAMPLES)))
def test_a_file_is_claimed_by_nobody_but_its_own_reader(path: Path) -> None:
    with path.open("rb") as file:
        first = [item.value for item in objects(file) if isinstance(item, Numbered)][:32]
    name = str(path.relative_to(SAMPLES))
    owner = "claude-code" if "claude_code/" in name else name.partition("/")[0]
    assert [dialect for dialect, reader in READERS.items() if reader.is_ours(first)] == [owner] * (owner in READERS)
