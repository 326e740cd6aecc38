"""The figures of a history, compared whole."""

from __future__ import annotations

import json
import random
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from notes_calls import past_call, past_calls

from pi_intent.past import PastCall, PastDecision, milliseconds, questions, took
from pi_intent.stats import Share, stats_of
from pi_intent.stats.values import (
    Answers,
    Before,
    CheckIns,
    Compliance,
    Failures,
    Recovery,
    Rejections,
    Spent,
    Stats,
)

NOTHING = Stats(
    calls=0,
    sessions=0,
    status={},
    rejections=Rejections(calls=Share(n=0, of=0)),
    recovery=Recovery(rounds={"1": 0, "2": 0, "3": 0, "4-5": 0, "6+": 0}, never=0, ms=0),
    failures=Failures(calls=Share(n=0, of=0), tools={}, intents=(), targets=(), complete=True),
    notes={},
    noted=Share(n=0, of=0),
    spent=Spent(intents=0, rationales=0, with_intent=0, with_rationale=0),
    compliance=Compliance(calls=Share(n=0, of=0), places={}, models={}, hosts={}, lengths={}),
    check_ins=CheckIns(calls=Share(n=0, of=0), answers=Answers(asked=0, approved=0, denied=0, waiting=0)),
)

NONE_OF_ONE = Share(n=0, of=1)

MISSING: dict[str, Any] = {
    "tool": "bash",
    "args": {"command": "pytest -q"},
    "status": "rejected",
    "codes": ["intent_missing"],
}
HISTORY: list[dict[str, Any]] = [
    {"tool": "read", "args": {"path": "a.py"}, "intent": "Find where the bound is set"},
    MISSING,
    MISSING | {"group": "g2"},  # beside the one before, in one message: one round
    MISSING,
    {"tool": "bash", "args": {"command": "pytest -q"}, "intent": "Run the tests of the pager", "status": "error"},
    {"tool": "edit", "args": {"path": "a.py"}, "intent": "Fix it", "rationale": "the failing test"},
    {"tool": "ls", "args": {}, "policy": "omit"},
    {"tool": "bash", "args": {}, "status": "rejected", "codes": ["arguments_not_json"], "model": "b-model"},
    {"tool": "read", "args": {"path": "b.py"}, "intent": "read b.py", "intent_source": "derived", "status": None},
]


def test_a_history_without_a_call_has_no_figures() -> None:
    assert stats_of([]) == NOTHING


def test_the_figures_of_a_history() -> None:
    assert stats_of(past_calls(*HISTORY)) == Stats(
        calls=9,
        sessions=1,
        status={"rejected": 4, "ok": 3, "error": 1, "open": 1},
        rejections=Rejections(
            calls=Share(n=4, of=9),
            codes={"intent_missing": 3, "arguments_not_json": 1},
            tools={
                "bash": Share(n=4, of=5),
                "read": Share(n=0, of=2),
                "edit": Share(n=0, of=1),
                "ls": Share(n=0, of=1),
            },
            models={"a-model": Share(n=3, of=8), "b-model": Share(n=1, of=1)},
        ),
        recovery=Recovery(rounds={"1": 0, "2": 1, "3": 0, "4-5": 0, "6+": 0}, never=1, ms=3000),
        failures=Failures(
            calls=Share(n=1, of=4),
            tools={
                "bash": Share(n=1, of=1),
                "edit": Share(n=0, of=1),
                "ls": Share(n=0, of=1),
                "read": Share(n=0, of=1),
            },
            intents=(Before(text="Run the tests of the pager", failed=1, ok=0),),
            targets=(Before(text="pytest -q", failed=1, ok=0),),
            complete=True,
        ),
        notes={"vague": 1},
        noted=Share(n=1, of=3),
        spent=Spent(intents=13, rationales=4, with_intent=3, with_rationale=1),
        compliance=Compliance(
            calls=Share(n=3, of=7),
            places={"1-5": Share(n=2, of=5), "6-10": Share(n=1, of=2)},
            models={"a-model": {"1-5": Share(n=2, of=5), "6-10": Share(n=1, of=2)}},
            hosts={"tau": Share(n=3, of=7)},
            lengths={"6-10": Share(n=3, of=7)},
        ),
        check_ins=CheckIns(calls=Share(n=0, of=9), answers=Answers(asked=0, approved=0, denied=0, waiting=0)),
    )


def test_calls_that_are_not_wanted_keep_their_places_and_are_not_counted() -> None:
    calls = past_calls(
        *[{"tool": "read", "args": {"path": f"{n}.py"}, "intent": f"See {n}.py's use"} for n in range(7)]
    )
    found = stats_of(calls, wanted=lambda call: call.seq > 5)
    assert found.calls == 2
    assert found.compliance.places == {"6-10": Share(n=2, of=2)}
    assert found.compliance.lengths == {"6-10": Share(n=2, of=2)}


def test_a_promise_that_nothing_kept_is_counted_once_the_session_is_known() -> None:
    read = {"tool": "read", "args": {"path": "a.py"}, "intent": "Run the test suite"}
    test = {"tool": "bash", "args": {"command": "pytest"}, "intent": "See the failures of the pager"}
    assert stats_of(past_calls(read)).notes == {"unfulfilled": 1}
    assert stats_of(past_calls(read)).noted == Share(n=1, of=1)
    assert stats_of(past_calls(read, test)).notes == {}
    assert stats_of(past_calls(read), wanted=lambda call: False).notes == {}


