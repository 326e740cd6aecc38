"""Read the rollout files of Codex: response items are calls and their outputs, events say more about some of them.

Each line is `{timestamp, type, payload}`; the first ones of 2025 are the bare items. What a model writes into
`justification` when it asks to leave the sandbox is its reason for the command, and counts as the intent; no other
argument does. What the provider runs by itself (a web search, a search for tools, an image) is no call of the agent.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import NamedTuple

from pi_intent.sessions.bounded import Recent
from pi_intent.sessions.codex_ends import Verdict, result_of, verdict_of
from pi_intent.sessions.fields import identity, listed, mapping, parsed, said, server_and_tool, stated, word
from pi_intent.sessions.lines import Numbered, read_lines
from pi_intent.sessions.moments import moment, stated_moment
from pi_intent.sessions.unknown import UnknownKinds
from pi_intent.sessions.values import Found, FoundCall, Head, Prompt, Unread
from pi_intent.sessions.wrapped import Taken, WrappedTools
from pi_intent.types import JSONObject, JSONValue
from pi_intent.word_sets import word_set

_OPEN = 10_000
_ENVELOPES = frozenset({"session_meta", "turn_context", "response_item", "event_msg", "compacted", "world_state"})
_CALLS = frozenset({"function_call", "custom_tool_call", "local_shell_call"})
_OUTPUTS = frozenset({"function_call_output", "custom_tool_call_output", "local_shell_call_output"})
_BY_THE_MODEL = frozenset({*_CALLS, "reasoning", "web_search_call", "tool_search_call", "image_generation_call"})
_SILENT_NAMES = (
    "message reasoning web_search_call tool_search_call tool_search_output image_generation_call ghost_snapshot "
    "agent_message compaction compaction_summary context_compaction other"
)
_SILENT = word_set(_SILENT_NAMES)
_SILENT_LINES = frozenset(
    {"compacted", "world_state", "inter_agent_communication", "inter_agent_communication_metadata"}
)
_SHELLS = frozenset({"shell", "shell_command", "exec_command", "local_shell", "container.exec"})
_PATCHES = "apply_patch"
_PATCHED = re.compile(r"^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.{1,4096}?)\r?$", re.MULTILINE)
_MOST_FILES = 64
_ESCALATED = ("require_escalated", "with_additional_permissions")
_NOT_ASKED = re.compile(
    r"\s*(?:<(?:environment_context|user_instructions|INSTRUCTIONS|user_shell_command|turn_aborted|skill"
    r"|subagent_notification|permissions instructions|collaboration_mode)\b|# AGENTS\.md instructions)"
)
"""How a text in the user's name begins that Codex itself wrote."""
_CWD = re.compile(r"<cwd>([^<\n]{1,4096})</cwd>")


def is_ours(first: Sequence[JSONObject]) -> bool:
    """Whether a file that begins with these objects is one of Codex's."""
    return any(_is_line(value) for value in first[:32])


def read(items: Iterable[Numbered | Unread]) -> Iterator[Found]:
    """Yield what a file tells, in its order."""
    return read_lines(_Reader(), items)


def _is_line(value: JSONObject) -> bool:
    kind = value.get("type")
    if isinstance(value.get("payload"), dict):
        return isinstance(kind, str) and kind in _ENVELOPES
    return _is_bare_header(value) or (isinstance(kind, str) and kind in _CALLS | _OUTPUTS and "call_id" in value)


def _is_bare_header(value: JSONObject) -> bool:
    return "type" not in value and {"id", "timestamp", "instructions"} <= value.keys()


class _Open(NamedTuple):
    key: str
    tool: str
    codes: tuple[str, ...]


