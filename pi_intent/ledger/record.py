"""Build the records of the ledger, version 1: pure, redacted, bounded, and sealed into a chain."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache

from pi_intent.events import FileChange, ToolExecutionEnd, ToolExecutionStart
from pi_intent.ledger.keys import Digester
from pi_intent.protocols import CallContext, Settlement
from pi_intent.redaction import Redactor
from pi_intent.types import JSONObject, JSONValue

VERSION = 1
WITHHELD = "[withheld]"
"""Stands for a text that there was and that `redact_args` keeps out."""

INTENT_LIMIT = 4096
OUTCOME_LIMIT = 1024
NAME_LIMIT = 512
VALUE_LIMIT = 2048
ARGUMENTS_LIMIT = 16_384
FILES_LIMIT = 256
_BRACKETS_LIMIT = 64
# A secret is recognised as a whole: what lies this close to the end of a piece may be half of one, and is not kept.
_CUT_MARGIN = 16_384

_ALWAYS_DIGESTED = frozenset({"content", "edits"})

_encode = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"), allow_nan=False, check_circular=False).encode
_encode_canonical = json.JSONEncoder(
    ensure_ascii=True, separators=(",", ":"), allow_nan=False, check_circular=False, sort_keys=True
).encode

_HASH_MEMBER = b',"hash":"'
_TAIL_BYTES = len(_HASH_MEMBER) + 64 + len(b'"}')


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionInfo:
    """What a segment says of the session it belongs to, once, at its beginning.

    `session` is the host's id, or one that the caller made; `parent` the call or session that started this one;
    `cwd` the absolute working directory; `version` that of pi-intent.
    """

    session: str
    host: str
    agent: str
    cwd: str
    version: str
    host_version: str | None = None
    parent: str | None = None


def timestamp(seconds: float) -> str:
    """Return a Unix time as UTC in milliseconds, such as `2030-01-31T12:00:00.000Z`."""
    whole, rest = divmod(int(seconds * 1000), 1000)
    return f"{_second(whole)}.{rest:03d}Z"


@lru_cache(maxsize=8)
def _second(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def seal(record: JSONObject, prev: str) -> tuple[bytes, str]:
    """Return the line of a record, with `prev` and `hash` at its end and a line feed, and its hash.

    The hash is SHA-256 over the JSON object that ends with `prev`: the line without its line feed and without the
    75 bytes `,"hash":"…"` before the closing brace. So it can be checked without writing the record anew.
    """
    chained = record | {"prev": prev}
    text = _encode(chained)
    if "\\ud" in text:  # may be half a surrogate pair, which strict JSON parsers refuse
        text = _encode(_without_surrogates(chained))
    body = text.encode("ascii")
    digest = hashlib.sha256(body).hexdigest()
    return b'%b%b%b"}\n' % (body[:-1], _HASH_MEMBER, digest.encode("ascii")), digest


def stated_and_true_hash(line: bytes) -> tuple[str, str] | None:
    """Return the hash that a line states and the one it has; None where it does not end the way `seal` ends it."""
    line = line.rstrip(b"\r\n")
    start = len(line) - _TAIL_BYTES
    if start < 1 or not line.startswith(_HASH_MEMBER, start) or not line.endswith(b'"}'):
        return None
    stated = line[start + len(_HASH_MEMBER) : -2]
    return stated.decode("ascii", "replace"), hashlib.sha256(line[:start] + b"}").hexdigest()


def _without_surrogates(value: JSONValue) -> JSONValue:
    match value:
        case str():
            return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        case list():
            return [_without_surrogates(item) for item in value]
        case dict():
            return {str(_without_surrogates(key)): _without_surrogates(item) for key, item in value.items()}
        case _:
            return value


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


class Recorder:
    """Turns what happened into records; every text of theirs is redacted first and cut afterwards.

    `project` and `cwd` are absolute: paths inside the project are written relative to it.
    """

    def __init__(self, redactor: Redactor, digester: Digester, *, project: tuple[str, ...], cwd: str) -> None:
        self._redactor = redactor
        self._digester = digester
        self._project = tuple(folder.rstrip("/") + "/" for folder in project)
        self._cwd = cwd.rstrip("/")
        self._name = lru_cache(maxsize=256)(self._redacted_name)  # the same few, call after call

    def session(self, info: SessionInfo, *, record_id: str, ts: str, writer: str, pid: int) -> JSONObject:
        """Return the record that opens a segment."""
        return {
            "v": VERSION,
            "t": "session",
            "id": record_id,
            "ts": ts,
            "session": self._name(info.session),
            "host": info.host,
            "hostVersion": self._name_or_none(info.host_version),
            "agent": self._name(info.agent),
            "parent": self._name_or_none(info.parent),
            "writer": writer,
            "pid": pid,
            "version": info.version,
            "cwd": self._name(info.cwd),
        }

    def call(self, start: ToolExecutionStart, context: CallContext, *, ts: str, head: str | None) -> JSONObject:
        """Return the record of a call that is about to run."""
        flags = list(start.flags)
        withheld = context.redact_args
        intent, intent_cut = self._text(start.intent, INTENT_LIMIT, withheld)
        rationale, rationale_cut = self._text(start.rationale, INTENT_LIMIT, withheld)
        args, args_digest, args_cut = self._arguments(start.args, withheld)
        if args_digest is None:
            flags.append("unserialisable")
        if intent_cut or rationale_cut or args_cut:
            flags.append("truncated")
        if withheld:
            flags.append("redact_args")
        return {
            "v": VERSION,
            "t": "call",
            "id": self._call_id(start.call_id),
            "toolCallId": self._name(start.tool_call_id),
            "session": self._name(start.session_id),
            "group": self._name(start.group_id),
            "turn": context.turn,
            "seq": start.seq,
            "host": start.host,
            "agent": self._name(start.agent_id),
            "parent": self._name_or_none(start.parent_tool_call_id),
            "ts": ts,
            "tool": self._name(start.tool_name),
            "toolSource": self._name_or_none(start.tool_source),
            "intent": intent,
            "intentSource": start.intent_source,
            "rationale": rationale,
            "args": args,
            "argsDigest": args_digest,
            "policy": context.policy,
            "profile": context.profile,
            "flags": [*dict.fromkeys(flags)],
            "model": self._name_or_none(start.model),
            "head": head,
        }

    def done(
        self, end: ToolExecutionEnd, settlement: Settlement, *, ts: str, bytes_in: int | None, withheld: bool
    ) -> JSONObject:
        """Return the record of how a call ended; `bytes_in` is None where its beginning is unknown."""
        patch = end.outcome_patch
        ran_args = None if settlement.ran_args is None else self._arguments(settlement.ran_args, withheld)[0]
        return {
            "v": VERSION,
            "t": "done",
            "id": self._call_id(end.call_id),
            "ts": ts,
            "status": end.status,
            "isError": end.is_error,
            "ms": end.duration_ms,
            "codes": [*end.codes],
            "outcome": self._text(end.outcome, OUTCOME_LIMIT, withheld)[0],
            "outcomePatch": None
            if patch is None
            else {
                "from": self._text(patch.from_, OUTCOME_LIMIT, withheld)[0],
                "to": self._text(patch.to, OUTCOME_LIMIT, withheld)[0],
            },
            "facts": self._text(end.facts, OUTCOME_LIMIT, withheld)[0],
            "error": self._text(settlement.error, OUTCOME_LIMIT, withheld)[0],
            "files": self._files(end.files, withheld),
            "ranArgs": ran_args,
            "bytesIn": bytes_in,
            "bytesOut": settlement.bytes_out,
        }

    def _text(self, text: str | None, limit: int, withheld: bool) -> tuple[str | None, bool]:
        """Return a text as it is kept, and whether it was cut; a cut one ends with its size and digest."""
        if text is None:
            return None, False
        if withheld:
            return WITHHELD, False
        safe = self._redactor.text(text[: limit + _CUT_MARGIN])
        if len(text) <= limit + _CUT_MARGIN:
            if len(safe) <= limit:
                return safe, False
        else:
            safe = safe[: max(0, len(safe) - _CUT_MARGIN)]
        whole = _bytes(text)
        rest = f" [cut: {len(whole)} bytes in all, {self._digester.digest(whole)}]"
        return safe[: limit - len(rest)] + rest, True

    def _redacted_name(self, name: str) -> str:
        kept = self._text(name, NAME_LIMIT, False)[0]
        return kept or ""

    def _call_id(self, call_id: str) -> str:
        # Ours have 26 characters and are literal, so that no rule of redaction parts the two lines of a call.
        return call_id if len(call_id) == 26 and call_id.isalnum() else self._name(call_id)

    def _name_or_none(self, name: str | None) -> str | None:
        return None if name is None else self._name(name)

    def _arguments(self, args: JSONObject, withheld: bool) -> tuple[JSONObject, str | None, bool]:
        """Return arguments as they are kept, the digest of the literal ones, and whether they were too many.

        The digest is None, and nothing is kept, where they cannot be written as JSON.
        """
        try:
            written = {key: _encode_canonical(value) for key, value in args.items()}
            canonical = "{" + ",".join([f"{_encode(key)}:{written[key]}" for key in sorted(written)]) + "}"
            digest = self._digester.digest(canonical.encode("ascii"))
            if withheld:
                return {}, digest, False
            kept: JSONObject = {}
            for key, value in args.items():
                kept.update(self._argument(key, value, written[key]))
        except (RecursionError, ValueError, TypeError):
            return {}, None, False
        if len(canonical) > ARGUMENTS_LIMIT and len(_encode(kept)) > ARGUMENTS_LIMIT:
            return {}, digest, True
        return kept, digest, False

    def _argument(self, key: str, value: JSONValue, written: str) -> JSONObject:
        if isinstance(value, str):
            short = len(value) <= VALUE_LIMIT
        else:
            # No fewer brackets than levels, and they are quick to count.
            short = len(written) <= VALUE_LIMIT and written.count("[") + written.count("{") <= _BRACKETS_LIMIT
        if short and key not in _ALWAYS_DIGESTED:
            if key == "path" and isinstance(value, str):
                value = self._relative(value)
            safe = self._redactor.value({key: value})
            return safe if isinstance(safe, dict) else {}
        data = _bytes(value) if isinstance(value, str) else written.encode("ascii")
        return {self._name(key): {"bytes": len(data), "digest": self._digester.digest(data)}}

    def _files(self, files: tuple[FileChange, ...], withheld: bool) -> list[JSONValue]:
        kept: list[JSONValue] = [
            {
                "path": self._text(self._relative(file.path), OUTCOME_LIMIT, withheld)[0],
                "pre": file.pre,
                "post": file.post,
                "op": file.op,
            }
            for file in files[:FILES_LIMIT]
        ]
        if len(files) > FILES_LIMIT:
            kept.append({"more": len(files) - FILES_LIMIT})
        return kept

    def _relative(self, path: str) -> str:
        """Return a path relative to the project where it lies inside, read as text only; else as it is."""
        if not path or path[0] == "~" or "\0" in path:
            return path
        absolute = path if path[0] == "/" else f"{self._cwd}/{path}"
        if "/." in absolute or "//" in absolute or absolute[-1] == "/":
            absolute = os.path.normpath(absolute)
        for folder in self._project:
            if absolute.startswith(folder):
                return absolute[len(folder) :]
            if absolute == folder[:-1]:
                return "."
        return path
