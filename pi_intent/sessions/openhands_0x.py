"""Read the events of OpenHands 0.x: actions and observations, one a line or all of a run in one `history`.

What the model wrote before a call stands in the action's `thought`, and counts as the intent of that call; OpenHands
puts it into the first of several parallel calls only, so that its absence means nothing. An observation names its
action in `cause`; older files have no ids, and it belongs to the action before it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator

from pi_intent.sessions.bounded import Recent
from pi_intent.sessions.fields import exit_code, identity, listed, mapping, said, size, stated, word
from pi_intent.sessions.moments import moment, stated_moment
from pi_intent.sessions.unknown import UnknownKinds
from pi_intent.sessions.values import Found, FoundCall, FoundResult, Head, Prompt
from pi_intent.types import JSONObject, Status
from pi_intent.word_sets import word_set

_OPEN = 10_000
_NO_CALLS = frozenset(
    {
        "message",
        "system",
        "change_agent_state",
        "null",
        "recall",
        "condensation",
        "condensation_request",
        "initialize",
    }
)
_NO_RESULTS = frozenset({"agent_state_changed", "null", "recall", "message", "condense", "loop_detection"})
_THOUGHT_IS_PAYLOAD = frozenset({"think", "finish"})
# What OpenHands notes beside the arguments, and what a flat event holds beside them.
_ASIDE_NAMES = (
    "thought keep_prompt is_confirmed confirmation_state hidden security_risk action_risk kernel_init_code "
    "action observation id timestamp source message cause tool_call_metadata llm_metrics timeout extras content"
)
_ASIDE = word_set(_ASIDE_NAMES)
_OWN_ARGUMENTS = frozenset({"timeout", "content", "message"})
"""Names that mean something else inside `args` than beside it."""


def is_early(value: JSONObject) -> bool:
    """Whether an object is an event of 0.x, or a run with its history of them."""
    if isinstance(value.get("kind"), str):
        return False
    history = value.get("history")
    if isinstance(history, list):
        return any(_is_event(mapping(event)) for event in history[:32])
    return _is_event(value) and not {"source", "args", "extras", "cause"}.isdisjoint(value)


def _is_event(value: JSONObject) -> bool:
    """An event is an action or an observation; elsewhere a step is both."""
    return (word(value.get("action")) is None) != (word(value.get("observation")) is None)


class EarlyReader:
    """Reads a file's lines one after the other."""

    def __init__(self) -> None:
        self._run: _Run | None = None
        self._runs: Recent[int] = Recent()
        self._unknown = UnknownKinds()

    def line(self, value: JSONObject, number: int) -> Iterator[Found]:
        """Yield what one line tells: an event, or a whole run."""
        history = value.get("history")
        if not isinstance(history, list):
            if self._run is None:
                self._run = _Run("", None)
                yield Head(session=None, started=moment(value.get("timestamp")))
            yield from self._run.event(value, number)
            return
        issue = mapping(value.get("issue"))
        named = [identity(issue.get(name)) for name in ("owner", "repo", "number")]
        session = identity(value.get("instance_id")) or ("/".join(filter(None, named)) or None)
        yield Head(session=session)
        model = word(mapping(mapping(value.get("metadata")).get("llm_config")).get("model"))
        name = session or f"line-{number}"
        runs = (self._runs.get(name) or 0) + 1
        self._runs.put(name, runs)
        run = _Run(f"{name}:" if runs == 1 else f"{name}#{runs}:", model)
        for event in listed(history):
            yield from run.event(mapping(event), number)

    def rest(self) -> Iterator[Found]:
        """Yield what waited for the end of the file."""
        yield from self._unknown.told()


class _Run:
    def __init__(self, prefix: str, model: str | None) -> None:
        self._prefix, self._model = prefix, model
        self._count = self._turns = 0
        self._groups: Recent[int] = Recent()
        self._seen: Recent[None] = Recent()
        self._open: OrderedDict[str, tuple[str, str]] = OrderedDict()  # key and id of a call, by the id of its event

    def event(self, event: JSONObject, number: int) -> Iterator[Found]:
        """Yield what one event tells; one that was there before tells nothing."""
        self._count += 1
        event_id = identity(event.get("id"))
        if event_id is not None:
            if event_id in self._seen:
                return
            self._seen.put(event_id, None)
        action, observation = word(event.get("action")), word(event.get("observation"))
        if action == "message":
            if event.get("source") == "user" or (self._count == 1 and event.get("source") is None):
                text = word(mapping(event.get("args")).get("content")) or word(event.get("content"))
                if text is not None:
                    yield Prompt(text=text)
        elif action is not None and action not in _NO_CALLS and event.get("source") != "user":
            yield self._call(event, action, event_id or f"event-{self._count}")
        elif observation is not None and observation not in _NO_RESULTS:
            yield self._result(event, observation)

    def _call(self, event: JSONObject, action: str, name: str) -> FoundCall:
        about = mapping(event.get("tool_call_metadata"))
        response = mapping(about.get("model_response"))
        group = identity(response.get("id")) or name
        if group not in self._groups:
            self._turns += 1
            self._groups.put(group, self._turns)
        inside = event.get("args")
        args = inside if isinstance(inside, dict) else event
        thought = None if action in _THOUGHT_IS_PAYLOAD else stated(args.get("thought"))
        aside = _ASIDE - _OWN_ARGUMENTS if args is inside else _ASIDE
        aside = aside - {"thought"} if action in _THOUGHT_IS_PAYLOAD else aside
        tool = identity(about.get("function_name")) or identity(action) or action
        rest = {key: value for key, value in args.items() if key not in aside}
        if action == "call_tool_mcp":
            tool, rest = identity(args.get("name")) or tool, mapping(args.get("arguments"))
        call = FoundCall(
            key=f"{self._prefix}{name}",
            tool_call_id=identity(about.get("tool_call_id")) or name,
            tool=tool,
            group=group,
            turn=self._groups.get(group) or self._turns,
            args=rest,
            intent=thought,
            asked=thought is not None,
            ts=stated_moment(event.get("timestamp")),
            model=word(response.get("model")) or self._model,
        )
        self._open[name] = call.key, call.tool_call_id
        if len(self._open) > _OPEN:
            self._open.popitem(last=False)
        return call

    def _result(self, event: JSONObject, observation: str) -> FoundResult:
        cause = identity(event.get("cause"))
        if cause is None and event.get("id") is None and self._open:
            cause = next(reversed(self._open))
        key, call_id = self._open.pop(cause or "", (None, cause or ""))
        about = mapping(event.get("extras")) or event
        text = said(event.get("content"))
        code = exit_code(mapping(about.get("metadata")).get("exit_code", about.get("exit_code")))
        failed = observation == "error" or event.get("success") is False
        status: Status = "error" if failed or code not in (None, 0) else "ok"
        if observation == "user_rejected":
            status = "denied"
        elif code == -1 and not failed:
            status = "timeout"  # the command still ran when OpenHands stopped waiting
        return FoundResult(
            key=key,
            tool_call_id=call_id,
            status=status,
            is_error=failed,
            ts=stated_moment(event.get("timestamp")),
            error=text if status != "ok" else None,
            text=text,
            bytes_out=size(text),
            exit_code=None if code == -1 else code,
        )
