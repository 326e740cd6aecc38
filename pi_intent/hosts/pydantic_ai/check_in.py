"""Hold a call up until somebody has decided: by pydantic-ai's own deferred approval, or asked within the run."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import anyio.to_thread
from pydantic_ai import RunContext, ToolDenied
from pydantic_ai.exceptions import ApprovalRequired, SkipToolExecution, ToolFailed
from pydantic_ai.messages import ModelMessage

from pi_intent.contract.read_call import read_call
from pi_intent.errors import CallDenied, IntentRejected, LedgerError
from pi_intent.gates.check_in import literal_action
from pi_intent.gates.identity import identity
from pi_intent.gates.later import Arrived, Asked, Deferred
from pi_intent.gates.question import Answer, Asker, Question, Scope
from pi_intent.gating import Admitted, Gates, fetch_in_thread
from pi_intent.hosts.pydantic_ai.deferring import can_defer
from pi_intent.hosts.pydantic_ai.earlier import earlier_calls, sent_in
from pi_intent.hosts.pydantic_ai.given import given_to
from pi_intent.hosts.pydantic_ai.held import METADATA, HeldCall
from pi_intent.hosts.pydantic_ai.pack import pack
from pi_intent.hosts.pydantic_ai.sessions import gated_session
from pi_intent.ledger.waiting import asked_calls, open_question
from pi_intent.pipeline import CallRequest, failure
from pi_intent.protocols import Decision, Settlement
from pi_intent.settings import ToolSettings
from pi_intent.types import IntentCall, JSONObject

if TYPE_CHECKING:
    from pi_intent.hosts.pydantic_ai.reading import Reader
    from pi_intent.hosts.pydantic_ai.run import IntentRun
    from pi_intent.ledger.entries import DecisionEntry

BY: Literal["application"] = "application"
"""Who answers what was deferred: the program decides, whoever stands behind it."""

_MOST_REASONS = 32


class RunGates:
    """The gates of one run; what they remember is the conversation's."""

    def __init__(self, run: IntentRun, messages: list[ModelMessage]) -> None:
        self._run = run
        session_id = run.pipeline.session_id
        session = gated_session(
            session_id,
            inside=None if run.parent is None else run.parent.start.session_id,
            earlier=lambda: earlier_calls(messages, session_id, self._read),
        )
        self._gates = Gates(run.runtime, session.turns.here, fetch_in_thread, memory=session.memory)

    def note(self, held: HeldCall, given: dict[str, Any]) -> None:
        """Note what a tool made of the arguments of a call, to see whether hooks change it."""
        held.validated, held.admitted = given_to(given), False

    async def admit(
        self, ctx: RunContext[Any], reader: Reader, held: HeldCall, given: dict[str, Any]
    ) -> Admitted | None:
        """Return when a call's tool may run with what it is given, the last thing before it does, and what with.

        Raises `SkipToolExecution` where it may not, `ApprovalRequired` where somebody must decide first, and
        `ToolFailed` where a strict ledger vetoes it.
        """
        now = given_to(given)
        is_same = held.validated is not None and now.likeness == held.validated.likeness
        if held.admitted and is_same:  # by a toolset of ours around this one
            return None
        literal, arrived = held.literal, self._arrived(ctx, reader, held)
        if not is_same:  # hooks have changed the arguments meanwhile
            literal = now.plain if held.validated is None else now.unlike(held.validated)
            held.ran_with(literal)
            arrived = arrived and arrived._replace(original=None)  # and not who answered
        asking = self._asking(ctx, reader)
        try:
            admitted = await self._ask(held, reader.chosen, literal, asking, arrived)
        except Deferred:
            raise ApprovalRequired from None
        except CallDenied as denial:
            # As `ToolDenied` it is what it is for pydantic-ai, too, and takes none of the tool's retries.
            raise SkipToolExecution(ToolDenied(str(denial))) from denial
        wanted = {name: admitted.arguments[name] for name, _ in reader.chosen.wants if name in admitted.arguments}
        held.admitted, held.validated = True, given_to({**given, **wanted}) if wanted else now
        if asking is not None and asking.approved:
            ctx.tool_call_approved = True  # what the tool would ask for itself has been asked
        if admitted.arguments is not literal:
            held.ran_with(admitted.arguments)
        return admitted

    async def join(self, ctx: RunContext[Any], held: HeldCall) -> None:
        """Have one question asked about a call that others defer. Raises `ToolFailed` where it must not go on."""
        reader = held.reader
        if reader is None or held.admitted or held.said is not None or ctx.tool_call_approved:
            return
        try:
            # What it needs is fetched when it may run, after everybody was asked.
            await self._ask(held, replace(reader.chosen, needs=()), held.literal, Asking(None))
        except Deferred:
            pass
        except CallDenied as denial:
            raise ToolFailed(str(denial)) from denial

    async def _ask(
        self,
        held: HeldCall,
        chosen: ToolSettings,
        literal: JSONObject,
        asking: Asking | None,
        arrived: Arrived | None = None,
    ) -> Admitted:
        await self._run.start()  # the ledger's key makes the digests
        held.said = held.pending = None
        try:
            return await self._gates.admit(
                held.opened,
                literal,
                settings=self._run.settings,
                chosen=chosen,
                asker=asking,
                arrived=arrived,
            )
        except CallDenied as denial:
            held.settle(failure("denied", str(denial)))  # it is settled, and let go of here
            raise
        except LedgerError as veto:
            held.settle(failure("denied", str(veto)))
            raise ToolFailed(str(veto)) from veto
        except Deferred as deferred:
            held.pending = deferred.asked
            if asking is not None and asking.question is not None:
                held.said = pack(asking.question)
            raise

    def answered(self, held: HeldCall, asked: Asked, *, approved: bool, note: str | None) -> None:
        """Keep an answer to a call that nothing runs here any more."""
        with suppress(LedgerError):  # of a strict ledger: the call is settled, and nothing runs
            self._gates.check_in.answered(held.opened, Arrived(asked, Answer(approved, note=note, by=BY)))

    async def reopen(self, ctx: RunContext[Any], request: CallRequest) -> HeldCall:
        """Open a call that was approved, where this process knows nothing of a question about it.

        It goes on as the call of which the ledger tells, if its question was about exactly this one; what the
        application hands back of the question counts where the ledger tells nothing. Else it is a new call, about
        which somebody is asked. Raises as `Pipeline.open` does.
        """
        sent = sent_in(ctx.messages, request.tool_call_id)
        if sent is not None and sent.tool_name == request.tool_name:
            request = request._replace(arguments=sent.args or {})
        key, action = self._name(request)
        known, waiting = await self._asked(request, key)
        held, asked = None, None
        if waiting is not None:
            held = self._held(request._replace(call_id=waiting.id), ctx.run_step, begun=True)
            asked = Asked(action, _question(waiting), key)
        elif not known and key is not None and _is_about(_handed(ctx), key):
            held = self._held(request, ctx.run_step)
            digest = self._run.runtime.digest(key)
            asked = Asked(action, Decision(held.opened.start.call_id, 1, _reasons(_handed(ctx)), digest), key)
        held = held or self._held(request, ctx.run_step)
        held.pending = asked
        return held

    async def refuse(self, request: CallRequest, settlement: Settlement, step: int) -> bool:
        """Settle a call that somebody denied, where the ledger tells of the question; say whether it does."""
        await self._run.start()
        key, action = self._name(request)
        _, waiting = await self._asked(request, key)
        if waiting is None:
            return False
        held = self._held(request._replace(call_id=waiting.id, policy="optional"), step, begun=True)
        held.pending = Asked(action, _question(waiting), key)
        held.answered(denied=True, settlement=settlement)
        return True

    def _held(self, request: CallRequest, step: int, *, begun: bool = False) -> HeldCall:
        return HeldCall(self._run.pipeline.open(request, begun=begun), self._run, step)

    async def _asked(self, request: CallRequest, key: bytes | None) -> tuple[bool, DecisionEntry | None]:
        """Say whether the ledger knows of questions under this id, and which one waits that is about this call."""
        runtime = self._run.runtime
        journal = runtime.journal
        if journal is None or key is None:
            return False, None
        found = await anyio.to_thread.run_sync(
            lambda: asked_calls(
                journal.location.root,
                journal.redactor,
                session=runtime.session_id,
                tool_call_id=request.tool_call_id,
            )
        )
        questions = [open_question(call) for call in found]
        digest = runtime.digest(key)
        return bool(found), next((each for each in questions if each is not None and each.digest == digest), None)

    def _arrived(self, ctx: RunContext[Any], reader: Reader, held: HeldCall) -> Arrived | None:
        if held.pending is None or not ctx.tool_call_approved:
            return None
        scope: Scope = "session" if _handed(ctx).get("scope") == "session" else "once"
        sent = sent_in(ctx.messages, ctx.tool_call_id)
        schema = reader.tool.tool_def.parameters_json_schema
        call = None if sent is None else self._read(sent.tool_name, sent.args or {}, schema)
        original = None if call is None or call.arguments == held.literal else call.arguments
        return Arrived(held.pending, Answer(True, scope, by=BY), original)

    def _asking(self, ctx: RunContext[Any], reader: Reader) -> Asking | None:
        """Return the way to a person: the application's own asker, else deferring where somebody takes that up."""
        options = (reader.options, self._run.options)
        own = next((each.asker for each in options if each.asker is not None), None)
        defers = next((each.defer for each in options if each.defer is not None), None)
        if own is None and not (can_defer(ctx) if defers is None else defers):
            return None
        return Asking(own)

    def _name(self, request: CallRequest) -> tuple[bytes | None, str]:
        """Return what makes a call this one, None where that cannot be told, and its literal action."""
        call = self._read(request.tool_name, request.arguments, request.parameters)
        if call is None:
            return None, request.tool_name
        cwd = str(self._run.runtime.cwd)
        key = identity(request.tool_name, request.tool_source, cwd, call.arguments)
        return key, literal_action(request.tool_name, call.arguments)

    def _read(self, name: str, arguments: object, parameters: Mapping[str, Any] | None = None) -> IntentCall | None:
        texts = self._run.pipeline.texts
        try:
            return read_call(name, arguments, texts=texts, policy="optional", parameters=parameters, replaces=())
        except IntentRejected:
            return None


