"""Two layers: reading lies outside the hooks of other extensions, and over their overrides."""

from __future__ import annotations

import json

import pytest
from tau_agent.session import JsonlSessionStorage
from tau_agent.tools import AgentTool
from tau_coding.tools import create_bash_tool, create_read_tool
from tau_desk import Desk, calls, says

RECORDING_HOOK = """
from pathlib import Path
from tau_coding.extensions import ToolCallHookResult
def setup(tau):
    def hook(event, context):
        with (context.cwd / "asked").open("a") as file:
            file.write(f"{event.tool_name} {sorted(event.arguments)}\\n")
        %s
    tau.on("tool_call", hook)
"""


async def test_a_hook_that_blocks_is_a_denial_and_told_apart_from_a_result_that_looks_like_one(desk: Desk):
    desk.extension("blocker", RECORDING_HOOK % 'return ToolCallHookResult(block=True, reason="no")')
    (end,) = await desk.run(calls(("bash", {"intent": "Try", "command": "touch ran"})))
    assert (end.result.text, end.is_error) == ("Tool call blocked: no", False)
    assert desk.statuses == [("bash", "denied")]
    assert not (desk.project / "ran").exists()


async def test_a_result_that_looks_like_a_block_is_none(desk: Desk):
    (desk.project / "a").write_text("Tool call blocked: no")
    await desk.run(calls(("read", {"intent": "Look", "path": "a"})))
    assert desk.statuses == [("read", "ok")]


async def test_a_hook_is_not_asked_about_a_call_that_is_refused_and_never_sees_our_fields(desk: Desk):
    desk.extension("asker", RECORDING_HOOK % "return None")
    await desk.run(
        calls(("bash", {"command": "ls"}), ("bash", {"intent": "List", "rationale": "Asked", "command": "ls"}))
    )
    assert (desk.project / "asked").read_text() == "bash ['command']\n"
    assert desk.statuses == [("bash", "rejected"), ("bash", "ok")]


async def test_a_hook_that_rewrites_the_arguments_costs_no_intent_and_the_ledger_says_what_ran(desk: Desk):
    desk.extension(
        "rewriter", RECORDING_HOOK % 'return ToolCallHookResult(arguments={"command": "echo other > out"})'
    )
    await desk.run(calls(("bash", {"intent": "Say hello", "command": "echo hello"})))
    assert (desk.project / "out").read_text() == "other\n"
    assert desk.statuses == [("bash", "ok")]
    assert [start.intent for start in desk.starts] == ["Say hello"]
    assert [event.args for event in desk.events if event.type == "tool_execution_update"] == [
        {"command": "echo other > out"}
    ]
    assert [record["ranArgs"] for record in desk.records if record["t"] == "done"] == [
        {"command": "echo other > out"}
    ]


async def test_the_hosts_own_field_is_filled_in_below_the_hooks_and_stands_in_no_event(desk: Desk):
    got = []
    own = create_bash_tool(cwd=desk.project)

    async def run(call_id, arguments, signal=None, on_update=None):
        got.append(dict(arguments))
        return await own.execute(call_id, arguments, signal, on_update)

    spying = AgentTool(
        name="bash", label="bash", description=own.description, parameters=own.parameters, execute_fn=run
    )
    await desk.run(calls(("bash", {"intent": "List", "command": "ls", "description": "Their own"})), tools=[spying])
    assert got == [{"command": "ls", "description": "List"}]
    assert [start.args for start in desk.starts] == [{"command": "ls"}]
    assert "Their own" not in json.dumps(desk.records)


async def test_a_tool_of_the_host_is_shadowed_over_its_own_instance_and_no_tool_is_added(desk: Desk):
    (desk.project / "a.py").write_text("x\n")
    session = await desk.session([calls(("read", {"path": "a.py"})), says("done")], tools=[create_read_tool()])
    tools = [tool.name for tool in session._harness.config.tools]
    async for _ in session.prompt("go"):
        pass
    assert tools == ["read"]
    assert desk.statuses == [("read", "rejected")]


async def test_the_sessions_own_shell_prefix_and_image_support_are_kept(desk: Desk):
    png = bytes.fromhex(
        "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
        "1f15c4890000000d49444154789c6360000002000001e221bc330000000049454e44ae426082"
    )
    (desk.project / "dot.png").write_bytes(png)
    turn = calls(
        ("bash", {"intent": "Say it", "command": "echo $PREFIXED"}), ("read", {"intent": "See", "path": "dot.png"})
    )
    shadowed = await desk.run(turn, shell_command_prefix="export PREFIXED=yes")
    bare = await desk.run(turn, shell_command_prefix="export PREFIXED=yes", intents=False)
    assert shadowed[0].result.text.strip() == "yes"
    assert [event.result.content for event in shadowed] == [event.result.content for event in bare]


