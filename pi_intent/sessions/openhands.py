"""Read the events that OpenHands keeps: those of its SDK here, those of 0.x next door.

The SDK asks for a `summary` with every call, which is the intent; where the model sends none it writes one from the
arguments, which is not. A call that fails validation has `"action": null` and is followed by an `AgentErrorEvent`;
what the model stated in it stays unread, because the SDK did not take it either.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from pi_intent.sessions.bounded import Recent
from pi_intent.sessions.fields import exit_code, identity, listed, mapping, parsed, said, size, stated, word
from pi_intent.sessions.lines import Numbered
from pi_intent.sessions.moments import moment, stated_moment
from pi_intent.sessions.openhands_0x import EarlyReader, is_early
from pi_intent.sessions.unknown import UnknownKinds
from pi_intent.sessions.values import Found, FoundCall, FoundResult, Head, Prompt, Unread
from pi_intent.sessions.wrapped import Taken, WrappedTools
from pi_intent.types import JSONObject, Status
from pi_intent.word_sets import word_set

_OPEN = 10_000
_OPEN_ACP = 200
_SILENT_NAMES = (
    "Condensation CondensationRequest CondensationSummaryEvent ConversationErrorEvent HookExecutionEvent "
    "InterruptEvent LLMCompletionLogEvent PauseEvent SecurityAnalysisEvent StreamingDeltaEvent TokenEvent"
)
_SILENT = word_set(_SILENT_NAMES)
_ANSWERS = frozenset({"ObservationEvent", "AgentErrorEvent", "UserRejectObservation"})
_TOLD = frozenset({"ActionEvent", "ACPToolCallEvent", "MessageEvent", "SystemPromptEvent"})
_KNOWN = _SILENT | _ANSWERS | _TOLD | {"ConversationStateUpdateEvent"}
_PASTE_MODE = re.compile(r"\x1b\[\?2004[hl]")
"""What a shell in a terminal puts around the output of each command."""
_MALFORMED = "_openhands_malformed_tool_call"


def is_ours(first: Sequence[JSONObject]) -> bool:
    """Whether a file that begins with these objects is one of OpenHands'."""
    return any(is_early(value) or _is_event(value) for value in first[:32])


def read(items: Iterable[Numbered | Unread]) -> Iterator[Found]:
    """Yield what a file tells, in its order."""
    reader, early = _Reader(), EarlyReader()
    for item in items:
        if isinstance(item, Unread):
            yield item
        elif is_early(item.value):
            yield from early.line(item.value, item.line)
        else:
            yield from reader.event(item.value, item.line)
    yield from early.rest()
    yield from reader.rest()


def _is_event(value: JSONObject) -> bool:
    kind = value.get("kind")
    return isinstance(kind, str) and kind in _KNOWN and "source" in value and "id" in value


class _Open(NamedTuple):
    key: str
    tool: str
    refused: bool
    malformed: bool


