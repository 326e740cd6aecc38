"""What a program around the agent declares: predicates that ask, and tiers of tools."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from gate_desk import NO, YES, GateDesk, Person, gate_desk, rules_of

from pi_intent.errors import CallDenied, SettingsError
from pi_intent.gates.configured import Gated
from pi_intent.gates.declared import PROCESS, Declarations, ask_when, declare_tier
from pi_intent.gates.kinds import Reason
from pi_intent.gates.situation import Situation
from pi_intent.gates.tiers import Tiered
from pi_intent.types import JSONObject


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[GateDesk]:
    async with gate_desk(tmp_path) as desk:
        yield desk


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def test_a_predicate_sees_arguments_and_situation_and_no_word_of_the_model(desk: GateDesk):
    seen: list[Any] = []

    def look(arguments: JSONObject, situation: Situation) -> bool:
        seen.append((arguments, situation))
        return False

    def of(arguments: JSONObject) -> Any:
        seen.append(arguments)
        return "read"

    desk.declared.ask_when(look, "bash", None)
    desk.declared.declare_tier("bash", of)
    await desk.call({"command": "ls", "intent": "SECRET GOAL", "rationale": "SECRET WHY"}, gated=Gated(ask="exec"))
    assert len(seen) == 2
    assert "SECRET" not in repr(seen)
    assert seen[1][0] == {"command": "ls"}


@pytest.mark.parametrize(
    "answer", [None, 0, "", "no", [], 1, object()], ids=["none", "0", "empty", "no", "list", "1", "object"]
)
async def test_a_predicate_without_a_plain_answer_asks(desk: GateDesk, answer: Any):
    desk.declared.ask_when(lambda arguments, situation: answer, "*", "mine")
    person = Person(YES)
    await desk.call({"command": "ls"}, person=person)
    assert person.asked[0].reasons == (Reason("mine", "it gave no plain answer", is_said=True),)


async def test_a_predicate_that_raises_asks_and_the_next_one_is_still_heard(desk: GateDesk):
    desk.declared.ask_when(lambda arguments, situation: 1 / 0 > 0, "*", "mine")
    desk.declared.ask_when(lambda arguments, situation: True, "*", "yours")
    person = Person(YES)
    await desk.call({"command": "ls"}, person=person)
    assert person.asked[0].reasons == (
        Reason("mine", "it could not be worked out: division by zero"),
        Reason("yours"),
    )


async def test_what_one_judge_does_to_the_arguments_hides_nothing_from_the_others(desk: GateDesk):
    def empties(arguments: JSONObject, *situation: Situation) -> Any:
        arguments.clear()
        return False if situation else "read"

    desk.declared.declare_tier("bash", empties)
    desk.declared.ask_when(empties, "*", "empties")
    desk.declared.ask_when(lambda arguments, situation: "rm" in str(arguments.get("command")), "*", "looks")
    person = Person(YES)
    await desk.call({"command": "rm a"}, gated=Gated(ask="exec", rules=("deletes",)), person=person)
    assert rules_of(person.asked[0]) == ["deletes", "looks"]
    assert desk.ran == [("bash", {"command": "rm a"})]


async def test_a_predicate_is_asked_about_the_tools_it_is_for_until_it_is_taken_back(desk: GateDesk):
    stop = desk.declared.ask_when(lambda arguments, situation: True, "ops/deploy_*", None)
    person = Person(NO)
    assert await desk.call({}, tool="deploy_site", person=person) == "ran"
    with pytest.raises(CallDenied):
        await desk.call({}, tool="deploy-site", source="ops", person=person)
    stop()
    stop()
    assert await desk.call({}, tool="deploy-site", source="ops", person=person) == "ran"
    assert desk.declared.is_empty


def test_the_last_word_on_a_tier_counts_and_can_be_taken_back():
    declared = Declarations()
    declared.declare_tier("*", "exec")
    stop = declared.declare_tier("search", "read")
    assert declared.tier("search", "web") == "read"
    assert declared.tier("other", "web") == "exec"
    stop()
    assert declared.tier("search", "web") == "exec"


def test_what_nothing_would_wait_for_cannot_be_declared():
    async def later(arguments: JSONObject, situation: Situation) -> bool:
        return False

    class Later:
        async def __call__(self, arguments: JSONObject) -> str:
            return "read"

    for bad in (later, Later()):
        with pytest.raises(SettingsError, match="nothing waits for an async one"):
            ask_when(bad)  # type: ignore[arg-type]
        with pytest.raises(SettingsError, match="nothing waits for an async one"):
            declare_tier("x", bad)  # type: ignore[arg-type]
    assert PROCESS.is_empty


def test_what_is_declared_can_be_worked_out():
    for bad in (None, "yes", 3):
        with pytest.raises(SettingsError, match="takes a function"):
            ask_when(bad)  # type: ignore[arg-type]
    for tier in ("reads", Tiered("x"), None):  # type: ignore[arg-type]
        with pytest.raises(SettingsError, match="is no tier"):
            declare_tier("x", tier)  # type: ignore[arg-type]
    assert PROCESS.is_empty
