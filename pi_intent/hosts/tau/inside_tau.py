"""Load a Tau session as its user would have it, and report on its tools. A script, run by Tau's own Python.

What a session keeps goes to the folder of whoever started the script, and so does the report: extensions may print.
Nothing of pi-intent is imported here but what Tau's extension has loaded itself.
"""

from __future__ import annotations

import asyncio
import json
import platform
import shlex
import sys
from dataclasses import dataclass
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from tau_agent.messages import AssistantMessage, ToolCall
from tau_agent.session import JsonlSessionStorage
from tau_ai.events import AssistantDoneEvent
from tau_ai.fake import FakeProvider
from tau_coding.extensions import NullUiBridge
from tau_coding.paths import TauPaths
from tau_coding.resources import TauResourcePaths
from tau_coding.session import CodingSession, CodingSessionConfig

NAME = "pi_intent"
"""How Tau calls our extension, whichever way it was installed."""

TOKEN = "canary-8c1f"
INTENT = "Prove that pi-intent is installed"


class Listening(NullUiBridge):
    """Keeps what extensions tell the person."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    def notify(self, message: str, level: str = "info") -> None:
        if level != "info":
            self.heard.append(message)


@dataclass(slots=True)
class Canaries:
    """What each tool is called on: after a call, `ran` tells whether it had its effect."""

    folder: Path

    def arguments(self, tool: str) -> dict[str, Any]:
        """Prepare a harmless call of a tool, as complete as the tool itself wants it."""
        self.folder.mkdir(exist_ok=True)
        path = self.folder / tool
        if tool in ("read", "edit"):
            path.write_text(TOKEN, encoding="utf-8")
        match tool:
            case "read":
                return {"path": str(path)}
            case "write":
                return {"path": str(path), "content": TOKEN}
            case "edit":
                return {"path": str(path), "edits": [{"oldText": TOKEN, "newText": "edited"}]}
            case _:
                return {"command": f": > {shlex.quote(str(path))}", "description": INTENT}

    def ran(self, tool: str, answer: str) -> bool:
        path = self.folder / tool
        match tool:
            case "read":
                return TOKEN in answer
            case "edit":
                return path.read_text(encoding="utf-8") != TOKEN
            case _:
                return path.exists()


TOOLS = ("read", "write", "edit", "bash")


def turn(calls: list[ToolCall]) -> list[AssistantDoneEvent]:
    """Return one answer of a model."""
    reason: Literal["toolUse", "stop"] = "toolUse" if calls else "stop"
    message = AssistantMessage(model="none", content=[*calls], stop_reason=reason)
    return [AssistantDoneEvent(reason=reason, message=message)]


async def report(scratch: Path, entry: Path | None, *, with_calls: bool) -> dict[str, Any]:
    """Load the session, call its tools where asked to, and describe both."""
    user = TauPaths()
    bare, stated = Canaries(scratch / "bare"), Canaries(scratch / "stated")
    turns = []
    if with_calls:
        turns = [
            turn([ToolCall(id=f"bare-{tool}", name=tool, arguments=bare.arguments(tool)) for tool in TOOLS]),
            turn(
                [
                    ToolCall(id=f"stated-{tool}", name=tool, arguments={"intent": INTENT, **stated.arguments(tool)})
                    for tool in TOOLS
                ]
            ),
            turn([]),
        ]
    session = await CodingSession.load(
        CodingSessionConfig(
            provider=FakeProvider(turns),
            provider_name="none",
            model="none",
            cwd=Path.cwd(),
            storage=JsonlSessionStorage(scratch / "session.jsonl"),
            resource_paths=TauResourcePaths(
                root=user.home,
                cwd=Path.cwd(),
                agents_root=user.agents_home,
                paths=TauPaths(home=scratch / "tau", agents_home=user.agents_home),
            ),
            extension_paths=() if entry is None else (entry,),
            trust_override="decline",  # asks nobody, and runs nothing of the project's
        )
    )
    try:
        bridge = Listening()
        session.extension_runtime.set_ui_bridge(bridge)
        await session.emit_pending_session_start()
        return {
            **describe(session),
            "home": str(user.home),
            "calls": await call(session, bare, stated) if with_calls else {},
            "notices": bridge.heard,
            "reads_keyring": find_spec("keyring") is not None,
            "diagnostics": [
                {"severity": found.severity, "name": found.name or found.kind, "message": found.message}
                for found in session.resource_diagnostics
            ],
        }
    finally:
        await session.aclose()


def describe(session: CodingSession) -> dict[str, Any]:
    """Describe the tools as the model sees them, with what the system prompt really says of each."""
    runtime, prompt = session.extension_runtime, session.system_prompt
    sources = runtime.extension_tool_sources
    ours = sys.modules.get(NAME)
    loaded = {extension.name: extension for extension in runtime.extension_metadata}
    file = loaded[NAME].path if NAME in loaded else None
    return {
        "tau": metadata.version("tau-ai"),
        "python": platform.python_version(),
        "package": None if ours is None or NAME not in loaded else str(Path(str(ours.__file__)).parent),
        "version": None if ours is None else str(ours.__version__),
        "extension": None if file is None else str(file),
        "tools": [
            {
                "name": tool.name,
                "description": tool.description,
                "parameters": dict(tool.parameters),
                "snippet": tool.prompt_snippet if tool.prompt_snippet and tool.prompt_snippet in prompt else None,
                "guidelines": [line for line in tool.prompt_guidelines if line.strip() in prompt],
                "source": sources.get(tool.name),
            }
            for tool in session.tools
        ],
        "sections": [
            {"title": section.title, "body": section.body}
            for section in runtime.sourced_prompt_sections
            if section.source == f"extension: {NAME}" and section.body in prompt
        ],
    }


async def call(session: CodingSession, bare: Canaries, stated: Canaries) -> dict[str, Any]:
    """Have every tool called without and with an intent, and tell what came of each call."""
    ours: dict[str, str] = {}
    package = sys.modules.get(NAME)
    if package is not None:
        package.subscribe(lambda event: ours.update(_status(event)))
    calls: dict[str, Any] = {}
    async for event in session.prompt("Prove that pi-intent is installed."):
        if event.type == "tool_execution_end":
            way, _, tool = event.tool_call_id.partition("-")
            calls.setdefault(tool, {})[way] = {
                "status": None,
                "is_error": event.is_error,
                "text": event.result.text,
                "ran": (bare if way == "bare" else stated).ran(tool, event.result.text),
            }
    for tool, ways in calls.items():
        for way, outcome in ways.items():
            outcome["status"] = ours.get(f"{way}-{tool}")
    return {tool: ways for tool, ways in calls.items() if len(ways) == 2}


def _status(event: Any) -> dict[str, str]:
    return {event.tool_call_id: event.status} if event.type == "tool_execution_end" else {}


def main(scratch: Path, entry: str, calls: str) -> None:
    """Write `report.json` into `scratch`."""
    try:
        found = asyncio.run(report(scratch, Path(entry) if entry else None, with_calls=bool(calls)))
    except Exception as error:  # whatever it is, it is for whoever started us to tell
        found = {"error": f"{type(error).__name__}: {error}"}
    (scratch / "report.json").write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
