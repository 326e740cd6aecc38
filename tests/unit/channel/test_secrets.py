"""No secret and nothing of a tool whose texts stay here goes over the channel."""

from __future__ import annotations

import json
from typing import Any

import pytest
from channel_desk import CANARY, PHRASE, Desk, end, growing, identity, sent, start

from pi_intent.events import (
    CheckInDecision,
    CheckInRequest,
    FileChange,
    GroupSummary,
    OutcomePatch,
    ToolEvent,
    ToolExecutionEnd,
    ToolExecutionStart,
    ToolExecutionUpdate,
    ToolIntentUpdate,
)


class TestSecrets:
    def test_none_is_on_the_wire_in_any_field_of_any_event(self, desk: Desk) -> None:
        names = dict.fromkeys(("tool_call_id", "session_id", "agent_id", "group_id", "tool_name"), f"n {CANARY}")
        same = identity() | names
        text = f"because {CANARY} says so"
        events: list[ToolEvent] = [
            ToolIntentUpdate(**same, intent=text, complete=False),
            ToolIntentUpdate(**same, intent=text, complete=True),
            ToolExecutionStart(
                **same,
                args={"command": text, CANARY: {"deep": [text]}, "content": text * 10, "long": text * 2000},
                intent=text,
                intent_source="model",
                rationale=text,
                tool_source=text,
                parent_tool_call_id=text,
                model=text,
            ),
            ToolExecutionUpdate(**same, args={"command": text}, partial_result=text),
            ToolExecutionUpdate(**same, args={}, partial_result={"content": text}),
            CheckInRequest(**same, request=text),
            CheckInDecision(**same, approved=True, by=text, note=text),
            ToolExecutionEnd(
                **same,
                status="ok",
                is_error=False,
                duration_ms=1,
                result=text,
                outcome=text,
                outcome_patch=OutcomePatch(from_=text, to=text),
                facts=text,
                files=(FileChange(path=f"/tmp/{CANARY}", op="create"),),
            ),
            GroupSummary(session_id="s", agent_id="main", group_id="g", seq=2, host="tau", text=text),
        ]
        lines = sent(desk, *events)
        assert [line["type"] for line in lines] == [event.type for event in events]
        assert CANARY not in json.dumps(lines)
        assert CANARY[:7] not in json.dumps(lines)
        assert json.dumps(lines).count("[redacted:env:") >= 30

    @pytest.mark.parametrize(
        "secret",
        [
            CANARY,
            PHRASE,
            "sk-ant-api03-AbCdEf0123456789AbCdEf",
            "ghp_0123456789abcdefghijABCDEFGHIJ012345",
            "password='my dear old wooden boat'",
            "--password swordfish42",
            "Authorization: Bearer abcdef0123456789abcdef",
            "https://me:swordfish42@example.org/",
            "-----BEGIN PRIVATE KEY-----\nMIIEvQ\nIBADAN\nBgkqhkiG9w0BAQEFAASC\n-----END PRIVATE KEY-----",
            "ghp_0123456789\nabcdefghijABCDEFGHIJ012345\n",
            '"ghp_0123456789" + "abcdefghijABCDEFGHIJ012345"',
        ],
    )
    def test_nothing_of_one_shows_while_it_is_being_written(self, desk: Desk, secret: str) -> None:
        text = f"Find out whether {secret} is still used by anything in the tree"
        pieces = [growing(text[:size], seq=size) for size in range(len(text))]
        whole = sent(desk, growing(text, complete=True))[0]["intent"]
        assert "redacted" in whole
        shown = {line["intent"] for line in sent(desk, *pieces)}
        assert "Find out" in shown
        assert {intent for intent in shown if not whole.startswith(intent)} == set()

    @pytest.mark.parametrize(
        "text", ["Find out why the third test fails again", "第三のテストが失敗する理由を調べる"]
    )
    def test_ordinary_words_show_while_they_are_being_written(self, desk: Desk, text: str) -> None:
        shown = [line["intent"] for line in sent(desk, *(growing(text[:size]) for size in range(len(text))))]
        assert shown == sorted(shown, key=len)
        assert len(shown[-1]) > len(text) // 2
        assert text.startswith(shown[-1])

    def test_redact_args_withholds_every_text_of_a_call(self, desk: Desk) -> None:
        desk.withheld.add("bash")
        text = "a text to withhold"
        patch = OutcomePatch(from_=text, to=text)
        files = (FileChange(path=text, op="create"),)
        lines = sent(
            desk,
            growing(text),
            growing(text, complete=True),
            start(1, text, args={"command": text}, rationale=text, flags=("redact_args",)),
            ToolExecutionUpdate(**identity(), args={"command": text}, partial_result=text),
            CheckInRequest(**identity(), request=text),
            CheckInDecision(**identity(), approved=True, by="user", note=text),
            end(outcome=text, outcome_patch=patch, facts=text, files=files),
            GroupSummary(session_id="s-1", agent_id="main", group_id="g-1", seq=9, host="tau", text=text),
        )
        assert len(lines) == 6
        assert text not in json.dumps(lines)
        assert (lines[0]["intent"], lines[0]["args"], lines[4]["facts"]) == ("[withheld]", {}, "[withheld]")

    def test_texts_of_a_call_that_began_unseen_are_withheld(self, desk: Desk) -> None:
        (line,) = sent(desk, end(5, facts="exit 0"))
        assert line["facts"] == "[withheld]"

    def test_large_and_hostile_arguments_are_bounded(self, desk: Desk) -> None:
        deep: Any = []
        for _ in range(100_000):
            deep = [deep]
        lines = sent(
            desk,
            start(1, "x" * 100_000, args={"content": "x" * 1_000_000, "command": "ä" * 2000}),
            start(2, args={"command": deep}),
            start(3, args={"command": float("nan")}),
            start(4, args={f"k{number}": "x" * 2000 for number in range(100)}),
            start(5, "half \ud83d a pair"),
        )
        assert lines[0]["args"] == {"content": {"bytes": 1_000_000}, "command": {"bytes": 4000}}
        assert lines[0]["intent"].endswith("… [cut: 100000 characters in all]")
        assert [line["args"] for line in lines[1:4]] == [{}, {}, {}]
        assert [line["flags"] for line in lines[1:4]] == [["unserialisable"], ["unserialisable"], ["truncated"]]
        assert lines[4]["intent"] == "half \ufffd a pair"
