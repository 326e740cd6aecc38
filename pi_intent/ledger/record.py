"""Build the records of the ledger, version 1: pure, redacted, bounded, and sealed into a chain."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from json.encoder import encode_basestring_ascii

from pi_intent.contract.rows import PATHS
from pi_intent.events import FileChange, ToolExecutionEnd, ToolExecutionStart
from pi_intent.ledger.keys import Digester
from pi_intent.ledger.version import VERSION
from pi_intent.protocols import CallContext, Decision, Settlement
from pi_intent.redaction import WITHHELD, Redactor
from pi_intent.types import JSONObject, JSONValue

INTENT_LIMIT = 4096
OUTCOME_LIMIT = 1024
NAME_LIMIT = 512
VALUE_LIMIT = 2048
ARGUMENTS_LIMIT = 16_384
FILES_LIMIT = 256
REASONS_LIMIT = 32
_BRACKETS_LIMIT = 64
# A secret is recognised as a whole: what lies this close to the end of a piece may be half of one, and is not kept.
_CUT_MARGIN = 16_384

_ALWAYS_DIGESTED = frozenset(
    {
        "content",
        "edits",
        "old_string",
        "new_string",
        "old_str",
        "new_str",
        "oldText",
        "newText",
        "file_text",
        "new_source",
        "patch",
    }
)
"""What agents call the arguments that hold what stands in files."""

_PATHS = frozenset(PATHS)
_PLAIN_NAMES = _PATHS | {"command"}
"""Names that do not say that their value is a secret: the value alone is looked at, which is quicker."""

_encode = json.JSONEncoder(
    ensure_ascii=True, separators=(",", ":"), allow_nan=False, check_circular=False, sort_keys=True
).encode

_HASH_MEMBER = b',"hash":"'
_TAIL_BYTES = len(_HASH_MEMBER) + 64 + len(b'"}')


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionInfo:
    """What a segment says of the session it belongs to, once, at its beginning.

    `session` is the host's id, or one that the caller made; `parent` the call or session that started this one;
    `cwd` the absolute working directory; `version` that of pi-intent; `imported_from` the session file that the calls
    were read from, where they were not recorded while they happened.
    """

    session: str
    host: str
    agent: str
    cwd: str
    version: str
    host_version: str | None = None
    parent: str | None = None
    imported_from: str | None = None


def timestamp(seconds: float) -> str:
    """Return a Unix time as UTC in milliseconds, such as `2030-01-31T12:00:00.000Z`."""
    whole, rest = divmod(int(seconds * 1000), 1000)
    return f"{_second(whole)}.{rest:03d}Z"


@lru_cache(maxsize=8)
def _second(seconds: int) -> str:
    # Not strftime: its years before 1000 have fewer than four digits.
    return datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None).isoformat()


def seal(record: str, prev: str) -> tuple[bytes, str]:
    """Return the line of a record, with `prev` and `hash` at its end and a line feed, and its hash.

    The hash is SHA-256 over the JSON object that ends with `prev`: the line without its line feed and without the
    75 bytes `,"hash":"…"` before the closing brace. So it can be checked without writing the record anew.
    """
    body = f'{record[:-1]},"prev":"{prev}"}}'.encode("ascii")
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


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _quoted(text: str | None) -> str:
    if text is None:
        return "null"
    quoted = encode_basestring_ascii(text)
    if "\\ud" in quoted:  # may be half a surrogate pair, which strict JSON parsers refuse
        whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        quoted = encode_basestring_ascii(whole)
    return quoted


def _written(value: JSONValue) -> str:
    """Write a value as canonical JSON: keys sorted, no white space, ASCII. Raises where that cannot be done."""
    # Plain values are by far the most common, and setting up the encoder takes longer than writing one.
    if isinstance(value, str):
        return encode_basestring_ascii(value)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return _flag(value)
    return repr(value) if type(value) is int else _encode(value)


def _well_formed(value: JSONValue) -> str:
    """Write a value in its own order, without halves of surrogate pairs."""
    match value:
        case str():
            return _quoted(value)
        case list():
            return f"[{','.join(map(_well_formed, value))}]"
        case dict():
            return "{" + ",".join([f"{_quoted(key)}:{_well_formed(item)}" for key, item in value.items()]) + "}"
        case _:
            return _written(value)


def _flag(value: bool) -> str:
    return "true" if value else "false"


def _list(words: Collection[str]) -> str:
    return f"[{','.join(map(_quoted, words))}]" if words else "[]"


class Recorder:
    """Turns what happened into the JSON text of records, key by key in the order of the format.

    Every text is redacted first and cut afterwards. `project` and `cwd` are absolute: paths inside the project are
    written relative to it. (Text at once, because building a dict and encoding it takes twice the time, and this
    stands between a call and its tool.)
    """

    def __init__(self, redactor: Redactor, digester: Digester, *, project: tuple[str, ...], cwd: str) -> None:
        self._redactor = redactor
        self._digester = digester
        self._project = tuple(folder.rstrip("/") + "/" for folder in project)
        self._cwd = cwd.rstrip("/")
        self._name = lru_cache(maxsize=256)(self._fresh_name)  # the same few, call after call
        self._path = lru_cache(maxsize=64)(self._fresh_path)

    def forget(self) -> None:
        """Forget texts that were looked at before a secret was known."""
        self._name.cache_clear()
        self._path.cache_clear()

    def session(self, info: SessionInfo, *, record_id: str, ts: str, writer: str, pid: int) -> str:
        """Return the record that opens a segment."""
        return (
            f'{{"v":{VERSION},"t":"session","id":"{record_id}","ts":"{ts}","session":{self._name(info.session)}'
            f',"host":{self._name(info.host)},"hostVersion":{self._name(info.host_version)}'
            f',"agent":{self._name(info.agent)},"parent":{self._name(info.parent)},"writer":"{writer}","pid":{pid}'
            f',"version":{self._name(info.version)},"cwd":{self._name(info.cwd)}'
            f',"importedFrom":{self._name(info.imported_from)}}}'
        )

    def call(self, start: ToolExecutionStart, context: CallContext, *, ts: str, head: str | None) -> str:
        """Return the record of a call that is about to run."""
        flags: list[str] = [*start.flags]
        withheld = context.redact_args
        if not withheld:
            texts = (start.intent, start.rationale, start.tool_call_id, start.group_id, *start.args.values())
            self._redactor.look_at(*[text for text in texts if isinstance(text, str) and len(text) <= VALUE_LIMIT])
        intent, intent_cut = self._text(start.intent, INTENT_LIMIT, withheld)
        rationale, rationale_cut = self._text(start.rationale, INTENT_LIMIT, withheld)
        args, args_digest, args_cut = self._arguments(start.args, withheld)
        if args_digest is None:
            flags.append("unserialisable")
        if intent_cut or rationale_cut or args_cut:
            flags.append("truncated")
        if withheld:
            flags.append("redact_args")
        name = self._name
        parent = "null" if start.parent_tool_call_id is None else self._call_id(start.parent_tool_call_id)
        return (
            f'{{"v":{VERSION},"t":"call","id":{self._call_id(start.call_id)}'
            f',"toolCallId":{self._fresh_name(start.tool_call_id)},"session":{name(start.session_id)}'
            f',"group":{name(start.group_id)},"turn":{context.turn},"seq":{start.seq},"host":{name(start.host)}'
            f',"agent":{name(start.agent_id)},"parent":{parent},"ts":"{ts}"'
            f',"tool":{name(start.tool_name)},"toolSource":{name(start.tool_source)},"intent":{intent}'
            f',"intentSource":"{start.intent_source}","rationale":{rationale},"args":{args}'
            f',"argsDigest":{_quoted(args_digest)},"policy":"{context.policy}","profile":"{context.profile}"'
            f',"flags":{_list(flags and dict.fromkeys(flags))},"model":{name(start.model)},"head":{_quoted(head)}}}'
        )

    def done(
        self, end: ToolExecutionEnd, settlement: Settlement, *, ts: str, bytes_in: int | None, withheld: bool
    ) -> str:
        """Return the record of how a call ended; `bytes_in` is None where its beginning is unknown."""
        outcome = self._text(end.outcome, OUTCOME_LIMIT, withheld)[0]
        facts = self._text(end.facts, OUTCOME_LIMIT, withheld)[0]
        error = self._text(settlement.error, OUTCOME_LIMIT, withheld)[0]
        patch = "null"
        if end.outcome_patch is not None:
            from_, to = end.outcome_patch.from_, end.outcome_patch.to
            patch = (
                f'{{"from":{self._text(from_, OUTCOME_LIMIT, withheld)[0]}'
                f',"to":{self._text(to, OUTCOME_LIMIT, withheld)[0]}}}'
            )
        ran_args = "null" if settlement.ran_args is None else self._arguments(settlement.ran_args, withheld)[0]
        given = ",".join(map(self._name, settlement.given))
        return (
            f'{{"v":{VERSION},"t":"done","id":{self._call_id(end.call_id)},"ts":"{ts}","status":"{end.status}"'
            f',"isError":{_flag(end.is_error)},"ms":{end.duration_ms},"codes":{_list(end.codes)},"outcome":{outcome}'
            f',"outcomePatch":{patch},"facts":{facts},"error":{error},"files":{self._files(end.files, withheld)}'
            f',"ranArgs":{ran_args},"bytesIn":{"null" if bytes_in is None else bytes_in}'
            f',"bytesOut":{settlement.bytes_out},"flags":{_list(end.flags)},"given":[{given}]}}'
        )

    def decision(self, decision: Decision, *, ts: str, withheld: bool) -> str:
        """Return the record of a question about a call, or of what was decided."""
        note = self._text(decision.note, OUTCOME_LIMIT, withheld)[0]
        shown = self._text(decision.shown, INTENT_LIMIT, withheld)[0]
        reasons = [self._text(reason, NAME_LIMIT, withheld)[0] for reason in decision.reasons[:REASONS_LIMIT]]
        approved = "null" if decision.approved is None else _flag(decision.approved)
        return (
            f'{{"v":{VERSION},"t":"decision","id":{self._call_id(decision.call_id)},"ts":"{ts}"'
            f',"number":{decision.number},"reasons":[{",".join(reasons)}],"digest":{_quoted(decision.digest)}'
            f',"approved":{approved},"by":{_quoted(decision.by)},"scope":{_quoted(decision.scope)},"note":{note}'
            f',"shown":{shown}}}'
        )

    def kept_arguments(self, args: JSONObject) -> JSONObject:
        """Return arguments as a record of a call has them."""
        kept: JSONObject = json.loads(self._arguments(args, withheld=False)[0])
        return kept

    def _text(self, text: str | None, limit: int, withheld: bool = False) -> tuple[str, bool]:
        """Return a text as JSON, and whether it was cut; a cut one ends with the size and digest of the whole."""
        if text is None:
            return "null", False
        if withheld:
            return f'"{WITHHELD}"', False
        safe = self._redactor.text(text[: limit + _CUT_MARGIN])
        if len(text) <= limit + _CUT_MARGIN:
            if len(safe) <= limit:
                return _quoted(safe), False
        else:
            safe = safe[: max(0, len(safe) - _CUT_MARGIN)]
        whole = _bytes(text)
        rest = f" [cut: {len(whole)} bytes in all, {self._digester.digest(whole)}]"
        return _quoted(safe[: limit - len(rest)] + rest), True

    def _fresh_name(self, name: str | None) -> str:
        return self._text(name, NAME_LIMIT)[0]

    def _call_id(self, call_id: str) -> str:
        # Ours have 26 characters and are literal, so that no rule of redaction parts the two records of a call.
        return (
            f'"{call_id}"'
            if len(call_id) == 26 and call_id.isascii() and call_id.isalnum()
            else self._fresh_name(call_id)
        )

    def _arguments(self, args: JSONObject, withheld: bool) -> tuple[str, str | None, bool]:
        """Return arguments as they are kept, the digest of the literal ones, and whether they were too many.

        The digest is None, and nothing is kept, where they cannot be written as JSON.
        """
        try:
            written = {key: _written(value) for key, value in args.items()}
            canonical = ",".join([f"{encode_basestring_ascii(key)}:{written[key]}" for key in sorted(written)])
            digest = self._digester.digest(b"{%b}" % canonical.encode("ascii"))
            if withheld:
                return "{}", digest, False
            kept = ",".join([self._argument(key, value, written[key]) for key, value in args.items()])
        except (RecursionError, ValueError, TypeError):
            return "{}", None, False
        return ("{}", digest, True) if len(kept) > ARGUMENTS_LIMIT else (f"{{{kept}}}", digest, False)

    def _argument(self, key: str, value: JSONValue, written: str) -> str:
        """Return one member of the arguments as JSON text."""
        if isinstance(value, str):
            short = len(value) <= VALUE_LIMIT
        else:
            # No fewer brackets than levels, and they are quick to count.
            short = len(written) <= VALUE_LIMIT and written.count("[") + written.count("{") <= _BRACKETS_LIMIT
        if not short or key in _ALWAYS_DIGESTED:
            data = _bytes(value) if isinstance(value, str) else written.encode("ascii")
            return f'{self._name(key)}:{{"bytes":{len(data)},"digest":"{self._digester.digest(data)}"}}'
        if isinstance(value, str) and key in _PLAIN_NAMES:
            return f'"{key}":{self._path(value) if key in _PATHS else _quoted(self._redactor.text(value))}'
        if not isinstance(value, str | list | dict):
            return f"{self._name(key)}:{written}"
        safe = self._redactor.value({key: value})  # together: a name can say that its value is a secret
        if isinstance(safe, dict) and len(safe) == 1:
            ((safe_key, safe_value),) = safe.items()
            return f"{_quoted(safe_key)}:{_well_formed(safe_value)}"
        raise ValueError(key)

    def _files(self, files: tuple[FileChange, ...], withheld: bool) -> str:
        withheld_text = f'"{WITHHELD}"'
        kept = [
            f'{{"path":{withheld_text if withheld else self._path(file.path)},"pre":{_quoted(file.pre)}'
            f',"post":{_quoted(file.post)},"op":"{file.op}"}}'
            for file in files[:FILES_LIMIT]
        ]
        if len(files) > FILES_LIMIT:
            kept.append(f'{{"more":{len(files) - FILES_LIMIT}}}')
        return f"[{','.join(kept)}]"

    def _fresh_path(self, path: str) -> str:
        # Made plain, a path can lose what tells a secret: the slashes of a URL.
        return self._text(self._relative(self._redactor.text(path)), VALUE_LIMIT)[0]

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
