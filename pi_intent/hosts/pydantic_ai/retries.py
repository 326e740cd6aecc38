"""Keep the refusals of calls without an intent out of the retries that a tool has for its own failures."""

from __future__ import annotations

from typing import Any, NamedTuple

from pydantic_ai import RunContext
from pydantic_ai.tool_manager import ToolManager


class _Advance(NamedTuple):
    manager: ToolManager[Any]
    retries: int
    had_failed: bool


class FreeRefusals:
    """Gives a tool one retry ahead of a refusal, which takes it: the tool's own count stays as it was.

    pydantic-ai counts a step's failures of a tool in the tool manager, checks them against `max_retries` while it
    turns the exception into a message, and carries them to the next step; a tool has one retry by default, so a
    second refusal would end the run. Nothing runs between that check and the next call, so the advance is taken
    back when the tool is next called in the same step; else the step's end uses it up.
    """

    def __init__(self) -> None:
        self._advances: dict[str, _Advance] = {}

    def give(self, ctx: RunContext[Any]) -> None:
        """Let the refusal that is about to be raised cost nothing."""
        name, manager = ctx.tool_name, ctx.tool_manager
        if name is None or manager is None:
            return
        retries = ctx.retries.get(name, 0)
        self._advances[name] = _Advance(manager, retries, name in manager.failed_tools)
        ctx.retries[name] = min(retries, ctx.max_retries) - 1

    def take_back(self, ctx: RunContext[Any]) -> None:
        """Let what the tool does now be counted as if it had not been refused in this step."""
        advance = self._advances.pop(ctx.tool_name or "", None)
        if advance is None or ctx.tool_name is None or advance.manager is not ctx.tool_manager:
            return
        ctx.retries[ctx.tool_name] = advance.retries
        ctx.retry = max(ctx.retry, advance.retries)  # made before the advance could be taken back
        if not advance.had_failed:
            advance.manager.failed_tools.discard(ctx.tool_name)

    def end_step(self, ctx: RunContext[Any]) -> None:
        """Take back what a step has not used up: whoever calls tools on its own may not count failures at all."""
        for name, advance in self._advances.items():
            if name in ctx.retries and name not in advance.manager.failed_tools:
                ctx.retries[name] = advance.retries
        self._advances.clear()
