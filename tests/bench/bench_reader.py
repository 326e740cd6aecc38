"""Set the label reader beside reparsing what has arrived, on large writes in 20-character pieces, in one run.

Run: python tests/bench/bench_reader.py

Seconds are of processor time. A run that takes too long is stopped; what was left of it is estimated from single
pieces fed at even distances, and the number says so with a ≈.
"""

from __future__ import annotations

import importlib
import json
import textwrap
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from pydantic_core import from_json

from pi_intent.labels.reader import IntentReader

PIECE = 20
BUDGET = 0.4
SAMPLES = 8
CASES = json.loads((Path(__file__).parents[1] / "cases" / "streamed_labels.json").read_text(encoding="utf-8"))[
    "cases"
]
MORE_CASES: dict[str, tuple[list[str], list[str]]] = {
    "lone-half-then-text": ([r'{"intent":"x\ud83d', ' y"}'], ["x", "x\ufffd y"]),
    "lone-low-half": ([r'{"intent":"\ude80"}'], ["\ufffd"]),
    "lone-half-in-content": ([r'{"content":"\ud83d","intent":"Look"}'], ["Look"]),
    "unescaped-halves": (['{"intent":"\ud83d', '\ude80"}'], ["\U0001f680"]),
    "raw-newline": (['{"intent":"a\nb"}'], ["a\nb"]),
    "raw-newline-in-content": (['{"content":"a\nb","intent":"Look"}'], ["Look"]),
    "deep": (['{"a":', "[" * 300, "]" * 300, ',"intent":"Look"}'], ["Look"]),
    "long-number": (['{"a":', "1" * 5000, ',"intent":"Look"}'], ["Look"]),
    "small-pieces": (
        ['{"intent":"' + "Look at it " * 9, "on", "ce", '"'],
        ["Look at it " * 9 + end for end in ("", "on", "once")],
    ),
    "after-the-end": (['{"intent":"Look"}', '{"intent":"no"}'], ["Look"]),
}

type Parse = Callable[[bytearray, bool], Any]
"""Parses the beginning of a JSON text; says whether a text value that has not ended is part of it."""


class Reader(Protocol):
    def feed(self, text: str, /) -> str | None: ...


class Reparser:
    """Keeps all that came and parses it again: on each piece, on growth, or until the intent has ended."""

    def __init__(self, parse: Parse, *, grown_by: float = 0, stops: bool = False) -> None:
        self.buffer = bytearray()  # grows in place, which a string that is an attribute does not
        self.grown_by = grown_by
        self._parse, self._stops = parse, stops
        self._parsed = 0
        self._shown: str | None = None
        self._complete = False

    def feed(self, text: str) -> str | None:
        if self._complete:
            return None
        self.buffer += text.encode("utf-8", "surrogatepass")
        if len(self.buffer) < self._parsed * (1 + self.grown_by):
            return None
        self._parsed = len(self.buffer)
        intent = self._intent(True)
        if self._stops and intent is not None:
            self._complete = self._intent(False) is not None
        if not intent or intent == self._shown:
            return None
        self._shown = intent
        return intent

    def _intent(self, unfinished: bool) -> str | None:
        try:
            value = self._parse(self.buffer, unfinished)
        except ValueError:
            return None
        intent = value.get("intent") if isinstance(value, dict) else None
        return intent if isinstance(intent, str) else None


def parsers() -> dict[str, Parse]:
    found: dict[str, Parse] = {
        "pydantic": lambda text, unfinished: from_json(text, allow_partial="trailing-strings" if unfinished else True)
    }
    try:
        jiter = importlib.import_module("jiter")
    except ImportError:
        print("jiter is not installed: its lines are missing\n")
        return found
    found["jiter"] = lambda text, unfinished: jiter.from_json(
        bytes(text), partial_mode="trailing-strings" if unfinished else "on"
    )
    return found


def approaches() -> dict[str, Callable[[], Reader]]:
    made: dict[str, Callable[[], Reader]] = {"IntentReader": IntentReader}
    for name, parse in parsers().items():
        made[f"{name}, each piece"] = lambda parse=parse: Reparser(parse)
        made[f"{name}, grown by 1/8"] = lambda parse=parse: Reparser(parse, grown_by=1 / 8)
        made[f"{name}, until complete"] = lambda parse=parse: Reparser(parse, stops=True)
    return made


