"""The shadows themselves: what the model sees of a tool, and what happens when it is called."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from tau_agent.tools import AgentTool, AgentToolResult, ToolCancellationToken, ToolUpdateCallback
from tau_coding.extensions.runtime import ExtensionRuntime

from pi_intent.contract.inject import inject_intent, owns
from pi_intent.contract.rows import INTENT, RATIONALE, ROWS, full_name, replaced_fields
from pi_intent.errors import CallDenied, InjectionSkipped
from pi_intent.hosts.tau import files
from pi_intent.hosts.tau.extension import PROFILE, Shadow, TauExtension
from pi_intent.hosts.tau.layers import RUNNING, Running, running_call
from pi_intent.hosts.tau.results import settlement_of
from pi_intent.hosts.tau.texts import adapt_guidelines, with_addition
from pi_intent.pipeline import OpenCall, failure, target_of
from pi_intent.protocols import Settlement
from pi_intent.runtime import new_id
from pi_intent.types import NOT_ASKED, JSONObject, Status

if TYPE_CHECKING:
    from pi_intent.hosts.tau.ceiling import Ceiling

FILE_TOOLS = frozenset({"write", "edit"})
MUTATING = FILE_TOOLS | {"bash"}


class Shadowing:
    """Shadows the tools of one runtime when Tau composes them; see `Composer` for the promise."""

    def __init__(self, extension: TauExtension, runtime: ExtensionRuntime) -> None:
        self._extension = extension
        self._runtime = runtime

    def compose(self, own: dict[str, AgentTool], composed: Sequence[AgentTool]) -> list[AgentTool]:
        extension = self._extension
        extension.own.update(own)
        try:
            return self._compose(own, composed)
        except Exception as error:  # the promise of `Composer`: Tau could not start the session
            extension.shadows.clear()
            extension.problems.append(
                f"intents are OFF in this session: the tools could not be shadowed ({type(error).__name__}: {error})"
            )
            left = [tool for tool in composed if tool.name in own or tool.name not in ROWS]
            return [replace(tool, execute_fn=_refuse) for tool in left] if extension.is_gated else left

    def _compose(self, own: dict[str, AgentTool], composed: Sequence[AgentTool]) -> list[AgentTool]:
        registered = {tool.name: tool for tool in self._runtime.extension_tools}
        sources = self._runtime.extension_tool_sources
        self._extension.has_tools(
            [full_name(tool.name, None if tool.name in ROWS else sources.get(tool.name)) for tool in composed]
        )
        tools: list[AgentTool] = []
        for tool in composed:
            taken = registered.get(tool.name)
            if tool.name not in ROWS:
                tools.append(self._only_gated(tool, taken, sources.get(tool.name)))
                continue
            if taken is not None and isinstance(taken.execute_fn, InnerLayer):
                if tool.name in own:  # else the host has no such tool, and must not get one from us
                    tools.append(shadow(self._extension, own[tool.name], tool, source=None, holds=False))
            else:
                tools.append(self._shadow_foreign(tool, taken, sources.get(tool.name)))
        add_section(self._extension)
        return tools

    def _only_gated(self, composed: AgentTool, taken: AgentTool | None, source: str | None) -> AgentTool:
        """Return a tool that states no intent and is what it was, but for the gates around it while there are any."""
        # Nothing of a call is ours: fields of these names are the tool's own. (Tau runs a tool with any parameters.)
        own: Any = composed.parameters
        schema: Mapping[str, Any] = own if isinstance(own, Mapping) else {}
        known = schema.get("properties")
        properties = {INTENT: {}, RATIONALE: {}, **(known if isinstance(known, Mapping) else {})}
        parameters: dict[str, Any] = {**schema, "properties": properties}
        self._extension.shadows[composed.name] = Shadow(
            parameters=parameters, policy="omit", profile=PROFILE, injected=False, source=source, only_gated=True
        )
        below, holds = self._below(composed, taken)
        outer = OuterLayer(self._extension, composed.name, below, holds=holds)
        return replace(composed, execute_fn=GatedLayer(self._extension, composed, outer))

    def _below(self, composed: AgentTool, taken: AgentTool | None) -> tuple[AgentTool, bool]:
        """Return another extension's tool with a layer of ours below the hooks, and whether that cannot be."""
        wrap = getattr(self._runtime, "_wrap_tool", None)  # not public: what puts the hooks around a tool
        if taken is None or not callable(wrap):
            return composed, True
        return wrap(replace(taken, execute_fn=ForeignLayer(self._extension, taken))), False

    def _shadow_foreign(self, composed: AgentTool, taken: AgentTool | None, source: str | None) -> AgentTool:
        """Shadow another extension's tool; where that goes, a layer of ours lies between it and the hooks, too."""
        below, holds = self._below(composed, taken)
        return shadow(self._extension, composed, below, source=source, holds=holds)


