"""Notes on real calls are right: each one that is given was read by eye and judged."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path

import pytest
from notes_sample import WANTED, honest_calls, sample_sessions, stated_calls

from pi_intent.notes import Note, notes_of

SAMPLES = Path(os.environ["PI_INTENT_SAMPLES"])
JUDGED = json.loads((Path(__file__).parents[1] / "cases" / "notes_judged.json").read_text(encoding="utf-8"))["judged"]
RIGHT = {(key, group["kind"]): group["right"] for group in JUDGED for key in group["calls"]}
MOST_WRONG = 0.02


@pytest.fixture(scope="module")
def given() -> dict[str, tuple[Note, ...]]:
    """The notes on all sessions, by call."""
    return {key: notes for calls in sample_sessions(SAMPLES) for key, notes in notes_of(calls).items()}


def test_of_200_honest_calls_at_most_two_per_cent_carry_a_wrong_note(
    given: dict[str, tuple[Note, ...]], capsys: pytest.CaptureFixture[str]
) -> None:
    honest = honest_calls(SAMPLES)
    noted = [(key, note) for key in honest for note in given.get(key, ())]
    wrong = {key for key, note in noted if not RIGHT.get((key, note.kind), False)}
    with capsys.disabled():
        print(f"\n{len(honest)} calls, {len({key for key, _ in noted})} with a note, {len(wrong)} with a wrong one")
        for key, note in noted:
            verdict = "wrong" if key in wrong else "right"
            print(f"  {verdict}  {note.kind:16} {key.rpartition('/')[2]}  {note.text}")
    assert len(honest) == WANTED
    assert len(wrong) <= MOST_WRONG * WANTED


def test_every_note_on_a_real_call_is_judged_and_each_judged_one_is_given(given: dict[str, tuple[Note, ...]]) -> None:
    found = {(key, note.kind) for key in stated_calls(SAMPLES) for note in given.get(key, ())}
    assert found == set(RIGHT)
    assert Counter(RIGHT.values())[False] <= MOST_WRONG * len(stated_calls(SAMPLES))