class _Reader:
    def __init__(self) -> None:
        self._head: Head | None = None
        self._agent = "main"
        self._model: str | None = None
        self._turn = 0
        self._answering = False
        self._uses: Recent[int] = Recent()
        self._answered: Recent[None] = Recent()
        self._verdicts: OrderedDict[str, Verdict] = OrderedDict()
        self._open: OrderedDict[str, _Open] = OrderedDict()
        self._prompt: str | None = None
        self._wrapped = WrappedTools()
        self._unknown = UnknownKinds()

    def line(self, value: JSONObject, number: int) -> Iterator[Found]:
        """Yield what one line tells."""
        kind, payload = value.get("type"), value.get("payload")
        if not isinstance(payload, dict):
            if _is_bare_header(value):
                yield from self._meta(value)
            elif "record_type" not in value:
                yield from self._item(value, value, number)
        elif kind == "response_item":
            yield from self._item(value, payload, number)
        elif kind == "session_meta":
            yield from self._meta(payload)
        elif kind == "turn_context":
            self._model = word(payload.get("model")) or self._model
            yield from self._headed(cwd=word(payload.get("cwd")))
        elif kind == "event_msg":
            yield from self._event(payload)
        elif not isinstance(kind, str) or kind not in _SILENT_LINES:
            self._unknown.add(number, kind)

    def rest(self) -> Iterator[Found]:
        """Yield what waited for the end of the file."""
        yield from self._unknown.told()

    def _meta(self, meta: JSONObject) -> Iterator[Found]:
        for tool in listed(meta.get("dynamic_tools")):
            self._learn(mapping(tool))
        if self._head is not None and self._head.session is not None:
            return  # the history of a session that this one was forked from, with its own beginning
        spawned = mapping(mapping(meta.get("source")).get("subagent"))
        thread = mapping(spawned.get("thread_spawn"))
        parents = (meta.get("forked_from_id"), meta.get("parent_thread_id"), thread.get("parent_thread_id"))
        names = (meta.get("agent_nickname"), thread.get("agent_nickname"), spawned.get("other"))
        if spawned:
            self._agent = next(filter(None, map(identity, names)), "subagent")
        self._head = Head(
            session=identity(meta.get("id")),
            cwd=word(meta.get("cwd")),
            version=word(meta.get("cli_version")),
            started=moment(meta.get("timestamp")),
            parent=next(filter(None, map(identity, parents)), None),
        )
        yield self._head

    def _headed(self, cwd: str | None = None) -> Iterator[Head]:
        """Yield a head where there is none yet, or where the folder is another one."""
        if self._head is None or (cwd is not None and cwd != self._head.cwd):
            self._head = replace(self._head or Head(session=None), cwd=cwd)
            yield self._head

    def _item(self, line: JSONObject, item: JSONObject, number: int) -> Iterator[Found]:
        kind = item.get("type")
        yield from self._headed()
        if not isinstance(kind, str) or kind not in _CALLS | _OUTPUTS | _SILENT:
            self._unknown.add(number, kind)
            return
        by_the_model = kind in _BY_THE_MODEL or (kind == "message" and item.get("role") == "assistant")
        if by_the_model and not self._answering:
            self._turn += 1
        self._answering = by_the_model or (self._answering and kind not in _OUTPUTS and kind != "message")
        if kind in _CALLS:
            yield from self._call(line, item, kind, number)
        elif kind in _OUTPUTS:
            yield from self._output(line, item)
        elif kind == "tool_search_output":
            for tool in listed(item.get("tools")):
                self._learn(mapping(tool))
        elif kind == "message" and item.get("role") == "user":
            yield from self._asked(said(item.get("content")))

    def _call(self, line: JSONObject, item: JSONObject, kind: str, number: int) -> Iterator[Found]:
        name = identity(item.get("name")) or ("local_shell" if kind == "local_shell_call" else "unknown")
        full = _full(identity(item.get("namespace")), name)
        call_id = identity(item.get("call_id")) or identity(item.get("id")) or f"line-{number}"
        if call_id in self._open and self._open[call_id].tool == full:
            return
        uses = (self._uses.get(call_id) or 0) + 1
        key = call_id if uses == 1 else f"{call_id}#{uses}"
        args, codes = _arguments(item, kind)
        if name == _PATCHES:
            args = _patched(args)
        taken = _justified(args) if name in _SHELLS else self._wrapped.take(full, args)
        self._uses.put(call_id, uses)
        self._answered.drop(call_id)
        self._open[call_id] = _Open(key, full, codes)
        if len(self._open) > _OPEN:
            self._open.popitem(last=False)
        source, tool = server_and_tool(full)
        yield FoundCall(
            key=key,
            tool_call_id=call_id,
            tool=tool,
            group=f"response-{self._turn}",
            turn=self._turn,
            args=taken.args,
            intent=taken.intent,
            rationale=taken.rationale,
            asked=taken.asked,
            ts=stated_moment(line.get("timestamp")),
            tool_source=source,
            agent=self._agent,
            model=self._model,
        )

    def _output(self, line: JSONObject, item: JSONObject) -> Iterator[Found]:
        call_id = identity(item.get("call_id")) or ""
        if call_id in self._answered:
            return
        call = self._open.pop(call_id, None)
        result = result_of(
            item.get("output"),
            call_id,
            key=call.key if call is not None else None,
            ts=stated_moment(line.get("timestamp")),
            verdict=self._verdicts.pop(call_id, Verdict()),
        )
        if call is not None:
            self._answered.put(call_id, None)
            if call.tool.startswith("mcp__") and (refused := self._wrapped.refused(call.tool, result.text or "")):
                result = replace(result, status="rejected", codes=refused)
            elif result.status == "rejected":
                result = replace(result, codes=call.codes)
        yield result

    def _event(self, event: JSONObject) -> Iterator[Found]:
        if event.get("type") == "user_message":
            yield from self._headed()
            yield from self._asked(word(event.get("message")) or "")
        call_id = identity(event.get("call_id"))
        if call_id in self._open and call_id is not None and (verdict := verdict_of(event)) is not None:
            self._verdicts[call_id] = verdict
            if len(self._verdicts) > _OPEN:
                self._verdicts.popitem(last=False)

    def _asked(self, text: str) -> Iterator[Found]:
        """Yield a prompt once: it stands in the file as an event and as an item."""
        if self._head is not None and self._head.cwd is None and (found := _CWD.search(text[:10_000])):
            yield from self._headed(cwd=found[1])
        if text and text != self._prompt and _NOT_ASKED.match(text) is None:
            self._prompt = text
            yield Prompt(text=text)

    def _learn(self, tool: JSONObject) -> None:
        name = identity(tool.get("name")) or ""
        for inner in map(mapping, listed(tool.get("tools"))):
            full = _full(name, identity(inner.get("name")) or "")
            self._wrapped.learn(full, inner.get("parameters", inner.get("inputSchema")))
        self._wrapped.learn(name, tool.get("parameters", tool.get("inputSchema")))


