"""Tools stay as strict for a provider as they were without us."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic_ai import Agent, Tool
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.profiles import ModelProfile
from pydantic_ai.profiles.openai import OpenAIJsonSchemaTransformer
from pydantic_desk import Desk, Script

from pi_intent.hosts.pydantic_ai import Intents
from pi_intent.types import Policy

NULLABLE = [{"type": "string"}, {"type": "null"}]


def strict_model(script: Script) -> FunctionModel:
    """A scripted model that takes schemas as OpenAI does."""
    return FunctionModel(script.answer, profile=ModelProfile(json_schema_transformer=OpenAIJsonSchemaTransformer))


def all_required(a: int) -> int:
    return a


def some_optional(a: int = 1) -> int:
    return a


@pytest.mark.parametrize(
    ("policy", "may_be_null"), [("adaptive", {"rationale"}), ("optional", {"intent", "rationale"})]
)
def test_a_tool_that_openai_would_hold_the_model_to_stays_so(
    desk: Desk, policy: Policy, may_be_null: set[str]
) -> None:
    script = Script([("all_required", {"intent": "Look", "rationale": None, "a": 1})], "done")
    agent: Agent[None, str] = Agent(strict_model(script), tools=[all_required], capabilities=[Intents(policy=policy)])
    agent.run_sync("go")
    shown = script.tools[0]["all_required"]
    assert list(shown["properties"]) == ["intent", "rationale", "a"]
    assert shown["required"] == ["intent", "rationale", "a"]
    assert "minLength" not in str(shown)
    assert {name for name, schema in shown["properties"].items() if schema.get("anyOf") == NULLABLE} == may_be_null
    checked = OpenAIJsonSchemaTransformer(shown, strict=None)
    checked.walk()
    assert checked.is_strict_compatible
    assert [(start.intent, start.rationale) for start in desk.starts] == [("Look", None)]
    assert desk.statuses == [("all_required", "ok")]


def test_a_tool_that_was_never_strict_looks_as_for_everybody_else(desk: Desk) -> None:
    shown: list[dict[str, Any]] = []
    for model in (strict_model, lambda script: script.model):
        script = Script("done")
        Agent(model(script), tools=[some_optional], capabilities=[Intents()]).run_sync("go")
        shown.append(script.tools[0]["some_optional"])
    assert shown[1]["required"] == ["intent"]
    assert set(shown[0]["required"]) == {"intent"}


@pytest.mark.parametrize(("strict", "required"), [(True, ["intent", "rationale", "a"]), (False, ["intent", "a"])])
def test_what_the_tool_itself_says_of_strictness_counts(desk: Desk, strict: bool, required: list[str]) -> None:
    script = Script("done")
    agent: Agent[None, str] = Agent(script.model, tools=[Tool(all_required, strict=strict)], capabilities=[Intents()])
    agent.run_sync("go")
    assert script.tools[0]["all_required"]["required"] == required


def test_short_schemas_stay_strict_too(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PI_INTENT_PROFILE", "lean")
    script = Script("done")
    tool = Tool(all_required, strict=True)
    Agent(script.model, tools=[tool], capabilities=[Intents()]).run_sync("go")
    shown = script.tools[0]["all_required"]
    assert shown["properties"]["intent"] == {"type": "string", "description": "Mandatory goal"}
    assert shown["properties"]["rationale"] == {"anyOf": NULLABLE}
