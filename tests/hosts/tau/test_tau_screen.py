"""What a person sees in Tau's own screen."""

from __future__ import annotations

import pytest
from tau_agent.session import JsonlSessionStorage
from tau_desk import Desk, calls, says
from tau_screen import actions, managed, running, screen, settle, type_in

SIGN = "intents on · /intent · require · read, write, edit, bash"


async def test_rows_show_the_intent_first_and_the_real_target_under_it(desk: Desk):
    (desk.project / "a.py").write_text("x = 1\n")
    turn = calls(
        ("read", {"intent": "See what x is", "path": "a.py"}),
        ("write", {"intent": "Add b", "path": "src/b.py", "content": "y"}),
        ("edit", {"intent": "Set x", "path": "a.py", "edits": [{"oldText": "1", "newText": "2"}]}),
        ("bash", {"intent": "Run two things", "command": "true\necho two"}),
        ("bash", {"command": "touch never"}),
    )
    async with running(await desk.session([turn, says("done")])) as (pilot, app):
        await type_in(pilot, app, "go")
        rows = [line.strip(" ▎│┃▌▊") for line in screen(app).splitlines()]
        text = "\n".join(line.strip() for line in rows if line.strip())
        for expected in (
            ["→ See what x is", "read a.py"],
            ["→ Add b", "write src/b.py"],
            ["→ Set x", "edit a.py"],
            ["→ Run two things", "$ true", "echo two"],
            ["→ $ touch never"],
        ):
            assert any(
                all(want in line for want, line in zip(expected, window, strict=True))
                for window in zip(*(text.splitlines()[n:] for n in range(len(expected))), strict=False)
            ), (expected, text)
        assert SIGN in text


HOSTILE = "Look \x1b]0;pwned\x07\x1b[2J[@click=app.quit]here[/] [bold]now[/bold] \u202egnp.exe " + "x" * 100_000


async def test_nothing_a_model_writes_can_hurt_the_screen(desk: Desk, capsys):
    turn = calls(
        ("bash", {"intent": HOSTILE, "command": "true # \x1b]0;pwned\x07[@click=app.quit]x[/]"}),
        ("read", {"intent": HOSTILE, "path": "\x1b]0;pwned\x07[@click=app.quit]x[/]"}),
        ("bash", {"command": HOSTILE}),
    )
    async with running(await desk.session([turn, says("done")])) as (pilot, app):
        title = app.title
        await type_in(pilot, app, "go")
        await type_in(pilot, app, "/intent")
        shown = screen(app)
        assert "[@click=app.quit]here[/] [bold]now[/bold]" in shown
        assert "\x1b" not in shown
        assert "\u202e" not in shown
        assert not [action for action in actions(app) if "quit" in str(action)]
        assert app.title == title
        await pilot.press("ctrl+o")
        await pilot.pause(0.1)
        assert "\x1b" not in screen(app)
        assert app.is_running
    assert "pwned" not in capsys.readouterr().out


async def test_rows_and_sign_are_ours_after_reload_new_and_resume(desk: Desk):
    turn = calls(("bash", {"intent": "Say hello", "command": "echo hello"}))
    _, record, session = await managed(
        desk, [turn, says("one"), turn, says("two"), turn, says("three"), turn, says("4")]
    )
    async with running(session) as (pilot, app):
        await type_in(pilot, app, "go")
        assert "→ Say hello" in screen(app)
        for command in ("/reload", "/new", f"/resume {record.id}"):
            await type_in(pilot, app, command)
            await type_in(pilot, app, "go")
            shown = screen(app)
            assert "→ Say hello" in shown, command
            assert "$ echo hello" in shown, command
            assert SIGN in shown, command
    assert [status for _, status in desk.statuses] == ["ok"] * 4
    assert {start.session_id for start in desk.starts} >= {record.id}


async def test_a_restored_session_draws_the_rows_that_it_had(desk: Desk):
    turn = calls(("bash", {"intent": "Say hello", "command": "echo hello"}))
    manager, record, session = await managed(desk, [turn, says("one")])
    async for _ in session.prompt("go"):
        pass
    await session.aclose()
    again = await desk.session(
        [], session_manager=manager, session_id=record.id, storage=JsonlSessionStorage(record.path)
    )
    async with running(again) as (_, app):
        assert "→ Say hello" in screen(app)
        assert "$ echo hello" in screen(app)


async def test_escape_ends_the_running_call_and_its_sibling_once(desk: Desk):
    turn = calls(
        ("bash", {"intent": "Wait", "command": "touch started; sleep 20"}),
        ("bash", {"intent": "Come after", "command": "touch later"}),
    )
    async with running(await desk.session([turn, says("done")])) as (pilot, app):
        prompt = app.query_one("#prompt")
        prompt.value = "go"
        await pilot.press("enter")
        for _ in range(500):
            await pilot.pause(0.01)
            if (desk.project / "started").exists():
                break
        await pilot.press("escape")
        await settle(pilot, app)
    assert desk.statuses == [("bash", "cancelled"), ("bash", "cancelled")]
    assert not (desk.project / "later").exists()


async def test_choosing_a_policy_changes_the_sign(desk: Desk):
    async with running(await desk.session([says("x")])) as (pilot, app):
        await type_in(pilot, app, "/intent off")
        assert "intents, for this session: off" in screen(app)
        await pilot.press("escape")
        await pilot.pause(0.1)
        assert "intents on · /intent · asked for, not required · read, write, edit, bash" in screen(app)


async def test_a_skill_keeps_taus_own_row(desk: Desk):
    skill = desk.home / "skills" / "greet" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: greet\ndescription: Says hello\n---\nSay hello.\n")
    turn = calls(("read", {"intent": "Learn to greet", "path": str(skill)}))
    async with running(await desk.session([turn, says("done")])) as (pilot, app):
        await type_in(pilot, app, "go")
        assert "Loading skill: greet" in screen(app)
    assert desk.statuses == [("read", "ok")]


@pytest.mark.parametrize("size", [(40, 20), (80, 24)])
async def test_a_small_screen_still_shows_intent_and_target(desk: Desk, size):
    turn = calls(("bash", {"intent": "Say hello", "command": "echo hello"}))
    async with running(await desk.session([turn, says("done")]), size=size) as (pilot, app):
        await type_in(pilot, app, "go")
        assert "Say hello" in screen(app)
        assert "$ echo hello" in screen(app)


async def test_a_person_who_watches_is_told_when_a_tool_is_stuck(desk: Desk):
    silent = calls(("bash", {"command": "true"}))
    async with running(await desk.session([silent, silent, silent, silent, says("done")])) as (pilot, app):
        await type_in(pilot, app, "go")
        assert desk.statuses == [("bash", "rejected")] * 4
        told = [str(note.message) for note in app._notifications]
        assert len([message for message in told if "refused 3 rounds in a row" in message]) == 1
        assert any("/intent adaptive" in message for message in told)
