"""Read the session files of Claude Code: a line for each block of a message, results in lines of the user.

`tool_use` blocks are calls; one message's blocks stand on lines of their own with the same `message.id`. Only Bash's
`description` says what a call is for; that of any other tool is its payload. A resumed session repeats lines, some
results stand before their calls, and a subagent's lines are marked or stand in a file of their own.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from pi_intent.sessions.bounded import Recent, Waiting
from pi_intent.sessions.claude_code_ends import result_of
from pi_intent.sessions.fields import identity, listed, mapping, said, server_and_tool, stated, word
from pi_intent.sessions.lines import Numbered, read_lines
from pi_intent.sessions.moments import moment, stated_moment
from pi_intent.sessions.unknown import UnknownKinds
from pi_intent.sessions.values import Found, FoundCall, FoundResult, Head, Prompt, Unread
from pi_intent.sessions.wrapped import Taken, WrappedTools, listed_functions
from pi_intent.types import JSONObject, JSONValue
from pi_intent.word_sets import word_set

_OPEN = 10_000
"""Calls that wait for a result at most; an agent has a handful."""
_STARTS_AGENT = ("Task", "Agent")
_OURS = frozenset({"sessionId", "session_id", "parentUuid", "leafUuid", "messageId"})
# Records that hold neither a call nor its result. `progress` repeats what stands elsewhere.
_SILENT_NAMES = (
    "agent-color agent-name agent-setting ai-title atis-latch attachment attribution-snapshot auth_status "
    "bridge-session content-replacement control_request control_response custom-title file-history-delta "
    "file-history-snapshot frame-link last-prompt mode permission-mode pr-link progress queue-operation "
    "rate_limit_event relocated result saved_hook_context speculation-accept started stream_event summary system tag "
    "task-summary tool_progress tool_use_summary worktree-state"
)
_SILENT = word_set(_SILENT_NAMES)
_BLOCK_NAMES = (
    "text thinking redacted_thinking image document fallback server_tool_use web_search_tool_result "
    "web_fetch_tool_result code_execution_tool_result mcp_tool_use mcp_tool_result tool_reference "
    "search_result container_upload compaction"
)
_SILENT_BLOCKS = word_set(_BLOCK_NAMES)
_NOT_ASKED = re.compile(
    r"\s*(?:<(?:command-(?:name|message|args)|local-command-[a-z]+|bash-(?:input|stdout|stderr)|task-notification"
    r"|system-reminder)>|\[Request interrupted by user)"
)
"""How a text of the user's begins that no person typed."""


def is_ours(first: Sequence[JSONObject]) -> bool:
    """Whether a file that begins with these objects is one of Claude Code's."""
    return any(_is_line(value) for value in first[:32])


def read(items: Iterable[Numbered | Unread]) -> Iterator[Found]:
    """Yield what a file tells, in its order. A result without a call comes when it is clear that none follows."""
    return read_lines(_Reader(), items)


def _is_line(value: JSONObject) -> bool:
    kind = value.get("type")
    if not isinstance(kind, str) or _OURS.isdisjoint(value):
        return False
    return isinstance(value.get("message"), dict) if kind in ("user", "assistant") else kind in _SILENT


class _Open(NamedTuple):
    key: str
    tool: str


class _Message(NamedTuple):
    """What the calls of one line have in common."""

    line: JSONObject
    group: str
    turn: int
    parent: str | None
    model: str | None


