"""The states of a call are what the table and the page say."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, get_args

from label_events import texts

from pi_intent.labels.lifecycle import FIRST, LAST, TRANSITIONS, State, Step, mermaid, next_state
from pi_intent.sinks import PROCESS

PAGE = (Path(__file__).parents[2] / "docs" / "labels.md").read_text(encoding="utf-8")


def test_every_state_can_be_reached_and_every_other_state_can_end():
    assert set(TRANSITIONS) == set(get_args(State))
    reached, waiting = set(), [FIRST]
    while waiting:
        state = waiting.pop()
        if state not in reached:
            reached.add(state)
            waiting += TRANSITIONS[state].values()
    assert reached == set(TRANSITIONS)
    assert {state for state in TRANSITIONS if next_state(state, "ended") == LAST} == set(TRANSITIONS)


def test_nothing_leads_out_of_the_last_state_or_back_to_the_first():
    assert TRANSITIONS[LAST] == {}
    for step in get_args(Step):
        assert next_state(LAST, step) == LAST
    assert FIRST not in {target for row in TRANSITIONS.values() for target in row.values()}


def test_the_page_shows_the_diagram_of_the_table():
    (drawn,) = re.findall(r"<!-- generated .*? -->\n```mermaid\n(.*?)```\n<!-- end", PAGE, flags=re.DOTALL)
    assert drawn == mermaid(), "put the output of pi_intent.labels.lifecycle.mermaid() into docs/labels.md"
    for state in TRANSITIONS:
        assert f"| `{state}` |" in PAGE


def test_the_python_on_the_page_runs(calls):
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
    scope: dict[str, Any] = {}
    exec(code, scope)
    PROCESS.emit(calls.starts("a", "Look"))
    scope["stop"]()
    PROCESS.emit(calls.starts("b", "Not seen"))
    assert texts(scope["board"]) == ["Look"]
