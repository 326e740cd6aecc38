"""What outlives a reload, what belongs to one session, and what a child session inherits."""

from __future__ import annotations

import json

from tau_coding.extensions import StderrUiBridge
from tau_desk import Desk, calls, says

import pi_intent


def wire(session) -> str:
    """What the provider is given for tools, as the model sees it, and the system prompt."""
    calls_made = session._config.provider.calls
    return [
        json.dumps([[tool.name, tool.description, dict(tool.parameters)] for tool in tools]) + system
        for _, system, _, tools in calls_made
    ]


async def run(session) -> None:
    async for _ in session.prompt("go"):
        pass


async def test_policy_changes_and_reloads_never_change_what_the_model_sees(desk: Desk):
    turns = [calls(("bash", {"intent": f"Step {n}", "command": "true"})) if n % 2 else says("ok") for n in range(40)]
    session = await desk.session(turns)
    await session.emit_pending_session_start()
    for number in range(20):
        await run(session)
        choice = ("adaptive", "off", "require")[number % 3]
        assert choice in session.handle_command(f"/intent {choice}").message
        if number % 5 == 4:
            await session.reload()
    seen = wire(session)
    assert len(seen) >= 20
    assert len(set(seen)) == 1


async def test_what_the_person_chose_and_the_rounds_outlive_a_reload_and_nothing_runs_twice(desk: Desk):
    silent = calls(("bash", {"command": "echo x >> ran"}))
    session = await desk.session([silent, silent, says("ok"), silent, says("ok"), silent, says("ok")])
    await run(session)
    session.handle_command("/intent require")
    await session.reload()
    await run(session)
    assert [status for _, status in desk.statuses] == ["rejected"] * 3
    assert "Stop calling bash" in [m.text for m in session.messages if m.role == "toolResult"][-1]
    session.handle_command("/intent off")
    await session.reload()
    await run(session)
    assert (desk.project / "ran").read_text() == "x\n"
    assert [start.intent_source for start in desk.starts] == ["absent"] * 4
    assert len({record["session"] for record in desk.records if record["t"] == "session"}) == 1
    assert len(desk.segments) == 1


async def test_every_class_is_the_same_after_reloads(desk: Desk):
    session = await desk.session([calls(("bash", {"intent": "List", "command": "ls"})), says("ok")] * 2)
    await run(session)
    await session.reload()
    await run(session)
    assert {type(event) for event in desk.events} == {pi_intent.ToolExecutionStart, pi_intent.ToolExecutionEnd}
    assert desk.statuses == [("bash", "ok")] * 2


async def test_a_new_session_starts_afresh_in_a_segment_of_its_own(desk: Desk):
    first = await desk.session([calls(("bash", {"intent": "One", "command": "true"})), says("ok")])
    await run(first)
    first.handle_command("/intent off")
    second = await desk.session([calls(("bash", {"command": "true"})), says("ok")])
    await run(second)
    assert desk.statuses == [("bash", "ok"), ("bash", "rejected")]
    assert len(desk.segments) == 2
    assert len({start.session_id for start in desk.starts}) == 2


async def test_a_child_sessions_calls_name_the_call_that_started_it(desk: Desk):
    desk.extension(
        "delegate",
        """
import asyncio
from pathlib import Path
from dataclasses import replace
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
    import tau_desk

    (desk.project / "a").write_text("x")

    async def child():
        return await desk.session(
            [calls(("read", {"intent": "Look inside", "path": "a"}), ("read", {"path": "a"})), says("ok")]
        )

    tau_desk.CHILD = child
    await desk.run(calls(("bash", {"intent": "Delegate", "command": "go"})))
    assert desk.statuses == [("read", "ok"), ("read", "rejected"), ("bash", "ok")]
    parent, inner, refused = desk.starts
    assert (parent.intent, parent.parent_tool_call_id, parent.agent_id) == ("Delegate", None, "main")
    assert {start.parent_tool_call_id for start in (inner, refused)} == {parent.call_id}
    assert {start.agent_id for start in (inner, refused)} == {"child"}


async def test_one_line_on_stderr_says_that_intents_are_on(desk: Desk, capsys):
    session = await desk.session([says("ok")])
    session.extension_runtime.set_ui_bridge(StderrUiBridge())
    await session.emit_pending_session_start()
    assert capsys.readouterr().err == "[extension:info] intents on · /intent · adaptive · read, write, edit, bash\n"


async def test_the_command_shows_state_and_last_calls_and_refuses_what_is_no_choice(desk: Desk):
    session = await desk.session(
        [calls(("bash", {"intent": "Say \x1b[2Jhi", "command": "echo hi"}), ("bash", {"command": "ls"})), says("ok")]
    )
    assert session.handle_command("/intent").message.splitlines()[1:] == [
        "check-ins: off",
        "no call yet; the ledger is opened with the first one",
    ]
    await run(session)
    assert session.handle_command("/intent").message.splitlines() == [
        "intents on · /intent · adaptive · read, write, edit, bash",
        "check-ins: off",
        f"kept in {desk.project / '.git' / 'pi-intent'}",
        "(no intent stated) · rejected",
        "  $ ls",
        "Say hi · ok · exit 0",
        "  $ echo hi",
    ]
    assert (
        session.handle_command("/intent maybe").message
        == "maybe is not a choice: /intent [require|adaptive|off|checkins]"
    )
    assert session.handle_command("/intent require").message == (
        "intents, for this session: require (a call without an intent is refused)"
    )


async def test_settings_decide_and_what_is_wrong_with_them_is_said_once(desk: Desk, capsys):
    (desk.project / ".pi-intent.toml").write_text('policy = "require"\n[tools]\nbush = "require"\n')
    session = await desk.session([*[calls(("bash", {"command": "touch ran"})) for _ in range(5)], says("ok")])
    session.extension_runtime.set_ui_bridge(StderrUiBridge())
    await session.emit_pending_session_start()
    await session.reload()
    await run(session)
    assert [status for _, status in desk.statuses] == ["rejected"] * 5
    err = capsys.readouterr().err
    assert err.count("bush") == 1
    assert 'did you mean "bash"?' in err


async def test_of_a_rule_without_a_tool_that_alone_is_said(desk: Desk, capsys):
    (desk.project / ".pi-intent.toml").write_text('[tools.bsh]\ntier = "exec"\n')
    session = await desk.session([says("ok")])
    session.extension_runtime.set_ui_bridge(StderrUiBridge())
    await session.emit_pending_session_start()
    err = capsys.readouterr().err
    assert "tools.bsh matches no tool" in err
    assert "has no effect" not in err


async def test_an_exempt_tool_keeps_its_schema_and_its_calls_are_still_kept(desk: Desk, monkeypatch):
    desk.configure('[tools]\nbash = "omit"\n')
    session = await desk.session(
        [
            calls(
                ("bash", {"command": "true", "description": "Being true"}),
                ("bash", {"intent": "Do", "command": "true"}),
            ),
            says("ok"),
        ]
    )
    (bash,) = [tool for tool in session._harness.config.tools if tool.name == "bash"]
    assert list(bash.parameters["properties"]) == ["command", "description", "timeout"]
    assert "description of the command's purpose" in " ".join(bash.prompt_guidelines)
    await run(session)
    assert [(start.intent, start.args) for start in desk.starts] == [
        (None, {"command": "true", "description": "Being true"}),
        ("Do", {"command": "true"}),
    ]
    assert len([record for record in desk.records if record["t"] == "done"]) == 2
