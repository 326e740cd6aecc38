"""A ledger that tests write line by line, and what its index answers."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from ledger_events import a_question, a_start, an_end

from pi_intent.events import FileChange, OutcomePatch
from pi_intent.ids import ulid
from pi_intent.ledger.index import open_index
from pi_intent.ledger.keys import Digester
from pi_intent.ledger.record import Recorder, SessionInfo, seal, timestamp
from pi_intent.protocols import CallContext, Settlement
from pi_intent.redaction import Redactor

CONTEXT = CallContext(turn=1, policy="require", profile="lean", bytes_in=10)
NOON = 1_896_091_200.0


class Ledger:
    """Makes the lines of segments, and puts them where the reader looks for them."""

    def __init__(self, root: Path, seed: int = 0) -> None:
        self.root = root
        self.random = random.Random(seed)
        self.now = NOON
        self.recorder = Recorder(Redactor(b"k" * 32, {}), Digester(b"k" * 32), project=("/p",), cwd="/p")
        (root / "ledger").mkdir(parents=True, exist_ok=True)

    def path(self, session: str, writer: str) -> Path:
        return self.root / "ledger" / f"{session}.{writer}.jsonl"

    def session(self, session: str, writer: str) -> bytes:
        info = SessionInfo(session=session, host="tau", agent="main", cwd="/p", version="0")
        return self._line(self.recorder.session(info, record_id=self.id(), ts=self.ts(), writer=writer, pid=1))

    def id(self) -> str:
        return ulid(int(self.now * 1000), self.random.randbytes(10))

    def ts(self) -> str:
        self.now += 1.5
        return timestamp(self.now)

    def call(self, call_id: str, session: str, **more: Any) -> bytes:
        number = self.random.randrange(1000)
        start = a_start(
            **{
                "call_id": call_id,
                "session_id": session,
                "seq": number,
                "tool_name": self.random.choice(["bash", "read", "mcp__x"]),
                "intent": self.random.choice(["Look at \x1b[31mthe\nparser", f"Stop after {number}", None]),
                "rationale": self.random.choice([None, "because  of Straße"]),
                "args": self.random.choice([{"command": "ls -l"}, {"path": "src/a.py", "content": "x"}, {}]),
                "flags": self.random.choice([(), ("copied",)]),
            }
            | more
        )
        return self._line(self.recorder.call(start, CONTEXT, ts=self.ts(), head=None))

    def done(self, call_id: str, **more: Any) -> bytes:
        status = self.random.choice(["ok", "ok", "error", "rejected"])
        change = (FileChange(path="src/b.py", op="modify", pre="hmac:0", post=None),)
        end = an_end(
            **{
                "call_id": call_id,
                "session_id": "s",
                "seq": 0,
                "status": status,
                "is_error": status != "ok",
                "facts": self.random.choice([None, "exit 1"]),
                "outcome": self.random.choice([None, "Stops now"]),
                "outcome_patch": self.random.choice([None, OutcomePatch(from_="a", to="b")]),
                "files": self.random.choice([(), change, change * 300]),
                "codes": ("intent_missing",) if status == "rejected" else (),
            }
            | more
        )
        settlement = Settlement(status=status, is_error=status != "ok", error="1 failed", ran_args={"path": "q"})
        return self._line(self.recorder.done(end, settlement, ts=self.ts(), bytes_in=None, withheld=False))

    def decision(self, call_id: str, **more: Any) -> bytes:
        approved = self.random.choice([None, True, False])
        decision = a_question(
            call_id,
            **{
                "reasons": self.random.choice([("tier exec", "deletes: rm -rf build"), ("always",), ()]),
                "approved": approved,
                "by": None if approved is None else self.random.choice(["person", "nobody"]),
                "note": self.random.choice([None, "Not on a Friday"]),
                "shown": self.random.choice([None, "bash, in /p\n$ rm -rf build"]),
            }
            | more,
        )
        return self._line(self.recorder.decision(decision, ts=self.ts(), withheld=False))

    def _line(self, record: str) -> bytes:
        return seal(record, "")[0]


def answers(root: Path) -> dict[str, Any]:
    """Everything that the index says."""
    with open_index(root) as index:
        return {
            "calls": [*index.calls()],
            "sessions": index.sessions(),
            "problems": [(problem.path, problem.line, problem.text) for problem in index.problems()],
            "others": index.others(),
            "past": [*index.past()],
            "counts": index.counts(),
        }