@pytest.mark.parametrize("name", ["aaa", "zzz"])  # loaded before and after ours
async def test_another_extensions_override_is_shadowed_over_its_own_schema(desk: Desk, name: str):
    desk.extension(
        name,
        """
from tau_agent.tools import AgentTool, AgentToolResult
PROPERTIES = {"command": {"type": "string"}, "host": {"type": "string"}}
SCHEMA = {"type": "object", "properties": PROPERTIES, "required": ["host"]}
async def run(call_id, arguments, signal=None, on_update=None):
    return AgentToolResult(content="remote " + repr(sorted(arguments.items())))
def setup(tau):
    tau.register_tool(AgentTool(name="bash", label="x", description="Elsewhere", parameters=SCHEMA, execute_fn=run))
""",
    )
    session = await desk.session(
        [
            calls(("bash", {"command": "ls"}), ("bash", {"intent": "List there", "command": "ls", "host": "h"})),
            says("done"),
        ]
    )
    (bash,) = [tool for tool in session._harness.config.tools if tool.name == "bash"]
    assert list(bash.parameters["properties"]) == ["intent", "rationale", "command", "host"]
    assert bash.parameters["required"] == ["intent", "host"]
    async for _ in session.prompt("go"):
        pass
    assert desk.statuses == [("bash", "rejected"), ("bash", "ok")]
    results = [message.text for message in session.messages if message.role == "toolResult"]
    assert "`host` is missing too" in results[0]
    assert results[1] == "remote [('command', 'ls'), ('host', 'h')]"
    assert desk.starts[1].tool_source == name


async def test_an_override_that_has_an_intent_of_its_own_is_left_alone_and_that_is_said(desk: Desk, capsys):
    from tau_coding.extensions import StderrUiBridge

    desk.extension(
        "router",
        """
from tau_agent.tools import AgentTool, AgentToolResult
SCHEMA = {"type": "object", "properties": {"intent": {"enum": ["a", "b"]}}, "required": ["intent"]}
async def run(call_id, arguments, signal=None, on_update=None):
    return AgentToolResult(content=repr(dict(arguments)))
def setup(tau):
    tau.register_tool(AgentTool(name="bash", label="x", description="d", parameters=SCHEMA, execute_fn=run))
""",
    )
    session = await desk.session([calls(("bash", {"intent": "a"})), says("done")])
    session.extension_runtime.set_ui_bridge(StderrUiBridge())
    await session.emit_pending_session_start()
    async for _ in session.prompt("go"):
        pass
    assert [m.text for m in session.messages if m.role == "toolResult"] == ["{'intent': 'a'}"]
    assert [(start.intent, start.args) for start in desk.starts] == [(None, {"intent": "a"})]
    err = capsys.readouterr().err
    assert "intents on · /intent · adaptive · read, write, edit\n" in err
    assert "bash states no intent in this session: the tool has a parameter called “intent” of its own" in err


async def test_switched_off_nothing_differs_from_a_tau_without_us(desk: Desk, monkeypatch, capsys):
    from tau_coding.extensions import StderrUiBridge

    monkeypatch.setenv("PI_INTENT", "off")
    turn = calls(("bash", {"command": "echo hi", "description": "Saying hi", "intent": "x"}))
    seen = []
    for intents in (True, False):
        session = await desk.session(
            [turn, says("done")], intents=intents, storage=JsonlSessionStorage(desk.root / "x")
        )
        session.extension_runtime.set_ui_bridge(StderrUiBridge())
        await session.emit_pending_session_start()
        results = [event.result async for event in session.prompt("go") if event.type == "tool_execution_end"]
        for result in results:
            result.details.pop("duration_seconds")
        _, system, _, tools = session._config.provider.calls[0]
        rows = session.extension_runtime.render_tool_call("bash", {"command": "ls"})
        seen.append(
            (system, [(t.name, t.description, t.parameters, t.prompt_guidelines) for t in tools], results, rows)
        )
    assert seen[0] == seen[1]
    assert list(desk.events) == []
    assert not (desk.project / ".git" / "pi-intent").exists()
    assert capsys.readouterr().err == ""
