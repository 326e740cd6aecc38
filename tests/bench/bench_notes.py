"""Set the notes and the figures of 100,000 calls beside reading the same calls with json.loads, in one run.

Run: python tests/bench/bench_notes.py

Seconds are of processor time.
"""

from __future__ import annotations

import json
import time
import tracemalloc
from collections.abc import Callable

from pi_intent.notes import notes_of
from pi_intent.past import PastCall
from pi_intent.stats import stats_of

CALLS = 100_000
SESSION = 200

_TURNS = (
    ("read", {"path": "src/pages/p{n}.py"}, "Find out where p{n} takes the bound of its pages from"),
    ("bash", {"command": "grep -rn 'bound{n}' src | head -20"}, "See who else uses bound{n}, before it is renamed"),
    ("edit", {"path": "src/pages/p{n}.py"}, "Count pages of p{n} from one, as the users see them"),
    ("bash", {"command": "cd app && pytest -q tests/test_p{n}.py 2>&1 | tail -5"}, "Run the tests of p{n}"),
    ("bash", {"command": "git add -A && git commit -m 'Count from one in p{n}'"}, "Commit the change of p{n}"),
)


def history() -> list[PastCall]:
    """Return calls of sessions of 200, no two alike, with a rejected one and a failed one in each hundred."""
    calls = []
    for number in range(CALLS):
        tool, args, intent = _TURNS[number % len(_TURNS)]
        rejected = number % 100 == 50
        calls.append(
            PastCall(
                id=f"{number:026}", session=f"s{number // SESSION}", host="tau", agent="main", group=f"g{number}",
                turn=number, seq=number, ts=f"2030-01-31T12:{number // 60 % 60:02}:{number % 60:02}.000Z", tool=tool,
                tool_source=None, intent=None if rejected else intent.format(n=number),
                intent_source="absent" if rejected else "model",
                rationale=f"tests/test_p{number}.py:12 expects it" if number % 3 == 0 else None,
                args={name: text.format(n=number) for name, text in args.items()}, policy="require", flags=(),
                model=f"model-{number % 3}",
                status="rejected" if rejected else "error" if number % 100 == 73 else "ok",
                codes=("intent_missing",) if rejected else (),
            )
        )  # fmt: skip
    return calls


def seconds(work: Callable[[], object]) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun


def all_notes(calls: list[PastCall]) -> None:
    for begin in range(0, len(calls), SESSION):
        notes_of(calls[begin : begin + SESSION])


if __name__ == "__main__":
    calls = history()
    lines = [json.dumps(call) for call in calls]
    loads = seconds(lambda: [json.loads(line) for line in lines])
    print(f"{CALLS:,} calls, json.loads of the same      {loads:6.2f} s")
    for what, work in (
        ("notes_of", lambda: all_notes(calls)),
        ("stats_of without notes", lambda: stats_of(calls, with_notes=False)),
        ("stats_of with notes", lambda: stats_of(calls)),
    ):
        took = seconds(work)
        print(f"{what:42} {took:6.2f} s   {took / loads:5.1f} x   {took / CALLS * 1e6:5.1f} us a call")
    tracemalloc.start()
    stats_of(calls)
    print(f"{'memory of stats_of with notes, at most':42} {tracemalloc.get_traced_memory()[1] / 2**20:6.1f} MiB")
