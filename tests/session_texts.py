"""The texts of session files with two calls each, as their agents write them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

INVALID = "<tool_use_error>InputValidationError: Bash failed due to the following issue: command is required"


def lines(entries: Iterable[dict[str, Any]]) -> str:
    return "".join(json.dumps(entry) + "\n" for entry in entries)


def pi_session(cwd: Path, session: str = "0198-pi") -> str:
    """Two calls, of which one failed."""

    def entry(number: int, **message: Any) -> dict[str, Any]:
        at = {"id": f"e{number}", "parentId": None, "timestamp": f"2020-01-31T12:00:0{number}.000Z"}
        return {"type": "message", **at, "message": message}

    def call(number: int, **arguments: str) -> dict[str, Any]:
        return {"type": "toolCall", "id": f"call_{number}", "name": "bash", "arguments": arguments}

    def result(number: int, text: str, *, failed: bool) -> dict[str, Any]:
        content = [{"type": "text", "text": text}]
        of_call = {"toolCallId": f"call_{number}", "toolName": "bash", "content": content}
        return {"role": "toolResult", **of_call, "isError": failed, "durationMs": 14}

    schema = {"type": "object", "properties": {"intent": {"type": "string"}, "command": {"type": "string"}}}
    return lines(
        [
            {
                "type": "session",
                "version": 3,
                "id": session,
                "timestamp": "2020-01-31T12:00:00.000Z",
                "cwd": str(cwd),
            },
            entry(1, role="system", content="", toolsAdded=[{"name": "bash", "parameters": schema}]),
            entry(2, role="user", content=[{"type": "text", "text": "Make the tests pass"}]),
            entry(3, role="assistant", content=[call(1, intent="Find what fails", command="pytest -q")]),
            entry(4, **result(1, "1 failed in 0.12s\n\nCommand exited with code 1", failed=True)),
            entry(5, role="assistant", content=[call(2, intent="make the  tests pass", command="sed s/a/b/")]),
            entry(6, **result(2, "(no output)", failed=False)),
        ]
    )


def claude_session(cwd: Path, session: str = "5f0e-claude") -> str:
    """Two calls, of which one was refused."""

    def line(number: int, kind: str, message: dict[str, Any]) -> dict[str, Any]:
        own = {"uuid": f"u{number}", "sessionId": session, "cwd": str(cwd), "version": "2.0.1"}
        return {"type": kind, **own, "timestamp": f"2020-01-31T13:00:0{number}.000Z", "message": message}

    def says(number: int, block: dict[str, Any]) -> dict[str, Any]:
        return line(number, "assistant", {"id": f"m{number}", "role": "assistant", "model": "m", "content": [block]})

    def use(number: int, name: str, **arguments: str) -> dict[str, Any]:
        return says(number, {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": arguments})

    def result(number: int, text: str, *, failed: bool) -> dict[str, Any]:
        block = {"type": "tool_result", "tool_use_id": f"toolu_{number - 1}", "content": text, "is_error": failed}
        return line(number, "user", {"role": "user", "content": [block]})

    return lines(
        [
            line(1, "user", {"role": "user", "content": "Look around"}),
            use(2, "Bash", command="ls", description="List files"),
            result(3, "a.py", failed=False),
            use(4, "Bash", description="Nothing"),
            result(5, INVALID, failed=True),
        ]
    )


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path