def write_arguments(characters: int, *, intent_first: bool) -> str:
    line = '    total = add("left", right)  # as the tests expect\n'
    content = line * (characters // (len(json.dumps(line)) - 2))
    intent = {"intent": "Write the module that the failing tests import"}
    rest = {"path": "src/module.py", "content": content}
    return json.dumps({**intent, **rest} if intent_first else {**rest, **intent})


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What one reader did with one call: seconds to the first label and in all, and how late the label was."""

    first: float | None
    late: int | None
    total: float
    estimated: bool


def run(reader: Reader, text: str) -> Run:
    pieces = [text[at : at + PIECE] for at in range(0, len(text), PIECE)]
    due = (text.index('"intent": "') + len('"intent": "')) // PIECE
    first = late = None
    parses_each = isinstance(reader, Reparser) and not reader.grown_by
    start = time.process_time()
    for number, piece in enumerate(pieces):
        shown = reader.feed(piece)
        if shown is not None and first is None:
            first, late = time.process_time() - start, number - due
        if parses_each and number % 64 == 0 and time.process_time() - start > BUDGET:
            break
    total = time.process_time() - start
    left = len(pieces) - 1 - number
    if left == 0 or not isinstance(reader, Reparser):
        return Run(first=first, late=late, total=total, estimated=False)
    each = []
    for sample in range(SAMPLES):
        at = number + 1 + left * (2 * sample + 1) // (2 * SAMPLES)
        reader.buffer = bytearray(text[: at * PIECE], "ascii")
        start = time.process_time()
        reader.feed(pieces[at])
        each.append(time.process_time() - start)
    total += left * sum(each) / SAMPLES
    return Run(first=first or total, late=late or 0, total=total, estimated=True)


def seconds(value: float) -> str:
    return f"{value:,.0f} s" if value >= 100 else f"{value:.2f} s" if value >= 0.1 else f"{value * 1e3:.3f} ms"


def compare(made: dict[str, Callable[[], Reader]]) -> None:
    print(
        f"`write` in {PIECE}-character pieces; late: pieces between the intent's first character and its first label"
    )
    for megabytes in (1, 10):
        for intent_first in (True, False):
            text = write_arguments(megabytes * 1_000_000, intent_first=intent_first)
            title = f"{megabytes} MB, intent {'first' if intent_first else 'last'}"
            print(f"\n{title:<28} {'first label':>11} {'late':>7} {'total':>12}")
            for name, make in made.items():
                run(make(), write_arguments(1_000, intent_first=intent_first))  # warms it up
                took = run(make(), text)
                about = "≈" if took.estimated else ""
                guessed = about if took.first is not None and took.first == took.total else ""
                first = "never" if took.first is None else guessed + seconds(took.first)
                late = "" if took.late is None else str(took.late)
                print(f"  {name:<26} {first:>11} {late:>7} {about + seconds(took.total):>12}", flush=True)


def failures(made: dict[str, Callable[[], Reader]]) -> None:
    cases = {case["id"]: (case["pieces"], case["updates"]) for case in CASES} | MORE_CASES
    print(f"\non {len(cases)} cases; a reparser that raises on one counts as failing it")
    for name, make in made.items():
        wrong: dict[str, list[str]] = {"wrong at the end": [], "wrong on the way": []}
        for case, (pieces, expected) in cases.items():
            reader = make()
            try:
                reported = [text for piece in pieces if (text := reader.feed(piece))]
            except Exception as error:
                reported = [type(error).__name__]
            if reported != expected:
                wrong["wrong at the end" if reported[-1:] != expected[-1:] else "wrong on the way"].append(case)
        listed = "; ".join(f"{kind}: {', '.join(names)}" for kind, names in wrong.items() if names) or "none"
        print(textwrap.fill(listed, 112, initial_indent=f"  {name:<26} ", subsequent_indent=" " * 29))


def growth() -> None:
    body = '    total = add("left", right)  # as the tests expect\n'
    shapes: dict[str, Callable[[int], str]] = {
        "write, intent first": lambda n: write_arguments(n, intent_first=True),
        "write, intent last": lambda n: write_arguments(n, intent_first=False),
        "edits, intent last": lambda n: json.dumps({"edits": [{"oldText": body}] * (n // 70), "intent": "Look"}),
        "an intent as long": lambda n: json.dumps({"intent": body * (n // 56)}),
        "escapes only": lambda n: json.dumps({"content": "\n" * (n // 2), "intent": "Look"}),
    }
    print("\nIntentReader, best of 7 on 1 MB and on 2 MB, taken in turn: ratio ≤ 2.2 is linear")
    for name, shape in shapes.items():
        texts = [shape(size) for size in (1_000_000, 2_000_000)]
        rounds = [[run(IntentReader(), text).total for text in texts] for _ in range(7)]
        best = [min(took) for took in zip(*rounds, strict=True)]
        print(f"  {name:<26} {seconds(best[0]):>11} {seconds(best[1]):>12}   ratio {best[1] / best[0]:.2f}")


if __name__ == "__main__":
    everyone = approaches()
    compare(everyone)
    failures(everyone)
    growth()
