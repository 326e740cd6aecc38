"""Put intents on all the tools of a pydantic-ai agent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic_ai import RunContext
from pydantic_ai.capabilities import AbstractCapability, CapabilityOrdering, WrapToolExecuteHandler
from pydantic_ai.messages import AgentStreamEvent, ToolCallPart
from pydantic_ai.models import ModelRequestContext
from pydantic_ai.tools import AgentDepsT, ToolDefinition
from pydantic_ai.toolsets import AbstractToolset

from pi_intent.gates.question import Asker
from pi_intent.hosts.pydantic_ai.options import Chosen, Options, tell_once
from pi_intent.hosts.pydantic_ai.run import IntentRun
from pi_intent.hosts.pydantic_ai.toolset import IntentToolset
from pi_intent.types import Policy


@dataclass(kw_only=True)
class Intents(AbstractCapability[AgentDepsT]):
    """Makes an agent state an intent with every call of its tools, MCP servers' included.

    `policy` is what a call without one means ("adaptive" unless your settings say otherwise: refused in three
    answers of the model in a row, then run and marked); a project's `.pi-intent.toml` can only make it stricter.
    `tools` and `exempt` are names or globs, also as `toolset/tool`: only those are asked, or those are not.
    `session_id` names the session in the events and the ledger, by default the conversation's id. `cwd` is the
    directory whose project the ledger and the settings belong to, by default the process's; with `ledger=False`
    nothing is written and only the events are told. Where a person must see a call before it runs, it is deferred as
    pydantic-ai's own approvals are, if the agent's output type holds `DeferredToolRequests`; `defer` says so of a run
    whose output type is its own. `asker` asks within the run instead.
    """

    policy: Policy | None = None
    tools: Sequence[str] = ()
    exempt: Sequence[str] = ()
    session_id: str | None = None
    cwd: str | Path | None = None
    ledger: bool = True
    asker: Asker | None = None
    defer: bool | None = None
    run: IntentRun | None = field(default=None, repr=False, compare=False)
    """The run that this copy of the capability belongs to; pydantic-ai makes one for each."""
    chosen: Chosen | None = field(default=None, repr=False, compare=False)
    """What holds in that run."""

    def __post_init__(self) -> None:
        self._options = Options.of(
            policy=self.policy,
            tools=self.tools,
            exempt=self.exempt,
            session_id=self.session_id,
            cwd=self.cwd,
            ledger=self.ledger,
            asker=self.asker,
            defer=self.defer,
        )

    def get_ordering(self) -> CapabilityOrdering:
        # Around all others: what they block, skip or answer is what came of the call.
        return CapabilityOrdering(position="outermost")

    async def for_run(self, ctx: RunContext[AgentDepsT]) -> AbstractCapability[AgentDepsT]:
        chosen = Chosen(self._options)
        if chosen.settings.off:
            return self
        run = IntentRun.of(ctx, self._options, chosen.settings)
        if run.is_hooked:  # by another one, which is enough
            return self
        run.is_hooked = True
        return replace(self, run=run, chosen=chosen)

    def get_wrapper_toolset(self, toolset: AbstractToolset[AgentDepsT]) -> AbstractToolset[AgentDepsT] | None:
        if self.run is None:
            return None
        return IntentToolset(toolset, run=self.run, chosen=self.chosen, outermost=True)

    async def before_model_request(
        self, ctx: RunContext[AgentDepsT], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        if self.run is not None:
            await self.run.settle_answered(ctx.messages)
        return request_context

    async def wrap_tool_execute(
        self,
        ctx: RunContext[AgentDepsT],
        *,
        call: ToolCallPart,
        tool_def: ToolDefinition,
        args: dict[str, Any],
        handler: WrapToolExecuteHandler,
    ) -> Any:
        running = handler(args)
        return await (running if self.run is None else self.run.finish(ctx, running))

    @property
    def has_on_event(self) -> bool:
        # A run that its user does not stream is not to be streamed because of us: not every model can.
        return False

    def listens_to(self, event: AgentStreamEvent) -> bool:
        return self.run is not None and self.run.settings.live and self.run.labels.wants(event)

    async def on_event(self, ctx: RunContext[AgentDepsT], *, event: AgentStreamEvent) -> None:
        if self.run is None or not self.run.labels.wants(event):
            return
        try:
            await self.run.follow(ctx.run_step, event)
        except Exception as error:  # a boundary: a label must not end the run
            tell_once(f"an intent could not be shown while it was written ({type(error).__name__}: {error})")
