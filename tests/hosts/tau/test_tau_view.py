"""The header above the prompt, the turn's calls in the sidebar, and the key that shows them in full."""

from __future__ import annotations

import tau_desk
from tau_agent.session import JsonlSessionStorage
from tau_coding.paths import TauPaths
from tau_coding.resources import TauResourcePaths
from tau_coding.tools import create_coding_tools
from tau_desk import Desk, calls, says
from tau_screen import managed, running, screen, settle, type_in


def lines(app) -> list[str]:
    return [line.strip() for line in screen(app).splitlines()]


async def test_the_header_and_the_sidebar_say_what_came_of_the_calls(desk: Desk):
    (desk.project / "a.py").write_text("x = 1\n")
    turn = calls(
        ("read", {"intent": "See what x is", "path": "a.py"}),
        ("bash", {"command": "true"}),
        ("bash", {"intent": "Run it", "command": "exit 3"}),
    )
    async with running(await desk.session([turn, says("done")]), size=(130, 50)) as (pilot, app):
        assert any("no call yet" in line for line in lines(app))
        await type_in(pilot, app, "go")
        await pilot.pause(0.4)
        shown = screen(app)
        assert any(line.startswith("✗ Run it · error · read, bash") for line in lines(app))
        for expected in ("✓ See what x is · 1 line · 6 B", "↺ bash true · rejected", "✗ Run it · exit 3"):
            assert expected in shown
        # The rows say it, too, after the label and never instead of it.
        for expected in ("→ See what x is · 1 line · 6 B", "→ $ true · rejected", "→ Run it · exit 3"):
            assert expected in shown


async def test_while_a_call_runs_the_header_has_its_intent_and_nothing_moves(desk: Desk):
    turn = calls(("bash", {"intent": "Wait for the file", "command": "touch started; while [ ! -e go ]; do :; done"}))
    async with running(await desk.session([turn, says("done")]), size=(100, 40)) as (pilot, app):
        before = len(lines(app))
        prompt_at = app.query_one("#prompt").region
        prompt = app.query_one("#prompt")
        prompt.value = "go"
        await pilot.press("enter")
        for _ in range(500):
            await pilot.pause(0.02)
            if (desk.project / "started").exists() and "Wait for the file · bash" in screen(app):
                break
        else:
            raise AssertionError(screen(app))
        assert app.query_one("#prompt").region == prompt_at
        (desk.project / "go").touch()
        await settle(pilot, app)
        await pilot.pause(0.4)
        assert any(line.startswith("✓ Wait for the file") for line in lines(app))
        assert len(lines(app)) == before


async def test_a_key_shows_the_calls_in_full_and_hides_them_again(desk: Desk):
    intent = "Look into " + " ".join(f"part-{number}" for number in range(40)) + " [@click=app.quit]end[/]"
    turn = calls(("bash", {"intent": intent, "command": "true"}))
    async with running(await desk.session([turn, says("done")]), size=(100, 40)) as (pilot, app):
        await type_in(pilot, app, "go")
        await pilot.press("f2")
        await pilot.pause(0.3)
        assert "[@click=app.quit]end[/]" in screen(app)
        await pilot.press("f2")
        await pilot.pause(0.3)
        assert "done" in screen(app)
        await pilot.press("f2")
        await pilot.pause(0.3)
        await pilot.press("escape")
        await pilot.pause(0.3)
        assert "done" in screen(app)


async def test_the_view_follows_the_session_through_reload_and_new(desk: Desk):
    turn = calls(("bash", {"intent": "Say hello", "command": "true"}))
    _, _, session = await managed(desk, [turn, says("one"), turn, says("two"), turn, says("three")])
    async with running(session, size=(130, 50)) as (pilot, app):
        for command in ("", "/reload", "/new"):
            if command:
                await type_in(pilot, app, command)
            if command == "/new":
                await pilot.pause(0.4)
                assert any("no call yet" in line for line in lines(app))
            await type_in(pilot, app, "go")
            await pilot.pause(0.4)
            assert any(line.startswith("✓ Say hello · bash") for line in lines(app)), command


