"""A person is asked in Tau's own screen before a call runs, about what really runs."""

from __future__ import annotations

import asyncio
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tau_coding.extensions.runtime import ExtensionRuntime
from tau_coding.tui.app import TauTuiApp
from tau_desk import Desk, calls, says
from tau_screen import actions, asked, choose, managed, running, screen, settle, start, type_in

from pi_intent.gates.declared import PROCESS
from pi_intent.hosts.tau.dialog import QuestionScreen

TOUCH = ("bash", {"intent": "Leave a trace", "command": "echo x >> ran"})


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """A folder whose name is always as long: it stands in the question."""
    folder = Path(tempfile.mkdtemp(prefix="ask-", dir="/tmp"))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(autouse=True)
def always(monkeypatch: pytest.MonkeyPatch, desk: Desk) -> Iterator[None]:
    monkeypatch.setenv("PI_INTENT_CHECK_IN", "always")
    monkeypatch.setenv("TEXTUAL_ANIMATIONS", "none")
    yield
    for declared in (PROCESS._asked, PROCESS._tiers):
        declared.clear()


def ran(desk: Desk) -> int:
    path = desk.project / "ran"
    return len(path.read_text().splitlines()) if path.exists() else 0


def answers(session: Any) -> list[str]:
    """What the model reads as the results of its calls."""
    return [message.text for message in session.messages if message.role == "toolResult"]


def decided(desk: Desk, *names: str) -> list[tuple[Any, ...]]:
    return [tuple(record[name] for name in names) for record in desk.records if record["t"] == "decision"]


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
        await choose(pilot, app, "Deny, and tell")
        await pilot.pause(0.1)
        await pilot.press(*"use git", "enter")
        await settle(pilot, app)
    assert answers(session) == [
        "Nothing was executed: this call of bash was not approved; do not try it again in other words. "
        "The answer was: use git"
    ]
    assert decided(desk, "approved", "note")[-1] == (False, "use git")
    assert ran(desk) == 0


async def test_an_empty_note_is_a_denial_like_any_other(desk: Desk):
    session = await desk.session([calls(TOUCH), says("done")])
    async with running(session) as (pilot, app):
        await start(pilot, app)
        await asked(pilot, app)
        await choose(pilot, app, "Deny, and tell")
        await pilot.pause(0.1)
        await pilot.press("escape")
        await settle(pilot, app)
    assert decided(desk, "approved", "note")[-1] == (False, None)


# What is on the screen


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


# Several calls, and endings in between


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


# Other extensions


HOOK = """
from tau_coding.extensions import ToolCallHookResult
def setup(tau):
    def hook(event, context):
        return ToolCallHookResult(arguments={**event.arguments, "command": "echo y >> ran; echo y >> ran"})
    tau.on("tool_call", hook)
"""
OVERRIDE = """
from dataclasses import replace
from tau_coding.tools import create_bash_tool
def setup(tau):
    tool = create_bash_tool()
    async def run(tool_call_id, arguments, signal=None, on_update=None):
        with open("got", "a") as file:
            file.write(repr(sorted(arguments.items())) + "\\n")
        return await tool.execute_fn(tool_call_id, arguments, signal, on_update)
    tau.register_tool(replace(tool, execute_fn=run))
"""


async def test_the_person_sees_what_really_runs_after_the_hooks_of_other_extensions(desk: Desk):
    desk.extension("hook", HOOK)
    async with running(await desk.session([calls(TOUCH), says("done")])) as (pilot, app):
        await start(pilot, app)
        await asked(pilot, app)
        assert "$ echo y >> ran; echo y >> ran" in screen(app)
        await choose(pilot, app, "Approve this call")
        await settle(pilot, app)
    assert (desk.project / "ran").read_text() == "y\ny\n"


