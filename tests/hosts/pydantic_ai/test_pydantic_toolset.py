"""Intents on one toolset, on toolsets of other kinds, and on both at once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from pydantic_ai import Agent, RunContext
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import ModelResponse
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.profiles import ModelProfile
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.toolsets import AbstractToolset, FunctionToolset, ToolsetTool
from pydantic_ai.toolsets.external import TOOL_SCHEMA_VALIDATOR
from pydantic_desk import Desk, Script

from pi_intent.hosts.pydantic_ai import Intents, IntentToolset


def add(a: int, b: int) -> int:
    return a + b


def times(a: int, b: int) -> int:
    return a * b


class Served(AbstractToolset[Any]):
    """A toolset like that of an MCP server: any schema, arguments that nobody checks, an id."""

    def __init__(self, id: str | None, schema: dict[str, Any]) -> None:  # noqa: A002
        self._id = id
        self.schema = schema
        self.got: list[dict[str, Any]] = []

    @property
    def id(self) -> str | None:
        return self._id

    async def get_tools(self, ctx: RunContext[Any]) -> dict[str, ToolsetTool[Any]]:
        return {
            "look_up": ToolsetTool(
                toolset=self,
                tool_def=ToolDefinition(name="look_up", parameters_json_schema=self.schema),
                max_retries=1,
                args_validator=TOOL_SCHEMA_VALIDATOR,
            )
        }

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[Any], tool: ToolsetTool[Any]
    ) -> str:
        assert tool.tool_def.parameters_json_schema is self.schema
        self.got.append(tool_args)
        return f"{name}: found"


SCHEMA = {"type": "object", "properties": {"term": {"type": "string"}}, "required": ["term"]}


async def test_only_the_wrapped_toolset_is_asked(desk: Desk) -> None:
    sent = {"intent": "Sum", "a": 1, "b": 2}
    script = Script([("add", sent), ("times", {"a": 3, "b": 4})], "done")
    agent: Agent[None, str] = Agent(script.model, tools=[times], toolsets=[IntentToolset(FunctionToolset([add]))])
    result = await agent.run("go")
    assert "intent" in script.tools[0]["add"]["properties"]
    assert "intent" not in script.tools[0]["times"]["properties"]
    assert desk.kept_as == [("add", "Sum", "ok")]
    calls = [
        part for message in result.all_messages() if isinstance(message, ModelResponse) for part in message.tool_calls
    ]
    assert calls[0].args == sent  # the history keeps what the model said, here too


async def test_the_calls_of_several_wrapped_toolsets_are_one_group_in_one_session(desk: Desk) -> None:
    script = Script(
        [("add", {"intent": "Sum", "a": 1, "b": 2}), ("times", {"intent": "Multiply", "a": 3, "b": 4})], "done"
    )
    toolsets = [IntentToolset(FunctionToolset([add])), IntentToolset(FunctionToolset([times]))]
    await Agent(script.model, toolsets=toolsets).run("go")
    assert len({(start.session_id, start.group_id) for start in desk.starts}) == 1
    assert [start.seq for start in desk.starts] == [1, 2]
    assert sorted(desk.statuses) == [("add", "ok"), ("times", "ok")]


async def test_a_wrapped_toolset_under_the_capability_is_asked_once(desk: Desk) -> None:
    script = Script([("add", {"a": 1, "b": 2})], [("add", {"intent": "Sum", "a": 1, "b": 2})], "done")
    agent: Agent[None, str] = Agent(
        script.model, toolsets=[IntentToolset(FunctionToolset([add]), policy="require")], capabilities=[Intents()]
    )
    await agent.run("go")
    assert list(script.tools[0]["add"]["properties"]) == ["intent", "rationale", "a", "b"]
    assert desk.statuses == [("add", "rejected"), ("add", "ok")]
    assert [kept.call.policy for kept in desk.kept if kept.call] == ["require", "require"]


@pytest.mark.parametrize("prefixed", ["outside", "inside"])
async def test_a_prefix_is_part_of_the_name_that_is_told(desk: Desk, prefixed: str) -> None:
    own = FunctionToolset([add])
    toolset: AbstractToolset[Any] = (
        IntentToolset(own).prefixed("sum") if prefixed == "outside" else IntentToolset(own.prefixed("sum"))
    )
    script = Script([("sum_add", {"a": 1, "b": 2})], [("sum_add", {"intent": "Sum", "a": 1, "b": 2})], "done")
    await Agent(script.model, toolsets=[toolset]).run("go")
    assert desk.statuses == [("sum_add", "rejected"), ("sum_add", "ok")]
    assert script.told(1)[0].startswith("Nothing was executed: `intent` is missing. Call sum_add again")


@pytest.mark.parametrize(
    ("make", "name"),
    [
        pytest.param(lambda served: served, "look_up", id="plain"),
        pytest.param(lambda served: served.prefixed("w"), "w_look_up", id="prefixed"),
        pytest.param(lambda served: served.filtered(lambda ctx, tool: True), "look_up", id="filtered"),
    ],
)
async def test_the_tools_of_a_server_are_asked_and_their_source_is_told(desk: Desk, make: Any, name: str) -> None:
    served = Served("wiki", SCHEMA)
    script = Script([(name, {"term": "x"})], [(name, {"intent": "Know x", "term": "x"})], "done")
    agent: Agent[None, str] = Agent(script.model, toolsets=[make(served)], capabilities=[Intents()])
    await agent.run("go")
    assert served.got == [{"term": "x"}]
    assert desk.statuses == [(name, "rejected"), (name, "ok")]
    assert {start.tool_source for start in desk.starts} == {"wiki"}
    assert [kept.call.tool_source for kept in desk.kept if kept.call] == ["wiki", "wiki"]


async def test_a_server_without_an_id_is_named_by_its_prefix(desk: Desk) -> None:
    script = Script([("w_look_up", {"intent": "Know x", "term": "x"})], "done")
    toolset = Served(None, SCHEMA).prefixed("w")
    await Agent(script.model, toolsets=[toolset], capabilities=[Intents()]).run("go")
    assert [start.tool_source for start in desk.starts] == ["w"]


async def test_a_schema_that_cannot_carry_an_intent_is_left_and_said_and_its_calls_are_kept(
    desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    schema = {"type": "object", "properties": {"intent": {"type": "string"}}, "required": ["intent"]}
    served = Served("bot", schema)
    script = Script([("look_up", {"intent": "greet"})], "done")
    await Agent(script.model, toolsets=[served], capabilities=[Intents()]).run("go")
    assert script.tools[0]["look_up"] == schema
    assert served.got == [{"intent": "greet"}]
    assert desk.kept_as == [("look_up", None, "ok")]
    assert [record.getMessage() for record in caplog.records if record.name == "pi_intent"] == [
        "look_up is called without an intent: the tool has a parameter called “intent” of its own"
    ]


async def test_a_pattern_may_name_the_server(desk: Desk) -> None:
    script = Script([("look_up", {"term": "x"})], "done")
    toolset = Served("wiki", SCHEMA)
    await Agent(script.model, toolsets=[toolset], capabilities=[Intents(exempt=["wiki/*"])]).run("go")
    assert script.tools[0]["look_up"] == SCHEMA
    assert desk.kept_as == [("look_up", None, "ok")]


async def test_what_others_add_to_a_tool_reaches_the_model_and_the_tool(desk: Desk) -> None:
    async def describe(ctx: RunContext[None], tools: list[ToolDefinition]) -> list[ToolDefinition]:
        return [replace(tool, description="Told by another") for tool in tools]

    class Describes(AbstractCapability[None]):
        async def prepare_tools(self, ctx: RunContext[None], tool_defs: list[ToolDefinition]) -> list[ToolDefinition]:
            return await describe(ctx, tool_defs)

    script = Script([("add", {"intent": "Sum", "a": 1, "b": 2})], "done")
    for toolset, capabilities in (
        (IntentToolset(FunctionToolset([add])).prepared(describe), []),
        (FunctionToolset([add]), [Intents(), Describes()]),
    ):
        script.requests.clear()
        await Agent(script.model, toolsets=[toolset], capabilities=capabilities).run("go")
    assert desk.statuses == [("add", "ok")] * 2


async def test_a_toolset_of_an_agent_that_is_entered_beforehand_serves_run_after_run(desk: Desk) -> None:
    script = Script([("add", {"intent": "Sum", "a": 1, "b": 2})], "done")
    agent: Agent[None, str] = Agent(script.model, toolsets=[IntentToolset(FunctionToolset([add]))])
    async with agent:
        for _ in range(2):
            script.requests.clear()
            await agent.run("go")
    assert desk.kept_as == [("add", "Sum", "ok")] * 2
    assert len({start.session_id for start in desk.starts}) == 2


async def test_switched_off_the_wrapped_toolset_stands_alone(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PI_INTENT", "off")
    script = Script([("look_up", {"term": "x", "intent": "stray"})], "done")
    served = Served("wiki", SCHEMA)
    await Agent(script.model, toolsets=[IntentToolset(served)]).run("go")
    assert script.tools[0]["look_up"] is SCHEMA
    assert served.got == [{"term": "x", "intent": "stray"}]
    assert desk.events.events == []


async def test_a_tool_that_is_found_late_arrives_with_its_intent(desk: Desk) -> None:
    late = [("times", {"intent": "Multiply", "a": 3, "b": 4})]
    script = Script([("search_tools", {"queries": ["times"]})], late, "done")
    toolset = FunctionToolset([add, times]).defer_loading(["times"])
    model = FunctionModel(script.answer, profile=ModelProfile(supported_native_tools=frozenset()))
    await Agent(model, toolsets=[toolset], capabilities=[Intents()]).run("go")
    assert "intent" not in script.tools[0]["search_tools"]["properties"]  # pydantic-ai's own, which it reads itself
    assert list(script.tools[1]["times"]["properties"]) == ["intent", "rationale", "a", "b"]
    assert desk.kept_as == [("times", "Multiply", "ok")]
