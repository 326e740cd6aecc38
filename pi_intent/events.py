"""The events of one tool call, in process and on the wire."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, get_args

from pi_intent.errors import EventError
from pi_intent.types import Code, Flag, Host, IntentSource, JSONObject, JSONValue, Status

if TYPE_CHECKING:
    from pydantic import ValidationError


def _camel(name: str) -> str:
    head, *tail = name.removesuffix("_").split("_")
    return head + "".join(word.capitalize() for word in tail)


# Read by pydantic from standard dataclasses; a plain dict, so that importing events stays light.
_WIRE: dict[str, Any] = {"alias_generator": _camel, "extra": "ignore"}


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """One file that a call created, changed or removed.

    `pre` and `post` are digests of its content under the key of the ledger (`hmac:…`), None where the file did
    not exist or was too large to read.
    """

    __pydantic_config__: ClassVar[dict[str, Any]] = _WIRE

    path: str
    op: Literal["create", "modify", "delete"]
    pre: str | None = None
    post: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomePatch:
    """A literal replacement, first occurrence only, that turns an intent into its outcome."""

    __pydantic_config__: ClassVar[dict[str, Any]] = _WIRE

    from_: str
    to: str


# Comparing and showing are written once here, because having them generated for each event takes three milliseconds
# of every start of a host.
@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False, eq=False)
class Event:
    """What every event says of where it happened.

    `group_id` is one assistant message; `seq` grows within a session and is taken when the state changes.
    """

    __pydantic_config__: ClassVar[dict[str, Any]] = _WIRE

    session_id: str
    agent_id: str
    group_id: str
    seq: int
    host: Host

    def _values(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Event) or type(other) is not type(self):
            return NotImplemented
        return self._values() == other._values()

    def __hash__(self) -> int:
        return hash(tuple(self._values().values()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self._values().items())})"


@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False, eq=False)
class CallEvent(Event):
    """What every event of one call says besides.

    `call_id` is ours and unique; `tool_call_id` is the host's and unique within one turn only.
    """

    call_id: str
    tool_call_id: str
    tool_name: str


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class ToolIntentUpdate(CallEvent):
    """The model is still writing the call: `intent` is all that can be shown of it so far, '' before the first piece.

    `complete` says that no more of it will come. Transient: it is not stored, and whoever misses it misses nothing.
    """

    type: Literal["tool_intent_update"] = "tool_intent_update"
    intent: str
    complete: bool


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class ToolExecutionStart(CallEvent):
    """A call was read; `args` is what the tool gets, `{}` where the model sent no object."""

    type: Literal["tool_execution_start"] = "tool_execution_start"
    args: JSONObject
    intent_source: IntentSource
    intent: str | None = None
    rationale: str | None = None
    tool_source: str | None = None
    parent_tool_call_id: str | None = None
    model: str | None = None
    flags: tuple[Flag, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class ToolExecutionUpdate(CallEvent):
    """The call goes on: a partial result, other arguments than announced, or a move to the background."""

    type: Literal["tool_execution_update"] = "tool_execution_update"
    args: JSONObject
    partial_result: Any = None
    backgrounded: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class ToolExecutionEnd(CallEvent):
    """The call settled. `result` is the host's own object and never leaves the process."""

    type: Literal["tool_execution_end"] = "tool_execution_end"
    status: Status
    is_error: bool
    duration_ms: int
    result: Any = None
    outcome: str | None = None
    outcome_patch: OutcomePatch | None = None
    facts: str | None = None
    codes: tuple[Code, ...] = ()
    files: tuple[FileChange, ...] = ()
    flags: tuple[Flag, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class CheckInRequest(CallEvent):
    """A person is asked before the call runs; `request` is the literal action that they are shown."""

    type: Literal["check_in_request"] = "check_in_request"
    request: str


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class CheckInDecision(CallEvent):
    """The answer to a request: by whom or what, and with which note to the model."""

    type: Literal["check_in_decision"] = "check_in_decision"
    approved: bool
    by: str
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class GroupSummary(Event):
    """A host's own summary of a group of calls; it belongs to none of them."""

    type: Literal["group_summary"] = "group_summary"
    text: str


ToolEvent = (
    ToolIntentUpdate
    | ToolExecutionStart
    | ToolExecutionUpdate
    | ToolExecutionEnd
    | CheckInRequest
    | CheckInDecision
    | GroupSummary
)
"""Every event there is; `type` tells them apart."""

_IN_PROCESS = {"result"}
_FIRST = ("type", "call_id", "tool_call_id")


def _wire_names(event_class: type[Any]) -> tuple[tuple[str, str], ...]:
    names = [field.name for field in fields(event_class) if field.name not in _IN_PROCESS]
    names.sort(key=lambda name: _FIRST.index(name) if name in _FIRST else len(_FIRST))
    return tuple((name, _camel(name)) for name in names)


_WIRE_NAMES: dict[type[Any], tuple[tuple[str, str], ...]] = {
    event_class: _wire_names(event_class) for event_class in get_args(ToolEvent)
}


def _plain(value: Any) -> JSONValue:
    match value:
        case FileChange():
            return {name: value_ for name in ("path", "op", "pre", "post") if (value_ := getattr(value, name))}
        case OutcomePatch():
            return {"from": value.from_, "to": value.to}
        case tuple():
            return [_plain(item) for item in value]
        case _:
            plain: JSONValue = value
            return plain


def event_to_json(event: ToolEvent) -> str:
    """Write an event as one line of ASCII JSON; absent fields are left out, `result` always.

    Arguments nested too deeply to be written become `{}`, with the flag `unserialisable` on a start.
    """
    record = {
        wire: _plain(value)
        for name, wire in _WIRE_NAMES[type(event)]
        if (value := getattr(event, name)) is not None and value != ()
    }
    try:
        return json.dumps(record, ensure_ascii=True, separators=(",", ":"), default=repr)
    except (RecursionError, ValueError):
        if "args" in record:
            record["args"] = {}
        if isinstance(event, ToolExecutionStart):
            record["flags"] = [*event.flags, "unserialisable"]
        record.pop("partialResult", None)
        return json.dumps(record, ensure_ascii=True, separators=(",", ":"), default=repr)


@cache
def _adapter() -> Any:
    from pydantic import Discriminator, TypeAdapter  # only where we read what others wrote

    return TypeAdapter[Any](Annotated[ToolEvent, Discriminator("type")])


def _complaint(error: ValidationError) -> str:
    """Say what is wrong in words of ours alone: the text at hand may be long, and anybody's."""
    first = error.errors(include_url=False, include_input=False)[0]
    where = first["loc"][:2]
    if not where:  # the only message that repeats what was sent
        return "it is not an object whose `type` is one of ours"
    what = "nested too deeply to be read" if where[1:] == ("args",) and first["loc"] != where else first["msg"]
    return f"{'.'.join(str(part) for part in where)}: {what}"


def parse_event(text: str | bytes) -> ToolEvent:
    """Read one event from JSON text; fields we do not know are ignored.

    Raises `EventError` where the text is not one of our events.
    """
    from pydantic import ValidationError

    try:
        event: ToolEvent = _adapter().validate_python(json.loads(text))
    except ValidationError as error:
        raise EventError(f"not an event of pi-intent: {_complaint(error)}") from error
    except (ValueError, RecursionError) as error:
        raise EventError("not an event of pi-intent: the text is not JSON that can be read") from error
    return event
