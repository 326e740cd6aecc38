"""The text of a settled label: what the tool says came of the call, or the intent as it was stated."""

from __future__ import annotations

import json
from pathlib import Path
from typing import get_args

import pytest

from pi_intent.events import OutcomePatch
from pi_intent.labels.settled import settled_text
from pi_intent.types import Status

CASES = json.loads((Path(__file__).parents[1] / "cases" / "outcomes.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_the_cases(case):
    patch = case["outcomePatch"]
    patch = None if patch is None else OutcomePatch(from_=patch["from"], to=patch["to"])
    assert settled_text(case["intent"], case["status"], case["outcome"], patch) == case["label"]


@pytest.mark.parametrize("status", [status for status in get_args(Status) if status != "ok"])
def test_whatever_did_not_go_well_keeps_the_intent(status):
    patch = OutcomePatch(from_="Run", to="Ran")
    assert settled_text("Run the tests", status, "All tests pass", patch) == "Run the tests"
    assert settled_text(None, status, "All tests pass", patch) is None


@pytest.mark.parametrize("nothing", ["", " \n", "\u200b", "\x1b[31m\x1b[0m"])
def test_a_text_that_nobody_could_see_is_none(nothing):
    assert settled_text(nothing, "ok") is None
    assert settled_text(nothing, "error") is None
    assert settled_text("Look", "ok", nothing) == "Look"
    assert settled_text("Look", "ok", None, OutcomePatch(from_="Look", to=nothing)) == "Look"
    assert settled_text(nothing, "ok", None, OutcomePatch(from_=nothing, to="Seen")) is None


@pytest.mark.parametrize("intent", ["Read {{path}} and {0} as %s", " two  spaces ", "Buscando…", "a\ud800"])
def test_the_intent_is_not_touched(intent):
    assert settled_text(intent, "ok") == intent
