"""A session whose calls go through the gates: the real pipeline, ledger and history, and a scripted person."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from copy import deepcopy
from pathlib import Path
from typing import Any

import anyio
from ledger_schema import assert_records_fit

from pi_intent import MemorySink, ToolExecutionEnd, ToolExecutionStart
from pi_intent.around import Disk
from pi_intent.gates.check_in import CheckIn
from pi_intent.gates.configured import Gated
from pi_intent.gates.declared import Declarations
from pi_intent.gates.memory import Memory
from pi_intent.gates.question import Answer, Question
from pi_intent.gates.situation import Situation
from pi_intent.gating import SessionKeeping
from pi_intent.pipeline import CallRequest, OpenCall
from pi_intent.protocols import Settlement
from pi_intent.runtime import SessionRuntime

YES, NO = Answer(True), Answer(False)
FOR_SESSION = Answer(True, "session")
OPEN = Gated()

type Says = Answer | BaseException | Callable[[Question], Answer | Awaitable[Answer]]


class Person:
    """Answers questions from a list; one that is not expected is a fault of the test. `asked` keeps them."""

    def __init__(self, *says: Says) -> None:
        self.asked: list[Question] = []
        self._says = list(says)

    async def ask(self, question: Question) -> Answer:
        self.asked.append(question)
        says = self._says.pop(0)
        if isinstance(says, BaseException):
            raise says
        if callable(says):
            said = says(question)
            return said if isinstance(said, Answer) else await said
        return says

    @property
    def is_done(self) -> bool:
        """Whether everything that was to be said was said."""
        return not self._says


class GateDesk:
    """One session in a folder; `ran` are the calls whose tool ran, with the arguments it got."""

    def __init__(self, root: Path, *, strict: bool = False, declared: Declarations | None = None) -> None:
        self.root = root
        self.project = root / "project"
        self.project.mkdir(exist_ok=True)
        self.events = MemorySink()
        self.ran: list[tuple[str, Any]] = []
        self.ran_by_id: dict[str, Any] = {}
        self.told: list[str] = []
        self.declared = declared or Declarations()
        self.runtime = SessionRuntime(
            session_id="s",
            host="tau",
            host_version="0",
            cwd=self.project,
            strict=strict,
            tell=self.told.append,
            withholds=lambda tool_name: False,
            environ={"HOME": str(root), "XDG_STATE_HOME": str(root / "state"), "XDG_RUNTIME_DIR": str(root)},
        )
        self.memory = Memory()
        for sink in (self.events, self.memory.history.apply):
            self.runtime.pipeline.sinks.subscribe(sink)
        self.check_in = CheckIn(
            texts=self.runtime.pipeline.texts,
            around=Disk(self.project),
            memory=self.memory,
            declared=self.declared,
            turn=anyio.Lock(),
            digest=self.runtime.digest,
            keeping=SessionKeeping(self.runtime),
        )

    async def call(
        self,
        arguments: dict[str, Any],
        *,
        gated: Gated = OPEN,
        person: Person | None = None,
        tool: str = "bash",
        source: str | None = None,
        cwd: str | None = None,
        before: Callable[[OpenCall], object] = lambda opened: None,
        **more: Any,
    ) -> str:
        """Run one call as the model sends it; return "ran". Raises as the gates do."""
        request = CallRequest(
            tool_name=tool,
            tool_call_id="t",
            arguments=arguments,
            group_id="g",
            turn=1,
            policy=more.pop("policy", "optional"),
            derive=more.pop("derive", None),
            tool_source=source,
        )
        situation = Situation(
            tool_name=tool,
            tool_source=source,
            cwd=cwd or str(self.project),
            project=str(self.project),
            host="tau",
            session_id="s",
        )

        async def delegate(opened: OpenCall) -> tuple[str, Settlement]:
            before(opened)
            await self.check_in.admit(opened, opened.call.arguments, situation, gated, person, **more)
            self.ran.append((tool, deepcopy(opened.call.arguments)))
            assert opened.start.call_id not in self.ran_by_id
            self.ran_by_id[opened.start.call_id] = self.ran[-1][1]
            return "ran", Settlement(status="ok", is_error=False)

        return await self.runtime.pipeline.run(request, delegate)

    @property
    def statuses(self) -> list[str]:
        """How the calls ended, after a check that each began and ended exactly once."""
        started = [event.call_id for event in self.events if isinstance(event, ToolExecutionStart)]
        ends = [event for event in self.events if isinstance(event, ToolExecutionEnd)]
        assert len(set(started)) == len(started)
        assert sorted(started) == sorted(end.call_id for end in ends)
        return [end.status for end in ends]

    @property
    def records(self) -> list[dict[str, Any]]:
        """What the ledger holds."""
        segments = sorted(self.root.glob("state/pi-intent/*/ledger/*.jsonl"))
        assert_records_fit(segments)
        return [json.loads(line) for path in segments for line in path.read_text().splitlines()]

    def decisions(self, *names: str) -> list[tuple[Any, ...]]:
        """These fields of the decisions in the ledger, in their order."""
        return [tuple(record[name] for name in names) for record in self.records if record["t"] == "decision"]


@asynccontextmanager
async def gate_desk(root: Path, **more: Any) -> AsyncIterator[GateDesk]:
    """Open a session in a folder, and close it again."""
    desk = GateDesk(root, **more)
    await desk.runtime.start()
    try:
        yield desk
    finally:
        desk.runtime.close()


def rules_of(question: Question) -> list[str]:
    """The rules because of which somebody is asked."""
    return [reason.rule for reason in question.reasons]


def texts(reasons: Iterable[Any]) -> list[str]:
    return [reason.text for reason in reasons]
