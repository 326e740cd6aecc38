"""The rejection budget, round by round."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pi_intent import IntentRejected
from pi_intent.descriptions import model_texts
from pi_intent.pipeline import CallRequest, Pipeline
from pi_intent.sinks import FanOut

FILE = json.loads((Path(__file__).parents[1] / "cases" / "rounds.json").read_text())
SENT = {"m": {"command": "ls"}, "g": {"intent": "List the files", "command": "ls"}}


def a_pipeline(on_stuck=None) -> Pipeline:
    ids = iter(range(10_000))
    return Pipeline(
        session_id="s",
        host="tau",
        texts=model_texts(),
        sinks=FanOut(),
        clock=lambda: 0,
        new_id=lambda: str(next(ids)),
        on_stuck=on_stuck,
    )


def verdict(pipeline: Pipeline, tool: str, sent: str, group: str, policy: str = "adaptive") -> str:
    request = CallRequest(
        tool_name=tool, tool_call_id="1", arguments=SENT[sent], group_id=group, turn=1, policy=policy, budget=3
    )
    try:
        return {"model": "k", "derived": "d"}[pipeline.open(request).call.intent_source]
    except IntentRejected:
        return "r"


@pytest.mark.parametrize("case", FILE["cases"], ids=lambda case: case["id"])
def test_the_budget_is_spent_round_by_round(case):
    pipeline = a_pipeline()
    got = []
    for number, calls in enumerate(case["rounds"]):
        got.append("".join(verdict(pipeline, "bash", sent, f"g{number}") for sent in calls))
        if case.get("other_tool_good_between"):
            verdict(pipeline, "read", "g", f"g{number}")
    assert got == case["want"]


def test_under_require_every_round_is_refused_and_the_third_asks_the_model_to_stop():
    pipeline = a_pipeline()
    texts = []
    for number in range(5):
        request = CallRequest(
            tool_name="bash", tool_call_id="1", arguments={}, group_id=str(number), turn=number, policy="require"
        )
        with pytest.raises(IntentRejected) as refusal:
            pipeline.open(request)
        texts.append(str(refusal.value))
    assert ["Stop calling bash" in text for text in texts] == [False, False, True, True, True]


def test_the_person_is_told_once_a_tool_however_many_calls_and_rounds_follow():
    told = []
    pipeline = a_pipeline(on_stuck=lambda request, rounds, codes: told.append((request.tool_name, rounds)))
    for number in range(6):
        for tool in ("bash", "bash", "read"):
            verdict(pipeline, tool, "m", str(number), policy="require")
    assert told == [("bash", 3), ("read", 3)]


def test_a_derived_intent_names_the_tool_and_never_the_command():
    pipeline = a_pipeline()
    for number in range(3):
        verdict(pipeline, "bash", "m", str(number))
    request = CallRequest(
        tool_name="bash", tool_call_id="1", arguments=SENT["m"], group_id="4", turn=4, policy="adaptive", budget=3
    )
    call = pipeline.open(request).call
    assert (call.intent, call.intent_source, call.flags) == ("bash", "derived", ("budget_spent",))
