"""Drive Tau's own screen: read it, type into it, wait until a run has settled."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from tau_agent.session import JsonlSessionStorage
from tau_coding.paths import TauPaths
from tau_coding.session_manager import SessionManager
from tau_coding.tui.app import ExtensionInputScreen, TauTuiApp
from tau_desk import Desk
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import Input

from pi_intent.hosts.tau.dialog import QuestionScreen


def screen(app: TauTuiApp) -> str:
    """Return the characters on the screen."""
    return "\n".join(strip.text.rstrip() for strip in app.screen._compositor.render_strips())


def actions(app: TauTuiApp) -> list[object]:
    """Return everything on the screen that a click would trigger."""
    return [
        segment.style.meta["@click"]
        for strip in app.screen._compositor.render_strips()
        for segment in strip
        if segment.style is not None and segment.style.meta and "@click" in segment.style.meta
    ]


async def settle(pilot: Pilot[None], app: TauTuiApp) -> None:
    for _ in range(400):
        await pilot.pause(0.02)
        if not app.session.is_running and app._prompt_worker is None:
            break
    else:
        raise AssertionError("the run did not end")
    await pilot.pause(0.1)


async def start(pilot: Pilot[None], app: TauTuiApp, text: str = "go") -> None:
    """Send a prompt, and do not wait for what comes of it."""
    prompt = app.query_one("#prompt")
    prompt.value = text
    prompt.focus()
    await pilot.pause()
    await pilot.press("escape")  # closes the completions; nothing runs, so it interrupts nothing
    await pilot.press("enter")
    await pilot.pause()


async def asked(pilot: Pilot[None], app: TauTuiApp, *, after: Any = None) -> QuestionScreen:
    """Wait for a question on the screen, another one than `after`, and return its dialog."""
    for _ in range(400):
        await pilot.pause(0.02)
        if isinstance(app.screen, QuestionScreen) and app.screen is not after and app.screen.seen:
            return app.screen
    raise AssertionError(f"nobody is asked\n{screen(app)}")


async def choose(pilot: Pilot[None], app: TauTuiApp, option: str) -> None:
    """Choose an option of the question on the screen as a person does, by its first words."""
    number = next(at for at, text in enumerate(app.screen.options) if text.startswith(option))
    await pilot.press(*["down"] * number, "enter")
    await pilot.pause()


async def type_in(pilot: Pilot[None], app: TauTuiApp, text: str) -> None:
    await start(pilot, app, text)
    await settle(pilot, app)


async def answer(pilot: Pilot[None], app: TauTuiApp, option: str, note: str | None = None) -> None:
    """Wait until a person is asked about a call, read to the end of the question, and choose an option."""
    dialog = await on_top(pilot, app, QuestionScreen)
    for _ in range(20):
        await pilot.press("pagedown")
    for _ in range(dialog.options.index(option)):
        await pilot.press("down")
    await pilot.press("enter")
    await pilot.pause()
    if note is not None:
        field = (await on_top(pilot, app, ExtensionInputScreen)).query_one(Input)
        field.value = note
        field.focus()
        await pilot.press("enter")
        await pilot.pause()


async def write_note(pilot: Pilot[None], app: TauTuiApp, *keys: str) -> None:
    """Choose to tell the agent why a call is denied, and press keys where that is written."""
    await choose(pilot, app, "Deny, and tell")
    await on_top(pilot, app, ExtensionInputScreen)
    await pilot.press(*keys)


async def on_top[T: Screen[Any]](pilot: Pilot[None], app: TauTuiApp, kind: type[T]) -> T:
    for _ in range(400):
        if isinstance(app.screen, kind):
            return app.screen
        await pilot.pause(0.02)
    raise AssertionError(f"no {kind.__name__} came")


@asynccontextmanager
async def running(session, size=(120, 50)) -> AsyncIterator[tuple[Pilot[None], TauTuiApp]]:
    app = TauTuiApp(session)
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        await settle(pilot, app)
        yield pilot, app


async def managed(desk: Desk, turns):
    manager = SessionManager(TauPaths(home=desk.home, agents_home=desk.root / "agents"))
    record = manager.create_session(cwd=desk.project, model="m")
    return (
        manager,
        record,
        await desk.session(
            turns, session_manager=manager, session_id=record.id, storage=JsonlSessionStorage(record.path)
        ),
    )
