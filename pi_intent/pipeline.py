"""Run one call: read it, strip it, hand it to the host's own tool, and tell what came of it."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from copy import deepcopy
from typing import Any, NamedTuple

from pi_intent.contract.read_call import Derive, read_call
from pi_intent.contract.rejections import STOP_AFTER_ROUNDS
from pi_intent.contract.rounds import Rounds
from pi_intent.contract.texts import ModelTexts
from pi_intent.errors import IntentRejected, LedgerError
from pi_intent.events import (
    CheckInDecision,
    CheckInRequest,
    ToolExecutionEnd,
    ToolExecutionStart,
    ToolExecutionUpdate,
    ToolIntentUpdate,
)
from pi_intent.protocols import CallContext, Decision, Journal, Settlement
from pi_intent.sinks import FanOut
from pi_intent.types import Code, Flag, Host, IntentCall, JSONObject, JSONValue, Policy, Profile, Status


class CallRequest(NamedTuple):
    """One call as a host delivers it.

    `arguments` is what the model sent, after the host's own repair where it offers one; `parameters` the host's own
    schema.
    """

    tool_name: str
    tool_call_id: str
    arguments: object
    group_id: str
    turn: int
    policy: Policy
    profile: Profile = "full"
    budget: int = 3
    redact_args: bool = False
    parameters: Mapping[str, Any] | None = None
    replaces: tuple[str, ...] | None = None
    derive: Derive | None = None
    agent_id: str = "main"
    tool_source: str | None = None
    parent_call_id: str | None = None
    model: str | None = None
    call_id: str | None = None
    """The id under which a label of the call was shown while it was written; None where none was."""


def target_of(tool_name: str, arguments: JSONObject) -> str:
    """Name a tool and its path: what an intent may be derived from. Commands and content can hold secrets."""
    path = arguments.get("path") if tool_name != "bash" else None
    return f"{tool_name} {path}" if isinstance(path, str) and path.strip() else tool_name


def failure(status: Status, text: str, **more: Any) -> Settlement:
    """Settle a call that failed with a text which the model gets as an error."""
    size = len(text.encode("utf-8", "surrogatepass"))
    return Settlement(status=status, is_error=True, error=text, bytes_out=size, **more)


class OpenCall:
    """A call between its start and its end. `settle` counts once; whoever comes second changes nothing."""

    __slots__ = ("_opened_at", "_pipeline", "call", "given", "policy", "settled", "start")

    def __init__(
        self, call: IntentCall, start: ToolExecutionStart, policy: Policy, pipeline: Pipeline, opened_at: int
    ) -> None:
        self.call = call
        self.start = start
        self.policy = policy
        self.settled = False
        self.given: tuple[str, ...] = ()
        """The names of the credentials that its tool gets."""
        self._pipeline = pipeline
        self._opened_at = opened_at

    def update(self, arguments: JSONObject, partial_result: Any = None, *, backgrounded: bool | None = None) -> None:
        """Tell that the call goes on, or that it went to the background."""
        if not self.settled:
            self._pipeline.update(self.start, arguments, partial_result, backgrounded)

    def ask(self, request: str) -> None:
        """Tell that a person is asked before the call runs; `request` is the literal action."""
        if not self.settled:
            self._pipeline.asked(self.start, request)

    def decide(self, *, approved: bool, by: str, note: str | None = None) -> None:
        """Tell the answer to what was asked."""
        if not self.settled:
            self._pipeline.decided(self.start, approved=approved, by=by, note=note)

    def record(self, decision: Decision) -> None:
        """Have the ledger keep that somebody is asked, or what was decided.

        Raises `LedgerError` where a strict ledger cannot: then the call is settled as denied.
        """
        journal = self._pipeline.journal
        if journal is None or self.settled:
            return
        try:
            journal.decided(decision)
        except LedgerError as veto:
            self.settle(failure("denied", str(veto)))
            raise

    def settle(self, settlement: Settlement) -> None:
        """Tell how the call ended, if nobody has yet. Never raises and awaits nothing."""
        if not self.settled:
            self.settled = True
            if self.given:
                settlement = settlement._replace(given=self.given)
            self._pipeline.closed(self, settlement, self._opened_at)

    def let_go(self) -> None:
        """Tell no end of the call, now or later: it waits for somebody, and another process may go on with it."""
        if not self.settled:
            self.settled = True
            del self._pipeline.open_calls[self.start.call_id]


class Pipeline:
    """The calls of one session.

    `clock` gives monotonic nanoseconds and `new_id` unique ids. `journal` is None where nothing is kept.
    `on_stuck(request, rounds, codes)` is called once a tool when it was refused in three rounds in a row.
    """

    def __init__(
        self,
        *,
        session_id: str,
        host: Host,
        texts: ModelTexts,
        sinks: FanOut,
        clock: Callable[[], int],
        new_id: Callable[[], str],
        journal: Journal | None = None,
        on_stuck: Callable[[CallRequest, int, tuple[Code, ...]], None] | None = None,
    ) -> None:
        self.session_id = session_id
        self.host = host
        self.texts = texts
        self.sinks = sinks
        self.clock = clock
        self.new_id = new_id
        self.journal = journal
        self.on_stuck = on_stuck
        self.rounds = Rounds()
        self.open_calls: dict[str, OpenCall] = {}
        self._seq = 0
        self._told: set[str] = set()

    async def run[Result](
        self,
        request: CallRequest,
        delegate: Callable[[OpenCall], Awaitable[tuple[Result, Settlement]]],
    ) -> Result:
        """Read a call, run the host's own tool with what is left of it, and return its very result.

        `delegate` returns the tool's result and how the call ended; where it raises, it may have settled the call.
        Raises `IntentRejected` or `LedgerError` (under `strict`) before anything ran, and whatever `delegate` raises.
        """
        opened = self.open(request)
        try:
            result, settlement = await delegate(opened)
        except Exception as error:
            opened.settle(failure("error", str(error)))
            raise
        except (KeyboardInterrupt, SystemExit, GeneratorExit):
            opened.settle(Settlement(status="interrupted", is_error=True))
            raise
        except BaseException:  # the cancellation of whatever loop we run on
            opened.settle(Settlement(status="cancelled", is_error=True))
            raise
        opened.settle(settlement)
        return result

    def open(self, request: CallRequest, *, begun: bool = False) -> OpenCall:
        """Read a call and tell its start; it has `begun` where another process opened it as `request.call_id`.

        Raises `IntentRejected` where it is refused, with start and end told, and `LedgerError` where a strict ledger
        vetoes it, with the end told as denied.
        """
        rounds = self.rounds.upcoming(request.tool_name, request.group_id)
        try:
            call, policy = self._read(request, rounds)
        except IntentRejected as refusal:
            opened = self._begin(request, refusal.call, request.policy, binding=False)
            opened.settle(failure("rejected", str(refusal), codes=refusal.codes))
            self._count(request, rounds, refusal.codes)
            raise
        if call.intent_source == "model":
            self.rounds.stated(request.tool_name)
        return self._begin(request, call, policy, binding=True, begun=begun)

    def _read(self, request: CallRequest, rounds: int) -> tuple[IntentCall, Policy]:
        spent = request.policy == "adaptive" and rounds > request.budget
        policy: Policy = "optional" if spent else request.policy
        derive = request.derive
        if spent and derive is None:
            derive = lambda arguments: target_of(request.tool_name, arguments)  # noqa: E731
        call = read_call(
            request.tool_name,
            request.arguments,
            texts=self.texts,
            policy=policy,
            parameters=request.parameters,
            derive=derive if spent or policy == "derive" else None,
            replaces=request.replaces,
            rounds=rounds if request.policy == "require" else 1,
        )
        if spent and call.intent_source != "model":
            call = _with_flags(call, "budget_spent")
        return call, request.policy

    def _count(self, request: CallRequest, rounds: int, codes: tuple[Code, ...]) -> None:
        opened_a_round = self.rounds.refused(request.tool_name, request.group_id)
        if opened_a_round and rounds >= STOP_AFTER_ROUNDS and request.tool_name not in self._told:
            self._told.add(request.tool_name)
            if self.on_stuck is not None:
                with suppress(Exception):
                    self.on_stuck(request, rounds, codes)

    def settle_unopened(self, request: CallRequest, settlement: Settlement) -> None:
        """Tell start and end together of a call that the host settled without asking us."""
        try:
            call = read_call(
                request.tool_name,
                request.arguments,
                texts=self.texts,
                policy="optional",
                parameters=request.parameters,
                replaces=request.replaces,
            )
        except IntentRejected as refusal:
            call = refusal.call
        self._begin(request, call, request.policy, binding=False).settle(settlement)

    def settle_all(self, status: Status) -> None:
        """End every call that is still open."""
        for opened in tuple(self.open_calls.values()):
            opened.settle(Settlement(status=status, is_error=True))

    def _begin(
        self, request: CallRequest, call: IntentCall, policy: Policy, *, binding: bool, begun: bool = False
    ) -> OpenCall:
        if request.redact_args:
            call = _with_flags(call, "redact_args")
        start = ToolExecutionStart(
            call_id=request.call_id or self.new_id(),
            tool_call_id=request.tool_call_id,
            session_id=self.session_id,
            agent_id=request.agent_id,
            group_id=request.group_id,
            seq=self._next(),
            host=self.host,
            tool_name=request.tool_name,
            args=_copied(call.arguments),
            intent=call.intent,
            rationale=call.rationale,
            intent_source=call.intent_source,
            tool_source=request.tool_source,
            parent_tool_call_id=request.parent_call_id,
            model=request.model,
            flags=call.flags,
        )
        context = CallContext(
            turn=request.turn,
            policy=policy,
            profile=request.profile,
            bytes_in=_json_size(call.arguments),
            redact_args=request.redact_args,
        )
        opened = OpenCall(call, start, policy, self, self.clock())
        self.open_calls[start.call_id] = opened
        veto = None
        if self.journal is not None:
            try:
                (self.journal.resumed if begun else self.journal.opened)(start, context)
            except LedgerError as error:
                veto = error if binding else None
        self.sinks.emit(start)
        if veto is not None:
            opened.settle(failure("denied", str(veto)))
            raise veto
        return opened

    def streamed(
        self, *, call_id: str, tool_call_id: str, tool_name: str, group_id: str, intent: str, complete: bool
    ) -> None:
        """Tell what can be shown of the intent of a call that is still being written. Nothing is kept of it."""
        self.sinks.emit(
            ToolIntentUpdate(
                **self._named(call_id, tool_call_id, tool_name, group_id), intent=intent, complete=complete
            )
        )

    def abandoned(self, *, call_id: str, tool_call_id: str, tool_name: str, group_id: str) -> None:
        """Tell that a call of which something was shown never came: an end without a start, which nothing keeps."""
        self.sinks.emit(
            ToolExecutionEnd(
                **self._named(call_id, tool_call_id, tool_name, group_id),
                status="interrupted",
                is_error=True,
                duration_ms=0,
            )
        )

    def _named(self, call_id: str, tool_call_id: str, tool_name: str, group_id: str) -> dict[str, Any]:
        return {
            "call_id": call_id,
            "tool_call_id": tool_call_id,
            "tool_name": tool_name,
            "group_id": group_id,
            "session_id": self.session_id,
            "agent_id": "main",
            "host": self.host,
            "seq": self._next(),
        }

    def update(
        self, start: ToolExecutionStart, arguments: JSONObject, partial_result: Any, backgrounded: bool | None
    ) -> None:
        """Tell that a call goes on; `OpenCall.update` is the way to call it."""
        self.sinks.emit(
            ToolExecutionUpdate(
                **_identity(start),
                seq=self._next(),
                args=arguments,
                partial_result=partial_result,
                backgrounded=backgrounded,
            )
        )

    def asked(self, start: ToolExecutionStart, request: str) -> None:
        """Tell that a person is asked; `OpenCall.ask` is the way to call it."""
        self.sinks.emit(CheckInRequest(**_identity(start), seq=self._next(), request=request))

    def decided(self, start: ToolExecutionStart, *, approved: bool, by: str, note: str | None) -> None:
        """Tell what was decided; `OpenCall.decide` is the way to call it."""
        self.sinks.emit(CheckInDecision(**_identity(start), seq=self._next(), approved=approved, by=by, note=note))

    def closed(self, opened: OpenCall, settlement: Settlement, opened_at: int) -> None:
        """Tell how a call ended; `OpenCall.settle` is the way to call it."""
        self.open_calls.pop(opened.start.call_id, None)
        end = ToolExecutionEnd(
            **_identity(opened.start),
            seq=self._next(),
            status=settlement.status,
            is_error=settlement.is_error,
            duration_ms=(self.clock() - opened_at) // 1_000_000,
            result=settlement.result,
            outcome=settlement.outcome,
            outcome_patch=settlement.outcome_patch,
            facts=settlement.facts,
            codes=settlement.codes,
            files=settlement.files,
            flags=settlement.flags,
        )
        if self.journal is not None:
            self.journal.closed(end, settlement)
        self.sinks.emit(end)

    def _next(self) -> int:
        self._seq += 1
        return self._seq


def _identity(start: ToolExecutionStart) -> dict[str, Any]:
    names = ("call_id", "tool_call_id", "session_id", "agent_id", "group_id", "host", "tool_name")
    return {name: getattr(start, name) for name in names}


def _with_flags(call: IntentCall, *flags: Flag) -> IntentCall:
    return call._replace(flags=tuple(sorted({*call.flags, *flags})))


def _copied(arguments: JSONObject) -> JSONObject:
    """Copy what a listener could change: the tool runs with the original."""
    return {name: _copy(value) if isinstance(value, list | dict) else value for name, value in arguments.items()}


def _copy(value: JSONValue) -> JSONValue:
    try:
        return deepcopy(value)
    except RecursionError:  # what was read without recursion in Python can be copied that way, too
        copied: JSONValue = json.loads(json.dumps(value))
        return copied


_quoted: Callable[[Any], str] = json.encoder.encode_basestring
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def _json_size(arguments: JSONObject) -> int:
    try:
        # Setting up the encoder takes longer than writing a text, and most calls hold nothing else.
        if all(type(value) is str for value in arguments.values()):
            text = ",".join([f"{_quoted(name)}:{_quoted(value)}" for name, value in arguments.items()])
            return len(text.encode("utf-8", "surrogatepass")) + 2
        return len(_encode(arguments).encode("utf-8", "surrogatepass"))
    except (RecursionError, ValueError, TypeError):  # a host may call a tool with what is no JSON
        return 0
