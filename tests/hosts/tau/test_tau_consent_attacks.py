"""What attacks whoever is asked does nothing on Tau's real screen: each line stands there as it was drawn."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from consent_attacks import ATTACKS, question_of
from tau_desk import Desk, says
from tau_screen import actions, asked, running, screen

from pi_intent.hosts.tau.dialog import Drawn, QuestionText, ask_on_screen
from pi_intent.render.check_in import action_length, question_lines

OPTIONS = ["Deny", "Approve once", "Approve this call for the session", "Deny, and tell the agent why"]
APPROVING = frozenset(OPTIONS[1:3])
ON_SCREEN = [attack for attack in ATTACKS if attack.kind == "attack"]


def rows(app: Any, text: QuestionText) -> list[str]:
    """What stands on the screen where the question does."""
    region = text.region
    strips = app.screen._compositor.render_strips()[region.y : region.bottom]
    for strip in strips:
        for segment in strip:
            assert segment.control is None
            assert segment.style is None or segment.style.link is None
    width = text.scrollable_content_region.width  # without the scroll bar
    return [strip.crop(region.x, region.x + width).text.rstrip() for strip in strips]


@pytest.mark.parametrize("size", [(80, 24), (60, 20), (120, 50)], ids=lambda size: f"{size[0]}x{size[1]}")
async def test_every_line_stands_on_the_screen_and_nothing_else_changes(
    desk: Desk, size: tuple[int, int], capsys: Any
):
    async with running(await desk.session([says("done")]), size=size) as (pilot, app):
        title, last = app.title, None
        for attack in ON_SCREEN[[80, 60, 120].index(size[0]) :: 3]:
            question = question_of(attack)
            choice = asyncio.create_task(
                ask_on_screen(
                    app,
                    lambda width, question=question: Drawn(
                        question_lines(question, width=width), action_length(question, width=width)
                    ),
                    OPTIONS,
                    approving=APPROVING,
                )
            )
            last = dialog = await asked(pilot, app, after=last)
            text = dialog.query_one(QuestionText)
            await pilot.press("down", "enter")
            assert app.screen is dialog or dialog.seen >= dialog.drawn.action, attack.name
            shown: list[str] = []
            while app.screen is dialog:
                await pilot.pause()
                top = round(text.scroll_y)
                drawn = dialog.drawn.lines[top : top + text.size.height]
                assert rows(app, text) == [line.rstrip() for line in drawn], attack.name
                shown += dialog.drawn.lines[len(shown) : top + text.size.height]
                for option in OPTIONS:
                    assert option in screen(app), attack.name
                if len(shown) == len(dialog.drawn.lines):
                    await pilot.press("escape")
                    await pilot.pause()
                else:
                    await pilot.press("pagedown")
            chosen, seen = await choice
            assert seen.of == len(dialog.drawn.lines)
            assert (chosen, seen.lines) == (None, seen.of) or (
                chosen == "Approve once" and seen.lines >= dialog.drawn.action
            )
            assert (app.title, app.is_running) == (title, True)
            assert not [action for action in actions(app) if "quit" in str(action) or "bell" in str(action)]
        assert len(app.screen_stack) == 1
    told = capsys.readouterr().out
    for trace in ("\x1b]0;", "\x1b]2;", "\x1b]52", "owned"):
        assert trace not in told
