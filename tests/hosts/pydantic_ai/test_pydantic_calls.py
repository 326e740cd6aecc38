"""The calls of an agent: what the model is shown, what its tools get, and what is told and kept of it."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from datetime import date
from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Strict
from pydantic_ai import Agent, Tool, ToolReturn
from pydantic_ai.messages import ModelResponse, ToolReturnPart
from pydantic_ai.models.test import TestModel
from pydantic_ai.toolsets import FunctionToolset
from pydantic_desk import Desk, Script

from pi_intent import INTENT_MARKER, SettingsError
from pi_intent.hosts.pydantic_ai import Intents


def agent_of(script: Script, *tools: Any, intents: Intents | None = None, **more: Any) -> Agent[None, Any]:
    return Agent(script.model, tools=tools, capabilities=[intents or Intents()], **more)


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


class Order(BaseModel, extra="forbid"):
    """What takes no other fields."""

    day: date
    sizes: tuple[int, ...]


def test_the_model_sees_the_intent_first_and_the_tool_never_gets_it(desk: Desk) -> None:
    got: list[dict[str, Any]] = []

    def look(**given: Any) -> str:
        got.append(given)
        return "seen"

    own = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
    tool = Tool.from_schema(look, name="look", description="Look.", json_schema=own)
    sent = {"intent": "Find the cause", "rationale": "the log", "path": "a.py"}
    script = Script([("look", sent)], "done")
    agent_of(script, tool).run_sync("go")
    shown = script.tools[0]["look"]
    assert list(shown["properties"]) == ["intent", "rationale", "path"]
    assert shown["required"] == ["intent", "path"]
    assert shown["properties"]["intent"]["description"].startswith(INTENT_MARKER)
    assert own == {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
    assert got == [{"path": "a.py"}]


def test_a_call_is_told_and_kept_with_its_intent_and_rationale(desk: Desk) -> None:
    script = Script([("add", {"intent": " Sum up ", "rationale": "the user asked", "a": 1, "b": 2})], "done")
    assert agent_of(script, add).run_sync("go", conversation_id="talk").output == "done"
    (start,), (end,) = desk.starts, desk.ends
    assert (start.intent, start.rationale, start.args, start.intent_source) == (
        "Sum up",
        "the user asked",
        {"a": 1, "b": 2},
        "model",
    )
    assert (start.host, start.session_id, start.tool_call_id, start.tool_source, start.model, start.flags) == (
        "pydantic-ai",
        "talk",
        "call-1-0",
        None,
        "scripted",
        (),
    )
    assert (end.status, end.is_error, end.result) == ("ok", False, 3)
    (kept,) = desk.kept
    assert kept.call is not None
    assert kept.done is not None
    assert (kept.call.intent, kept.call.rationale, kept.call.args, kept.call.turn, kept.call.policy) == (
        "Sum up",
        "the user asked",
        {"a": 1, "b": 2},
        1,
        "adaptive",
    )
    assert (kept.call.session, kept.call.profile, kept.done.status, kept.done.bytes_out) == ("talk", "full", "ok", 1)


def test_the_model_s_own_words_stay_in_the_history(desk: Desk) -> None:
    sent = {"intent": "Sum up", "a": 1, "b": 2}
    result = agent_of(Script([("add", sent)], "done"), add).run_sync("go")
    calls = [
        call for message in result.all_messages() if isinstance(message, ModelResponse) for call in message.tool_calls
    ]
    assert [call.args for call in calls] == [sent]


@pytest.mark.parametrize("sent", [{"intent": "Look", "day": "2026-01-02"}, '{"intent":"Look","day":"2026-01-02"}'])
def test_arguments_are_checked_as_they_came_by_the_tool_s_own_rules(desk: Desk, sent: Any) -> None:
    got: list[date] = []

    def look(day: date) -> None:
        got.append(day)

    agent_of(Script([("look", sent)], "done"), look).run_sync("go")
    assert got == [date(2026, 1, 2)]


def test_json_is_checked_as_json_where_the_tool_is_strict(desk: Desk) -> None:
    got: list[tuple[date, int]] = []

    def place(day: Annotated[date, Strict()], n: int) -> None:
        got.append((day, n))

    text = '{"intent": "Place it", "day": "2026-01-02", "n": 1}'
    agent_of(Script([("place", text)], "done"), place).run_sync("go")
    assert got == [(date(2026, 1, 2), 1)]


def test_a_tool_that_takes_one_model_gets_it(desk: Desk) -> None:
    got: list[Order] = []

    def place(order: Order) -> None:
        got.append(order)

    text = '{"intent": "Place it", "day": "2026-01-02", "sizes": [1, 2]}'
    agent_of(Script([("place", text)], "done"), place).run_sync("go")
    assert got == [Order(day=date(2026, 1, 2), sizes=(1, 2))]
    assert desk.starts[0].args == {"day": "2026-01-02", "sizes": [1, 2]}


def test_a_parameter_of_the_tool_s_own_is_left_alone_and_said_once(
    desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    got: list[tuple[str, str]] = []

    def file(intent: str, rationale: str) -> None:
        got.append((intent, rationale))

    script = Script([("file", {"intent": "theirs", "rationale": "theirs too"})], "done")
    agent = agent_of(script, file)
    agent.run_sync("go")
    script.requests.clear()
    agent.run_sync("go")
    assert got == [("theirs", "theirs too")] * 2
    assert "minLength" not in script.tools[0]["file"]["properties"]["intent"]
    assert [(start.intent, start.intent_source, start.args) for start in desk.starts] == [
        (None, "absent", {"intent": "theirs", "rationale": "theirs too"})
    ] * 2
    assert [record.getMessage() for record in caplog.records if record.name == "pi_intent"] == [
        "file is called without an intent: the tool has a parameter called “intent” of its own"
    ]


def test_a_tool_with_a_rationale_of_its_own_keeps_that(desk: Desk) -> None:
    got: list[str] = []

    def file(rationale: str) -> None:
        got.append(rationale)

    agent_of(Script([("file", {"intent": "Keep it", "rationale": "theirs"})], "done"), file).run_sync("go")
    assert got == ["theirs"]
    assert [(start.intent, start.rationale) for start in desk.starts] == [("Keep it", None)]


def test_the_very_object_that_a_tool_returns_is_what_pydantic_ai_gets(desk: Desk) -> None:
    returned = ToolReturn(
        return_value={"n": 1},
        metadata={"pi_intent": {"outcome": "Counted one", "outcomePatch": {"from": "C", "to": "c"}}},
    )

    def count() -> ToolReturn[Any]:
        return returned

    result = agent_of(Script([("count", {"intent": "Count"})], "done"), count).run_sync("go")
    (end,) = desk.ends
    assert end.result is returned
    assert end.outcome == "Counted one"
    assert end.outcome_patch is not None
    assert (end.outcome_patch.from_, end.outcome_patch.to) == ("C", "c")
    (part,) = [
        part for message in result.all_messages() for part in message.parts if isinstance(part, ToolReturnPart)
    ]
    assert (part.content, part.metadata) == ({"n": 1}, returned.metadata)
    assert [kept.done and kept.done.bytes_out for kept in desk.kept] == [len('{"n":1}')]


def test_the_calls_of_one_answer_are_one_group_and_turns_count_answers(desk: Desk) -> None:
    pair = [("add", {"intent": f"Sum {n}", "a": n, "b": 0}) for n in (1, 2)]
    agent_of(Script(pair, "thinking", [("add", {"intent": "Sum 3", "a": 3, "b": 0})], "done"), add).run_sync("go")
    assert len(desk.starts) == 2  # a text ends a run

    history = agent_of(Script(pair, [("add", {"intent": "Sum 3", "a": 3, "b": 0})], "done"), add).run_sync("go")
    first, second, third = desk.starts[2:]
    assert first.group_id == second.group_id != third.group_id
    assert [kept.call.turn for kept in desk.kept if kept.call][2:] == [1, 1, 2]

    agent_of(Script([("add", {"intent": "Sum 4", "a": 4, "b": 0})], "done"), add).run_sync(
        "more", message_history=history.all_messages()
    )
    assert desk.starts[-1].session_id == first.session_id  # the conversation goes on
    assert [kept.call.turn for kept in desk.kept if kept.call][-1] == 4


def test_a_refused_call_ran_nothing_and_is_settled_once(desk: Desk) -> None:
    ran: list[int] = []

    def work(n: int) -> None:
        ran.append(n)

    script = Script([("work", {"n": 1})], [("work", {"intent": "Do it", "n": 2})], "done")
    agent_of(script, work).run_sync("go")
    assert ran == [2]
    assert desk.statuses == [("work", "rejected"), ("work", "ok")]
    assert desk.kept_as == [("work", None, "rejected"), ("work", "Do it", "ok")]
    assert script.told(1) == [
        "Nothing was executed: `intent` is missing. Call work again with `intent` first: "
        "text that states the goal of the call."
    ]


def test_one_of_two_calls_is_refused_and_the_other_runs(desk: Desk) -> None:
    both = [("add", {"a": 1, "b": 1}), ("add", {"intent": "Sum", "a": 2, "b": 2})]
    agent_of(Script(both, "done"), add).run_sync("go")
    assert desk.statuses == [("add", "rejected"), ("add", "ok")]
    assert len({start.group_id for start in desk.starts}) == 1


@pytest.mark.parametrize("sent", ["{not json", '{"intent": "Cut off', "[" * 100_000])
def test_arguments_that_are_no_json_get_our_text(desk: Desk, sent: str) -> None:
    script = Script([("add", sent)], [("add", {"intent": "Sum", "a": 1, "b": 2})], "done")
    agent_of(script, add).run_sync("go")
    assert desk.statuses == [("add", "rejected"), ("add", "ok")]
    assert desk.ends[0].codes == ("arguments_not_json",)
    assert script.told(1)[0].startswith("Nothing was executed: the arguments are not valid JSON")


def test_arguments_that_are_no_object_get_our_text(desk: Desk) -> None:
    script = Script([("add", "[1, 2]")], [("add", {"intent": "Sum", "a": 1, "b": 2})], "done")
    agent_of(script, add).run_sync("go")
    assert desk.ends[0].codes == ("arguments_not_an_object",)


def test_output_tools_are_not_asked(desk: Desk) -> None:
    class Answer(BaseModel):
        number: int

    script = Script([("add", {"intent": "Sum", "a": 1, "b": 2})], [("final_result", {"number": 3})])
    result = agent_of(script, add, output_type=Answer).run_sync("go")
    assert result.output == Answer(number=3)
    assert desk.statuses == [("add", "ok")]


async def test_every_way_to_run_an_agent_is_followed(desk: Desk) -> None:
    def script() -> Script:
        return Script([("add", {"intent": "Sum", "a": 1, "b": 2})], "done")

    await agent_of(script(), add).run("go")
    async with agent_of(script(), add).run_stream("go") as streamed:
        assert await streamed.get_output() == "done"
    async with agent_of(script(), add).iter("go") as run:
        async for _ in run:
            pass
    assert run.result is not None
    assert run.result.output == "done"
    async with agent_of(script(), add).run_stream_events("go") as events:
        assert [event async for event in events]
    assert desk.statuses == [("add", "ok")] * 4
    assert desk.kept_as == [("add", "Sum", "ok")] * 4


def test_pydantic_ai_s_test_model_states_something_for_every_tool(desk: Desk) -> None:
    agent: Agent[None, str] = Agent(TestModel(), tools=[add], capabilities=[Intents()])
    agent.run_sync("go")
    assert desk.statuses == [("add", "ok")]
    assert desk.starts[0].intent == "a"


def test_settings_of_the_project_can_only_raise_what_code_chose(desk: Desk) -> None:
    (desk.project / ".pi-intent.toml").write_text('[tools]\nadd = "require"\n')
    script = Script([("add", {"a": 1, "b": 2})], [("add", {"intent": "Sum", "a": 1, "b": 2})], "done")
    agent_of(script, add, intents=Intents(policy="omit")).run_sync("go")
    assert script.tools[0]["add"]["required"][0] == "intent"
    assert desk.statuses == [("add", "rejected"), ("add", "ok")]


def test_what_the_user_has_set_for_a_tool_holds(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.configure('[tools]\nadd = "optional"\n')
    script = Script([("add", {"a": 1, "b": 2})], "done")
    agent_of(script, add).run_sync("go")
    assert script.tools[0]["add"]["required"] == ["a", "b"]
    assert desk.statuses == [("add", "ok")]


def test_only_the_named_tools_are_asked_and_all_are_kept(desk: Desk) -> None:
    def read_file(path: str) -> str:
        return path

    def read_page(path: str) -> str:
        return path

    script = Script(
        [("read_file", {"intent": "Look", "path": "a"}), ("read_page", {"path": "b"}), ("add", {"a": 1, "b": 2})],
        "done",
    )
    agent_of(script, read_file, read_page, add, intents=Intents(tools="read_*", exempt=["read_page"])).run_sync("go")
    asked = {name for name, schema in script.tools[0].items() if "intent" in schema["properties"]}
    assert asked == {"read_file"}
    assert desk.kept_as == [("read_file", "Look", "ok"), ("read_page", None, "ok"), ("add", None, "ok")]


def test_a_pattern_that_covers_no_tool_is_said(desk: Desk, caplog: pytest.LogCaptureFixture) -> None:
    agent_of(Script("done"), add, intents=Intents(exempt=["ad"])).run_sync("go")
    assert [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING] == [
        'exempt=: tools.ad matches no tool; did you mean "add"?'
    ]


def test_a_pattern_of_a_file_that_names_a_toolset_and_none_of_its_tools_is_said(
    desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    desk.configure('[tools]\n"sums/ad" = "omit"\n"other/ad" = "omit"\n')
    toolset = FunctionToolset([add], id="sums")
    Agent(Script("done").model, toolsets=[toolset], capabilities=[Intents()]).run_sync("go")
    [told] = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert told.endswith('tools."sums/ad" matches no tool; did you mean "sums/add"?')


def test_a_policy_that_there_is_not_is_refused_when_it_is_written() -> None:
    with pytest.raises(SettingsError, match="there is no policy 'strict': use one of require, adaptive"):
        Intents(policy="strict")  # type: ignore[arg-type]


def test_switched_off_nothing_of_us_takes_part(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PI_INTENT", "off")
    script, bare = Script([("add", {"a": 1, "b": 2})], "done"), Script([("add", {"a": 1, "b": 2})], "done")
    agent_of(script, add).run_sync("go")
    Agent(bare.model, tools=[add]).run_sync("go")
    assert script.tools == bare.tools
    assert desk.events.events == []
    assert desk.kept == []


def test_without_a_ledger_only_the_events_are_told(desk: Desk) -> None:
    script = Script([("add", {"intent": "Sum", "a": 1, "b": 2})], "done")
    agent_of(script, add, intents=Intents(ledger=False)).run_sync("go")
    assert desk.statuses == [("add", "ok")]
    assert not (desk.project / ".git" / "pi-intent").exists()


def test_the_ledger_and_the_session_are_those_that_were_named(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    script = Script([("add", {"intent": "Sum", "a": 1, "b": 2})], "done")
    agent = agent_of(script, add, intents=Intents(session_id="shop/42", cwd=desk.project))
    agent.run_sync("go")
    (kept,) = desk.kept
    assert kept.call is not None
    assert kept.call.session == "shop/42"


def test_a_strict_ledger_that_cannot_be_written_refuses_and_says_so(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PI_INTENT_STRICT", "true")
    (desk.project / ".git" / "pi-intent").mkdir()
    (desk.project / ".git" / "pi-intent" / "ledger").write_text("in the way")
    ran: list[int] = []

    def work() -> None:
        ran.append(1)

    script = Script([("work", {"intent": "Do it"})], "done")
    agent_of(script, work).run_sync("go")
    assert ran == []
    assert desk.statuses == [("work", "denied")]
    assert len(script.told(1)) == 1


def test_where_pydantic_ai_is_missing_one_sentence_says_what_to_do() -> None:
    code = """
import sys
sys.modules["pydantic_ai"] = None  # as if it were not installed
from pi_intent import HostError
try:
    import pi_intent.hosts.pydantic_ai
except HostError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == (
        "pydantic-ai is not installed here: in the clone of pi-intent, pip install '.[pydantic-ai]'\n"
    )


def test_a_tool_looks_the_same_in_every_request_of_a_run(desk: Desk) -> None:
    script = Script([("add", {"a": 1, "b": 2})], [("add", {"intent": "Sum", "a": 1, "b": 2})], "done")
    agent_of(script, add).run_sync("go")
    assert [json.dumps(shown) for shown in script.tools] == [json.dumps(script.tools[0])] * 3
