"""What ends a run, a session or Tau leaves no question open, and no call that nobody approved."""

from __future__ import annotations

import asyncio

import pytest
from tau_asking import TOUCH, decided, ran
from tau_desk import Desk, calls, says
from tau_screen import asked, choose, managed, running, settle, start, type_in

from pi_intent.hosts.tau.dialog import QuestionScreen


@pytest.mark.parametrize("how", ["interrupt", "cancel", "both with a note"])
async def test_a_run_that_is_stopped_takes_the_dialog_with_it_and_the_next_prompt_works(desk: Desk, how: str):
    swallowed = [says("never heard")] if how == "cancel" else []  # Tau asks the model once more before it stops
    session = await desk.session([calls(TOUCH, TOUCH), *swallowed, calls(TOUCH), says("done")])
    async with running(session) as (pilot, app):
        await start(pilot, app)
        first = await asked(pilot, app)
        if how == "both with a note":
            await choose(pilot, app, "Deny, and tell")
            await pilot.pause(0.1)
        if how == "cancel":
            session.cancel()
        else:
            app.action_cancel()
        for _ in range(200):
            await pilot.pause(0.02)
            if len(app.screen_stack) == 1 and not session.is_running:
                break
        assert len(app.screen_stack) == 1
        await settle(pilot, app)
        assert (ran(desk), {status for _, status in desk.statuses}) == (0, {"cancelled"})
        await start(pilot, app, "again")
        await asked(pilot, app, after=first)
        await choose(pilot, app, "Approve once")
        await settle(pilot, app)
    assert ran(desk) == 1
    assert desk.statuses[-1] == ("bash", "ok")
    assert decided(desk, "approved", "by")[1] == (False, "cancelled")


async def test_a_dialog_under_another_one_goes_when_that_does(desk: Desk):
    session = await desk.session([calls(TOUCH), says("done")])
    async with running(session) as (pilot, app):
        await start(pilot, app)
        await asked(pilot, app)
        other = asyncio.create_task(session.extension_runtime.ui.confirm("Other", "Sure?"))
        await pilot.pause(0.1)
        app.action_cancel()
        await pilot.pause(0.2)
        assert not isinstance(app.screen, QuestionScreen)
        await pilot.press("escape")
        await pilot.pause(0.2)
        assert len(app.screen_stack) == 1
        assert await other is False
    assert ran(desk) == 0


async def test_who_quits_while_asked_has_run_nothing(desk: Desk):
    session = await desk.session([calls(TOUCH), says("done")])
    async with running(session) as (pilot, app):
        await start(pilot, app)
        await asked(pilot, app)
        await pilot.press("ctrl+d")
        await pilot.pause(0.2)
    await session.aclose()
    assert ran(desk) == 0
    assert [status for _, status in desk.statuses] in (["cancelled"], ["interrupted"])


async def test_reload_and_new_keep_asking(desk: Desk):
    turns = [calls(TOUCH), says("one")] * 3
    _, _, session = await managed(desk, turns)
    last = None
    async with running(session) as (pilot, app):
        for command in (None, "/reload", "/new"):
            if command is not None:
                await type_in(pilot, app, command)
            await start(pilot, app)
            last = await asked(pilot, app, after=last)
            await choose(pilot, app, "Approve once")
            await settle(pilot, app)
    assert ran(desk) == 3


async def test_a_grant_outlives_a_reload_and_not_the_session(desk: Desk):
    _, _, session = await managed(desk, [calls(TOUCH), says("one")] * 3)
    async with running(session) as (pilot, app):
        await start(pilot, app)
        first = await asked(pilot, app)
        await choose(pilot, app, "Approve this call")
        await settle(pilot, app)
        await type_in(pilot, app, "/reload")
        await type_in(pilot, app, "go")
        assert ran(desk) == 2
        await type_in(pilot, app, "/new")
        await start(pilot, app)
        await asked(pilot, app, after=first)
        await pilot.press("escape")
        await settle(pilot, app)
    assert ran(desk) == 2


@pytest.mark.parametrize("change", ["reload", "new_session"])
async def test_tau_itself_changes_no_session_while_somebody_is_asked(desk: Desk, change: str):
    _, _, session = await managed(desk, [calls(TOUCH), says("one")])
    async with running(session) as (pilot, app):
        await start(pilot, app)
        await asked(pilot, app)
        with pytest.raises(RuntimeError, match="while Tau is working"):
            await getattr(session, change)()
        await choose(pilot, app, "Approve once")
        await settle(pilot, app)
    assert (ran(desk), desk.statuses) == (1, [("bash", "ok")])