@pytest.mark.parametrize("hooked", [False, True])
async def test_a_tool_of_another_extension_is_asked_about_with_what_it_gets(desk: Desk, hooked: bool):
    desk.extension("override", OVERRIDE)
    if hooked:
        desk.extension("z_hook", HOOK)
    command = "echo y >> ran; echo y >> ran" if hooked else "echo x >> ran"
    async with running(await desk.session([calls(TOUCH), says("done")]), size=(110, 40)) as (pilot, app):
        await start(pilot, app)
        dialog = await asked(pilot, app)
        assert dialog.drawn.lines[:3] == [
            f"Wants to run bash of override in {desk.project}",
            f"$ {command}",
            "Asked because of:",
        ]
        await choose(pilot, app, "Approve once")
        await settle(pilot, app)
    # What its own schema asks for is filled in after the question.
    assert (desk.project / "got").read_text() == repr([("command", command), ("description", "Leave a trace")]) + "\n"
    assert desk.statuses == [("bash", "ok")]
    (done,) = [record for record in desk.records if record["t"] == "done"]
    assert done["ranArgs"] == ({"command": command} if hooked else None)


async def test_a_denied_tool_of_another_extension_is_not_reached(desk: Desk):
    desk.extension("override", OVERRIDE)
    async with running(await desk.session([calls(TOUCH), says("done")])) as (pilot, app):
        await start(pilot, app)
        await asked(pilot, app)
        await pilot.press("escape")
        await settle(pilot, app)
    assert not (desk.project / "got").exists()
    assert desk.statuses == [("bash", "denied")]


async def test_plain_shadows_ask_too(desk: Desk, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("pi_intent.hosts.tau.layers.can_compose", lambda: False)
    desk.extension("hook", HOOK)
    async with running(await desk.session([calls(TOUCH), says("done")])) as (pilot, app):
        await start(pilot, app)
        await asked(pilot, app)
        assert "$ echo y >> ran; echo y >> ran" in screen(app)
        await choose(pilot, app, "Approve once")
        await settle(pilot, app)
    assert (desk.project / "ran").read_text() == "y\ny\n"


async def test_a_tau_whose_hooks_we_cannot_get_into_asks_before_them(desk: Desk, monkeypatch: pytest.MonkeyPatch):
    """Then a hook behind another extension's tool may change what was approved: that is said in the docs."""
    desk.extension("override", OVERRIDE)
    real = ExtensionRuntime._wrap_tool
    monkeypatch.setattr(ExtensionRuntime, "compose_tools", _composing_with(real))
    monkeypatch.delattr(ExtensionRuntime, "_wrap_tool")
    async with running(await desk.session([calls(TOUCH), says("done")])) as (pilot, app):
        await start(pilot, app)
        await asked(pilot, app)
        await pilot.press("escape")
        await settle(pilot, app)
    assert not (desk.project / "got").exists()


def _composing_with(wrap: Any) -> Any:
    def compose_tools(self: Any, builtin_tools: Any) -> list[Any]:
        others = {name: registration.tool for name, registration in self._tools.items()}
        own = [others.pop(tool.name, tool) for tool in builtin_tools]
        return [wrap(self, tool) for tool in (*own, *others.values())]

    return compose_tools


ASKING = """
import pi_intent
def setup(tau):
    def trace(arguments, situation):
        return ">> ran" in arguments.get("command", "") and situation.tool_name == "bash"
    pi_intent.ask_when(trace, tools="ba*", reason="it leaves a trace")
"""


async def test_another_extension_can_have_a_person_asked(desk: Desk, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("PI_INTENT_CHECK_IN")
    desk.extension("asking", ASKING)
    look = ("bash", {"intent": "Look", "command": "ls"})
    async with running(await desk.session([calls(look), calls(TOUCH), says("done")])) as (pilot, app):
        await start(pilot, app)
        await asked(pilot, app)
        assert "> it leaves a trace" in screen(app)
        assert "> bash ls (ok), for: Look" in screen(app)
        await pilot.press("escape")
        await settle(pilot, app)
    assert desk.statuses == [("bash", "ok"), ("bash", "denied")]
    assert ran(desk) == 0


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
