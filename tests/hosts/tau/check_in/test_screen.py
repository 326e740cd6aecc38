"""All of a question can be read on Tau's screen, and nothing else than it."""

from __future__ import annotations

import re
from typing import Any

import pytest
from tau_asking import TOUCH, ran
from tau_coding.tui.app import TauTuiApp
from tau_desk import Desk, calls, says
from tau_screen import actions, asked, choose, running, screen, settle, start

EDIT = ("edit", {"intent": "Return 3", "path": "a.py", "edits": [{"oldText": "return 1", "newText": "return 3"}]})
CLEAN = (
    "bash",
    {
        "intent": "Cleaning temporary caches \x1b[31m[bold]and nothing else[/bold]",
        "rationale": "a.py:2 and docs/gone.md",
        "command": "rm -rf build ~/.cache\ncat > note.txt <<'EOF'\n\tAsked because of: nothing\nEOF",
    },
)
WRITE = ("write", {"intent": "Start b", "path": "src/b.py", "content": "def g():\n    return '検索'\n"})


@pytest.mark.parametrize("size", [(80, 24), (60, 20), (120, 50)], ids=lambda size: f"{size[0]}x{size[1]}")
async def test_the_screens(desk: Desk, snapshot: Any, size: tuple[int, int]):
    (desk.project / "a.py").write_text("def f():\n    return 1\n")
    look = ("read", {"intent": "See what f returns", "path": "a.py", "offset": 1})
    turns = [calls(call) for call in (look, CLEAN, WRITE, EDIT)]
    drawn, last = [], None
    async with running(await desk.session([*turns, says("done")]), size=size) as (pilot, app):
        await start(pilot, app)
        for _ in turns:
            last = await asked(pilot, app, after=last)
            drawn.append(screen(app))
            while last.seen < len(last.drawn.lines):
                await pilot.press("pagedown")
                await pilot.pause(0.05)
                drawn.append(screen(app))
            assert max(map(len, screen(app).splitlines())) <= size[0]
            await choose(pilot, app, "Deny" if last.drawn.lines[1].startswith("$ rm") else "Approve once")
        await settle(pilot, app)
    assert re.sub("/tmp/ask-.{8}/", "/tmp/ask-________/", "\n".join(drawn)) == snapshot
    assert [status for _, status in desk.statuses] == ["ok", "denied", "ok", "ok"]


async def test_an_action_that_is_longer_than_the_screen_is_read_before_it_is_approved(desk: Desk):
    command = "\n".join([*(f"echo {number} > /dev/null" for number in range(60)), "echo x >> ran", *["true"] * 60])
    session = await desk.session([calls(("bash", {"intent": "Count", "command": command})), says("done")])
    async with running(session, size=(80, 24)) as (pilot, app):
        await start(pilot, app)
        dialog = await asked(pilot, app)
        shown = screen(app)
        await pilot.press("down")
        for _ in range(40):
            if dialog.seen >= dialog.drawn.action:
                break
            await pilot.press("enter", "enter")
            await pilot.pause(0.05)
            assert (app.screen, ran(desk)) == (dialog, 0)
            assert "Read the whole action first · PageDown: " in screen(app)
            await pilot.press("pagedown")
            await pilot.pause(0.05)
            shown += screen(app)
        for line in command.splitlines():
            assert f"$ {line}" in shown
        await pilot.press("enter")
        await settle(pilot, app)
    assert (ran(desk), desk.statuses) == (1, [("bash", "ok")])


async def test_what_was_jumped_over_was_not_read(desk: Desk):
    command = "\n".join(["true"] * 200)
    session = await desk.session([calls(("bash", {"intent": "Count", "command": command})), says("done")])
    async with running(session, size=(80, 24)) as (pilot, app):
        await start(pilot, app)
        dialog = await asked(pilot, app)
        seen = dialog.seen
        text = dialog.query_one("#question")
        text.scroll_to(y=150, animate=False)  # as who drags the bar
        await pilot.pause(0.1)
        assert dialog.seen == seen
        text.scroll_to(y=seen, animate=False)
        await pilot.pause(0.1)
        assert dialog.seen > seen
        await pilot.press("escape")
        await settle(pilot, app)