class _Reader:
    def __init__(self) -> None:
        self._heading: tuple[str | None, str | None, str | None] = (None, None, None)
        self._is_begun = False
        self._started: float | None = None
        self._turns = 0
        self._groups: Recent[int] = Recent()
        self._calls: Recent[None] = Recent()
        self._answered: Recent[None] = Recent()
        self._prompts: Recent[None] = Recent()
        self._owners: Recent[str] = Recent(20_000)  # what a line of a sidechain was made inside of
        self._tasks: Recent[str] = Recent(_OPEN)  # by the prompt that a subagent was given
        self._open: OrderedDict[str, _Open] = OrderedDict()
        self._early = Waiting()
        self._wrapped = WrappedTools()
        self._unknown = UnknownKinds()

    def line(self, value: JSONObject, number: int) -> Iterator[Found]:
        """Yield what one line tells."""
        kind = value.get("type")
        if kind == "assistant":
            yield from self._headed(value)
            yield from self._message(value, number)
        elif kind == "user":
            yield from self._headed(value)
            yield from self._answers(value, number)
        elif not isinstance(kind, str) or kind not in _SILENT:
            self._unknown.add(number, kind)

    def rest(self) -> Iterator[Found]:
        """Yield what waited for the end of the file."""
        yield from self._early.rest()
        yield from self._unknown.told()

    def _headed(self, line: JSONObject) -> Iterator[Head]:
        session, cwd, version = before = self._heading
        now = (
            identity(line.get("sessionId")) or identity(line.get("session_id")) or session,
            word(line.get("cwd")) or cwd,
            word(line.get("version")) or version,
        )
        if self._is_begun and now == before:
            return
        if not self._is_begun:
            self._is_begun, self._started = True, moment(line.get("timestamp"))
        self._heading = session, cwd, version = now
        yield Head(session=session, cwd=cwd, version=version, started=self._started)

    def _message(self, line: JSONObject, number: int) -> Iterator[Found]:
        message = mapping(line.get("message"))
        name = identity(line.get("uuid")) or f"line-{number}"
        group = identity(message.get("id")) or name
        turn = self._groups.get(group)
        if turn is None:
            self._turns = turn = self._turns + 1
            self._groups.put(group, turn)
        about = _Message(line, group, turn, self._parent(line), word(message.get("model")))
        blocks = [mapping(block) for block in listed(message.get("content"))]
        calls = sum(block.get("type") == "tool_use" for block in blocks)
        for index, block in enumerate(blocks):
            if block.get("type") == "tool_use":
                # A result without an id names the line of its call: that is enough where it holds one call.
                call_id = identity(block.get("id")) or (f"of {name}" if calls == 1 else f"{index} of {name}")
                yield from self._call(about, block, call_id)
            else:
                self._note(block, number)

    def _call(self, about: _Message, block: JSONObject, call_id: str) -> Iterator[Found]:
        key = f"{about.group}:{call_id}"
        if key in self._calls:
            return
        name = identity(block.get("name")) or "unknown"
        source, tool = server_and_tool(name)
        taken = _described(block) if name == "Bash" else self._wrapped.take(name, mapping(block.get("input")))
        self._calls.put(key, None)
        self._open[call_id] = _Open(key, name)
        if len(self._open) > _OPEN:
            self._open.popitem(last=False)
        if name in _STARTS_AGENT and (prompt := word(taken.args.get("prompt"))) is not None:
            self._tasks.put(prompt, key)
        yield FoundCall(
            key=key,
            tool_call_id=call_id,
            tool=tool,
            tool_source=source,
            group=about.group,
            turn=about.turn,
            args=taken.args,
            intent=taken.intent,
            rationale=taken.rationale,
            asked=taken.asked,
            ts=stated_moment(about.line.get("timestamp")),
            agent=_agent(about.line),
            parent=about.parent,
            model=None if about.model == "<synthetic>" else about.model,
        )
        if (result := self._early.take(call_id)) is not None:
            yield self._settled(call_id, result)

    def _parent(self, value: JSONObject) -> str | None:
        """Return the call that a line was made inside of, where the file says so."""
        for name in ("parent_tool_use_id", "parentToolUseID"):
            if (named := identity(value.get(name))) is not None and named in self._open:
                return self._open[named].key
        if value.get("isSidechain") is not True:
            return None
        owner = self._owners.get(identity(value.get("parentUuid")))
        if owner is None and value.get("parentUuid") is None:
            owner = self._tasks.get(said(mapping(value.get("message")).get("content")))
        uuid = identity(value.get("uuid"))
        if owner is not None and uuid is not None:
            self._owners.put(uuid, owner)
        return owner

    def _answers(self, line: JSONObject, number: int) -> Iterator[Found]:
        self._parent(line)
        content = mapping(line.get("message")).get("content")
        answers = False
        for block in map(mapping, listed(content)):
            if block.get("type") == "tool_result":
                answers = True
                yield from self._result(line, block)
            else:
                self._note(block, number)
        text = "" if answers else said(content)
        name = identity(line.get("uuid")) or f"line-{number}"
        if text and _is_typed(line, text) and name not in self._prompts:
            self._prompts.put(name, None)
            yield Prompt(text=text)

    def _result(self, line: JSONObject, block: JSONObject) -> Iterator[Found]:
        call_id = identity(block.get("tool_use_id"))
        if call_id is None and (name := identity(line.get("sourceToolAssistantUUID"))) is not None:
            call_id = f"of {name}"
        result = result_of(line, block, call_id or "")
        if call_id is None:
            yield result
        elif call_id in self._open:
            yield self._settled(call_id, result)
        elif call_id not in self._answered and call_id not in self._early:
            yield from self._early.add(call_id, result)

    def _note(self, block: JSONObject, number: int) -> None:
        kind = block.get("type")
        if not isinstance(kind, str) or kind not in _SILENT_BLOCKS:
            self._unknown.add(number, f"block {kind}" if isinstance(kind, str) else "block")

    def _settled(self, call_id: str, result: FoundResult) -> FoundResult:
        """Return the result of a call that is open, which it no longer is then."""
        key, tool = self._open.pop(call_id)
        self._answered.put(call_id, None)
        text = result.text or ""
        if tool == "ToolSearch":
            for name, parameters in listed_functions(text):
                self._wrapped.learn(name, parameters)
        codes = self._wrapped.refused(tool, text) if result.is_error and tool.startswith("mcp__") else ()
        return replace(result, key=key, codes=codes, status="rejected" if codes else result.status)


def _described(block: JSONObject) -> Taken:
    args = mapping(block.get("input"))
    rest = {name: value for name, value in args.items() if name != "description"}
    return Taken(stated(args.get("description")), None, rest, asked=True)


def _agent(value: JSONObject) -> str:
    return identity(value.get("agentId")) or ("sidechain" if value.get("isSidechain") is True else "main")


def _is_typed(value: JSONObject, text: str) -> bool:
    """Whether a person wrote this: not the agent to a subagent, nor Claude Code itself."""
    made = ("isMeta", "isSidechain", "isCompactSummary", "isVisibleInTranscriptOnly", "agentId", "toolUseResult")
    return not any(_is_set(value.get(name)) for name in made) and _NOT_ASKED.match(text) is None


def _is_set(value: JSONValue) -> bool:
    return value is not None and value is not False
