"""Draw what a person is asked about one call: what it does, literally, and then what is said of it."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from typing import assert_never

from pi_intent.cards import DiffCard, GenericCard, TerminalCard, call_card, card_to_json
from pi_intent.gates.question import Question
from pi_intent.gates.rules import Reason
from pi_intent.hunks import changes
from pi_intent.labels.literal import literal_lines, literal_pieces, spelled_out
from pi_intent.labels.printable import printable

MOST_LINES = 1_000
"""Of the literal action; nobody reads more, and a line says that there is more."""

_MOST_SAID = 600  # columns of an intent or a rationale
_MOST_PIECE = 200
_LONGEST_LINE = 2_000


def question_lines(question: Question, *, width: int) -> list[str]:
    """Return the question as plain lines of at most `width` columns, safe for any screen.

    A line of the action begins with a mark: `$`, `|`, `-`, `+` or a space; one of what the agent says with `>`. Every
    other line is ours.
    """
    return [
        *_action(question, width),
        *_asked_because(question, width),
        *_said(question, width),
        *_pack(question, width),
    ]


def action_length(question: Question, *, width: int) -> int:
    """Return how many of the first lines of a question are the literal action."""
    return sum(1 for _ in _action(question, width))


def pages(lines: list[str], height: int) -> list[list[str]]:
    """Part lines into pages of at most `height`, at least one."""
    height = max(height, 1)
    return [lines[at : at + height] for at in range(0, len(lines), height)] or [[]]


def _action(question: Question, width: int) -> Iterator[str]:
    situation = question.situation
    source = f" of {situation.tool_source}" if situation.tool_source is not None else ""
    yield from _folded(f"{situation.tool_name}{source}, in {situation.cwd}", width)
    drawn = list(_drawn(question, width))
    yield from drawn[:MOST_LINES]
    if len(drawn) > MOST_LINES:
        yield f"… {len(drawn) - MOST_LINES} more lines are not shown"
    if question.misfit is not None:
        yield from _folded(f"The tool may refuse it: {question.misfit}.", width)


def _drawn(question: Question, width: int) -> Iterator[str]:
    arguments, name = question.arguments, question.situation.tool_name
    card = call_card(name, arguments)
    if question.situation.host == "mcp":  # what its `write` or `edit` does with which argument, only its server knows
        card = GenericCard(title=name, kind="other", raw_input=arguments)
    shown = set()
    match card:
        case TerminalCard(title=command):
            yield from _marked(literal_lines(command, width=width - 2, max_lines=MOST_LINES), "$ ")
            shown = {"command"}
        case DiffCard(title=title, diffs=diffs):
            yield from _marked(literal_lines(title, width=width - 2, max_lines=MOST_LINES), "| ")
            for diff in diffs:
                before = question.before if diff.old_text is None else diff.old_text
                yield from _changed(before, diff.new_text or "", width)
            if question.situation.tool_name == "write" and question.before is None:
                yield "The file does not exist yet." if question.creates else "What it replaces cannot be shown."
            shown = {"path", "content", "edits", "oldText", "newText"}
        case GenericCard(title=title):
            yield from _marked(literal_lines(title, width=width - 2, max_lines=MOST_LINES), "| ")
            shown = {"path", "offset", "limit"} if card.raw_input is None else set()
        case never:
            assert_never(never)
    rest = {name: value for name, value in arguments.items() if name not in shown}
    if rest:
        raw = card_to_json(GenericCard(title="", kind="other", raw_input=rest)).partition('"rawInput":')[2][:-1]
        yield from _marked(literal_lines(raw, width=width - 2, max_lines=MOST_LINES), "| ")


def _changed(before: str | None, after: str, width: int) -> Iterator[str]:
    script, more = changes(before, after) if before else ([], 1)
    if more:  # too much to be matched: what goes and what comes, whole
        script = [f"-{line}" for line in (before or "").splitlines()] + [f"+{line}" for line in after.splitlines()]
    for line in script[:MOST_LINES]:
        for number, piece in enumerate(literal_pieces(line[1:_LONGEST_LINE], width=width - 2)):
            yield f"{line[0] if not number else '|'} {piece}"
        if len(line) > _LONGEST_LINE:
            yield f"… {len(line) - _LONGEST_LINE} more characters of this line are not shown"
    if len(script) > MOST_LINES:
        yield f"… {len(script) - MOST_LINES} more lines are not shown"


def _asked_because(question: Question, width: int) -> Iterator[str]:
    yield from _folded(f"Asked because of: {'; '.join(map(reason_text, question.reasons))}", width)
    if question.number > 1:
        yield from _folded("Asked again: the arguments changed after they were approved.", width)


def reason_text(reason: Reason) -> str:
    """Return a reason as one line, with the literal piece of the call that gave it."""
    piece = printable(spelled_out(reason.text), width=_MOST_PIECE)
    return printable(f"{reason.rule} ({piece})" if piece else reason.rule, width=_MOST_PIECE * 2)


def _said(question: Question, width: int) -> Iterator[str]:
    if question.intent is not None:
        yield "The agent says, unverified:"
        yield from _quoted(question.intent, width)
    elif question.shows_words:
        yield "The agent does not say what it is for."
    if question.rationale is not None:
        yield "and points at:"
        yield from _quoted(question.rationale, width)


def _pack(question: Question, width: int) -> Iterator[str]:
    evidence = question.evidence
    if evidence is None:
        return
    yield from _part("What it would do", [f"{what}: {piece}" for what, piece in evidence.does], width)
    yield from _part("Read before", [f"{path}: {seen}" for path, seen in evidence.read], width)
    yield from _part("The evidence it names", [f"{place}: {found}" for place, found in evidence.pointers], width)
    yield from _part("Doubts about its words", evidence.notes, width)
    led = [
        f"{call.tool} {call.target} ({call.status or 'running'})" + (f", for: {call.intent}" if call.intent else "")
        for call in evidence.led
    ]
    yield from _part("Before it ran", led, width)


def _part(title: str, items: Iterable[str], width: int) -> Iterator[str]:
    for number, item in enumerate(items):
        if number == 0:
            yield f"{title}:"
        yield from _folded(item, width, mark="> ")


def _quoted(text: str, width: int) -> Iterator[str]:
    yield from _folded(text, width, mark="> ")


def _folded(text: str, width: int, mark: str = "") -> Iterator[str]:
    line = printable(spelled_out(text[: 8 * _MOST_SAID]) if not mark else text, width=_MOST_SAID)
    for piece in textwrap.wrap(line, width - len(mark)) or [""]:
        yield f"{mark}{printable(piece, width=width - len(mark))}"


def _marked(lines: Iterable[str], first: str) -> Iterator[str]:
    for number, line in enumerate(lines):
        yield f"{first if not number else '| '}{line}"
