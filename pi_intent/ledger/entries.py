"""What the records of the ledger say, checked once when their lines are read."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pi_intent.events import FileChange, OutcomePatch
from pi_intent.ledger.migrations import to_present
from pi_intent.ledger.version import VERSION
from pi_intent.types import IntentSource, JSONObject, Policy, Profile, Status

if TYPE_CHECKING:
    from pydantic import TypeAdapter


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


class _WithoutCount:
    """Takes the end off a long list of files: `{"more": N}` is no file."""

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        from pydantic_core.core_schema import no_info_before_validator_function

        return no_info_before_validator_function(_without_count, handler(source))


def _without_count(files: Any) -> Any:
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
    files: Annotated[tuple[FileChange, ...], _WithoutCount()]
    ran_args: JSONObject | None
    bytes_in: int | None
    bytes_out: int
    flags: tuple[str, ...] = ()  # not in what was written before results could be withheld
    given: tuple[str, ...] = ()  # not in what was written before it was kept
    prev: str
    hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionEntry:
    """The `decision` record: somebody is asked about a call (`approved` is None), or what was decided."""

    v: Literal[1]
    t: Literal["decision"]
    id: str
    ts: str
    number: int
    reasons: tuple[str, ...]
    digest: str | None
    approved: bool | None
    by: str | None
    scope: str | None
    note: str | None
    shown: str | None
    prev: str
    hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherEntry:
    """A record of a kind or of a version that is not read here, as it stands."""

    v: int
    t: str
    data: JSONObject


def repeated(entry: CallEntry | DoneEntry) -> str:
    """Say of a record that its call had one like it before, after the words "line N,": the first one counts."""
    return f"is another {entry.t} record of {entry.id} and was skipped"


type Known = SessionEntry | CallEntry | DoneEntry | DecisionEntry
type Entry = Known | OtherEntry


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(map(str.capitalize, rest))


for _class in (SessionEntry, CallEntry, DoneEntry, DecisionEntry):
    _class.__pydantic_config__ = {"alias_generator": _camel, "extra": "ignore"}  # type: ignore[union-attr]

_KINDS = frozenset({"session", "call", "done", "decision"})


@cache
def _adapter() -> TypeAdapter[Known]:
    # Loaded where a line is checked: who looks at lines that were checked before does without, and is there sooner.
    from pydantic import Discriminator, TypeAdapter

    # Parsing and checking in one go: measured, this costs less than `json.loads` alone.
    return TypeAdapter(Annotated[SessionEntry | CallEntry | DoneEntry | DecisionEntry, Discriminator("t")])


def parse_entry(line: bytes) -> Entry | str:
    """Return what a line says, in the present shape whatever its own is, or a sentence on why it is no record."""
    try:
        entry: Known = _adapter().validator.validate_json(line)
        return entry
    except ValueError as error:
        return _older_or_other(line) or _reason(error)


def entry_json(entry: Known) -> str:
    """Return a record as JSON text with the names that the ledger uses."""
    return _adapter().dump_json(entry, by_alias=True).decode()


def entry_object(entry: Known) -> dict[str, Any]:
    """Return a record as an object with the names that the ledger uses."""
    found: dict[str, Any] = _adapter().dump_python(entry, by_alias=True, mode="json")
    return found


def reread_call(line: bytes) -> CallEntry:
    """Return the entry of a line that `parse_entry` took for a call: the same one, without checking it again."""
    data: dict[str, Any] = to_present(json.loads(line.decode()))
    if not (type(data["turn"]) is type(data["seq"]) is int):  # checking makes a number of one that is written as text
        entry = parse_entry(line)
        if isinstance(entry, CallEntry):
            return entry
    return CallEntry(
        v=1,
        t="call",
        id=data["id"],
        tool_call_id=data["toolCallId"],
        session=data["session"],
        group=data["group"],
        turn=data["turn"],
        seq=data["seq"],
        host=data["host"],
        agent=data["agent"],
        parent=data["parent"],
        ts=data["ts"],
        tool=data["tool"],
        tool_source=data["toolSource"],
        intent=data["intent"],
        intent_source=data["intentSource"],
        rationale=data["rationale"],
        args=data["args"],
        args_digest=data["argsDigest"],
        policy=data["policy"],
        profile=data["profile"],
        flags=tuple(data["flags"]),
        model=data["model"],
        head=data["head"],
        prev=data["prev"],
        hash=data["hash"],
    )


def reread_done(line: bytes) -> DoneEntry:
    """Return the entry of a line that `parse_entry` took for the end of a call."""
    data: dict[str, Any] = to_present(json.loads(line.decode()))
    sizes = (data["ms"], data["bytesOut"], 0 if data["bytesIn"] is None else data["bytesIn"])
    if type(data["isError"]) is not bool or not all(type(size) is int for size in sizes):
        entry = parse_entry(line)
        if isinstance(entry, DoneEntry):
            return entry
    patch = data["outcomePatch"]
    return DoneEntry(
        v=1,
        t="done",
        id=data["id"],
        ts=data["ts"],
        status=data["status"],
        is_error=data["isError"],
        ms=data["ms"],
        codes=tuple(data["codes"]),
        outcome=data["outcome"],
        outcome_patch=None if patch is None else OutcomePatch(from_=patch["from"], to=patch["to"]),
        facts=data["facts"],
        error=data["error"],
        files=tuple(
            FileChange(path=file["path"], op=file["op"], pre=file.get("pre"), post=file.get("post"))
            for file in _without_count(data["files"])
        ),
        ran_args=data["ranArgs"],
        bytes_in=data["bytesIn"],
        bytes_out=data["bytesOut"],
        flags=tuple(data.get("flags", ())),
        given=tuple(data.get("given", ())),
        prev=data["prev"],
        hash=data["hash"],
    )


def reread_decision(line: bytes) -> DecisionEntry:
    """Return the entry of a line that `parse_entry` took for a decision."""
    data: dict[str, Any] = to_present(json.loads(line.decode()))
    if type(data["number"]) is not int or type(data["approved"]) not in (bool, type(None)):
        entry = parse_entry(line)
        if isinstance(entry, DecisionEntry):
            return entry
    return DecisionEntry(
        v=1,
        t="decision",
        id=data["id"],
        ts=data["ts"],
        number=data["number"],
        reasons=tuple(data["reasons"]),
        digest=data["digest"],
        approved=data["approved"],
        by=data["by"],
        scope=data["scope"],
        note=data["note"],
        shown=data["shown"],
        prev=data["prev"],
        hash=data["hash"],
    )


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
            entry: Entry = _adapter().validator.validate_json(json.dumps(present))
        except ValueError as error:
            return _reason(error)
        except RecursionError:
            return None
        return entry
    version, kind = data.get("v"), data.get("t")
    if type(version) is not int or not isinstance(kind, str) or (version == VERSION and kind in _KINDS):
        return None
    return OtherEntry(v=version, t=kind, data=data) if version >= VERSION else None


def _reason(error: ValueError) -> str:
    from pydantic import ValidationError

    if not isinstance(error, ValidationError):
        return "is not a record"
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    if first["type"] in ("json_invalid", "union_tag_not_found", "union_tag_invalid", "model_attributes_type"):
        return "is not a record"
    where = ".".join(str(part) for part in first["loc"][1:])
    return f"is not a whole record: {where or 'it'}: {first['msg'].lower()}"
