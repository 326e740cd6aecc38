"""A call is held up where something asks for that, runs only as it was approved, and settles once."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from gate_desk import FOR_SESSION, NO, YES, GateDesk, Person, gate_desk, rules_of

from pi_intent.errors import CallDenied, LedgerError
from pi_intent.gates.check_in import MOST_QUESTIONS, MOST_SHOWN
from pi_intent.gates.configured import Gated
from pi_intent.gates.kinds import Reason
from pi_intent.gates.question import Answer, AskingStopped, Question
from pi_intent.gates.situation import Situation
from pi_intent.gates.tiers import Tiered
from pi_intent.render.check_in import question_lines, reason_text

ALWAYS = Gated(rules=("always",))
RM = {"command": "rm -rf build", "intent": "Clean"}


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[GateDesk]:
    async with gate_desk(tmp_path) as desk:
        yield desk


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def test_without_a_reason_nobody_is_asked_and_nothing_is_recorded(desk: GateDesk):
    person = Person()
    assert await desk.call(dict(RM), gated=Gated(), person=person) == "ran"
    assert await desk.call({"command": "ls"}, gated=Gated(rules=("dangers",)), person=person) == "ran"
    assert (person.asked, desk.decisions(), desk.check_in.decided) == ([], [], [])
    assert [event.type for event in desk.events] == ["tool_execution_start", "tool_execution_end"] * 2


async def test_a_call_is_asked_about_after_its_start_and_runs_after_the_answer(desk: GateDesk):
    person = Person(YES)
    await desk.call(dict(RM), gated=ALWAYS, person=person)
    assert [event.type for event in desk.events] == [
        "tool_execution_start",
        "check_in_request",
        "check_in_decision",
        "tool_execution_end",
    ]
    assert desk.ran == [("bash", {"command": "rm -rf build"})]
    assert [record["t"] for record in desk.records] == ["session", "call", "decision", "decision", "done"]
    assert desk.decisions("number", "approved", "by", "scope", "reasons") == [
        (1, None, None, None, ["always"]),
        (1, True, "person", "once", ["always"]),
    ]


async def test_the_question_holds_the_literal_call_and_the_words_beside_it(desk: GateDesk):
    person = Person(YES)
    await desk.call({**RM, "rationale": "a.py:3"}, gated=Gated(rules=("deletes", "always")), person=person)
    (question,) = person.asked
    assert question.arguments == {"command": "rm -rf build"}
    assert (question.intent, question.rationale) == ("Clean", "a.py:3")
    assert rules_of(question) == ["deletes", "always"]
    assert question.digest == desk.decisions("digest")[0][0]
    assert question.situation.tool_name == "bash"


async def test_what_asks_by_tier_comes_before_rules_and_those_before_predicates(desk: GateDesk):
    desk.declared.ask_when(lambda arguments, situation: True, "*", "mine")
    person = Person(YES)
    await desk.call(dict(RM), gated=Gated(ask="exec", rules=("deletes", "always")), person=person)
    assert rules_of(person.asked[0]) == ["tier exec", "deletes", "always", "mine"]


async def test_a_floor_raises_the_tier_that_an_author_declared(desk: GateDesk):
    desk.declared.declare_tier("bash", Tiered("read", "it only looks"))
    person = Person(YES)
    await desk.call(dict(RM), gated=Gated(ask="exec"), person=person)
    await desk.call(dict(RM), gated=Gated(ask="exec", floor=Tiered("exec")), person=person)
    assert [question.reasons for question in person.asked] == [(Reason("tier exec", "it only looks", is_said=True),)]


@pytest.mark.parametrize(
    ("answer", "status", "text"),
    [
        (NO, "denied", "this call of bash was not approved. Do not try it again in other words"),
        (Answer(False, note="use git clean {x}"), "denied", "The answer was: use git clean {x}"),
        (RuntimeError("no screen"), "denied", "asking for it failed (the question could not be shown)"),
        (AskingStopped(), "cancelled", "was stopped while a person was asked"),
    ],
)
async def test_a_call_that_is_not_approved_has_run_nothing(desk: GateDesk, answer: Any, status: str, text: str):
    with pytest.raises(CallDenied) as denial:
        await desk.call(dict(RM), gated=ALWAYS, person=Person(answer))
    assert str(denial.value).startswith("Nothing was executed: ")
    assert text in str(denial.value)
    assert (desk.ran, desk.statuses) == ([], [status])
    assert desk.decisions("approved")[-1] == (False,)


@pytest.mark.parametrize("unattended", ["deny", "defer"])
async def test_where_nobody_can_be_asked_the_answer_is_no_and_the_model_learns_why(desk: GateDesk, unattended: Any):
    gated = Gated(ask="exec", rules=("deletes",), unattended=unattended)
    with pytest.raises(CallDenied) as denial:
        await desk.call(dict(RM), gated=gated)
    assert "(tier exec, deletes)" in str(denial.value)
    assert (desk.ran, desk.statuses) == ([], ["denied"])
    expected = {"deny": (False, "nobody"), "defer": (None, None)}[unattended]
    assert desk.decisions("approved", "by") == [expected]
    assert [event.type for event in desk.events if event.type == "check_in_request"] == []


@pytest.mark.parametrize(
    "nonsense", [None, True, "yes", (True, "once"), Answer("yes"), Answer(1), Answer(True, "forever"), Answer(None)]
)
async def test_an_answer_that_is_none_approves_nothing(desk: GateDesk, nonsense: Any):
    async def mumbled(question: Question) -> Any:
        return nonsense

    with pytest.raises(CallDenied, match="asking for it failed"):
        await desk.call(dict(RM), gated=ALWAYS, person=Person(mumbled))
    assert (desk.ran, desk.statuses) == ([], ["denied"])
    assert desk.decisions("approved", "by")[-1] == (False, "failure")


async def test_a_question_that_cannot_be_put_is_a_denial(desk: GateDesk):
    desk.check_in._around = None  # what looks at the disk is broken
    with pytest.raises(CallDenied, match="asking for it failed"):
        await desk.call({"path": "a", "content": "x"}, tool="write", gated=ALWAYS, person=Person())
    assert (desk.ran, desk.statuses) == ([], ["denied"])


# Arguments that change while somebody is asked


async def test_arguments_that_change_while_somebody_is_asked_are_asked_about_again(desk: GateDesk):
    opened: list[Any] = []

    def changing(question: Question) -> Answer:
        opened[0].call.arguments["command"] = "rm -rf /"
        return YES

    person = Person(changing, YES)
    await desk.call(dict(RM), gated=ALWAYS, person=person, before=opened.append)
    assert [question.arguments["command"] for question in person.asked] == ["rm -rf build", "rm -rf /"]
    assert [question.number for question in person.asked] == [1, 2]
    assert desk.ran == [("bash", {"command": "rm -rf /"})]
    digests = [digest for (digest,) in desk.decisions("digest")]
    assert digests[0] == digests[1] != digests[2] == digests[3]


async def test_a_session_approval_of_arguments_that_changed_grants_neither(desk: GateDesk):
    opened: list[Any] = []

    def changing(question: Question) -> Answer:
        opened[-1].call.arguments["command"] = "rm -rf /"
        return FOR_SESSION

    with pytest.raises(CallDenied):
        await desk.call(dict(RM), gated=ALWAYS, person=Person(changing, NO), before=opened.append)
    for command in ("rm -rf build", "rm -rf /"):
        person = Person(NO)
        with pytest.raises(CallDenied):
            await desk.call({"command": command}, gated=ALWAYS, person=person)
        assert len(person.asked) == 1
    assert desk.ran == []


async def test_arguments_that_change_each_time_are_denied_in_the_end(desk: GateDesk):
    opened: list[Any] = []

    def changing(question: Question) -> Answer:
        opened[0].call.arguments["command"] += "x"
        return YES

    person = Person(*[changing] * MOST_QUESTIONS)
    with pytest.raises(CallDenied, match="changed each time"):
        await desk.call(dict(RM), gated=ALWAYS, person=person, before=opened.append)
    assert (len(person.asked), desk.ran, desk.statuses) == (3, [], ["denied"])


async def test_arguments_that_change_into_what_nobody_asks_about_run(desk: GateDesk):
    opened: list[Any] = []

    def changing(question: Question) -> Answer:
        opened[0].call.arguments["command"] = "ls"
        return YES

    await desk.call(dict(RM), gated=Gated(rules=("deletes",)), person=Person(changing), before=opened.append)
    assert desk.ran == [("bash", {"command": "ls"})]


async def test_what_an_asker_does_to_the_question_changes_nothing_that_runs(desk: GateDesk):
    def meddling(question: Question) -> Answer:
        question.arguments["edits"][0]["newText"] = "rm -rf /"
        return YES

    arguments = {"path": "a", "edits": [{"oldText": "x", "newText": "y"}]}
    await desk.call(arguments, tool="edit", gated=ALWAYS, person=Person(meddling))
    assert desk.ran == [("edit", {"path": "a", "edits": [{"oldText": "x", "newText": "y"}]})]


# Grants


async def test_the_same_call_again_is_not_asked_about_whatever_is_said_of_it(desk: GateDesk):
    person = Person(FOR_SESSION)
    await desk.call(dict(RM), gated=ALWAYS, person=person)
    await desk.call({**RM, "intent": "Something else", "rationale": "b.py:1"}, gated=ALWAYS, person=person)
    await desk.call({"command": "rm -rf build"}, gated=ALWAYS)  # not even where nobody can be asked
    assert len(person.asked) == 1
    assert desk.ran == [("bash", {"command": "rm -rf build"})] * 3
    assert desk.decisions("approved", "by", "scope") == [
        (None, None, None),
        (True, "person", "session"),
        (True, "grant", "session"),
        (True, "grant", "session"),
    ]
    assert len({digest for (digest,) in desk.decisions("digest")}) == 1


@pytest.mark.parametrize(
    "other",
    [
        {"arguments": {"command": "rm -rf build "}},
        {"arguments": {"command": "rm -rf build", "timeout": 1}},
        {"arguments": {"command": "rm -rf build", "timeout": None}},
        {"source": "server"},
        {"cwd": "/elsewhere"},
        {"tool": "shell"},
    ],
)
async def test_another_call_is_asked_about(desk: GateDesk, other: dict[str, Any]):
    await desk.call(dict(RM), gated=ALWAYS, person=Person(FOR_SESSION))
    person = Person(NO)
    arguments = other.pop("arguments", {"command": "rm -rf build"})
    with pytest.raises(CallDenied):
        await desk.call(arguments, gated=ALWAYS, person=person, **other)
    assert len(person.asked) == 1
    first, *_, last = [digest for (digest,) in desk.decisions("digest")]
    assert first != last


async def test_an_approval_for_once_is_for_once(desk: GateDesk):
    person = Person(YES, NO)
    await desk.call(dict(RM), gated=ALWAYS, person=person)
    with pytest.raises(CallDenied):
        await desk.call(dict(RM), gated=ALWAYS, person=person)
    assert person.is_done


async def test_numbers_and_words_that_look_alike_are_other_arguments(desk: GateDesk):
    await desk.call({"command": "x", "timeout": 1}, gated=ALWAYS, person=Person(FOR_SESSION))
    for value in ("1", 1.0, True, [1]):
        with pytest.raises(CallDenied):
            await desk.call({"command": "x", "timeout": value}, gated=ALWAYS, person=Person(NO))


# One question at a time


async def test_one_question_is_asked_at_a_time_and_a_grant_spares_those_that_wait(desk: GateDesk):
    first, answered = anyio.Event(), anyio.Event()
    asking = []

    async def slowly(question: Question) -> Answer:
        asking.append(question.call_id)
        first.set()
        await answered.wait()
        return FOR_SESSION

    person = Person(slowly)
    async with anyio.create_task_group() as group:
        for _ in range(3):
            group.start_soon(lambda: desk.call(dict(RM), gated=ALWAYS, person=person))
        await first.wait()
        await anyio.wait_all_tasks_blocked()
        assert len(asking) == 1
        answered.set()
    assert (len(person.asked), len(desk.ran), desk.statuses) == (1, 3, ["ok"] * 3)


# Endings in between


async def test_a_call_that_is_cancelled_while_somebody_is_asked_says_so_and_the_cancellation_goes_on(desk: GateDesk):
    async def forever(question: Question) -> Answer:
        scope.cancel()
        await anyio.sleep_forever()
        return YES

    with anyio.CancelScope() as scope:
        await desk.call(dict(RM), gated=ALWAYS, person=Person(forever))
    assert scope.cancelled_caught
    assert (desk.ran, desk.statuses) == ([], ["cancelled"])
    assert desk.decisions("approved", "by") == [(None, None), (False, "cancelled")]


async def test_a_call_that_is_cancelled_while_it_waits_for_its_turn_was_not_asked_about(desk: GateDesk):
    release, first = anyio.Event(), anyio.Event()

    async def slowly(question: Question) -> Answer:
        first.set()
        await release.wait()
        return YES

    person = Person(slowly)
    async with anyio.create_task_group() as group:
        group.start_soon(lambda: desk.call(dict(RM), gated=ALWAYS, person=person))
        await first.wait()
        with anyio.move_on_after(0.01) as scope:
            await desk.call({"command": "rm b"}, gated=ALWAYS, person=person)
        assert scope.cancelled_caught
        release.set()
    assert sorted(desk.statuses) == ["cancelled", "ok"]
    assert desk.decisions("approved") == [(None,), (True,)]


async def test_a_call_that_the_host_ended_while_somebody_was_asked_does_not_run_after_the_answer(desk: GateDesk):
    def too_late(question: Question) -> Answer:
        desk.runtime.pipeline.settle_all("interrupted")
        return FOR_SESSION

    with pytest.raises(CallDenied):
        await desk.call(dict(RM), gated=ALWAYS, person=Person(too_late))
    assert (desk.ran, desk.statuses) == ([], ["interrupted"])
    with pytest.raises(CallDenied):  # and grants nothing
        await desk.call(dict(RM), gated=ALWAYS, person=Person(NO))


# The ledger


async def test_a_strict_ledger_that_cannot_write_the_question_vetoes_the_call(tmp_path: Path):
    async with gate_desk(tmp_path, strict=True) as desk:
        person = Person(YES)
        with pytest.raises(LedgerError):
            await desk.call(dict(RM), gated=ALWAYS, person=person, before=lambda opened: desk.runtime.journal.close())
        assert (person.asked, desk.ran, desk.statuses) == ([], [], ["denied"])


async def test_a_strict_ledger_that_cannot_write_the_answer_vetoes_the_call(tmp_path: Path):
    async with gate_desk(tmp_path, strict=True) as desk:

        def answers(question: Question) -> Answer:
            desk.runtime.journal.close()
            return FOR_SESSION

        with pytest.raises(LedgerError):
            await desk.call(dict(RM), gated=ALWAYS, person=Person(answers))
        assert (desk.ran, desk.statuses) == ([], ["denied"])


async def test_a_strict_ledger_that_cannot_write_does_not_swallow_a_cancellation(tmp_path: Path):
    async with gate_desk(tmp_path, strict=True) as desk:

        async def forever(question: Question) -> Answer:
            desk.runtime.journal.close()
            scope.cancel()
            await anyio.sleep_forever()
            return YES

        with anyio.CancelScope() as scope:
            await desk.call(dict(RM), gated=ALWAYS, person=Person(forever))
        assert scope.cancelled_caught
        assert desk.ran == []


async def test_a_ledger_that_is_not_strict_and_cannot_write_lets_people_decide(desk: GateDesk):
    assert (
        await desk.call(
            dict(RM), gated=ALWAYS, person=Person(YES), before=lambda opened: desk.runtime.journal.close()
        )
        == "ran"
    )


# Arguments that cannot be asked about


@pytest.mark.parametrize(
    "value",
    [float("nan"), {1, 2}, b"x", threading.Lock(), {"a": {3: object()}}],
    ids=["nan", "set", "bytes", "lock", "deep"],
)
async def test_arguments_that_json_cannot_hold_cannot_be_approved(desk: GateDesk, value: Any):
    def change(opened: Any) -> None:
        opened.call.arguments["odd"] = value

    with pytest.raises(CallDenied, match="cannot be shown to one whole"):
        await desk.call(dict(RM), gated=ALWAYS, person=Person(YES), before=change)
    assert (desk.ran, desk.statuses) == ([], ["denied"])
    assert desk.decisions("approved", "by", "digest") == [(False, "failure", None)]


async def test_arguments_that_are_nested_too_deeply_cannot_be_approved(desk: GateDesk):
    def change(opened: Any) -> None:
        nested: list[Any] = []
        for _ in range(100_000):
            nested = [nested]
        opened.call.arguments["odd"] = nested

    with pytest.raises(CallDenied, match="cannot be shown to one whole"):
        await desk.call(dict(RM), gated=ALWAYS, person=Person(YES), before=change)
    assert desk.ran == []


async def test_what_nobody_can_read_to_its_end_cannot_be_approved(desk: GateDesk):
    person = Person(YES)
    await desk.call({"command": "x" * (MOST_SHOWN - 500)}, gated=ALWAYS, person=person)
    with pytest.raises(CallDenied, match="shorter ones"):
        await desk.call({"command": "x" * MOST_SHOWN}, gated=ALWAYS, person=person)
    assert (len(person.asked), desk.statuses) == (1, ["ok", "denied"])
    assert desk.decisions("approved", "by")[-1] == (False, "length")


async def test_what_it_is_given_is_shown_with_the_action(desk: GateDesk):
    person = Person(YES)
    await desk.call({"command": "deploy"}, gated=Gated(rules=("always",), given=("deploy", "db")), person=person)
    lines = question_lines(person.asked[0], width=80)
    at = lines.index("$ deploy")
    assert lines[at : at + 3] == ["$ deploy", "It is given the credentials deploy, db.", "Asked because of:"]


# What is shown beside the action


async def test_who_wants_the_literal_action_alone_sees_no_words_of_the_model(desk: GateDesk):
    await desk.call({"command": "ls", "intent": "Look around"}, policy="require")
    person = Person(YES)
    words = {**RM, "rationale": "gone.py:3"}
    await desk.call(words, gated=Gated(rules=("always", "noted"), show="literal"), person=person)
    shown = repr(person.asked[0]._replace(situation=None))
    assert "noted" in shown
    for word in ("Look around", "Clean", "gone.py"):
        assert word not in shown


async def test_a_derived_intent_is_not_shown_as_what_the_agent_says(desk: GateDesk):
    person = Person(YES)
    derive = "read {path}".format_map
    await desk.call({"path": "a"}, tool="read", policy="derive", derive=derive, gated=ALWAYS, person=person)
    assert [event.intent for event in desk.events if event.type == "tool_execution_start"] == ["read a"]
    assert (person.asked[0].intent, person.asked[0].shows_words) == (None, True)


async def test_what_is_decided_can_be_listed(desk: GateDesk):
    await desk.call(dict(RM), gated=ALWAYS, person=Person(YES))
    with pytest.raises(CallDenied):
        await desk.call({"path": "a"}, tool="read", gated=ALWAYS, person=Person(Answer(False, note="no")))
    assert [(past.action, past.approved, past.by, past.note) for past in desk.check_in.decided] == [
        ("rm -rf build", True, "person", None),
        ("read a", False, "person", "no"),
    ]


def test_a_reason_keeps_the_spaces_of_the_piece_it_found():
    assert reason_text(Reason("deletes", "rm -rf  build\n x ")) == "deletes: rm -rf  build⟨LF⟩ x⟨SPACE⟩"
    question = Question("x", Situation("bash", None, "/p", "/p", "tau", "s"), {}, (Reason("r", "rm  'a   b'"),), "")
    assert "> r: rm  'a   b'" in question_lines(question, width=80)
