"""Where a call can be in its life, as a table: state and event give the next state."""

from __future__ import annotations

from typing import Literal, assert_never, get_args

from pi_intent.characters import has_visible
from pi_intent.events import (
    CheckInDecision,
    CheckInRequest,
    ToolExecutionEnd,
    ToolExecutionStart,
    ToolExecutionUpdate,
    ToolIntentUpdate,
)
from pi_intent.types import Status

State = Literal["pending", "streaming", "declared", "waiting", "running", "settled"]
"""Where a call is.

`pending`: the model has begun to write it, and nothing of its intent is there yet · `streaming`: a part of its intent
is · `declared`: all of it is, and the call has not begun · `waiting`: for a person · `running`: it has begun, here or
in the background · `settled`: it has ended, with a status.
"""

Step = Literal["growing", "complete", "started", "updated", "asked", "approved", "refused", "ended"]
"""What happened to a call.

`growing`, `complete`: more of the intent, and its last piece · `started`: the call was read · `updated`: it goes on ·
`asked`, `approved`, `refused`: a person was asked, and what they said · `ended`.
"""

CallChange = (
    ToolIntentUpdate | ToolExecutionStart | ToolExecutionUpdate | ToolExecutionEnd | CheckInRequest | CheckInDecision
)
"""The events that belong to a call."""

FIRST: State = "pending"
LAST: State = "settled"

TRANSITIONS: dict[State, dict[Step, State]] = {
    "pending": {
        "growing": "streaming",
        "complete": "declared",
        "started": "running",
        "updated": "running",
        "asked": "waiting",
        "ended": "settled",
    },
    "streaming": {
        "complete": "declared",
        "started": "running",
        "updated": "running",
        "asked": "waiting",
        "ended": "settled",
    },
    "declared": {
        "started": "running",
        "updated": "running",
        "asked": "waiting",
        "ended": "settled",
    },
    "waiting": {
        "approved": "running",
        "refused": "declared",
        "updated": "running",
        "ended": "settled",
    },
    "running": {
        "asked": "waiting",
        "ended": "settled",
    },
    "settled": {},
}
"""What leads from a state to another; anything else leaves a call where it is."""


def next_state(state: State, step: Step) -> State:
    """Return the state after a step. There is none after `settled`."""
    return TRANSITIONS[state].get(step, state)


def step_of(event: CallChange) -> Step | None:
    """Tell which step an event is, None for one that says nothing yet."""
    match event:
        case ToolIntentUpdate():
            if not has_visible(event.intent):
                return None
            return "complete" if event.complete else "growing"
        case ToolExecutionStart():
            return "started"
        case ToolExecutionUpdate():
            return "updated"
        case CheckInRequest():
            return "asked"
        case CheckInDecision():
            return "approved" if event.approved else "refused"
        case ToolExecutionEnd():
            return "ended"
        case _:
            assert_never(event)


def mermaid() -> str:
    """Draw the table as a state diagram in Mermaid's language."""
    lines = ["stateDiagram-v2", f"    [*] --> {FIRST}"]
    for state, row in TRANSITIONS.items():
        for target in dict.fromkeys(row.values()):
            steps = ", ".join(step for step, reached in row.items() if reached == target)
            lines.append(f"    {state} --> {target}: {steps}")
    lines += [f"    {LAST} --> [*]", f"    note right of {LAST}: {', '.join(get_args(Status))}"]
    return "\n".join(lines) + "\n"
