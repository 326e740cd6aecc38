"""The calls of `cases/consent_attacks.json`, and the questions that are put about them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from pi_intent.events import ToolExecutionStart
from pi_intent.gates.evidence import gather
from pi_intent.gates.history import History
from pi_intent.gates.kinds import Reason
from pi_intent.gates.question import Question
from pi_intent.gates.rules import reasons_to_ask
from pi_intent.gates.situation import Situation

PROJECT = "/srv/app"


class Attack(NamedTuple):
    """One case: a call, what is said of it, and what it is about."""

    name: str
    kind: str
    tool: str
    args: dict[str, Any]
    intent: str | None
    rationale: str | None
    tool_source: str | None
    cwd: str
    host: Any

    @property
    def start(self) -> ToolExecutionStart:
        return ToolExecutionStart(
            call_id="c1", tool_call_id="t1", session_id="s1", agent_id="main", group_id="g1", seq=1, host=self.host,
            tool_name=self.tool, args=self.args, intent=self.intent, rationale=self.rationale,
            intent_source="absent" if self.intent is None else "model", tool_source=self.tool_source, flags=(),
        )  # fmt: skip


def _built(parts: list[Any]) -> str:
    return "".join(part if isinstance(part, str) else part[0] * part[1] for part in parts)


def _attack(case: dict[str, Any]) -> Attack:
    case = json.loads(json.dumps(case))
    for place, parts in case.get("parts", {}).items():
        if place in ("intent", "rationale"):
            case[place] = _built(parts)
            continue
        name, *inner = place.split(".")
        if not inner:
            case["args"][name] = _built(parts)
        else:
            edits = case["args"].setdefault(name, [{}])
            edits[int(inner[0])][inner[1]] = _built(parts)
    return Attack(
        case["name"], case["kind"], case["tool"], case["args"], case.get("intent"), case.get("rationale"),
        case.get("tool_source"), case.get("cwd", PROJECT), case.get("host", "tau"),
    )  # fmt: skip


ATTACKS = [
    _attack(case)
    for case in json.loads((Path(__file__).parent / "cases" / "consent_attacks.json").read_text("utf-8"))["cases"]
]


class Nothing:
    """A disk on which there is nothing."""

    def resolve(self, path: str) -> str:
        return path

    def expand(self, path: str) -> str:
        return path

    def exists(self, path: str) -> bool:
        return False

    def text(self, path: str) -> str | None:
        return None


RULES = ("dangers", "outside", "unclear")


def question_of(attack: Attack, *, intent: str | None = "", rationale: str | None = "") -> Question:
    """Return the question about a case, with its own words or, where others are given, with those."""
    situation = Situation(
        tool_name=attack.tool, tool_source=attack.tool_source, cwd=attack.cwd, project=PROJECT, host=attack.host,
        session_id="s1",
    )  # fmt: skip
    start = attack.start
    intent = attack.intent if intent == "" else intent
    rationale = attack.rationale if rationale == "" else rationale
    reasons = reasons_to_ask(RULES, attack.args, situation, Nothing(), stated=intent is not None)
    notes = [note.text for note in History().notes_on(start, attack.args)]
    return Question(
        call_id="c1",
        situation=situation,
        arguments=attack.args,
        reasons=(*reasons, Reason("tier exec")),
        digest="hmac:00",
        creates=attack.tool == "write",
        intent=intent,
        rationale=rationale,
        evidence=gather(attack.args, situation, Nothing(), (), rationale=rationale, notes=notes),
    )
