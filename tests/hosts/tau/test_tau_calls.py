"""Calls in real Tau sessions: what runs, what is refused, what is told and what is kept."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tau_desk import Desk, calls, says

CASES = [
    case
    for case in json.loads((Path(__file__).parents[2] / "cases" / "reading_a_call.json").read_text())
    if case.get("tau") != "unreachable"
]
OLD = {"a": "a", "a.py": "x = 1\n", "a.ts": "1\n"}


def as_tau_delivers(sent: object) -> dict[str, object]:
    """Wrap arguments that are no object as Tau's providers do."""
    if isinstance(sent, dict):
        return sent
    return {"_raw_arguments": sent if isinstance(sent, str) else json.dumps(sent)}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
async def test_a_case_has_the_same_verdict_in_a_session(desk: Desk, case, monkeypatch):
    monkeypatch.setenv("PI_INTENT_POLICY", "require")
    for name, content in OLD.items():
        (desk.project / name).write_text(content)
    before = {path.name for path in desk.project.iterdir()}
    want = case["want"]
    (end,) = await desk.run(calls((case["tool"], as_tau_delivers(case["arguments"]))))
    [start] = desk.starts
    [(_, status)] = desk.statuses
    if "violation" in want:
        assert (status, end.is_error) == ("rejected", True)
        assert list(desk.ends[0].codes) == want["violation"]
        assert end.result.text.startswith("Nothing was executed")
        assert {path.name for path in desk.project.iterdir()} == before
        assert {name: (desk.project / name).read_text() for name in OLD} == OLD
        return
    assert status != "rejected"
    for name in ("intent", "rationale"):
        if want.get(name) is not None:
            assert getattr(start, name) == want[name]
    ran = want.get("arguments_after_host_repair") or want.get("arguments") or {}
    if case["tool"] == "edit" and "edits" in ran:
        expected = OLD[ran["path"]]
        for edit in ran["edits"]:
            expected = expected.replace(edit["oldText"], edit["newText"])
        assert (desk.project / ran["path"]).read_text() == expected
        assert status == "ok"
    if secret := want.get("ledger_must_not_contain"):
        assert secret not in "".join(path.read_text() for path in desk.segments)


async def test_a_rejected_call_runs_nothing_and_its_text_reaches_the_model_word_for_word(desk: Desk):
    session = await desk.session([calls(("bash", {"command": "touch ran", "description": "x"})), says("done")])
    events = [event async for event in session.prompt("go")]
    assert desk.statuses == [("bash", "rejected")]
    assert not (desk.project / "ran").exists()
    text = (
        "Nothing was executed: `intent` is missing. "
        "Call bash again with `intent` first: text that states the goal of the call."
    )
    (result,) = [m for m in session.messages if m.role == "toolResult"]
    assert (result.text, result.is_error) == (text, True)
    assert any(event.type == "tool_execution_end" and event.result.text == text for event in events)


async def test_every_call_has_one_start_and_one_end_and_both_are_kept(desk: Desk):
    (desk.project / "a.py").write_text("x = 1\n")
    await desk.run(
        calls(
            ("read", {"path": "a.py"}), ("read", {"intent": "See x", "rationale": "The user asked", "path": "a.py"})
        ),
        calls(
            ("edit", {"intent": "Set x", "path": "a.py", "edits": [{"oldText": "1", "newText": "2"}]}),
            ("write", {"intent": "Add b", "path": "b.py", "content": "y\n"}),
            ("bash", {"intent": "Fail", "command": "exit 3"}),
            ("bash", {"intent": "Wait too long", "command": "sleep 9", "timeout": 0.05}),
            ("read", {"intent": "Look for c", "path": "c.py"}),
        ),
    )
    assert desk.statuses == [
        ("read", "rejected"),
        ("read", "ok"),
        ("edit", "ok"),
        ("write", "ok"),
        ("bash", "error"),
        ("bash", "timeout"),
        ("read", "error"),
    ]
    assert [end.facts for end in desk.ends] == [
        None,
        "1 line · 6 B",
        "1 replacement",
        "created · 1 line",
        "exit 3",
        None,
        None,
    ]
    kept = {record["id"]: record for record in desk.records if record["t"] == "call"}
    done = {record["id"]: record for record in desk.records if record["t"] == "done"}
    assert kept.keys() == done.keys() == {start.call_id for start in desk.starts}
    assert [record["turn"] for record in kept.values()] == [1, 1, 2, 2, 2, 2, 2]
    assert len({start.group_id for start in desk.starts}) == 2
    assert [(f.path, f.op) for end in desk.ends for f in end.files] == [
        (str(desk.project / "a.py"), "modify"),
        (str(desk.project / "b.py"), "create"),
    ]


