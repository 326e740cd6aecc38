"""Replay sessions through a real Tau, and write down everything that came of them. Run as a program.

    python gates_replay.py SCRIPTS OUT [blocked]

SCRIPTS is what `scripts_of` and `made_up` give, as JSON. With `blocked` nothing that holds a call up can be imported.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib.abc import MetaPathFinder
from pathlib import Path
from typing import Any

HOLDING = (
    "pi_intent.gating",
    "pi_intent.gates.check_in",
    "pi_intent.gates.declared",
    "pi_intent.gates.rules",
    "pi_intent.gates.shell.command",
    "pi_intent.render.check_in",
    "pi_intent.hosts.tau.check_in",
    "pi_intent.hosts.tau.dialog",
    "pi_intent.hosts.tau.environ",
)
"""What nothing loads where nobody configured a gate."""

MOST_CALLS = 40
"""Of one recorded session."""


def scripts_of(path: Path) -> dict[str, Any] | None:
    """Return a recorded session as a script: what the model sent, and what its tools answered; None for no calls."""
    turns: list[list[dict[str, Any]]] = []
    results: dict[str, dict[str, Any]] = {}
    count = 0
    for line in path.read_text("utf-8").splitlines():
        try:
            entry = json.loads(line)
        except ValueError:  # two entries on one line, in a file that two programs wrote
            continue
        message = entry.get("message") if isinstance(entry, dict) else None
        if not isinstance(message, dict):
            continue
        if message.get("role") == "assistant" and isinstance(message["content"], list):
            calls = [
                {"id": block["id"], "name": block["name"], "arguments": _stated(block["arguments"], len(turns))}
                for block in message["content"]
                if block["type"] == "toolCall"
            ]
            if calls and count < MOST_CALLS:
                turns.append(calls)
                count += len(calls)
        elif message.get("role") == "toolResult":
            texts = [block.get("text", "") for block in message["content"] if isinstance(block, dict)]
            results[message["toolCallId"]] = {"text": "\n".join(texts)[:2000], "error": bool(message.get("isError"))}
    return {"name": path.name, "turns": turns, "results": results, "watched": len(turns) % 2 == 0} if turns else None


def _stated(arguments: Any, turn: int) -> Any:
    """Every other turn states an intent where the recorded model did not: else most calls would only be rejected."""
    if turn % 2 or not isinstance(arguments, dict):
        return arguments
    return {"intent": f"Step {turn}"} | arguments


def made_up() -> Iterator[dict[str, Any]]:
    """Sessions that run real tools: every ending that a call can have, with and without an intent."""

    def turn(*calls: tuple[str, Any]) -> list[dict[str, Any]]:
        return [{"id": None, "name": name, "arguments": arguments} for name, arguments in calls]

    def bash(command: str, **more: Any) -> tuple[str, Any]:
        return "bash", {"intent": f"Run {len(command)} characters", "command": command} | more

    write = ("write", {"intent": "Begin", "rationale": "The user asked.", "path": "a.py", "content": "x = 1\n"})
    edit = ("edit", {"intent": "Count", "path": "a.py", "edits": [{"oldText": "1", "newText": "2", "intent": "old"}]})
    read = ("read", {"intent": "See it", "path": "a.py", "rationale": None})
    dangers = [bash("rm -rf gone"), bash("git push 2>&1 | head -c 0"), bash("cat /etc/hostname > /dev/null")]
    yield {"name": "good", "turns": [turn(write), turn(edit, read), turn(bash("cat a.py"))]}
    yield {"name": "failing", "turns": [turn(bash("exit 3")), turn(("read", {"intent": "x", "path": "gone"}))]}
    yield {"name": "refused", "turns": [turn(("bash", {"command": "true"}))] * 5}
    odd = turn(("read", "no object"), ("nothing", {}), ("edit", {"intent": " "}))
    yield {"name": "odd", "turns": [odd], "watched": True}
    yield {"name": "parallel", "turns": [turn(*[bash(f"echo {number} >> a") for number in range(5)])]}
    yield {"name": "dangerous", "turns": [turn(*dangers)]}
    outside = ("write", {"intent": "Out", "path": "../out", "content": "検索\u202e"})
    yield {"name": "outside", "turns": [turn(outside)], "watched": True}
    yield {"name": "slow", "turns": [turn(bash("sleep 5", timeout=0.2))]}


class Blocked(MetaPathFinder):
    def find_spec(self, name: str, path: Any, target: Any = None) -> None:
        if name in HOLDING:
            raise ImportError(f"{name} is not to be loaded")


class Watcher:
    """A frontend that shows nothing."""

    has_ui, supports_components, supports_sidebar = True, False, False

    def __getattr__(self, name: str) -> Any:
        return lambda *arguments, **named: None


async def replay(root: Path, script: dict[str, Any], model: Any) -> dict[str, Any]:
    from tau_agent.tools import AgentToolResult
    from tau_ai import OpenAICompatibleConfig, OpenAICompatibleProvider
    from tau_coding.tools import create_coding_tools
    from tau_desk import Desk

    import pi_intent

    desk = Desk(root)
    os.chdir(desk.project)
    stop = pi_intent.subscribe(desk.events)
    results = script.get("results")

    def recorded(tool: Any) -> Any:
        async def execute(tool_call_id: str, arguments: Any, signal: Any = None, on_update: Any = None) -> Any:
            result = results.get(tool_call_id, {"text": "", "error": False})
            if result["error"]:
                raise RuntimeError(result["text"])
            return AgentToolResult(content=result["text"])

        return replace(tool, execute_fn=execute)

    tools = None if results is None else [recorded(tool) for tool in create_coding_tools(cwd=desk.project)]
    provider = OpenAICompatibleProvider(OpenAICompatibleConfig(base_url=model.base_url, api_key="none"))
    session = await desk.session([], provider=provider, session_id="session", **({"tools": tools} if tools else {}))
    if script.get("watched"):
        session.extension_runtime.set_ui_bridge(Watcher())
    await session.emit_pending_session_start()
    told = [event.model_dump(mode="json") async for event in session.prompt("go")]
    await session.aclose()
    stop()
    return {
        "requests": [request.raw.decode() for request in model.requests],
        "tau": told,
        "events": [json.loads(pi_intent.event_to_json(event)) for event in desk.events],
        "records": desk.records,
        "statuses": desk.statuses,
    }


_TIMES = re.compile(
    r'"(?:timestamp|created_at|ts|durationMs|duration_ms|ms|timeToFirstOutputMs|totalDurationMs|time_to_first_output_ms'
    r'|total_duration_ms|duration_seconds|pid|writer|prev|hash)": ?(?:"[^"]*"|[-+.\de]+|null)'
)
_NAMES = re.compile(r"\b(?:[0-9A-HJKMNP-TV-Z]{26}|[0-9a-f]{32}|hmac:[0-9a-f]+)\b")


def normal(told: Any, root: Path) -> Any:
    """Return what was written down without times, and with names and digests counted in the order they come."""
    names: dict[str, str] = {}
    text = json.dumps(told).replace(str(root), "/root")
    text = _TIMES.sub('"-": 0', text)
    return json.loads(_NAMES.sub(lambda found: names.setdefault(found[0], f"name-{len(names)}"), text))


def main(scripts: Path, out: Path, blocked: bool) -> None:
    if blocked:
        sys.meta_path.insert(0, Blocked())
    from pi_intent.cli.demo.model import NUMBERED, ScriptedCall, ScriptedModel, Turn

    found: dict[str, Any] = {}
    for script in json.loads(scripts.read_text("utf-8")):
        root = Path(tempfile.mkdtemp(prefix="replay-"))
        environ = {f"XDG_{name}_HOME": str(root / "xdg") for name in ("CONFIG", "STATE", "CACHE", "DATA")}
        environ |= {"HOME": str(root / "home"), "TAU_HOME": str(root / "tau"), "TAU_NO_UPDATE_CHECK": "1"}
        environ |= {"GIT_CEILING_DIRECTORIES": str(root), "XDG_RUNTIME_DIR": str(root), "NO_PROXY": "127.0.0.1"}
        os.environ |= environ
        turns = [
            Turn(calls=tuple(ScriptedCall(**call | {"id": call["id"] or NUMBERED}) for call in turn))
            for turn in script["turns"]
        ]
        try:
            with ScriptedModel([*turns, Turn(text="done")], piece=4000) as model:
                found[script["name"]] = normal(asyncio.run(replay(root, script, model)), root)
        finally:
            os.chdir("/")
            shutil.rmtree(root, ignore_errors=True)
    loaded = [name for name in HOLDING if name in sys.modules]
    out.write_text(json.dumps({"loaded": loaded, "sessions": found}), encoding="utf-8")


def run(arguments: Sequence[str]) -> None:
    scripts, out, *blocked = arguments
    main(Path(scripts), Path(out), bool(blocked))


if __name__ == "__main__":
    run(sys.argv[1:])