async def _refuse(
    tool_call_id: str,
    arguments: Mapping[str, Any],
    signal: ToolCancellationToken | None = None,
    on_update: ToolUpdateCallback | None = None,
) -> AgentToolResult:
    """Run nothing: somebody would have to be asked, and the tools could not be shadowed."""
    raise RuntimeError(
        "Nothing was executed: calls have to be asked about here, and pi-intent could not hold this one up. "
        "Tell the user to look at what it said when the session started."
    )


def add_section(extension: TauExtension) -> None:
    """Explain the intent once in the system prompt, where a schema leaves the explaining to it."""
    if any(shadow.injected and shadow.profile == "lean" for shadow in extension.shadows.values()):
        extension.tau.add_prompt_section(*extension.texts.section)


def shadow(
    extension: TauExtension, base: AgentTool, composed: AgentTool, *, source: str | None, holds: bool = True
) -> AgentTool:
    """Return a tool like `base`, with our fields in its schema, that runs `composed` with what is left of a call.

    With `holds` no layer of ours lies below it, so calls are held up here, before the hooks of other extensions.
    """
    texts, name = extension.texts, base.name
    chosen = extension.loaded.settings.for_tool(
        name, tool_source=source, watched=True, profile=PROFILE, is_shadow=True
    )
    replaced = replaced_fields(name)
    injected = chosen.policy not in NOT_ASKED
    parameters: Mapping[str, Any] = base.parameters
    try:
        parameters = inject_intent(
            base.parameters, texts=texts, profile=chosen.profile, policy=chosen.policy, replaces=replaced
        )
    except InjectionSkipped as skipped:
        injected = False
        extension.problems.append(f"{name} states no intent in this session: {skipped}")
    extension.shadows[name] = Shadow(
        parameters=base.parameters, policy=chosen.policy, profile=chosen.profile, injected=injected, source=source
    )
    outer = OuterLayer(extension, name, composed, holds=holds)
    if not injected:
        return replace(base, execute_fn=outer)
    return replace(
        base,
        parameters=parameters,
        description=with_addition(base.description, texts.added[name]),
        prompt_snippet=base.prompt_snippet and with_addition(base.prompt_snippet, texts.snippets[name]),
        prompt_guidelines=adapt_guidelines(base.prompt_guidelines, replaced, texts),
        execute_fn=outer,
        render_call=partial(extension.row, name),
    )


class OuterLayer:
    """The executor that the agent calls: reads the call, and runs the tool below with what is left."""

    def __init__(self, extension: TauExtension, name: str, below: AgentTool, *, holds: bool) -> None:
        self._extension = extension
        self._name = name
        self._below = below
        self._holds = holds

    async def __call__(
        self,
        tool_call_id: str,
        arguments: Mapping[str, Any],
        signal: ToolCancellationToken | None = None,
        on_update: ToolUpdateCallback | None = None,
    ) -> AgentToolResult:
        extension, name = self._extension, self._name
        session = extension.session()
        await session.runtime.start()
        chosen = extension.settings_of(name)
        announced = session.take(tool_call_id)
        request = extension.request(
            session,
            name,
            tool_call_id,
            arguments,
            # Somebody may run the tool without a session's events: such a call is a message of its own.
            group_id=session.group_id if announced is not None else new_id(),
            call_id=None if announced is None else announced.call_id,
            chosen=chosen,
        )

        async def delegate(opened: OpenCall) -> tuple[AgentToolResult, Settlement]:
            running = Running(session, opened)
            given = opened.call.arguments

            def ceiling() -> Ceiling | None:
                # Asked for each time: a call beside this one may be given a credential meanwhile.
                return extension.ceiling(session, name, chosen)

            def updated(partial_result: AgentToolResult) -> None:
                if ceiling() is not None:  # who may not have the whole may not have it in pieces either
                    return
                opened.update(running.ran_args or opened.call.arguments, partial_result)
                if on_update is not None:
                    on_update(partial_result)

            token = RUNNING.set(running)
            try:
                held = gated(extension, running, given, signal) if self._holds else nullcontext(given)
                async with held as admitted:
                    if admitted != given:
                        given = running.ran_args = admitted
                    # Else the layer below fills them in, last of all.
                    if request.tool_source is not None and (self._holds or not extension.is_gated):
                        given = fill_replaced(name, request.parameters or {}, given, opened)
                    result = await self._below.execute_fn(tool_call_id, given, signal, updated)
            except CallDenied:
                raise  # settled already
            except Exception as error:
                status: Status = "cancelled" if signal is not None and signal.is_cancelled() else "error"
                failed = failure(status, str(error), files=running.files, ran_args=running.ran_args)
                bound = ceiling()
                told = error if bound is None else bound.error(error, failed, opened)
                opened.settle(failed)
                if told is error:
                    raise
                raise told from None
            finally:
                RUNNING.reset(token)
            settlement = settlement_of(
                name,
                result,
                arguments=running.ran_args or opened.call.arguments,
                # Below another extension's tool there is no inner layer of ours to tell.
                reached=running.reached if request.tool_source is None and name in ROWS else None,
                files=running.files,
                ran_args=running.ran_args,
            )
            if (bound := ceiling()) is not None:
                result, settlement = bound.result(result, settlement)
            if chosen.stores:
                from pi_intent.hosts.tau.storing import store

                store(session.runtime, result, name, chosen.stores)
            return result, settlement

        try:
            return await session.pipeline.run(request, delegate)
        finally:
            if name in MUTATING:
                session.sync_soon()


