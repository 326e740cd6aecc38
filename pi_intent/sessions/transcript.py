"""Read the transcripts of pi and its kin: entries of a tree, one a line, with messages of one shape inside."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import replace

from pi_intent.sessions.fields import exit_code, mapping, size, word
from pi_intent.sessions.lines import Numbered
from pi_intent.sessions.moments import milliseconds, moment, stated_moment
from pi_intent.sessions.pairing import Pairing
from pi_intent.sessions.pi_ends import End, end_of
from pi_intent.sessions.stated import Stated
from pi_intent.sessions.unknown import UnknownKinds
from pi_intent.sessions.values import Found, FoundCall, FoundResult, Head, Prompt, Unread
from pi_intent.types import JSONObject, JSONValue

SILENT = frozenset(
    {
        "branch_summary", "compaction", "context_edit", "custom", "custom_message", "label", "leaf",
        "thinking_level_change", "usage",
    }
)  # fmt: skip
"""Kinds of entry that tell nothing of calls."""

SILENT_ROLES = frozenset({"bashExecution", "branchSummary", "compactionSummary", "custom", "hookMessage"})
"""Roles of messages that are neither a prompt, nor a call, nor a result."""

_LONGEST_ID = 200
_MOST_HELD = 256


class Transcript:
    """One reading of a file. What a dialect does its own way, its subclass says.

    Every entry counts, on whichever branch of the tree it lies: the calls of a branch that was given up happened all
    the same. An entry that stands in the file twice is read once. A call that was never answered, because the stream
    ended or was stopped, is a call without a result.
    """

    silent = SILENT
    silent_roles = SILENT_ROLES

    def __init__(self) -> None:
        self.unknown = UnknownKinds()
        self._pairing = Pairing()
        self._seen: set[int] = set()  # hashes of entries, 8 bytes each: a resumed file may repeat all of its lines
        self._out: list[Found] = []
        self._doubts: dict[str, tuple[int, FoundCall]] = {}
        self._head: Head | None = None
        self._model: str | None = None
        self._turn = 0

    # What a dialect says.

    def head(self, entry: JSONObject) -> Head | None:
        """Return whose session it is, if this entry tells: the header of pi and its kin does."""
        if entry.get("type") != "session":  # `session_info` is a name that somebody gave the session
            return None
        return Head(
            session=word(entry.get("id")),
            cwd=word(entry.get("cwd")),
            started=moment(entry.get("timestamp")),
            parent=word(entry.get("parentSession")),
        )

    def stated(self, tool: str, block: JSONObject) -> tuple[Stated, Stated | None]:
        """Return what a call states, and what it states if it turns out that there is no tool of that name."""
        raise NotImplementedError

    def ran(self, message: JSONObject) -> bool | None:
        """Say whether the tool of a result was reached at all; None where the file does not tell."""
        raise NotImplementedError

    def end(self, text: str, message: JSONObject) -> End:
        """Return how the call of a result ended."""
        details = message.get("details")
        return end_of(
            text,
            is_error=message.get("isError") is True,
            ran=self.ran(message),
            details=details if isinstance(details, dict) else {},
        )

    def duration(self, message: JSONObject) -> int | None:
        """Return the milliseconds that a call took, where its result tells."""
        raise NotImplementedError

    def message(self, message: JSONObject) -> None:
        """Look at a message before it is read."""

    # What is the same for all.

    def read(self, items: Iterable[Numbered | Unread]) -> Iterator[Found]:
        """Yield what the entries tell, in their order."""
        for item in items:
            if isinstance(item, Unread):
                self._out.append(item)
            else:
                self._entry(item.line, item.value)
            if not self._doubts or len(self._out) > _MOST_HELD:
                yield from self._settled()
        yield from self._settled()
        yield from self._pairing.orphans()
        yield from self.unknown.told()

    def _settled(self) -> list[Found]:
        self._doubts.clear()
        out, self._out = self._out, []
        return out

    def _entry(self, line: int, entry: JSONObject) -> None:
        kind = entry.get("type")
        if kind == "message" and isinstance(message := entry.get("message"), dict):
            self._message(line, entry, message)
        elif kind in ("session", "session_info"):
            head = self.head(entry)
            if head is not None and head != self._head:
                self._head = head
                self._out.append(head)
        elif kind == "model_change":
            self._model = word(entry.get("modelId")) or word(entry.get("model")) or self._model
        elif not isinstance(kind, str) or kind not in self.silent:
            self.unknown.add(line, kind)

    def _message(self, line: int, entry: JSONObject, message: JSONObject) -> None:
        role = message.get("role")
        if role not in ("system", "user", "assistant", "toolResult"):
            if not isinstance(role, str) or role not in self.silent_roles:
                self.unknown.add(line, role)
            return
        identity = self._identity(entry, message)
        if identity is None:
            return
        self.message(message)
        ts = moment(entry.get("timestamp"))
        if ts is None:
            ts = stated_moment(message.get("timestamp", entry.get("timestamp")))
        if role == "user":
            if text := _text(message.get("content")):
                self._out.append(Prompt(text=text))
        elif role == "assistant":
            self._assistant(line, identity, ts, message)
        elif role == "toolResult":
            self._result(ts, message)

    def _identity(self, entry: JSONObject, message: JSONObject) -> str | None:
        """Return what tells an entry from all others, and stays when the file grows; None for one that was read.

        That is its id. The first version has none: there it is the time and what is called or answered, and so it is
        where somebody gave an id twice. Without a time it is the number of the message, and a repeated line cannot be
        told from a second message.
        """
        own, when = id_of(entry.get("id")), entry.get("timestamp", message.get("timestamp"))
        timed = isinstance(when, str | int | float)
        called = [
            id_of(block.get("id")) for block in _blocks(message.get("content")) if block.get("type") == "toolCall"
        ]
        made = "/".join(
            [str(when) if timed else "", str(message.get("role"))[0], id_of(message.get("toolCallId")), *called]
        )
        if not own and not timed:
            made = f"#{len(self._seen) + 1}"
        if hash((own, made)) in self._seen:
            return None
        identity = made if not own else f"{own}+{made}" if hash(own) in self._seen else own
        self._seen |= {hash(own), hash((own, made))}
        return _short(identity)

    def _assistant(self, line: int, group: str, ts: float | None, message: JSONObject) -> None:
        self._doubts.clear()  # the tools of the message before have answered by now
        self._turn += 1
        self._model = word(message.get("model")) or self._model
        for index, block in enumerate(_blocks(message.get("content"))):
            if block.get("type") != "toolCall":
                continue
            tool = word(block.get("name"))
            if tool is None:
                self.unknown.add(line, "toolCall")
                continue
            now, otherwise = self.stated(tool, block)
            call = self._call(f"{group}/{index}", tool, group, ts, block, now)
            if otherwise is not None:
                self._doubts[call.key] = len(self._out), self._call(call.key, tool, group, ts, block, otherwise)
            self._out.append(call)
            early = self._pairing.opened(call.tool_call_id, group, call.key)
            if early is not None:
                self._out.append(replace(early, key=call.key))

    def _call(self, key: str, tool: str, group: str, ts: float | None, block: JSONObject, said: Stated) -> FoundCall:
        return FoundCall(
            key=key,
            tool_call_id=id_of(block.get("id")),
            tool=tool,
            group=group,
            turn=self._turn,
            args=said.args,
            intent=said.intent,
            rationale=said.rationale,
            asked=said.asked,
            per_edit=said.per_edit,
            ts=ts,
            parent=self._pairing.key_of(id_of(block.get("parentToolCallId"))),
            model=self._model,
            flags=said.flags,
        )

    def _result(self, ts: float | None, message: JSONObject) -> None:
        tool_call_id = id_of(message.get("toolCallId"))
        text = _text(message.get("content"))
        is_error = message.get("isError") is True
        end = self.end(text, message)
        details = mapping(message.get("details"))
        key = self._pairing.closed(tool_call_id)
        if key in self._doubts:
            index, otherwise = self._doubts.pop(key)
            if end.unknown_tool:
                self._out[index] = otherwise
        result = FoundResult(
            key=key,
            tool_call_id=tool_call_id,
            status=end.status,
            is_error=is_error,
            ts=ts,
            ms=self.duration(message),
            error=text if is_error or end.status == "denied" else None,
            text=text,
            bytes_out=size(text),
            exit_code=exit_code(details.get("exit_code", details.get("exitCode"))),
            codes=end.codes,
        )
        self._out += [result] if key is not None else self._pairing.early(result)


def id_of(value: JSONValue) -> str:
    """Return an id as text; "" for what is none."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 64:
        return str(value)
    return value if isinstance(value, str) else ""


def seconds_as_ms(value: JSONValue) -> int | None:
    """Return seconds as milliseconds."""
    return milliseconds(value, per_unit=1000)


def _short(text: str) -> str:
    if len(text) <= _LONGEST_ID:
        return text
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _blocks(content: JSONValue) -> list[JSONObject]:
    """Return the blocks of a message; what is no block keeps its place, so that the others keep theirs."""
    return [block if isinstance(block, dict) else {} for block in content] if isinstance(content, list) else []


def _text(content: JSONValue) -> str:
    """Return the text of a message, whether it is one or consists of blocks."""
    if isinstance(content, str):
        return content
    texts = (block.get("text") for block in _blocks(content) if block.get("type") == "text")
    return "\n".join(text for text in texts if isinstance(text, str))
