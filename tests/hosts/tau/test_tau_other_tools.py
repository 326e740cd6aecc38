"""Tools of other extensions state no intent; where something asks, they are held up as Tau's own are."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tau_desk import Desk, calls, says

import pi_intent

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


BIG = DEPLOY.replace('"deployed " + str(arguments.get("intent"))', '"p4yl0ad " * 50_000')


@pytest.mark.parametrize(
    "settings",
    [
        "result_limit = 2048",
        "[tools.deploy]\nresult_limit = 2048",
        '[tools."another/deploy"]\nresult_limit = 2048',
    ],
)
async def test_a_limit_on_results_holds_for_it_without_any_other_gate(desk: Desk, settings: str):
    desk.configure(settings)
    desk.extension("another", BIG)
    (end,) = await desk.run(calls(("deploy", {})))
    assert "withheld" in end.result.text
    assert "p4yl0ad" not in end.result.text
    assert desk.statuses == [("deploy", "ok")]


@pytest.mark.parametrize("pattern", ["deploy", "another/deploy", "another/*"])
async def test_it_can_be_named_by_its_extension(desk: Desk, pattern: str):
    desk.configure(f'[tools."{pattern}"]\noverride = true')
    desk.extension("another", DEPLOY)
    (end,) = await desk.run(calls(CALL))
    assert "needs a person's approval" in end.result.text
    assert not (desk.project / "deployed").exists()


@pytest.mark.parametrize(
    "declare",
    [
        lambda: pi_intent.ask_when(lambda arguments, situation: True, tools="deploy"),
        lambda: pi_intent.declare_tier("deploy", pi_intent.Tiered("exec", override=True)),
    ],
    ids=["ask_when", "declare_tier"],
)
async def test_what_is_declared_after_the_session_was_made_holds_it_too(
    desk: Desk, declare: Callable[[], Callable[[], None]]
):
    desk.extension("another", DEPLOY)
    session = await desk.session([calls(CALL), says("done")])
    stop = declare()
    try:
        results = [event.result async for event in session.prompt("go") if event.type == "tool_execution_end"]
    finally:
        stop()
    assert "needs a person's approval" in results[0].text
    assert not (desk.project / "deployed").exists()
    assert desk.statuses == [("deploy", "denied")]


@pytest.mark.parametrize("parameters", ["None", "[]", '"x"', '{"type": "object", "properties": None}'])
async def test_a_tool_with_odd_parameters_costs_no_other_its_gates(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, parameters: str
):
    desk.extension("another", DEPLOY.replace('{"type": "object"}', parameters))
    say = ("bash", {"intent": "Make a mark", "command": "touch mark"})
    await desk.run(calls(say))
    assert desk.statuses == [("bash", "ok")]
    monkeypatch.setenv("PI_INTENT_ASK", "exec")
    ends = await desk.run(calls(("bash", {"intent": "Make another", "command": "touch other"}), CALL))
    assert ["needs a person's approval" in end.result.text for end in ends] == [True, True]
    assert not (desk.project / "other").exists()


async def test_where_the_tools_cannot_be_shadowed_nothing_runs_that_somebody_must_be_asked_about(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
):
    unreadable = DEPLOY.replace('{"type": "object"}', "Odd()").replace(
        "def setup(tau):",
        "class Odd(dict):\n    def get(self, *names):\n        raise ValueError('odd')\n\n\ndef setup(tau):",
    )
    desk.extension("another", unreadable)
    say = ("bash", {"command": "touch mark"})
    await desk.run(calls(say))
    assert (desk.project / "mark").exists()
    (desk.project / "mark").unlink()
    monkeypatch.setenv("PI_INTENT_ASK", "exec")
    (end,) = await desk.run(calls(say))
    assert end.is_error
    assert "Nothing was executed" in end.result.text
    assert not (desk.project / "mark").exists()


async def test_a_gate_that_goes_while_a_call_is_on_its_way_leaves_one_true_record(desk: Desk):
    desk.extension("another", DEPLOY)
    session = await desk.session([calls(CALL), says("done")])
    stop = pi_intent.declare_tier("deploy", pi_intent.Tiered("exec", override=True))
    async for event in session.prompt("go"):
        if event.type == "message_end" and event.message.role == "assistant":
            stop()
    assert desk.statuses == [("deploy", "ok")]
