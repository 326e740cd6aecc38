"""The label of a call while the model still writes it: Tau's real provider, a loopback server, Tau's own screen."""

from __future__ import annotations

import pytest
from tau_ai import OpenAICompatibleConfig, OpenAICompatibleProvider
from tau_coding.tui.app import TauTuiApp
from tau_desk import Desk
from tau_screen import running, screen, settle

from pi_intent import LabelBoard, ToolExecutionEnd, ToolExecutionStart, ToolIntentUpdate
from pi_intent.cli.demo.model import ScriptedCall, ScriptedModel, Turn

INTENT = "Write the report, section by section"
LONG = {"intent": INTENT, "path": "report.md", "content": "word " * 400}


def provider(model: ScriptedModel) -> OpenAICompatibleProvider:
    return OpenAICompatibleProvider(OpenAICompatibleConfig(base_url=model.base_url, api_key="none"))


def words_on(app: TauTuiApp) -> list[str]:
    """Return the lines with words on the screen, without Tau's frame, its spinner and the folder of the test."""
    lines = [line.strip(" ▊■τ") for line in screen(app).splitlines()]
    return [line for line in lines if line and not line.endswith(("openai:m (medium)", "/112k"))]


def a_write(**changes: object) -> Turn:
    return Turn(calls=(ScriptedCall(name="write", arguments={**LONG, **changes}),))


async def test_the_screen_before_during_and_after_a_long_write(desk: Desk, snapshot, monkeypatch):
    monkeypatch.setenv("TEXTUAL_ANIMATIONS", "none")
    with ScriptedModel([a_write(), Turn(text="done")], piece=10, pause=0.02) as model:
        session = await desk.session([], provider=provider(model))
        async with running(session, size=(110, 30)) as (pilot, app):
            assert words_on(app) == snapshot(name="before")
            app.query_one("#prompt").value = "go"
            await pilot.press("enter")
            for _ in range(500):
                await pilot.pause(0.02)
                if INTENT in screen(app):
                    break
            assert words_on(app) == snapshot(name="during")
            await settle(pilot, app)
            await pilot.pause(0.4)
            assert words_on(app) == snapshot(name="after")


async def test_a_label_grows_on_the_screen_long_before_there_is_a_call(desk: Desk):
    with ScriptedModel([a_write(), Turn(text="done")], piece=10, pause=0.02) as model:
        session = await desk.session([], provider=provider(model))
        async with running(session, size=(120, 40)) as (pilot, app):
            prompt_at = app.query_one("#prompt").region
            app.query_one("#prompt").value = "go"
            await pilot.press("enter")
            labelled = False
            for _ in range(500):
                await pilot.pause(0.02)
                if labelled := INTENT in screen(app):
                    break
            assert labelled, screen(app)
            assert desk.starts == []
            assert app.query_one("#prompt").region == prompt_at
            await settle(pilot, app)
            await pilot.pause(0.4)
            assert f"✓ {INTENT}" in screen(app)
    updates = [event for event in desk.events if isinstance(event, ToolIntentUpdate)]
    assert len(updates) > 3
    assert all(INTENT.startswith(event.intent) for event in updates)
    assert [event.complete for event in updates][-1]
    assert {event.call_id for event in updates} == {start.call_id for start in desk.starts}
    assert {event.group_id for event in updates} == {start.group_id for start in desk.starts}
    assert [end.status for end in desk.ends] == ["ok"]
    assert [record["t"] for record in desk.records] == ["session", "call", "done"]


async def test_an_interrupt_while_arguments_stream_ends_the_label_and_makes_no_call(desk: Desk):
    with ScriptedModel([a_write(content="x" * 20_000), Turn(text="done")], piece=10, pause=0.02) as model:
        session = await desk.session([], provider=provider(model))
        async with running(session, size=(120, 40)) as (pilot, app):
            app.query_one("#prompt").value = "go"
            await pilot.press("enter")
            for _ in range(500):
                await pilot.pause(0.02)
                if INTENT in screen(app):
                    break
            await pilot.press("escape")
            await settle(pilot, app)
            await pilot.pause(0.4)
            assert f"⊘ {INTENT} · interrupted" in screen(app)
    assert not any(isinstance(event, ToolExecutionStart) for event in desk.events)
    assert [event.status for event in desk.events if isinstance(event, ToolExecutionEnd)] == ["interrupted"]
    assert all(record["t"] == "session" for record in desk.records)
    assert not (desk.project / "report.md").exists()


async def test_a_provider_that_dies_while_it_streams_leaves_no_label_in_flight(desk: Desk):
    cut = Turn(calls=(ScriptedCall(name="write", arguments=LONG),), cut_at=200)
    with ScriptedModel([cut, Turn(text="done")], piece=10) as model:
        session = await desk.session([], provider=provider(model))
        async for _ in session.prompt("go"):
            pass
    assert [(end.status, end.codes) for end in desk.ends] == [("rejected", ("arguments_not_json",))]
    board = LabelBoard()
    for event in desk.events:
        board.apply(event)
    assert [label.state for label in board.labels] == ["settled"]


@pytest.mark.parametrize("live", ["on", "off"])
async def test_live_can_be_switched_off_and_the_call_is_the_same(desk: Desk, monkeypatch, live):
    monkeypatch.setenv("PI_INTENT_LIVE", live)
    with ScriptedModel([a_write(), Turn(text="done")], piece=40) as model:
        session = await desk.session([], provider=provider(model))
        async for _ in session.prompt("go"):
            pass
    shown = [event for event in desk.events if isinstance(event, ToolIntentUpdate)]
    assert bool(shown) == (live == "on")
    assert [(start.intent, end.status) for start, end in zip(desk.starts, desk.ends, strict=True)] == [(INTENT, "ok")]


async def test_keys_in_another_order_and_other_scripts_show_as_well(desk: Desk):
    texts = ["Проверить, что всё работает", "検索中: 認証の処理 👩‍💻", "می‌خواهم ببینم", "ابحث عن الخطأ"]
    calls = tuple(
        ScriptedCall(name="write", arguments={"content": "x" * 300, "path": f"f{number}", "intent": text})
        for number, text in enumerate(texts)
    )
    with ScriptedModel([Turn(calls=calls), Turn(text="done")], piece=3) as model:
        session = await desk.session([], provider=provider(model))
        async for _ in session.prompt("go"):
            pass
    last: dict[str, str] = {}
    for event in desk.events:
        if isinstance(event, ToolIntentUpdate):
            last[event.call_id] = event.intent
    assert list(last.values()) == texts
    assert [start.intent for start in desk.starts] == texts
    assert list(last) == [start.call_id for start in desk.starts]


async def test_a_tool_with_an_intent_of_its_own_never_shows_a_label(desk: Desk):
    desk.extension(
        "router",
        """
from tau_agent.tools import AgentTool, AgentToolResult
SCHEMA = {"type": "object", "properties": {"intent": {"type": "string"}}, "required": ["intent"]}
async def run(call_id, arguments, signal=None, on_update=None):
    return AgentToolResult(content="routed")
def setup(tau):
    for name in ("bash", "route"):
        tau.register_tool(AgentTool(name=name, label="x", description="d", parameters=SCHEMA, execute_fn=run))
""",
    )
    calls = tuple(ScriptedCall(name=name, arguments={"intent": "billing"}) for name in ("bash", "route"))
    with ScriptedModel([Turn(calls=calls), Turn(text="done")], piece=3) as model:
        session = await desk.session([], provider=provider(model))
        async for _ in session.prompt("go"):
            pass
    assert not any(isinstance(event, ToolIntentUpdate) for event in desk.events)