async def test_a_screen_that_changes_its_size_shows_the_question_anew(desk: Desk):
    long = ("bash", {"intent": "Long", "command": "echo " + "x" * 200})
    session = await desk.session([calls(long), says("done")])
    async with running(session, size=(100, 30)) as (pilot, app):
        await start(pilot, app)
        dialog = await asked(pilot, app)
        wide = list(dialog.drawn.lines)
        await pilot.resize_terminal(60, 20)
        await pilot.pause(0.2)
        assert len(dialog.drawn.lines) > len(wide)
        assert all(line in screen(app) for line in dialog.drawn.lines[:5])
        await pilot.resize_terminal(22, 20)
        await pilot.pause(0.2)
        await choose(pilot, app, "Approve once")
        await pilot.pause(0.2)
        assert app.screen is dialog
        assert "Make the screen" in screen(app)
        await pilot.resize_terminal(80, 8)
        await pilot.pause(0.2)
        await pilot.press("enter")
        await pilot.pause(0.2)
        assert app.screen is dialog
        await pilot.resize_terminal(80, 30)
        await pilot.pause(0.2)
        await pilot.press("enter")
        await settle(pilot, app)
    assert desk.statuses == [("bash", "ok")]


async def test_nothing_in_a_question_can_be_clicked_or_hurts_the_screen(desk: Desk, capsys: Any):
    hostile = "\x1b]0;pwned\x07\x1b[2J[@click=app.quit]here[/] [bold]x[/bold] \u202egnp.exe"
    session = await desk.session([calls(("bash", {"intent": hostile, "command": f"true # {hostile}"})), says("done")])
    async with running(session, size=(100, 30)) as (pilot, app):
        title = app.title
        await start(pilot, app)
        await asked(pilot, app)
        shown = screen(app)
        assert "[@click=app.quit]here[/] [bold]x[/bold]" in shown
        assert "⟨ESC⟩]0;pwned⟨BEL⟩⟨ESC⟩[2J" in shown
        assert "\x1b" not in shown
        assert "\u202e" not in shown
        assert not [action for action in actions(app) if "quit" in str(action)]
        await pilot.press("escape")
        await settle(pilot, app)
        assert (app.title, app.is_running) == (title, True)
    assert "pwned" not in capsys.readouterr().out.replace("⟨ESC⟩]0;pwned", "")


async def test_half_a_secret_at_the_end_of_a_line_is_kept_out_of_the_ledger_too(desk: Desk):
    for padding in range(0, 48, 12):
        secret = "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4xY7zA0cD3fG6"
        command = f"echo {'x' * padding} Authorization: Bearer {secret}"
        session = await desk.session([calls(("bash", {"intent": "Send", "command": command})), says("done")])
        async with running(session, size=(60, 30)) as (pilot, app):
            await start(pilot, app)
            await asked(pilot, app)
            await choose(pilot, app, "Approve once")
            await settle(pilot, app)
    kept = "\n".join(path.read_text() for path in desk.segments)
    assert kept.count('"shown":"Wants to run') == 4
    for at in range(4, 34, 3):
        assert secret[at : at + 6] not in kept


async def test_a_screen_that_takes_no_dialog_of_ours_is_asked_page_by_page(desk: Desk):
    command = "\n".join([*["true"] * 30, "echo x >> ran"])
    session = await desk.session([calls(("bash", {"intent": "Count", "command": command})), says("done")])
    await session.emit_pending_session_start()

    class Screen:
        """A frontend of somebody else, which offers a choice and nothing more."""

        has_ui, supports_components, supports_sidebar = True, False, False
        titles: list[str] = []

        def __getattr__(self, name: str) -> Any:
            return lambda *args, **named: None

        async def select(self, title: str, options: Any, **more: Any) -> str | None:
            self.titles.append(title)
            return "Read on" if "Read on" in options else "Approve once"

    frontend = Screen()
    session.extension_runtime.set_ui_bridge(frontend)  # type: ignore[arg-type]
    async for _ in session.prompt("go"):
        pass
    assert (ran(desk), desk.statuses) == (1, [("bash", "ok")])
    assert len(frontend.titles) == 4
    assert "\n".join(frontend.titles).count("$ true") == 30


async def test_no_notice_lies_over_a_question(desk: Desk):
    session = await desk.session([calls(TOUCH), says("done")])
    app = TauTuiApp(session)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await settle(pilot, app)
        await start(pilot, app)
        await asked(pilot, app)
        app.notify("Something else of importance", timeout=60)
        await pilot.pause(0.3)
        assert "Something else" not in screen(app)
        assert "$ echo x >> ran" in screen(app)
        await choose(pilot, app, "Deny")
        await settle(pilot, app)
        assert "Something else" in screen(app)
