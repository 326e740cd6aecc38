"""Whatever is called, answered and changed: nothing runs but what nobody asks about, or was approved exactly so."""

from __future__ import annotations

import json
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
from gate_desk import GateDesk, gate_desk
from hypothesis import given, settings
from hypothesis import strategies as st

from pi_intent.errors import CallDenied
from pi_intent.gates.configured import Gated
from pi_intent.gates.question import Answer, AskingStopped, Question
from pi_intent.pipeline import OpenCall
from pi_intent.protocols import Settlement

COMMANDS = ["ls", "rm a", "rm b", "cat a; rm a", "$X"]
ASKED = {"rm a", "rm b", "cat a; rm a", "$X"}
"""Those that the rule below finds, as anybody can see."""

RULE = Gated(rules=("deletes",))

_ANSWERS = st.sampled_from(["yes", "session", "no", "note", "raise", "stop", "cancel", "host ends it", "nonsense"])
_ANSWER = st.tuples(_ANSWERS, st.sampled_from([None, *COMMANDS]))
"""What is said, and what the command changes to while it is said."""

_CALL = st.fixed_dictionaries(
    {
        "command": st.sampled_from(COMMANDS),
        "intent": st.sampled_from(["Look", "Clean up", None]),
        "tool": st.sampled_from(["bash", "shell"]),
        "source": st.sampled_from([None, "srv"]),
        "gated": st.sampled_from([RULE, Gated(), Gated(rules=("deletes",), unattended="defer")]),
        "watched": st.sampled_from([True, True, True, False]),
        "answers": st.lists(_ANSWER, min_size=3, max_size=3),
    }
)
_ROUNDS = st.lists(st.lists(_CALL, min_size=1, max_size=3), min_size=1, max_size=6)


@dataclass
class Run:
    """One session, and everything that was approved in it, kept by the test itself."""

    desk: GateDesk
    allowed: dict[str, list[Any]] = field(default_factory=dict)
    granted: set[str] = field(default_factory=set)
    asked: dict[str, int] = field(default_factory=dict)

    async def call(self, step: dict[str, Any]) -> None:
        arguments = {"command": step["command"]}
        if step["intent"] is not None:
            arguments["intent"] = step["intent"]
        opened: list[OpenCall] = []
        person = _Person(self, step, opened) if step["watched"] else None
        try:
            with anyio.CancelScope() as scope:
                step["scope"] = scope
                await self.desk.call(
                    arguments,
                    tool=step["tool"],
                    source=step["source"],
                    gated=step["gated"],
                    person=person,  # type: ignore[arg-type]
                    before=opened.append,
                )
        except CallDenied:
            assert opened[0].settled
        call_id = opened[0].start.call_id
        if call_id in self.desk.ran_by_id:
            self.hold(call_id, step, self.desk.ran_by_id[call_id])

    def hold(self, call_id: str, step: dict[str, Any], arguments: Any) -> None:
        """Nothing ran that was not either unasked-for, granted, or approved with exactly these arguments."""
        unasked = not step["gated"].rules or arguments["command"] not in ASKED
        approved = self.allowed.get(call_id, [])
        assert unasked or key(step, arguments) in self.granted or (approved and approved[-1] == arguments)


def key(step: dict[str, Any], arguments: Any) -> str:
    return json.dumps([step["tool"], step["source"], arguments])


class _Person:
    def __init__(self, run: Run, step: dict[str, Any], opened: list[OpenCall]) -> None:
        self.run, self.step, self.opened = run, step, opened
        self.says = list(step["answers"])

    async def ask(self, question: Question) -> Any:
        run, call_id = self.run, self.opened[0].start.call_id
        run.asked[call_id] = run.asked.get(call_id, 0) + 1
        shown = deepcopy(question.arguments)
        said, change = self.says.pop(0)
        await anyio.lowlevel.checkpoint()
        if change is not None:
            self.opened[0].call.arguments["command"] = change
        match said:
            case "yes" | "session":
                run.allowed.setdefault(call_id, []).append(shown)
                if said == "session" and self.opened[0].call.arguments == shown:
                    run.granted.add(key(self.step, shown))
                return Answer(True, "session" if said == "session" else "once")
            case "raise":
                raise OSError("no screen")
            case "stop":
                raise AskingStopped
            case "cancel":
                self.step["scope"].cancel()
                await anyio.sleep_forever()
            case "host ends it":
                self.opened[0].settle(Settlement(status="interrupted", is_error=True))
                return Answer(True, "session")
            case "nonsense":
                return "yes"
            case "note":
                return Answer(False, note="not that")
        return Answer(False)


@settings(max_examples=150)
@given(rounds=_ROUNDS)
def test_nothing_runs_that_was_not_approved_as_it_runs_and_each_call_ends_once(
    tmp_path_factory: Any, rounds: list[list[dict[str, Any]]]
):
    async def session() -> None:
        async with gate_desk(Path(tmp_path_factory.mktemp("asked"))) as desk:
            run = Run(desk)
            for calls in rounds:
                async with anyio.create_task_group() as group:
                    for step in calls:
                        group.start_soon(run.call, dict(step))
            statuses = desk.statuses
            assert len(statuses) == sum(map(len, rounds))
            assert statuses.count("ok") == len(desk.ran_by_id)
            assert all(count <= 3 for count in run.asked.values())
            # Each question in the ledger got one decision, and nothing was decided twice.
            decided = [record for record in desk.records if record["t"] == "decision" and record["by"]]
            assert len({(record["id"], record["number"]) for record in decided}) == len(decided)

    anyio.run(session)
