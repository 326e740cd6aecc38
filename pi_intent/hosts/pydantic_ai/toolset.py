"""Put intents on the tools of a toolset: in the schemas that the model gets, and in reading what it sends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from pydantic_ai import RunContext
from pydantic_ai.tools import AgentDepsT
from pydantic_ai.toolsets import AbstractToolset, ToolsetTool, WrapperToolset

from pi_intent.contract.inject import inject_intent
from pi_intent.descriptions import model_texts
from pi_intent.errors import InjectionSkipped
from pi_intent.gates.credentials import GIVEN
from pi_intent.gates.question import Asker
from pi_intent.hosts.pydantic_ai.options import Chosen, Options, tell_once
from pi_intent.hosts.pydantic_ai.reading import Reader, UnreadArguments
from pi_intent.hosts.pydantic_ai.run import IntentRun
from pi_intent.hosts.pydantic_ai.strict import kept_strict
from pi_intent.types import NOT_ASKED, Policy

OWN_KINDS = ("tool-search", "capability-load")
"""Tools that are pydantic-ai's own machinery, whose calls it reads itself."""


@dataclass
class IntentToolset(WrapperToolset[AgentDepsT]):
    """Asks for an intent with every call of a toolset's tools, reads it, and runs them without it.

    The options are those of `Intents`. Labels of calls that are still being written need the capability, because a
    toolset is not told what the model writes.
    """

    policy: Policy | None = field(default=None, kw_only=True)
    tools: Sequence[str] = field(default=(), kw_only=True)
    exempt: Sequence[str] = field(default=(), kw_only=True)
    session_id: str | None = field(default=None, kw_only=True)
    cwd: str | Path | None = field(default=None, kw_only=True)
    ledger: bool = field(default=True, kw_only=True)
    asker: Asker | None = field(default=None, kw_only=True)
    defer: bool | None = field(default=None, kw_only=True)
    run: IntentRun | None = field(default=None, kw_only=True, repr=False, compare=False)
    """The run that this copy of the toolset belongs to; pydantic-ai makes one for each."""
    chosen: Chosen | None = field(default=None, kw_only=True, repr=False, compare=False)
    """What holds in that run."""
    outermost: bool = field(default=False, kw_only=True, repr=False, compare=False)
    """Whether the tools go by the names here that the model calls."""

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

    async def for_run(self, ctx: RunContext[AgentDepsT]) -> AbstractToolset[AgentDepsT]:
        wrapped = await self.wrapped.for_run(ctx)
        chosen = self.chosen or Chosen(self._options)
        if chosen.settings.off:
            return wrapped
        run = self.run or IntentRun.of(ctx, self._options, chosen.settings)
        return replace(self, wrapped=wrapped, run=run, chosen=chosen)

    async def for_run_step(self, ctx: RunContext[AgentDepsT]) -> AbstractToolset[AgentDepsT]:
        if self.run is not None:
            await self.run.settle_answered(ctx.messages)
            self.run.labels.abandon()
            self.run.free.end_step(ctx)
        return await super().for_run_step(ctx)

    async def __aenter__(self) -> Self:
        await super().__aenter__()
        if self.run is not None:
            self.run.enter()
        return self

    async def __aexit__(self, *args: Any) -> bool | None:
        try:
            return await super().__aexit__(*args)
        finally:
            if self.run is not None:
                await self.run.leave()

    async def get_tools(self, ctx: RunContext[AgentDepsT]) -> dict[str, ToolsetTool[AgentDepsT]]:
        tools = await super().get_tools(ctx)
        if self.run is None or self.chosen is None:
            return tools
        given = {name: _with_intent(tool, ctx, self.run, self.chosen) for name, tool in tools.items()}
        if self.outermost:
            readers = {name: tool.args_validator_func for name, tool in given.items()}
            self.run.offer({name: reader for name, reader in readers.items() if isinstance(reader, Reader)})
        self.chosen.tell_unmatched(
            tool.tool_def.name if (source := source_of(tool)) is None else f"{source}/{tool.tool_def.name}"
            for tool in tools.values()
        )
        if (lost := self.chosen.settings.meanwhile) is not None:
            self.run.settings = self.run.settings.asking_meanwhile(lost)
        return given

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[AgentDepsT], tool: ToolsetTool[AgentDepsT]
    ) -> Any:
        reader = tool.args_validator_func
        if self.run is None or not isinstance(reader, Reader) or reader.run is not self.run:
            return await super().call_tool(name, tool_args, ctx, tool)
        own = reader.tool
        # Below us the tool is what it was, but for what others have changed above us.
        given = replace(
            tool,
            tool_def=replace(tool.tool_def, parameters_json_schema=own.tool_def.parameters_json_schema),
            args_validator=own.args_validator,
            args_validator_func=own.args_validator_func,
        )
        running = self._admitted(name, tool_args, ctx, given, reader)
        return await (running if self.run.is_hooked else self.run.finish(ctx, running))

    async def _admitted(
        self,
        name: str,
        tool_args: dict[str, Any],
        ctx: RunContext[AgentDepsT],
        tool: ToolsetTool[AgentDepsT],
        reader: Reader,
    ) -> Any:
        admitted = await reader.run.admit(ctx, reader, tool_args)
        if admitted is None:
            return await super().call_tool(name, tool_args, ctx, tool)
        wanted = {argument for argument, _ in reader.chosen.wants}
        redeemed = {argument: text for argument, text in admitted.arguments.items() if argument in wanted}
        token = GIVEN.set(admitted.given)
        try:
            return await super().call_tool(name, {**tool_args, **redeemed}, ctx, tool)
        finally:
            GIVEN.reset(token)


