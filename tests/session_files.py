"""Small session files of our own making, in the shapes that agents write."""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from pi_intent.sessions.lines import Numbered, objects
from pi_intent.sessions.values import Found, FoundCall, FoundResult, Unread

Read = Callable[[Iterable[Numbered | Unread]], Iterator[Found]]

MS = 1_780_000_000_000
"""The moment, in milliseconds, at which every session here begins."""


def as_bytes(*entries: Any) -> bytes:
    return b"".join(json.dumps(entry).encode() + b"\n" for entry in entries)


def found(read: Read, *entries: Any) -> list[Found]:
    return found_in(read, as_bytes(*entries))


def found_in(read: Read, data: bytes) -> list[Found]:
    return list(read(objects(io.BytesIO(data))))


def calls(items: Iterable[Found]) -> list[FoundCall]:
    return [item for item in items if isinstance(item, FoundCall)]


def results(items: Iterable[Found]) -> list[FoundResult]:
    return [item for item in items if isinstance(item, FoundResult)]


def unread(items: Iterable[Found]) -> list[str]:
    return [item.text for item in items if isinstance(item, Unread)]


def counts(items: Iterable[Found]) -> dict[str, int]:
    """Count what the samples' expectations count; rejected calls too, where a dialect has them as such."""
    items = list(items)
    statuses = Counter(result.status for result in results(items))
    return {
        "calls": len({call.key for call in calls(items)}),
        "results": len(results(items)),
        "errors": sum(result.is_error for result in results(items)),
        "intents": sum(call.intent is not None for call in calls(items)),
        "per_edit_intents": sum(call.per_edit for call in calls(items)),
        "rejected": statuses["rejected"],
    }


def block(tool_call_id: Any, tool: Any, arguments: Any, **more: Any) -> dict[str, Any]:
    return {"type": "toolCall", "id": tool_call_id, "name": tool, "arguments": arguments, **more}


def assistant(*blocks: Any, **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks), "model": "m-1", "stopReason": "toolUse"} | more


def result(tool_call_id: Any, tool: str, text: Any = "", *, is_error: Any = False, **more: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": text}]
    return {
        "role": "toolResult", "toolCallId": tool_call_id, "toolName": tool, "content": content, "isError": is_error,
        **more,
    }  # fmt: skip


def user(text: Any) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "text", "text": text}]}


def pi_header(**more: Any) -> dict[str, Any]:
    return {
        "type": "session", "version": 3, "id": "s-3", "timestamp": "2026-05-28T20:26:40.000Z", "cwd": "/p", **more,
    }  # fmt: skip


def pi_entry(number: int, message: Any, **more: Any) -> dict[str, Any]:
    """An entry of pi's third version, and of oh-my-pi; the messages follow each other by a second."""
    return {
        "type": "message", "id": f"e{number}", "parentId": f"e{number - 1}", "message": message,
        "timestamp": f"2026-05-28T20:26:4{number}.000Z", **more,
    }  # fmt: skip


def pi_tools(**parameters: Any) -> dict[str, Any]:
    """A system message that lists tools with their properties."""
    tools = [
        {"name": name, "parameters": {"type": "object", "properties": properties}}
        for name, properties in parameters.items()
    ]
    return {"role": "system", "content": "", "toolsAdded": tools}


def old_entry(number: int, message: Any) -> dict[str, Any]:
    """An entry of pi's first version."""
    return {"type": "message", "timestamp": f"2025-11-20T23:33:5{number}.000Z", "message": message}


def tau_head(**more: Any) -> dict[str, Any]:
    return {"id": "t0", "timestamp": MS / 1000, "type": "session_info", "created_at": MS / 1000, "cwd": "/p", **more}


def tau_entry(number: int, message: Any) -> dict[str, Any]:
    return {
        "id": f"t{number}", "parent_id": f"t{number - 1}", "timestamp": MS / 1000 + number, "type": "message",
        "message": message,
    }  # fmt: skip


def omp_head() -> list[dict[str, Any]]:
    return [{"type": "title", "v": 1, "title": "", "pad": " "}, pi_header(id="s-o")]


def subagent_session(cwd: str, session: str = "5f0e-parent") -> list[dict[str, Any]]:
    """Return a session of Claude Code in which a subagent reads a file; its own call is the middle one of three."""

    def line(number: int, kind: str, content: Any, **more: Any) -> dict[str, Any]:
        own = {"uuid": f"u{number}", "parentUuid": f"u{number - 1}", "sessionId": session, "cwd": cwd}
        message = {"role": kind, "content": content}
        if kind == "assistant":
            message |= {"id": f"m{number}", "model": "m"}
        at = f"2020-01-31T13:00:0{number}.000Z"
        return {"type": kind, "timestamp": at, "isSidechain": False, "message": message, **own, **more}

    def use(call_id: str, name: str, **given: str) -> list[dict[str, Any]]:
        return [{"type": "tool_use", "id": call_id, "name": name, "input": given}]

    def answer(call_id: str, text: str) -> list[dict[str, Any]]:
        return [{"type": "tool_result", "tool_use_id": call_id, "content": text}]

    side = {"isSidechain": True}
    return [
        line(1, "user", "Look into the failure"),
        line(2, "assistant", use("toolu_task", "Task", description="Read the log", prompt="Read log.txt")),
        line(3, "user", "Read log.txt", **side, parentUuid=None),
        line(4, "assistant", use("toolu_read", "Read", file_path=f"{cwd}/log.txt"), **side),
        line(5, "user", answer("toolu_read", "boom"), **side),
        line(6, "user", answer("toolu_task", "It says boom"), parentUuid="u2"),
        line(7, "assistant", use("toolu_bash", "Bash", command="ls", description="List files")),
        line(8, "user", answer("toolu_bash", "log.txt")),
    ]


def small_sessions() -> dict[str, list[dict[str, Any]]]:
    """Return one session of each dialect, with two calls and their results."""
    stated = block("a", "bash", {"command": "ls", "intent": "Look"})
    edit = block("b", "edit", {"path": "p", "edits": [{"oldText": "x", "newText": "y", "intent": "Fix"}]})
    ok, bad = (
        result("a", "bash", "out", details={"exit_code": 0}),
        result("b", "edit", "no", is_error=True, details={}),
    )
    field = block("a", "bash", {"command": "ls", "i": "Looking"}, intent="Looking")
    return {
        "tau": [
            tau_head(),
            *(tau_entry(n, message) for n, message in enumerate([user("Go"), assistant(stated, edit), ok, bad], 1)),
        ],
        "pi": [
            pi_header(),
            pi_entry(1, pi_tools(bash={"intent": {"type": "string"}}, edit={})),
            *(pi_entry(n, message) for n, message in enumerate([user("Go"), assistant(stated, edit), ok, bad], 2)),
        ],
        "oh-my-pi": [
            *omp_head(),
            *(pi_entry(n, message) for n, message in enumerate([user("Go"), assistant(field, edit), ok, bad], 1)),
        ],
    }
