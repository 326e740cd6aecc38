"""Real Tau sessions in a temporary home, with Tau's own scripted provider."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from host_desk import HostDesk
from ledger_schema import assert_records_fit
from tau_agent.events import ToolExecutionEndEvent
from tau_agent.messages import AssistantMessage, TextContent, ToolCall
from tau_agent.session import JsonlSessionStorage
from tau_ai import FakeProvider
from tau_ai.events import AssistantDoneEvent
from tau_coding.paths import TauPaths
from tau_coding.resources import TauResourcePaths
from tau_coding.session import CodingSession, CodingSessionConfig

import pi_intent

CHECKOUT = Path(pi_intent.__file__).parents[1]


def says(text: str = "", *calls: tuple[str, str, Any]) -> list[AssistantDoneEvent]:
    """One assistant message: a text and calls as (id, tool, arguments)."""
    content: list[Any] = [TextContent(text=text)] if text else []
    content += [ToolCall(id=call_id, name=name, arguments=arguments) for call_id, name, arguments in calls]
    reason = "toolUse" if calls else "stop"
    return [
        AssistantDoneEvent(reason=reason, message=AssistantMessage(model="m", content=content, stop_reason=reason))
    ]


def calls(*named: tuple[str, Any]) -> list[AssistantDoneEvent]:
    """One assistant message with calls as (tool, arguments), with ids that count from zero as Tau's do."""
    return says("", *((f"tool-call-{number}", name, arguments) for number, (name, arguments) in enumerate(named)))


class Model(FakeProvider):
    """Tau's scripted provider; a request without tools asks for a session's name, and costs no turn."""

    def stream_response(self, **request: Any) -> Any:
        if request["tools"]:
            return super().stream_response(**request)
        return FakeProvider([says("A name")]).stream_response(**request)


@dataclass
class Desk(HostDesk):
    """A project, a home for Tau, and what was told of the calls made there."""

    sessions: list[CodingSession] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.home = self.root / "tau"
        (self.home / "extensions").mkdir(parents=True)

    def extension(self, name: str, source: str) -> None:
        """Give Tau another extension."""
        (self.home / "extensions" / f"{name}.py").write_text(source, encoding="utf-8")

    async def session(
        self, turns: Iterable[list[AssistantDoneEvent]], *, intents: bool = True, **config: Any
    ) -> CodingSession:
        """Load a session with pi-intent in it, whose model says these turns."""
        paths = TauPaths(home=self.home, agents_home=self.root / "agents")
        session = await CodingSession.load(
            CodingSessionConfig(
                provider=config.pop("provider", None) or Model(turns),
                model="m",
                cwd=config.pop("cwd", self.project),
                storage=config.pop("storage", None)
                or JsonlSessionStorage(self.root / f"s{len(self.sessions)}.jsonl"),
                resource_paths=config.pop("resource_paths", None)
                or TauResourcePaths(root=self.home, agents_root=self.root / "agents", paths=paths),
                extension_paths=(CHECKOUT,) if intents else (),
                **config,
            )
        )
        self.sessions.append(session)
        problems = [
            diagnostic.format() for diagnostic in session.resource_diagnostics if diagnostic.severity == "error"
        ]
        assert problems == []
        return session

    async def run(self, *turns: list[AssistantDoneEvent], **config: Any) -> list[ToolExecutionEndEvent]:
        """Run one prompt in a new session; return Tau's own end events."""
        session = await self.session([*turns, says("done")], **config)
        await session.emit_pending_session_start()
        return [event async for event in session.prompt("go") if isinstance(event, ToolExecutionEndEvent)]

    @property
    def statuses(self) -> list[tuple[str, str]]:
        """As of any host, after a check that the events of each session are numbered without a gap."""
        for session_id in {event.session_id for event in self.events}:
            numbers = [event.seq for event in self.events if event.session_id == session_id]
            assert numbers == list(range(1, len(numbers) + 1))
        return super().statuses

    @property
    def segments(self) -> list[Path]:
        return sorted((self.project / ".git" / "pi-intent" / "ledger").glob("*.jsonl"))

    @property
    def records(self) -> list[dict[str, Any]]:
        """What the ledger holds, segment by segment."""
        assert_records_fit(self.segments)
        return [json.loads(line) for path in self.segments for line in path.read_text().splitlines()]
