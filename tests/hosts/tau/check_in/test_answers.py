"""A person is asked in Tau's own screen before a call runs, and what they answer holds."""

from __future__ import annotations

from typing import Any

import pytest
from tau_asking import TOUCH, decided, ran
from tau_desk import Desk, calls, says
from tau_screen import asked, choose, running, screen, settle, start, type_in, write_note

from pi_intent.hosts.tau.dialog import QuestionScreen


def answers(session: Any) -> list[str]:
    """What the model reads as the results of its calls."""
    return [message.text for message in session.messages if message.role == "toolResult"]


async def test_a_call_runs_when_it_is_approved_and_is_asked_about_each_time(desk: Desk):
    session = await desk.session([calls(TOUCH), calls(TOUCH), says("done")])
    async with running(session) as (pilot, app):
        await start(pilot, app)
        first = await asked(pilot, app)
        assert ran(desk) == 0
        await choose(pilot, app, "Approve once")
        await asked(pilot, app, after=first)
        assert ran(desk) == 1
        await choose(pilot, app, "Approve once")
        await settle(pilot, app)
        assert not isinstance(app.screen, QuestionScreen)
    assert (ran(desk), desk.statuses) == (2, [("bash", "ok")] * 2)
    assert decided(desk, "approved", "by", "scope") == [(None, None, None), (True, "person", "once")] * 2
    shown = decided(desk, "shown")[1][0]
    assert shown.startswith(f"Wants to run bash in {desk.project}\n$ echo x >> ran\nAsked because of:\n> always\n")


async def test_an_approval_for_the_session_spares_the_same_call_and_no_other(desk: Desk):
    other = ("bash", {"intent": "Leave a trace", "command": "echo y >> ran"})
    again = ("bash", {"intent": "In other words", "rationale": "ran:1", "command": "echo x >> ran"})
    session = await desk.session([calls(TOUCH), calls(again), calls(other), says("done")])
    async with running(session) as (pilot, app):
        await start(pilot, app)
        first = await asked(pilot, app)
        await choose(pilot, app, "Approve this call for the session")
        second = await asked(pilot, app, after=first)
        assert "$ echo y >> ran" in screen(app)
        assert ran(desk) == 2
        await choose(pilot, app, "Deny")
        await settle(pilot, app)
        assert second is not first
    assert desk.statuses == [("bash", "ok"), ("bash", "ok"), ("bash", "denied")]
    assert [by for (by,) in decided(desk, "by") if by] == ["person", "grant", "person"]


@pytest.mark.parametrize("keys", [["enter"], ["escape"]], ids=lambda keys: keys[0])
async def test_what_closes_the_dialog_without_a_choice_denies(desk: Desk, keys: list[str]):
    session = await desk.session([calls(TOUCH), says("done")])
    async with running(session) as (pilot, app):
        await start(pilot, app)
        await asked(pilot, app)
        await pilot.press(*keys)
        await settle(pilot, app)
        assert "done" in screen(app)
    assert (ran(desk), desk.statuses) == (0, [("bash", "denied")])
    (text,) = answers(session)
    assert text.startswith("Nothing was executed: this call of bash was not approved.")


async def test_the_model_reads_the_note_of_who_denies(desk: Desk):
    session = await desk.session([calls(TOUCH), says("done")])
    async with running(session) as (pilot, app):
        await start(pilot, app)
        await asked(pilot, app)
        await write_note(pilot, app, *"use git", "enter")
        await settle(pilot, app)
    assert answers(session) == [
        "Nothing was executed: this call of bash was not approved; do not try it again in other words. "
        "The answer was: use git"
    ]
    assert decided(desk, "approved", "note")[-1] == (False, "use git")
    assert ran(desk) == 0


async def test_who_writes_no_note_after_all_is_asked_again(desk: Desk):
    session = await desk.session([calls(TOUCH), says("done")])
    async with running(session) as (pilot, app):
        await start(pilot, app)
        first = await asked(pilot, app)
        await write_note(pilot, app, *"use", "escape")
        await asked(pilot, app, after=first)
        assert ran(desk) == 0
        await choose(pilot, app, "Approve once")
        await settle(pilot, app)
    assert (ran(desk), desk.statuses) == (1, [("bash", "ok")])
    assert decided(desk, "approved", "note")[1:] == [(True, None)]


async def test_an_empty_note_is_a_denial_like_any_other(desk: Desk):
    session = await desk.session([calls(TOUCH), says("done")])
    async with running(session) as (pilot, app):
        await start(pilot, app)
        await asked(pilot, app)
        await write_note(pilot, app, "enter")
        await settle(pilot, app)
    assert decided(desk, "approved", "note")[-1] == (False, None)


# Nobody to ask


@pytest.mark.parametrize("unattended", ["deny", "defer"])
async def test_where_nobody_watches_the_call_does_not_run_and_the_model_learns_how_to_go_on(
    desk: Desk, unattended: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("PI_INTENT_UNATTENDED", unattended)
    (end,) = await desk.run(calls(TOUCH))
    assert end.is_error
    told = {"deny": "nobody can be asked in this session", "defer": "waits for a person's approval (always)"}
    assert told[unattended] in end.result.text
    assert (ran(desk), desk.statuses) == (0, [("bash", "denied")])
    assert decided(desk, "approved", "by") == [{"deny": (False, "nobody"), "defer": (None, None)}[unattended]]


async def test_a_call_that_is_rejected_asks_nobody(desk: Desk):
    session = await desk.session([calls(("bash", {"command": "echo x >> ran"})), says("done")])
    async with running(session) as (pilot, app):
        await type_in(pilot, app, "go")
    assert (ran(desk), desk.statuses) == (0, [("bash", "rejected")])
    assert decided(desk, "by") == []


# Several calls


async def test_calls_of_one_message_are_asked_about_one_after_another(desk: Desk):
    turn = calls(*[("bash", {"intent": f"Do {number}", "command": f"echo {number} >> ran"}) for number in range(4)])
    last = None
    async with running(await desk.session([turn, says("done")])) as (pilot, app):
        await start(pilot, app)
        for number, option in enumerate(["Deny", "Approve once", "Deny", "Approve once"]):
            last = await asked(pilot, app, after=last)
            assert f"$ echo {number} >> ran" in screen(app)
            assert len([each for each in app.screen_stack if isinstance(each, QuestionScreen)]) == 1
            await choose(pilot, app, option)
        await settle(pilot, app)
    assert (desk.project / "ran").read_text() == "1\n3\n"
    assert [status for _, status in desk.statuses] == ["denied", "ok", "denied", "ok"]