def test_rejections_are_followed_by_session_agent_and_tool() -> None:
    def rejected(place: int, **more: str) -> PastCall:
        return past_call(place, MISSING | more)

    well = past_call(9, {"tool": "bash", "args": {"command": "ls"}, "intent": "See the sources"})
    assert stats_of([rejected(1), well]).recovery.rounds["1"] == 1
    for other in ({"session": "s2"}, {"agent": "child"}, {"tool": "read"}):
        recovery = stats_of([rejected(1, **other), well]).recovery
        assert (recovery.never, sum(recovery.rounds.values())) == (1, 0)
    assert stats_of([*(rejected(place) for place in range(1, 8)), well]).recovery.rounds["6+"] == 1


@pytest.mark.parametrize("seed", range(5))
def test_how_sessions_lie_between_one_another_changes_nothing(seed: int) -> None:
    sessions = [
        [call._replace(session=name, id=f"{name}{call.id}") for call in past_calls(*HISTORY)] for name in "abc"
    ]
    one_after_the_other = [call for session in sessions for call in session]
    mixed: list[PastCall] = []
    choose = random.Random(seed)
    while any(sessions):
        mixed.append(choose.choice([session for session in sessions if session]).pop(0))
    first, second = stats_of(one_after_the_other), stats_of(mixed)
    assert first == second
    assert json.loads(json.dumps(asdict(first)))["calls"] == 3 * len(HISTORY)


def test_notes_can_be_left_out() -> None:
    with_notes, without = stats_of(past_calls(*HISTORY)), stats_of(past_calls(*HISTORY), with_notes=False)
    assert without == replace(with_notes, notes={}, noted=Share(n=0, of=0))


def test_differences_of_times_are_those_of_the_calendar() -> None:
    moment = datetime(1999, 12, 31, 23, 59, 59, 999_000, tzinfo=UTC)
    later = [moment + timedelta(days=days, milliseconds=days) for days in (0, 1, 60, 61, 366, 1461, 36_525)]
    stated = [time.isoformat(timespec="milliseconds").replace("+00:00", "Z") for time in later]
    differences = [milliseconds(text) - milliseconds(stated[0]) for text in stated]
    assert differences == [round((time - moment).total_seconds() * 1000) for time in later]
    assert milliseconds("soon") == milliseconds("") == 0


def a_decision(
    approved: bool | None, second: int, *reasons: str, by: str | None = None, number: int = 1
) -> PastDecision:
    return PastDecision(number, f"2026-01-01T00:00:{second:02d}.000Z", reasons or ("tier exec",), approved, by)


def test_what_a_person_was_asked_is_counted_by_the_last_word() -> None:
    bash: dict[str, Any] = {"tool": "bash", "args": {"command": "rm -rf build"}, "intent": "Tidy up the build"}
    deletes = ("deletes: rm -rf build", "tier exec", "deletes: rm -rf dist")
    calls = past_calls(
        {"tool": "read", "args": {"path": "a.py"}, "intent": "See a.py's use"},
        bash | {"decisions": (a_decision(None, 0, *deletes), a_decision(True, 12, *deletes, by="person"))},
        bash | {"decisions": (a_decision(True, 20, *deletes, by="grant"),)},
        bash | {"decisions": (a_decision(False, 21, by="nobody"),)},
        bash
        | {
            "tool_source": "files",
            "decisions": (
                a_decision(None, 22),
                a_decision(True, 24, by="person"),
                a_decision(None, 25, number=2),
                a_decision(False, 30, by="person", number=2),
            ),
        },
        bash | {"decisions": (a_decision(None, 40),), "status": None},
    )
    assert stats_of(calls).check_ins == CheckIns(
        calls=Share(n=5, of=6),
        answers=Answers(asked=5, approved=2, denied=2, waiting=1),
        by={"person": 2, "grant": 1, "nobody": 1},
        rules={
            "tier exec": Answers(asked=5, approved=2, denied=2, waiting=1),
            "deletes": Answers(asked=2, approved=2, denied=0, waiting=0),
        },
        tools={
            "bash": Answers(asked=4, approved=2, denied=1, waiting=1),
            "files/bash": Answers(asked=1, approved=0, denied=1, waiting=0),
        },
        answered=3,
        median_ms=5000,
    )


@pytest.mark.parametrize(
    ("times", "median"), [([], None), ([0], 0), ([7], 7), ([12_345], 12_000), ([1, 2, 900], 2), ([1, 3], 1)]
)
def test_half_of_the_answers_took_no_longer(times: list[int], median: int | None) -> None:
    asked = "2026-01-01T00:00:00.000Z"
    answers = [f"2026-01-01T00:00:{ms // 1000:02d}.{ms % 1000:03d}Z" for ms in times]
    calls = past_calls(
        *(
            {
                "tool": "bash",
                "args": {},
                "decisions": (PastDecision(1, asked, (), None, None), PastDecision(1, ts, (), True, by)),
            }
            for ts in answers
            for by in ("person", "application", "cancelled")
        )
    )
    found = stats_of(calls).check_ins
    assert (found.answered, found.median_ms) == (2 * len(times), median)


def test_a_question_is_told_from_an_answer_that_needed_none() -> None:
    asked, yes, no = a_decision(None, 5), a_decision(True, 7, by="person"), a_decision(False, 9, by="person")
    assert questions([]) == []
    assert questions([yes]) == [(None, yes)]
    assert questions([asked, yes, asked, no]) == [(asked, yes), (asked, no)]
    assert questions([asked, asked, yes, no]) == [(asked, None), (asked, yes), (None, no)]
    assert (took(asked, yes), took(None, yes), took(asked, None), took(yes, asked)) == (2000, None, None, None)