class InnerLayer:
    """The executor of a tool that we register: runs the session's own tool, and notes that it did."""

    def __init__(self, extension: TauExtension, name: str) -> None:
        self._extension = extension
        self._name = name

    async def __call__(
        self,
        tool_call_id: str,
        arguments: Mapping[str, Any],
        signal: ToolCancellationToken | None = None,
        on_update: ToolUpdateCallback | None = None,
    ) -> AgentToolResult:
        own = self._extension.own[self._name]
        running = running_call(tool_call_id)
        if running is None:
            return await own.execute_fn(tool_call_id, arguments, signal, on_update)
        opened = running.opened
        # A hook of another extension may have changed the arguments, or put fields of ours back.
        ran = {key: value for key, value in arguments.items() if key not in _OURS or owns(own.parameters, key)}
        if ran != opened.call.arguments:
            running.ran_args = ran
            opened.update(ran)
        async with gated(self._extension, running, ran, signal) as admitted:
            if admitted != ran:
                ran = running.ran_args = admitted
            running.reached = True
            given = fill_replaced(self._name, own.parameters, ran, opened)
            journal = running.session.runtime.journal
            before = None
            if journal is not None and self._name in FILE_TOOLS:
                before = files.before(ran, self._extension.cwd, journal.digester)
            try:
                return await own.execute_fn(tool_call_id, given, signal, on_update)
            finally:
                if before is not None and journal is not None:
                    running.files = before.changes(journal.digester)


class GatedLayer:
    """Another extension's tool, which states no intent: run as it is, unless something holds it when it is called."""

    def __init__(self, extension: TauExtension, composed: AgentTool, outer: OuterLayer) -> None:
        self._extension = extension
        self._composed = composed
        self._outer = outer

    async def __call__(
        self,
        tool_call_id: str,
        arguments: Mapping[str, Any],
        signal: ToolCancellationToken | None = None,
        on_update: ToolUpdateCallback | None = None,
    ) -> AgentToolResult:
        extension = self._extension
        # What was announced has to be told the end of, also where nothing holds it any more.
        is_followed = extension.follows(self._composed.name) or extension.session().is_waiting(tool_call_id)
        run = self._outer if is_followed else self._composed.execute_fn
        return await run(tool_call_id, arguments, signal, on_update)


class ForeignLayer:
    """Lies around another extension's tool, inside the hooks: holds a call up with what would really run."""

    def __init__(self, extension: TauExtension, tool: AgentTool) -> None:
        self._extension = extension
        self._tool = tool

    async def __call__(
        self,
        tool_call_id: str,
        arguments: Mapping[str, Any],
        signal: ToolCancellationToken | None = None,
        on_update: ToolUpdateCallback | None = None,
    ) -> AgentToolResult:
        running, extension = running_call(tool_call_id), self._extension
        if running is None or not extension.is_gated:
            return await self._tool.execute_fn(tool_call_id, arguments, signal, on_update)
        opened, given = running.opened, dict(arguments)
        async with gated(extension, running, given, signal) as admitted:
            if admitted != opened.call.arguments:
                running.ran_args = admitted
            filled = fill_replaced(self._tool.name, self._tool.parameters, admitted, opened)
            return await self._tool.execute_fn(tool_call_id, filled, signal, on_update)


def gated(
    extension: TauExtension, running: Running, arguments: JSONObject, signal: ToolCancellationToken | None
) -> AbstractAsyncContextManager[JSONObject]:
    """Hold a call up where anything asks for that, and let it run with what it may; idle gates are not loaded."""
    return _held(extension, running, arguments, signal) if extension.is_gated else nullcontext(arguments)


@asynccontextmanager
async def _held(
    extension: TauExtension, running: Running, arguments: JSONObject, signal: ToolCancellationToken | None
) -> AsyncIterator[JSONObject]:
    from pi_intent.hosts.tau.check_in import admit
    from pi_intent.hosts.tau.environ import given

    admitted = await admit(extension, running.session, running.opened, arguments, signal)
    with given(admitted.given, admitted.environ):
        yield admitted.arguments


_OURS = frozenset({INTENT, RATIONALE})


def fill_replaced(
    name: str, parameters: Mapping[str, Any], arguments: JSONObject, opened: OpenCall
) -> dict[str, Any]:
    """Give a tool the fields that the intent stands in for, last of all, where its own schema has them."""
    properties = parameters.get("properties", {})
    stand_in = opened.call.intent or target_of(name, arguments)
    missing = {field: stand_in for field in replaced_fields(name) if field in properties and field not in arguments}
    return {**arguments, **missing}
