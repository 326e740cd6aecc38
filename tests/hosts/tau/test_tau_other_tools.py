"""Tools of other extensions state no intent; where something asks, they are held up as Tau's own are."""

from __future__ import annotations

import pytest
from tau_desk import Desk, calls

DEPLOY = """
from pathlib import Path

from tau_agent.tools import AgentTool, AgentToolResult


def setup(tau):
    async def deploy(tool_call_id, arguments, signal=None, on_update=None):
        Path("deployed").touch()
        return AgentToolResult(content="deployed " + str(arguments.get("intent")), details={"kept": 1})

    tau.register_tool(AgentTool(name="deploy", label="deploy", description="d", parameters={"type": "object"},
                                execute_fn=deploy))
"""
CALL = ("deploy", {"command": "rm -rf ~"})


@pytest.mark.parametrize(
    "environ",
    [{"PI_INTENT_ASK": "exec"}, {"PI_INTENT_CHECK_IN": "always"}, {"PI_INTENT_CHECK_IN": "dangers"}],
    ids=str,
)
async def test_it_is_asked_about_and_recorded(desk: Desk, monkeypatch: pytest.MonkeyPatch, environ: dict[str, str]):
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    desk.extension("another", DEPLOY)
    (end,) = await desk.run(calls(CALL))
    assert "needs a person's approval" in end.result.text
    assert end.is_error
    assert not (desk.project / "deployed").exists()
    assert desk.statuses == [("deploy", "denied")]
    assert [record["t"] for record in desk.records] == ["session", "call", "decision", "done"]


async def test_what_is_not_asked_about_runs_as_it_would(desk: Desk, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PI_INTENT_CHECK_IN", "outside")
    desk.extension("another", DEPLOY)
    (end,) = await desk.run(calls(("deploy", {"to": "staging", "intent": "its own"})))
    assert (end.result.text, end.result.details) == ("deployed its own", {"kept": 1})
    assert desk.statuses == [("deploy", "ok")]


async def test_without_a_gate_it_is_left_alone(desk: Desk):
    desk.extension("another", DEPLOY)
    (end,) = await desk.run(calls(CALL))
    assert end.result.text == "deployed None"
    assert desk.statuses == []