async def test_where_nothing_may_move_the_spinner_stands_still(desk: Desk, monkeypatch):
    monkeypatch.setenv("TEXTUAL_ANIMATIONS", "none")
    turn = calls(("bash", {"intent": "Wait", "command": "touch started; while [ ! -e go ]; do :; done"}))
    async with running(await desk.session([turn, says("done")]), size=(100, 40)) as (pilot, app):
        app.query_one("#prompt").value = "go"
        await pilot.press("enter")
        seen: list[str] = []
        for _ in range(500):
            await pilot.pause(0.05)
            seen += [line[0] for line in lines(app) if "Wait · bash" in line]
            if len(seen) > 8:
                break
        (desk.project / "go").touch()
        await settle(pilot, app)
    assert set(seen) == {"▸"}


async def test_a_running_child_session_stands_after_its_parents_intent(desk: Desk, monkeypatch):
    desk.extension(
        "delegate",
        """
from tau_agent.tools import AgentTool, AgentToolResult
async def run(call_id, arguments, signal=None, on_update=None):
    import tau_desk
    child = await tau_desk.CHILD()
    async for _ in child.prompt("go"):
        pass
    await child.aclose()
    return AgentToolResult(content="child done")
def setup(tau):
    tau.register_tool(AgentTool(name="bash", label="x", description="d",
        parameters={"type": "object", "properties": {"command": {"type": "string"}}}, execute_fn=run))
""",
    )
    (desk.project / "a").mkdir()

    async def child():
        wait = "while [ ! -e ../go ]; do :; done"
        own = [tool for tool in create_coding_tools(cwd=desk.project / "a") if tool.name == "bash"]
        turn = calls(("bash", {"intent": "Look inside", "command": wait}))
        paths = TauPaths(home=desk.root / "bare", agents_home=desk.root / "agents")
        resources = TauResourcePaths(root=paths.home, agents_root=desk.root / "agents", paths=paths)
        return await desk.session([turn, says("ok")], tools=own, resource_paths=resources)

    monkeypatch.setattr(tau_desk, "CHILD", child, raising=False)
    turn = calls(("bash", {"intent": "Delegate the search", "command": "go"}))
    async with running(await desk.session([turn, says("done")]), size=(130, 40)) as (pilot, app):
        app.query_one("#prompt").value = "go"
        await pilot.press("enter")
        for _ in range(500):
            await pilot.pause(0.02)
            if "Delegate the search · Look inside" in screen(app):
                break
        else:
            raise AssertionError(screen(app))
        (desk.project / "go").touch()
        await settle(pilot, app)
        await pilot.pause(0.4)
        assert "✓ Delegate the search · bash" in screen(app)


async def test_a_session_restored_in_another_process_shows_what_came_of_its_calls(desk: Desk):
    (desk.project / "a.py").write_text("x = 1\n")
    first = calls(("read", {"intent": "See what x is", "path": "a.py"}), ("bash", {"command": "true"}))
    second = calls(
        ("read", {"intent": "See it again", "path": "a.py"}), ("bash", {"intent": "Run it", "command": "exit 3"})
    )
    manager, record, session = await managed(desk, [first, second, says("one")])
    async with running(session, size=(130, 50)) as (pilot, app):
        await type_in(pilot, app, "go")
        await pilot.pause(0.4)
        before = lines(app)
    await session.aclose()
    again = await desk.session(
        [], session_manager=manager, session_id=record.id, storage=JsonlSessionStorage(record.path)
    )
    async with running(again, size=(130, 50)) as (pilot, app):
        await pilot.pause(0.4)
        assert [line for line in lines(app) if "·" in line] == [line for line in before if "·" in line]
        assert any("✗ Run it · exit 3" in line for line in lines(app))
        await pilot.press("f2")
        await pilot.pause(0.3)
        assert "exit 3" in screen(app)