def _full(namespace: str | None, name: str) -> str:
    """Return the whole name of a tool: behind MCP the server stands before it, now apart and now in one."""
    if namespace is None or not namespace.startswith("mcp__") or name.startswith("mcp__"):
        return name
    return f"{namespace.rstrip('_')}__{name}"


def _arguments(item: JSONObject, kind: str) -> tuple[JSONObject, tuple[str, ...]]:
    """Return a call's arguments, and what is wrong with them."""
    if kind == "custom_tool_call":
        return {"input": item.get("input")}, ()
    if kind == "local_shell_call":
        return {name: value for name, value in mapping(item.get("action")).items() if name != "type"}, ()
    sent = item.get("arguments")
    value: JSONValue = parsed(sent) if isinstance(sent, str) else sent
    if isinstance(value, dict):
        return value, ()
    whole: JSONObject = {} if sent is None else {"_raw_arguments": sent}  # under the name that Tau gives to such
    return whole, ("arguments_not_json" if value is None else "arguments_not_an_object",)


def _patched(args: JSONObject) -> JSONObject:
    """Name a patch by what it is, and the files that it changes, which stand in nothing but its text.

    So the ledger keeps the names, and of the text, which is what stands in files, its size. Of several files the
    first is the path that the call is aimed at.
    """
    patch = args.get("input", args.get("patch"))
    if not isinstance(patch, str):
        return args
    rest = {name: value for name, value in args.items() if name not in ("input", "patch")}
    files: list[JSONValue] = [*dict.fromkeys(islice((found[1] for found in _PATCHED.finditer(patch)), _MOST_FILES))]
    named: JSONObject = {"path": files[0]} if files else {}
    if len(files) > 1:
        named["paths"] = files
    return {**named, **rest, "patch": patch}


def _justified(args: JSONObject) -> Taken:
    """Take the reason out of a command that asks to leave the sandbox; nobody asks for one elsewhere."""
    if args.get("with_escalated_permissions") is not True and args.get("sandbox_permissions") not in _ESCALATED:
        return Taken(None, None, args, asked=False)
    rest = {name: value for name, value in args.items() if name != "justification"}
    return Taken(stated(args.get("justification")), None, rest, asked=True)