def _with_intent(
    tool: ToolsetTool[AgentDepsT], ctx: RunContext[AgentDepsT], run: IntentRun, settings: Chosen
) -> ToolsetTool[AgentDepsT]:
    """Return a tool whose calls are read, and whose schema asks for the intent where it shall and can."""
    if tool.tool_def.tool_kind in OWN_KINDS or isinstance(tool.args_validator, UnreadArguments):
        return tool
    name, source, parameters = tool.tool_def.name, source_of(tool), tool.tool_def.parameters_json_schema
    chosen = settings.of(name, source)
    policy, shown, injected = chosen.policy, parameters, chosen.policy not in NOT_ASKED
    known = run.schemas.get((name, policy, chosen.profile))
    if injected and known is not None and known[0] == parameters:
        shown = known[1]
    elif injected:
        try:
            shown = inject_intent(parameters, texts=model_texts(), profile=chosen.profile, policy=policy)
            shown = kept_strict(tool.tool_def, shown, ctx)
            run.schemas[name, policy, chosen.profile] = parameters, shown
        except InjectionSkipped as skipped:
            tell_once(f"{name} is called without an intent: {skipped}")
            policy, injected = "optional", False
        except Exception as error:  # a boundary: a schema of whatever server must not end the run
            tell_once(
                f"{name} is called without an intent: its schema cannot be read ({type(error).__name__}: {error})"
            )
            policy, injected = "optional", False
    return replace(
        tool,
        tool_def=replace(tool.tool_def, parameters_json_schema=shown),
        args_validator=UnreadArguments(),
        args_validator_func=Reader(
            run=run,
            tool=tool,
            source=source,
            chosen=chosen,
            policy=policy,
            injected=injected,
            options=settings.options,
        ),
    )


def source_of(tool: ToolsetTool[Any]) -> str | None:
    """Name who supplies a tool: the id of its toolset, an MCP server's for one, else its prefix; None: the agent."""
    toolset: AbstractToolset[Any] = tool.toolset
    prefix: str | None = None
    while isinstance(toolset, WrapperToolset) and toolset.id is None:
        prefix = prefix or getattr(toolset, "prefix", None)
        toolset = toolset.wrapped
    found = toolset.id or tool.tool_def.toolset_id or prefix
    return None if found is None or found.startswith("<") else found
