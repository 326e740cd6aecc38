"""A person is asked about what really runs, whatever Tau's other extensions do."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from tau_asking import TOUCH, ran
from tau_coding.extensions.runtime import ExtensionRuntime
from tau_desk import Desk, calls, says
from tau_screen import asked, choose, running, screen, settle, start

from pi_intent.hosts.tau.layers import can_compose

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


async def approve_what_a_hook_makes(desk: Desk, option: str) -> None:
    desk.extension("hook", HOOK)
    async with running(await desk.session([calls(TOUCH), says("done")])) as (pilot, app):
        await start(pilot, app)
        await asked(pilot, app)
        assert "$ echo y >> ran; echo y >> ran" in screen(app)
        await choose(pilot, app, option)
        await settle(pilot, app)
    assert (desk.project / "ran").read_text() == "y\ny\n"


async def test_the_person_sees_what_really_runs_after_the_hooks_of_other_extensions(desk: Desk):
    await approve_what_a_hook_makes(desk, "Approve this call")


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


async def test_who_is_asked_for_no_intent_is_not_blamed_for_stating_none(desk: Desk):
    desk.extension(
        "deployer",
        "from dataclasses import replace\nfrom tau_coding.tools import create_bash_tool\n"
        "def setup(tau):\n    tau.register_tool(replace(create_bash_tool(), name='deploy'))\n",
    )
    async with running(await desk.session([calls(("deploy", {"command": "touch ran"})), says("done")])) as (
        pilot,
        app,
    ):
        await start(pilot, app)
        await asked(pilot, app)
        assert "The agent was not asked what it is for." in screen(app)
        await pilot.press("escape")
        await settle(pilot, app)
    assert desk.statuses == [("deploy", "denied")]


async def test_plain_shadows_ask_too(desk: Desk, monkeypatch: pytest.MonkeyPatch):
    # To a session it is what it was; only the class no longer has a method of this name.
    original = ExtensionRuntime.compose_tools
    monkeypatch.setattr(ExtensionRuntime, "compose_tools", property(lambda runtime: partial(original, runtime)))
    assert not can_compose()
    await approve_what_a_hook_makes(desk, "Approve once")


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