class Asking(Asker):
    """Asks the application's own asker, or hands the question on where there is none; remembers what came of it."""

    def __init__(self, own: Asker | None) -> None:
        self.question: Question | None = None
        self.approved = False
        self._own = own

    async def ask(self, question: Question) -> Answer:
        self.question = question
        if self._own is None:
            raise Deferred
        answer = await self._own.ask(question)
        if not isinstance(answer, Answer):
            raise TypeError("an asker answers with an Answer")
        self.approved = answer.approved
        return answer


def _handed(ctx: RunContext[Any]) -> Mapping[str, Any]:
    """Return what the application hands back with its answer."""
    metadata = ctx.tool_call_metadata
    handed = metadata.get(METADATA) if isinstance(metadata, Mapping) else None
    return handed if isinstance(handed, Mapping) else {}


def _is_about(handed: Mapping[str, Any], key: bytes) -> bool:
    """Say whether what is handed back is the question on exactly this call."""
    tool, source, cwd, arguments = (handed.get(name) for name in ("tool", "source", "cwd", "arguments"))
    return isinstance(arguments, dict) and identity(str(tool), source, str(cwd), arguments) == key


def _reasons(handed: Mapping[str, Any]) -> tuple[str, ...]:
    reasons = handed.get("reasons")
    return tuple(map(str, reasons))[:_MOST_REASONS] if isinstance(reasons, list | tuple) else ()


def _question(waiting: DecisionEntry) -> Decision:
    return Decision(waiting.id, waiting.number, waiting.reasons, waiting.digest)
