"""What the records of the ledger say, checked once when their lines are read."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Discriminator, TypeAdapter, ValidationError
from pydantic.alias_generators import to_camel

from pi_intent.events import FileChange, OutcomePatch
from pi_intent.ledger.migrations import to_present
from pi_intent.ledger.record import VERSION
from pi_intent.types import IntentSource, JSONObject, Policy, Profile, Status


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionEntry:
    """The `session` record: who wrote this segment, and where."""

    v: Literal[1]
    t: Literal["session"]
    id: str
    ts: str
    session: str
    host: str
    host_version: str | None
    agent: str
    parent: str | None
    writer: str
    pid: int
    version: str
    cwd: str
    imported_from: str | None
    prev: str
    hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CallEntry:
    """The `call` record: what was about to run, and why, as the model stated it."""

    v: Literal[1]
    t: Literal["call"]
    id: str
    tool_call_id: str
    session: str
    group: str
    turn: int
    seq: int
    host: str
    agent: str
    parent: str | None
    ts: str
    tool: str
    tool_source: str | None
    intent: str | None
    intent_source: IntentSource
    rationale: str | None
    args: JSONObject
    args_digest: str | None
    policy: Policy
    profile: Profile
    flags: tuple[str, ...]
    model: str | None
    head: str | None
    prev: str
    hash: str


def _without_count(files: Any) -> Any:
    # A long list ends with {"more": N}, which is no file.
    if isinstance(files, list) and files and isinstance(files[-1], dict) and "more" in files[-1]:
        return files[:-1]
    return files


@dataclass(frozen=True, slots=True, kw_only=True)
class DoneEntry:
    """The `done` record: what came of a call."""

    v: Literal[1]
    t: Literal["done"]
    id: str
    ts: str
    status: Status
    is_error: bool
    ms: int
    codes: tuple[str, ...]
    outcome: str | None
    outcome_patch: OutcomePatch | None
    facts: str | None
    error: str | None
    files: Annotated[tuple[FileChange, ...], BeforeValidator(_without_count)]
    ran_args: JSONObject | None
    bytes_in: int | None
    bytes_out: int
    prev: str
    hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherEntry:
    """A record of a kind or of a version that is not read here, as it stands."""

    v: int
    t: str
    data: JSONObject


type Entry = SessionEntry | CallEntry | DoneEntry | OtherEntry

for _class in (SessionEntry, CallEntry, DoneEntry):
    _class.__pydantic_config__ = {"alias_generator": to_camel, "extra": "ignore"}  # type: ignore[union-attr]

_KINDS = frozenset({"session", "call", "done"})

# Parsing and checking in one go: measured, this costs less than `json.loads` alone.
_ADAPTER: TypeAdapter[SessionEntry | CallEntry | DoneEntry] = TypeAdapter(
    Annotated[SessionEntry | CallEntry | DoneEntry, Discriminator("t")]
)


def parse_entry(line: bytes) -> Entry | str:
    """Return what a line says, in the present shape whatever its own is, or a sentence on why it is no record."""
    try:
        return _ADAPTER.validate_json(line)
    except ValidationError as error:
        return _older_or_other(line) or _reason(error)


def _older_or_other(line: bytes) -> Entry | str | None:
    try:
        data = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError):
        return None
    if not isinstance(data, dict):
        return None
    present = to_present(data)
    if present is not data:
        try:
            return _ADAPTER.validate_json(json.dumps(present))
        except ValidationError as error:
            return _reason(error)
        except RecursionError:
            return None
    version, kind = data.get("v"), data.get("t")
    if type(version) is not int or not isinstance(kind, str) or (version == VERSION and kind in _KINDS):
        return None
    return OtherEntry(v=version, t=kind, data=data) if version >= VERSION else None


def _reason(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    if first["type"] in ("json_invalid", "union_tag_not_found", "union_tag_invalid", "model_attributes_type"):
        return "is not a record"
    where = ".".join(str(part) for part in first["loc"][1:])
    return f"is not a whole record: {where or 'it'}: {first['msg'].lower()}"