class _Reader:
    def __init__(self) -> None:
        self._head: Head | None = None
        self._model: str | None = None
        self._turns = 0
        self._groups: Recent[int] = Recent()
        self._seen: Recent[None] = Recent()
        self._open: OrderedDict[str, _Open] = OrderedDict()  # by the id of the event
        self._events: OrderedDict[str, str] = OrderedDict()  # the id of the event by that of the call
        self._acp: OrderedDict[str, JSONObject] = OrderedDict()
        self._wrapped = WrappedTools()
        self._unknown = UnknownKinds()

    def event(self, event: JSONObject, number: int) -> Iterator[Found]:
        """Yield what one event tells; one that was there before tells nothing."""
        kind, event_id = event.get("kind"), identity(event.get("id"))
        if event_id is not None:
            if event_id in self._seen:
                return
            self._seen.put(event_id, None)
        if not isinstance(kind, str) or kind not in _KNOWN:
            self._unknown.add(number, kind)
            return
        yield from self._headed(event)
        if kind == "ActionEvent":
            yield self._call(event, event_id or f"line-{number}")
        elif kind == "ACPToolCallEvent":
            yield from self._behind_acp(event, event_id or f"line-{number}")
        elif kind in _ANSWERS:
            yield self._answer(event, kind)
            yield from self._headed(event, word(mapping(_observation(event).get("metadata")).get("working_dir")))
        elif kind == "MessageEvent" and event.get("source") == "user":
            if text := said(mapping(event.get("llm_message")).get("content")):
                yield Prompt(text=text)
        elif kind == "SystemPromptEvent":
            for tool in listed(event.get("tools")):
                definition = mapping(mapping(tool).get("mcp_tool"))
                self._wrapped.learn(identity(definition.get("name")) or "", definition.get("inputSchema"))

    def rest(self) -> Iterator[Found]:
        """Yield what waited for the end of the file."""
        for event in self._acp.values():
            yield self._acp_call(event)
        yield from self._unknown.told()

    def _headed(self, event: JSONObject, cwd: str | None = None) -> Iterator[Head]:
        """Yield a head at the beginning, and again when the session's id or its first folder is learnt."""
        state = mapping(event.get("value")) if event.get("key") == "full_state" else {}
        self._model = word(mapping(mapping(state.get("agent")).get("llm")).get("model")) or self._model
        before = self._head or Head(session=None, started=moment(event.get("timestamp")))
        head = replace(
            before,
            session=before.session or identity(state.get("id")),
            cwd=before.cwd or word(mapping(state.get("workspace")).get("working_dir")) or cwd,
        )
        if head != self._head:
            self._head = head
            yield head

    def _call(self, event: JSONObject, key: str) -> FoundCall:
        tool = identity(event.get("tool_name")) or "unknown"
        call_id = identity(event.get("tool_call_id")) or key
        group = identity(event.get("llm_response_id")) or key
        if group not in self._groups:
            self._turns += 1
            self._groups.put(group, self._turns)
        action = event.get("action")
        sent = mapping(parsed(mapping(event.get("tool_call")).get("arguments")))
        taken = self._wrapped.take(tool, {name: value for name, value in sent.items() if name != "summary"})
        if not taken.asked:
            taken = _summarised(event, tool, sent)
        self._open[key] = _Open(key, tool, refused=not isinstance(action, dict), malformed=_MALFORMED in sent)
        self._events[call_id] = key
        if len(self._open) > _OPEN:
            self._open.popitem(last=False)
        if len(self._events) > _OPEN:
            self._events.popitem(last=False)
        return FoundCall(
            key=key,
            tool_call_id=call_id,
            tool=tool,
            group=group,
            turn=self._groups.get(group) or self._turns,
            args=taken.args,
            intent=taken.intent,
            rationale=taken.rationale,
            asked=taken.asked,
            ts=stated_moment(event.get("timestamp")),
            model=self._model,
        )

    def _behind_acp(self, event: JSONObject, name: str) -> Iterator[Found]:
        """Yield a call that another agent made, once it is over: until then it is told again and again."""
        call_id = identity(event.get("tool_call_id")) or name
        self._acp.pop(call_id, None)
        if event.get("status") not in ("completed", "failed"):
            self._acp[call_id] = event
            if len(self._acp) > _OPEN_ACP:
                yield self._acp_call(self._acp.popitem(last=False)[1])
        elif call_id not in self._groups:
            call = self._acp_call(event)
            yield call
            text = said(event.get("raw_output")) or said(event.get("content"))
            failed = event.get("is_error") is True or event.get("status") == "failed"
            yield FoundResult(
                key=call.key,
                tool_call_id=call.tool_call_id,
                status="error" if failed else "ok",
                is_error=failed,
                ts=call.ts,
                error=text if failed else None,
                text=text,
                bytes_out=size(text),
            )

    def _acp_call(self, event: JSONObject) -> FoundCall:
        call_id = identity(event.get("tool_call_id")) or identity(event.get("id")) or "unknown"
        self._turns += 1
        self._groups.put(call_id, self._turns)
        return FoundCall(
            key=f"acp:{call_id}",
            tool_call_id=call_id,
            tool=identity(event.get("tool_kind")) or "unknown",
            group=call_id,
            turn=self._turns,
            args=mapping(event.get("raw_input")),
            ts=stated_moment(event.get("timestamp")),
        )

    def _answer(self, event: JSONObject, kind: str) -> FoundResult:
        call_id = identity(event.get("tool_call_id"))
        named = self._events.get(call_id) if call_id is not None else None
        action_id = identity(event.get("action_id"))
        call = self._open.pop(action_id, None) if action_id is not None else None
        if call is None and named is not None:
            call = self._open.pop(named, None)
        text, status, failed = _ended(event, kind, call)
        codes: tuple[str, ...] = ("arguments_not_json",) if call is not None and call.malformed else ()
        if call is not None and failed and (refused := self._wrapped.refused(call.tool, text)):
            status, codes = "rejected", refused
        return FoundResult(
            key=call.key if call is not None else None,
            tool_call_id=call_id or "",
            status=status,
            is_error=failed,
            ts=stated_moment(event.get("timestamp")),
            error=text if status != "ok" else None,
            text=_PASTE_MODE.sub("", text),
            bytes_out=size(text),
            exit_code=_code(_observation(event)),
            codes=codes,
        )


def _summarised(event: JSONObject, tool: str, sent: JSONObject) -> Taken:
    """Part the arguments into the summary that the SDK asks for and the tool's own.

    A tool may have a `summary` of its own, which then stands in the action too: it is payload.
    """
    action = mapping(event.get("action"))
    inner = mapping(action.get("data")) or action
    own = "summary" in inner
    aside = (
        {_MALFORMED, "error"} if _MALFORMED in sent else {"security_risk"} if own else {"security_risk", "summary"}
    )
    args = sent or {name: value for name, value in inner.items() if name != "kind"}
    rest = {name: value for name, value in args.items() if name not in aside}
    summary = stated(event.get("summary"))
    if own or summary is None:
        return Taken(None, None, rest, asked=False)
    written = stated(sent.get("summary")) is None if sent else summary.startswith(f"{tool}: {{")
    return Taken(None if written else summary, None, rest, asked=True)


def _observation(event: JSONObject) -> JSONObject:
    return mapping(event.get("observation"))


def _ended(event: JSONObject, kind: str, call: _Open | None) -> tuple[str, Status, bool]:
    """Return what the model was told, how the call ended, and whether OpenHands calls that an error."""
    if kind == "UserRejectObservation":
        return word(event.get("rejection_reason")) or "", "denied", True
    if kind == "AgentErrorEvent":
        text = word(event.get("error")) or ""
        restarted = text.startswith("A restart occurred while this tool was in progress")
        refused = call.refused if call is not None else text.startswith("Error validating tool ")
        return text, "rejected" if refused else "interrupted" if restarted else "error", True
    seen = _observation(event)
    text = said(seen.get("content")) or word(seen.get("output")) or word(seen.get("error")) or ""
    failed = seen.get("is_error") is True or word(seen.get("error")) is not None
    if seen.get("timeout") is True:
        return text, "timeout", failed
    return text, "error" if failed or _code(seen) not in (None, 0) else "ok", failed


def _code(observation: JSONObject) -> int | None:
    """Return the exit code of a command, which older versions state in its metadata only."""
    code = exit_code(observation.get("exit_code"))
    if code is None:
        code = exit_code(mapping(observation.get("metadata")).get("exit_code"))
    return None if code == -1 else code  # how they say that there is none