async def test_the_result_is_the_hosts_own(desk: Desk):
    (desk.project / "a.py").write_text("x = 1\n")
    shadowed = await desk.run(calls(("read", {"intent": "See x", "path": "a.py"})))
    bare = await desk.run(calls(("read", {"path": "a.py"})), intents=False)
    assert [event.result for event in shadowed] == [event.result for event in bare]


async def test_a_model_that_never_states_an_intent_is_let_through_after_three_rounds_where_nobody_watches(desk: Desk):
    await desk.run(*[calls(("bash", {"command": f"touch r{n}", "description": "x"})) for n in range(5)])
    assert [status for _, status in desk.statuses] == ["rejected", "rejected", "rejected", "ok", "ok"]
    assert sorted(path.name for path in desk.project.glob("r*")) == ["r3", "r4"]
    assert [(s.intent, s.intent_source, s.flags) for s in desk.starts[3:]] == [
        ("bash", "derived", ("budget_spent",))
    ] * 2


async def test_the_person_is_told_once_when_a_tool_is_refused_three_rounds_in_a_row(desk: Desk, capsys, monkeypatch):
    from tau_coding.extensions import StderrUiBridge

    monkeypatch.setenv("PI_INTENT_POLICY", "require")
    session = await desk.session([*[calls(("bash", {"command": "true"})) for _ in range(5)], says("done")])
    session.extension_runtime.set_ui_bridge(StderrUiBridge())
    async for _ in session.prompt("go"):
        pass
    told = [line for line in capsys.readouterr().err.splitlines() if "rounds in a row" in line]
    assert told == [
        "[extension:warning] bash was refused 3 rounds in a row, because the model states no usable intent; "
        "ask it to, or let calls run without: PI_INTENT_POLICY=adaptive."
    ]
    last = [m for m in session.messages if m.role == "toolResult"][-1]
    assert "Stop calling bash and tell the user" in last.text


async def test_ids_that_repeat_in_every_turn_do_not_mix_calls_up(desk: Desk):
    await desk.run(*[calls(("bash", {"intent": f"Step {n}", "command": f"echo {n} > f{n}"})) for n in range(4)])
    assert desk.statuses == [("bash", "ok")] * 4
    assert {start.tool_call_id for start in desk.starts} == {"tool-call-0"}
    assert [start.intent for start in desk.starts] == ["Step 0", "Step 1", "Step 2", "Step 3"]


async def test_a_tool_says_what_came_of_its_call(desk: Desk):
    desk.extension(
        "outcome",
        """
from dataclasses import replace
from tau_agent.tools import AgentTool, AgentToolResult
async def run(call_id, arguments, signal=None, on_update=None):
    said = {"outcome": "Listed 3 files", "outcomePatch": {"from": 1}}
    return AgentToolResult(content="x", details={"pi_intent": said})
def setup(tau):
    tau.register_tool(AgentTool(name="bash", label="bash", description="d", parameters={"type": "object",
        "properties": {"command": {"type": "string"}}, "required": ["command"]}, execute_fn=run))
""",
    )
    await desk.run(calls(("bash", {"intent": "List", "command": "ls"})))
    assert [(end.status, end.outcome, end.outcome_patch) for end in desk.ends] == [("ok", "Listed 3 files", None)]
    assert [start.tool_source for start in desk.starts] == ["outcome"]
