"""Refusals against the retries that pydantic-ai gives a tool: ours cost nothing while our budget lasts."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic_ai import Agent, ModelRetry, RunContext, Tool
from pydantic_ai.exceptions import UnexpectedModelBehavior
from pydantic_ai.messages import ToolCallPart
from pydantic_ai.toolsets import FunctionToolset
from pydantic_desk import Desk, Script, Turn

from pi_intent.hosts.pydantic_ai import Intents, IntentToolset

SILENT: Turn = [("work", {"n": 1})]
SPOKEN: Turn = [("work", {"intent": "Do it", "n": 1})]


class Work:
    """A tool that fails so many times, and notes which retry it was told that it is in."""

    def __init__(self, failures: int = 0) -> None:
        self.failures = failures
        self.seen: list[tuple[int, int]] = []

    def __call__(self, ctx: RunContext[None], n: int) -> str:
        self.seen.append((ctx.retry, ctx.max_retries))
        if len(self.seen) <= self.failures:
            raise ModelRetry("not like that")
        return "worked"


def agent_of(script: Script, work: Work, *, retries: int = 1, how: str = "all", **chosen: Any) -> Agent[None, str]:
    tool = Tool(work.__call__, name="work", max_retries=retries)
    if how == "all":
        return Agent(script.model, tools=[tool], capabilities=[Intents(**chosen)])
    return Agent(script.model, toolsets=[IntentToolset(FunctionToolset([tool]), **chosen)])


@pytest.mark.parametrize("retries", [0, 1])
def test_a_model_that_never_states_an_intent_is_let_through_when_the_budget_is_spent(
    desk: Desk, how: str, retries: int
) -> None:
    work = Work()
    script = Script(SILENT, SILENT, SILENT, SILENT, SILENT, "done")
    assert agent_of(script, work, how=how, retries=retries).run_sync("go").output == "done"
    assert [status for _, status in desk.statuses] == ["rejected"] * 3 + ["ok"] * 2
    assert [(start.intent, start.intent_source, start.flags) for start in desk.starts[3:]] == [
        ("work", "derived", ("budget_spent",))
    ] * 2
    assert work.seen == [(0, retries)] * 2


def test_the_tool_s_own_retry_is_still_there_after_refusals(desk: Desk, how: str) -> None:
    work = Work(failures=1)
    agent_of(Script(SILENT, SILENT, SPOKEN, SPOKEN, "done"), work, how=how).run_sync("go")
    assert [status for _, status in desk.statuses] == ["rejected", "rejected", "error", "ok"]
    assert work.seen == [(0, 1), (1, 1)]


def test_a_refusal_after_a_failure_of_the_tool_does_not_end_the_run(desk: Desk, how: str) -> None:
    work = Work(failures=1)
    agent_of(Script(SPOKEN, SILENT, SPOKEN, "done"), work, how=how).run_sync("go")
    assert [status for _, status in desk.statuses] == ["error", "rejected", "ok"]
    assert work.seen == [(0, 1), (1, 1)]


def test_the_tool_s_own_failures_are_as_limited_as_ever(desk: Desk, how: str) -> None:
    work = Work(failures=2)
    with pytest.raises(UnexpectedModelBehavior, match="exceeded max retries count of 1"):
        agent_of(Script(SILENT, SPOKEN, SILENT, SPOKEN, "done"), work, how=how).run_sync("go")
    assert [status for _, status in desk.statuses] == ["rejected", "error", "rejected", "error"]
    assert work.seen == [(0, 1), (1, 1)]


def test_a_failure_beside_a_refusal_in_one_answer_is_counted(desk: Desk, how: str) -> None:
    both: Turn = [("work", {"n": 1}), ("work", {"intent": "Do it", "n": 2})]
    work = Work(failures=2)
    with pytest.raises(UnexpectedModelBehavior, match="exceeded max retries count of 1"):
        agent_of(Script(both, both, "done"), work, how=how).run_sync("go")
    assert work.seen == [(0, 1), (1, 1)]


def test_several_refusals_in_one_answer_are_one_round(desk: Desk, how: str) -> None:
    three: Turn = [("work", {"n": n}) for n in (1, 2, 3)]
    agent_of(Script(three, three, three, three, "done"), Work(), how=how).run_sync("go")
    assert [status for _, status in desk.statuses] == ["rejected"] * 9 + ["ok"] * 3


def test_under_require_pydantic_ai_ends_the_run_when_our_rounds_are_over(desk: Desk, how: str) -> None:
    work = Work()
    script = Script(*[SILENT] * 10)
    with pytest.raises(UnexpectedModelBehavior, match="exceeded max retries count of 1"):
        agent_of(script, work, how=how, policy="require").run_sync("go")
    assert work.seen == []
    assert [status for _, status in desk.statuses] == ["rejected"] * 5  # three rounds of ours, one retry, the last
    assert script.told(3)[0].endswith(
        "Stop calling work and tell the user that its calls keep being refused for this reason."
    )


def test_arguments_that_cannot_be_read_cost_what_they_cost_without_us(desk: Desk, how: str) -> None:
    with pytest.raises(UnexpectedModelBehavior, match="exceeded max retries count of 1"):
        agent_of(Script([("work", "{")], [("work", "{")], "done"), Work(), how=how).run_sync("go")
    assert [end.codes for end in desk.ends] == [("arguments_not_json",)] * 2


def test_arguments_that_the_tool_refuses_are_an_error_and_counted(desk: Desk, how: str) -> None:
    wrong: Turn = [("work", {"intent": "Do it", "n": "many"})]
    work = Work()
    with pytest.raises(UnexpectedModelBehavior, match="exceeded max retries count of 1"):
        agent_of(Script(wrong, wrong, "done"), work, how=how).run_sync("go")
    assert work.seen == []
    assert [status for _, status in desk.statuses] == ["error", "error"]
    assert [start.intent for start in desk.starts] == ["Do it", "Do it"]


async def test_a_refusal_that_pydantic_ai_does_not_count_gives_no_retry_away(desk: Desk, how: str) -> None:
    work = Work(failures=2)

    async def script_it(ctx: RunContext[None]) -> str:
        assert ctx.tool_manager is not None
        call = ToolCallPart("work", {"n": 1}, tool_call_id="inner")
        with pytest.raises(ModelRetry, match="Nothing was executed"):
            await ctx.tool_manager.handle_call(call, wrap_validation_errors=False)
        return "scripted"

    script = Script([("script_it", {"intent": "Try"})], SPOKEN, SPOKEN, "done")
    agent = agent_of(script, work, how=how)
    agent.tool(script_it)
    with pytest.raises(UnexpectedModelBehavior, match="exceeded max retries count of 1"):
        await agent.run("go")
    assert work.seen == [(0, 1), (1, 1)]
