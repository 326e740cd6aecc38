"""The events of one tool call, in process and on the wire."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from functools import cache
from typing import Annotated, Any, ClassVar, Literal

from pi_intent.errors import EventError
from pi_intent.types import Code, Flag, Host, IntentSource, JSONObject, JSONValue, Status


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """What every event says of its call.

    `call_id` is ours and unique; `tool_call_id` is the host's and unique within one turn only; `group_id` is
    one assistant message; `seq` grows within a session and is taken when the state changes.
    """

    __pydantic_config__: ClassVar[dict[str, Any]] = _WIRE

    call_id: str
    tool_call_id: str
    session_id: str
    agent_id: str
    group_id: str
    seq: int
    host: Host
    tool_name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolExecutionStart(Event):
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


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolExecutionUpdate(Event):
    """The call goes on: a partial result, other arguments than announced, or a move to the background."""

    type: Literal["tool_execution_update"] = "tool_execution_update"
    args: JSONObject
    partial_result: Any = None
    backgrounded: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolExecutionEnd(Event):
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


ToolEvent = ToolExecutionStart | ToolExecutionUpdate | ToolExecutionEnd

_IN_PROCESS = {"result"}


def _wire_names(event_class: type[Any]) -> tuple[tuple[str, str], ...]:
    names = [field.name for field in fields(event_class) if field.name not in _IN_PROCESS]
    names.sort(key=lambda name: name != "type")
    return tuple((name, _camel(name)) for name in names)


_WIRE_NAMES: dict[type[Any], tuple[tuple[str, str], ...]] = {
    event_class: _wire_names(event_class)
    for event_class in (ToolExecutionStart, ToolExecutionUpdate, ToolExecutionEnd)
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
        record["args"] = {}
        if isinstance(event, ToolExecutionStart):
            record["flags"] = [*event.flags, "unserialisable"]
        record.pop("partialResult", None)
        return json.dumps(record, ensure_ascii=True, separators=(",", ":"), default=repr)


@cache
def _adapter() -> Any:
    from pydantic import Discriminator, TypeAdapter  # only where we read what others wrote

    return TypeAdapter[Any](Annotated[ToolEvent, Discriminator("type")])


def parse_event(text: str | bytes) -> ToolEvent:
    """Read one event from JSON text; fields we do not know are ignored.

    Raises `EventError` where the text is not one of our events.
    """
    from pydantic import ValidationError

    try:
        event: ToolEvent = _adapter().validate_python(json.loads(text))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise EventError(f"not an event of pi-intent: {where or 'the whole'}: {first['msg']}") from error
    except (ValueError, RecursionError) as error:
        raise EventError("not an event of pi-intent: the text is not JSON that can be read") from error
    return event
