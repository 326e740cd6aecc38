"""Say in plain lines what a board of labels shows: the header of the running group, and the calls of a turn.

The texts are those of models and tools: every line is made safe here, and is literal text for whoever draws it.
"""

from __future__ import annotations

from collections.abc import Sequence

from pi_intent.labels.board import CallLabel, GroupHeader, LabelBoard, twin_tails
from pi_intent.labels.literal import literal
from pi_intent.labels.printable import printable
from pi_intent.types import Status

SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
STILL = "▸"
"""Stands for the spinner where nothing may move."""

MARKS: dict[Status, str] = {
    "ok": "✓",
    "rejected": "↺",
    "denied": "⊘",
    "cancelled": "⊘",
    "interrupted": "⊘",
    "timeout": "✗",
    "error": "✗",
}


def header_line(header: GroupHeader | None, *, width: int, spinner: str = STILL, child: str | None = None) -> str:
    """Return the header of a group as one line, "" where there is none.

    `child` is what a session does that runs inside of the call: it stands after the call's own intent.
    The intent of a call that failed stays what it was: the mark and the status say what came of it.
    """
    if header is None:
        return ""
    status = None if header.call is None else header.call.status
    mark = spinner if header.in_flight else MARKS["ok" if status is None else status]
    framed = "" if status in (None, "ok") else f" · {status}"
    tail = printable(framed + header.tail, width=max(1, width // 2))
    room = max(1, width - len(mark) - 2 - len(tail))
    if child is not None:
        room = max(1, room // 2)
        return f"{mark} {printable(header.text, width=room)} · {printable(child, width=room - 3)} {tail}".rstrip()
    return f"{mark} {printable(header.text, width=room)} {tail}".rstrip()


def turn_lines(labels: Sequence[CallLabel], *, width: int, most: int, spinner: str = STILL) -> list[str]:
    """Return the calls of a turn, the newest last: the label, and after it what came of it."""
    tails = twin_tails(labels, width=width)
    lines = [_call_line(label, tails.get(label.call_id, ""), width, spinner) for label in labels[-most:]]
    hidden = len(labels) - len(lines)
    return [f"… {hidden} earlier", *lines] if hidden else lines


def _call_line(label: CallLabel, tail: str, width: int, spinner: str) -> str:
    mark = spinner if label.status is None else MARKS[label.status]
    came = label.facts or ("" if label.status in (None, "ok") else label.status)
    after = printable(tail + (f" · {came}" if came else ""), width=max(1, width * 2 // 3))
    room = max(1, width - 3 - len(after))
    if label.text:
        said = printable(label.text, width=room)
    else:
        said = literal(f"{label.tool_name} {label.target}" if label.target else label.tool_name, width=room)
    return f"{mark} {said} {after}".rstrip()


def full_text(board: LabelBoard) -> str:
    """Return everything there is to read of the latest group, uncut but for what could hurt a screen."""
    if board.header is None:
        return "No call yet."
    lines: list[str] = []
    for label in board.labels:
        if label.group_id != board.header.group_id:
            continue
        lines += [
            printable(label.text or "(no intent stated)", width=4096),
            f"  {label.tool_name} {literal(label.target or '', width=4096)}",
            f"  {label.status or label.state}{f' · {printable(label.facts)}' if label.facts else ''}",
            "",
        ]
    return "\n".join(lines)
