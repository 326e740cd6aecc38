"""One run of an agent as pi-intent knows it: its session, its groups of calls, and the calls that are open."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from functools import cache
from importlib import metadata
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakValueDictionary

from pydantic_ai import RunContext
from pydantic_ai.exceptions import ApprovalRequired, CallDeferred, ModelRetry, SkipToolExecution, ToolFailed
from pydantic_ai.messages import AgentStreamEvent, ModelMessage, ModelResponse

from pi_intent.contract.read_call import read_call
from pi_intent.errors import IntentRejected, LedgerError
from pi_intent.hosts.pydantic_ai.answers import newest_answers, turn_of, unopened
from pi_intent.hosts.pydantic_ai.held import WAITING, HeldCall
from pi_intent.hosts.pydantic_ai.options import Options, tell_once
from pi_intent.hosts.pydantic_ai.results import answered, raised, returned
from pi_intent.hosts.pydantic_ai.retries import FreeRefusals
from pi_intent.hosts.pydantic_ai.streaming import Labels
from pi_intent.pipeline import CallRequest, OpenCall, failure
from pi_intent.protocols import Settlement
from pi_intent.runtime import SessionRuntime, may_ask, new_id
from pi_intent.settings import Settings
from pi_intent.types import JSONObject, Policy, Profile, Status

if TYPE_CHECKING:
    from pi_intent.gates.later import Asked
    from pi_intent.gating import Admitted
    from pi_intent.hosts.pydantic_ai.ceiling import Ceiling
    from pi_intent.hosts.pydantic_ai.check_in import RunGates
    from pi_intent.hosts.pydantic_ai.reading import Reader


class Around(NamedTuple):
    """A call whose tool runs, and the sessions that it runs in, the innermost first."""

    call: OpenCall
    session_ids: tuple[str, ...]


RUNNING: ContextVar[Around | None] = ContextVar("pi_intent_running", default=None)
"""What runs here: an agent that the tool runs makes its calls inside of it."""

_RUNS: WeakValueDictionary[str, IntentRun] = WeakValueDictionary()


class IntentRun:
    """One run: a pipeline and a ledger segment of its own, so that runs at the same time share nothing.

    Its session is the conversation, unless somebody named one. Whatever of pi-intent takes part in the run shares
    this object, so that the calls of one answer are one group. `is_hooked` tells whether a capability of ours stands
    around all others, and settles the calls.
    """

    def __init__(self, ctx: RunContext[Any], options: Options, settings: Settings) -> None:
        self.settings = settings
        self.conversation = ctx.conversation_id or ctx.run_id or new_id()
        self.is_hooked = False
        self.free = FreeRefusals()
        self.asked: set[str] = set()
        """The tools whose schema carries our intent, by the name that the model calls."""
        self.schemas: dict[tuple[str, Policy, Profile], tuple[dict[str, Any], dict[str, Any]]] = {}
        """By tool and what holds for it, its own schema and the one shown instead: the same in every request."""
        self.withheld: set[str] = set()
        """The tools whose texts stay in this process."""
        self.held: dict[str, HeldCall] = {}
        """The calls that have not ended, by pydantic-ai's id."""
        self.options = options
        self._gates: RunGates | None = None
        self._run_id = ctx.run_id
        self._groups: dict[int, str] = {}
        self._step = 0
        self._read: set[str] = set()
        """The calls of the last response that were read, by pydantic-ai's id."""
        self._told: ModelResponse | None = None
        """The response whose answers were looked at last."""
        self._readers: Mapping[str, Reader] = {}
        self._messages: list[ModelMessage] = ctx.messages
        self._entered = 0
        self._around: BaseException | None = None
        self._ended = False
        around = RUNNING.get()
        self._parent = None if around is None else around.call
        self.runtime = SessionRuntime(
            session_id=options.session_id or self.conversation,
            host="pydantic-ai",
            host_version=_version(),
            cwd=options.folder,
            strict=settings.strict,
            tell=tell_once,
            withholds=self.withheld.__contains__,
            traced=settings.tracing,
        )
        self._stores = settings.artifacts
        self._session_ids = (self.runtime.session_id, *(() if around is None else around.session_ids))
        """Of the run and of those around it: what one of them is given, none of them brings back."""
        self.pipeline = self.runtime.pipeline
        self.runtime.on_learned = self._share_given
        self.labels = Labels(self.pipeline, self.asked, new_id)

    @classmethod
    def of(cls, ctx: RunContext[Any], options: Options, settings: Settings) -> IntentRun:
        """Return what is known of the run, from now on if nothing is yet."""
        run = _RUNS.get(ctx.run_id or "")
        if run is None or run._ended:
            run = cls(ctx, options, settings)
            if ctx.run_id is not None:
                _RUNS[ctx.run_id] = run
        return run

    def offer(self, readers: Mapping[str, Reader]) -> None:
        """Note the tools of a step by the names that the model calls."""
        self._readers = readers
        self.asked.clear()
        self.asked.update(name for name, reader in readers.items() if reader.injected)
        self.withheld.update(name for name, reader in readers.items() if reader.chosen.redact_args)

    def group(self, step: int) -> str:
        """Return the id of the group of one answer of the model."""
        return self._groups.setdefault(step, new_id())

    async def start(self) -> None:
        """Open the ledger, if there is to be one, and what makes spans. Never raises."""
        self._recall_given()
        if self.options.ledger:
            await self.runtime.start()
            self._adopt_artifacts()
        else:
            await self.runtime.start_tracing()

    def _recall_given(self) -> None:
        """Keep out what other runs of the session, and those around it, were given up to now."""
        if self.settings.credentials:
            from pi_intent.hosts.pydantic_ai.sessions import GIVEN

            self.runtime.keep_out(GIVEN.of(self._session_ids))

    def _share_given(self, secrets: frozenset[str]) -> None:
        """Have the other runs of the session, and those around it, keep out what this one was given."""
        from pi_intent.hosts.pydantic_ai.sessions import GIVEN

        GIVEN.add(self._session_ids, secrets)

    def _adopt_artifacts(self) -> None:
        journal = self.runtime.journal
        if self._stores and journal is not None and (segment := journal.path) is not None:
            from pi_intent.hosts.pydantic_ai.sessions import STORES
            from pi_intent.ledger.artifacts import ArtifactStore

            store = STORES.get(self.pipeline.session_id) or ArtifactStore(journal.location.root, segment)
            self.runtime.adopt(STORES.keep(self.pipeline.session_id, store))

    async def read(
        self, ctx: RunContext[Any], make: Callable[[str, int], CallRequest]
    ) -> tuple[HeldCall, JSONObject]:
        """Read a call, once however often it is validated; return it and what its tool runs with.

        `make(group_id, turn)` describes it. Raises `ModelRetry` with our text where it is refused, and `ToolFailed`
        where a strict ledger vetoes it.
        """
        self._messages = ctx.messages
        self._step = ctx.run_step
        self._read.add(ctx.tool_call_id or "")
        self.free.take_back(ctx)
        request = make(self.group(ctx.run_step), turn_of(ctx.messages))
        held = self.held.get(request.tool_call_id)
        resumes = ctx.tool_call_approved or (held is not None and held.step == ctx.run_step)
        held = held or WAITING.take(self.conversation, request.tool_call_id)
        if held is not None and resumes and held.opened.start.tool_name == request.tool_name:
            return self._resume(ctx, held, request)
        if held is not None:  # a provider that uses its ids again, or another history
            held.leave()
        await self.start()
        gates = self.gates
        if ctx.tool_call_approved:  # somebody has decided on it already, in a process that knew of it
            request = request._replace(policy="optional")
        rounds = self.pipeline.rounds.upcoming(request.tool_name, request.group_id)
        request = request._replace(call_id=self.labels.take(request.tool_name, request.tool_call_id))
        try:
            if ctx.tool_call_approved and gates is not None:
                return self._resume(ctx, await gates.reopen(ctx, request), request)
            opened = self.pipeline.open(request)
        except IntentRejected as refusal:
            # What cannot be read pydantic-ai would refuse and count itself, and no budget of ours bounds it.
            if not refusal.codes[0].startswith("arguments") and rounds <= request.budget:
                self.free.give(ctx)
            raise ModelRetry(str(refusal)) from refusal
        except LedgerError as veto:
            raise ToolFailed(str(veto)) from veto
        held = self.held[request.tool_call_id] = HeldCall(opened, self, ctx.run_step)
        return held, opened.call.arguments

    def _resume(self, ctx: RunContext[Any], held: HeldCall, request: CallRequest) -> tuple[HeldCall, JSONObject]:
        """Go on with a call that was read before: somebody approved it, perhaps with other arguments."""
        try:
            arguments = read_call(
                request.tool_name,
                request.arguments,
                texts=self.pipeline.texts,
                policy="optional",
                parameters=request.parameters,
                replaces=request.replaces,
            ).arguments
        except IntentRejected as refusal:
            held.settle(raised(refusal))
            raise ModelRetry(str(refusal)) from refusal
        held.step = ctx.run_step
        self.held[request.tool_call_id] = held
        held.approved()
        held.ran_with(arguments)
        return held, arguments

    @property
    def gates(self) -> RunGates | None:
        """What holds calls of the run up, made when it is first asked for; idle gates are not even loaded."""
        if self._gates is None and may_ask(self.settings):
            from pi_intent.hosts.pydantic_ai.check_in import RunGates
            from pi_intent.settings.parsing import missing_parser

            if (problem := missing_parser(self.settings)) is not None:
                tell_once(problem)
            self._gates = RunGates(self, self._messages)
        return self._gates

    def note(self, held: HeldCall, reader: Reader, literal: JSONObject, given: dict[str, Any]) -> None:
        """Note who read a call, the arguments that it was read with, and what its tool made of them."""
        held.reader, held.literal = reader, literal
        if (gates := self.gates) is not None:
            gates.note(held, given)

    async def admit(self, ctx: RunContext[Any], reader: Reader, given: dict[str, Any]) -> Admitted | None:
        """Return when a call's tool may run, and with what; None for what it is given. Raises as `RunGates.admit`."""
        held = self.held.get(ctx.tool_call_id or "")
        if held is None or (gates := self.gates) is None:
            return None
        return await gates.admit(ctx, reader, held, given)

    async def hold(self, ctx: RunContext[Any], held: HeldCall, deferral: ApprovalRequired | CallDeferred) -> None:
        """Let a call wait that was deferred, and tell whoever decides on it what it is for."""
        try:
            if (gates := self.gates) is not None:
                await gates.join(ctx, held)
        except BaseException as error:  # also the cancellation of whatever loop we run on
            held.settle(raised(error) if isinstance(error, Exception) else failure("cancelled", "cancelled"))
            raise
        held.defer(deferral)

    def answered(self, held: HeldCall, asked: Asked, *, approved: bool, note: str | None) -> None:
        """Keep the answer to a question of ours on a call that nothing runs here any more."""
        if self._gates is not None:
            self._gates.answered(held, asked, approved=approved, note=note)

    async def finish[Result](self, ctx: RunContext[Any], running: Awaitable[Result]) -> Result:
        """Wait for a call's tool, and settle the call by what comes of it."""
        self.free.take_back(ctx)
        held = self.held.get(ctx.tool_call_id or "")
        if held is None:
            return await running
        held.running = True
        token = RUNNING.set(Around(held.opened, self._session_ids))
        try:
            result = await running
        except (ApprovalRequired, CallDeferred) as deferral:
            await self.hold(ctx, held, deferral)
            raise
        except SkipToolExecution as skipped:
            held.settle(returned(skipped.result))
            raise
        except Exception as error:
            ceiling = self._ceiling(held)
            told, settlement = (error, raised(error)) if ceiling is None else ceiling.error(error, raised(error))
            held.settle(settlement)
            if told is error:
                raise
            raise ToolFailed(str(told)) from None
        except (KeyboardInterrupt, SystemExit, GeneratorExit):
            held.settle(Settlement(status="interrupted", is_error=True))
            raise
        except BaseException:  # the cancellation of whatever loop we run on
            held.settle(Settlement(status="cancelled", is_error=True))
            raise
        finally:
            RUNNING.reset(token)
            held.running = False
        ceiling = self._ceiling(held)
        if ceiling is None:
            held.settle(returned(result))
            return result
        bounded, settlement = ceiling.result(result, returned(result))
        held.settle(settlement)
        return bounded  # type: ignore[return-value]  # a sentence in place of what must not come back

    def _ceiling(self, held: HeldCall) -> Ceiling | None:
        """Return what bounds the result of a call; None where nothing does.

        What one tool was given any other may read from where that has left it.
        """
        chosen = None if held.reader is None else held.reader.chosen
        self._recall_given()
        if not self.runtime.has_given and (chosen is None or not chosen.bounds_results):
            return None
        from pi_intent.hosts.pydantic_ai.ceiling import Ceiling

        return Ceiling(self.runtime, held.opened.start.tool_name, chosen)

    async def settle_answered(self, messages: list[ModelMessage]) -> None:
        """Settle the calls that others have answered, as the newest messages of the history tell; once an answer."""
        self._messages = messages
        answers = newest_answers(messages, self._run_id)
        if answers is None or answers.response is self._told:
            return
        self._told = answers.response
        for part in answers.parts:
            held = self.held.get(part.tool_call_id) or WAITING.take(self.conversation, part.tool_call_id)
            if held is not None:
                self._read.add(part.tool_call_id)
                held.answered(part.outcome == "denied", answered(part))
        turn = turn_of(messages)
        for call, settlement in unopened(answers, self._read, self._run_id):
            reader = self._readers.get(call.tool_name)
            if reader is not None:
                await self.start()
                group = self.group(self._step)
                request = reader.request(
                    call.tool_name, call.tool_call_id, call.args or {}, group, turn, answers.response.model_name
                )
                gates = self.gates if settlement.status == "denied" else None
                if gates is not None and await gates.refuse(request, settlement, self._step):
                    continue
                call_id = self.labels.take(call.tool_name, call.tool_call_id)
                self.pipeline.settle_unopened(request._replace(call_id=call_id), settlement)
        self._read.clear()

    async def follow(self, step: int, event: AgentStreamEvent) -> None:
        """Show the intent of a call while the model writes it."""
        self._step = step
        await self.start()
        self.labels.follow(event, self.group(step))

    def enter(self) -> None:
        """Note that a toolset of the run is entered."""
        self._entered += 1
        self._around = sys.exception()

    async def leave(self) -> None:
        """Note that a toolset of the run is left; with the last one the run is over."""
        self._entered -= 1
        if self._entered > 0:
            return
        self._ended = True
        await self.settle_answered(self._messages)
        self.labels.abandon()
        # A toolset among others is not told the error that the run ends with. (One that was being handled before the
        # run began is none of it.)
        error = None if (handled := sys.exception()) is self._around else handled
        status: Status = "cancelled" if isinstance(error, asyncio.CancelledError) else "interrupted"
        for held in tuple(self.held.values()):
            if held.waiting and error is None:
                WAITING.keep(self.conversation, held)
            elif not held.running:  # pydantic-ai leaves toolsets before it stops the tools that are still running
                held.settle(Settlement(status=status, is_error=True))
        try:
            await self.runtime.sync()
        finally:
            self.close()

    def release(self, held: HeldCall) -> None:
        """Let go of a call that has ended."""
        if self.held.get(held.opened.start.tool_call_id) is held:
            del self.held[held.opened.start.tool_call_id]
        self.close()

    def close(self) -> None:
        """Give the ledger back, once the run is over and none of its calls waits any more."""
        if self._ended and not self.pipeline.open_calls:
            self.runtime.close()

    @property
    def parent(self) -> OpenCall | None:
        """The call inside of which the run was started."""
        return self._parent


@cache
def _version() -> str:
    try:
        return metadata.version("pydantic-ai-slim")
    except metadata.PackageNotFoundError:
        return "unknown"
