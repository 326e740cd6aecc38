"""Draw what a person is asked about one call: what it does, literally and whole, and then what is said of it.

Every line with text that is not ours begins with a mark, so nothing in a call can imitate a line of ours:

    $  a line of a command                       -  +  a line that goes, a line that comes
    =  a path, or an argument with its value     two spaces: a line that stays, or one of a long argument
    >  what the agent says, or what was found    |  the line above goes on
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator

from pi_intent.gates.kinds import Reason
from pi_intent.gates.question import Question
from pi_intent.hunks import changes
from pi_intent.labels.literal import at_words, whole_line, whole_pieces
from pi_intent.labels.printable import printable
from pi_intent.render.basis import ALSO, DOES, DOUBTS, EARLIER, NAMED, READ, given
from pi_intent.types import JSONObject, JSONValue

MARKS = ("$ ", "= ", "- ", "+ ", "  ", "> ", "| ")
NARROWEST = 20
"""Columns below which nothing is drawn as it should be read."""

_GOES_ON = "| "
_MOST_SAID = 600  # columns of an intent or a rationale
_MOST_PIECE = 200
_MOST_EARLIER = 120
_PLAIN = re.compile(r"[\w@:./~+-]+", re.ASCII)


def question_lines(question: Question, *, width: int) -> list[str]:
    """Return the question as plain lines of at most `width` columns, at least `NARROWEST`, safe for any screen.

    The literal action comes first, and all of it is there. A line that does not begin with one of `MARKS` is ours.
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


def is_ours(line: str) -> bool:
    """Say whether a line of a question holds nothing but words of ours, and names that stand in quotes."""
    return not line.startswith(MARKS)


def _action(question: Question, width: int) -> Iterator[str]:
    situation = question.situation
    source = "" if situation.tool_source is None else f" of {_name(situation.tool_source)}"
    yield from _folded("", f"Wants to run {_name(situation.tool_name)}{source} in {_name(situation.cwd)}", width)
    yield from _drawn(question, width)
    if question.given:
        yield from _ours(f"{given([_name(name) for name in question.given])}.", width)
    if question.misfit is not None:
        yield from _ours("The tool may refuse it:", width)
        yield from _quoted(question.misfit, width)


def _name(name: str) -> str:
    """Return a name as it is, or in quotes where it could be taken for more than a name."""
    return name if _PLAIN.fullmatch(name) else json.dumps(name, ensure_ascii=False)


def _drawn(question: Question, width: int) -> Iterator[str]:
    """Draw the arguments, each of them and the whole of it."""
    rest = dict(question.arguments)
    situation = question.situation
    # What a server's `write` or `edit` does with which argument, only that server knows.
    match "" if situation.host == "mcp" else situation.tool_name, rest:
        case "bash", {"command": str(command)}:
            del rest["command"]
            for line in command.split("\n"):
                yield from _folded("$ ", line, width)
        case "read", {"path": str(path)}:
            del rest["path"]
            yield from _folded("= ", path, width)
        case "write", {"path": str(path), "content": str(content)}:
            del rest["path"], rest["content"]
            yield from _folded("= ", path, width)
            yield from _written(question, content, width)
        case "edit", {"path": str(path), "edits": list(edits)} if pairs := _pairs(edits):
            del rest["path"], rest["edits"]
            yield from _folded("= ", path, width)
            for number, (old, new) in enumerate(pairs, start=1):
                if len(pairs) > 1:
                    yield f"Change {number} of {len(pairs)}:"
                yield from _changed(old, new, width)
    yield from _arguments(rest, width)
    if not question.arguments:
        yield from _ours("It has no arguments.", width)


def _pairs(edits: list[JSONValue]) -> list[tuple[str, str]]:
    """Return the old and new texts of edits; none where one is anything else, and all is drawn as it stands."""
    pairs = [
        (old, new) if isinstance(old, str) and isinstance(new, str) else None
        for edit in edits
        for old, new in [(edit.get("oldText"), edit.get("newText")) if _is_plain(edit) else (None, None)]  # type: ignore[union-attr]
    ]
    return [pair for pair in pairs if pair is not None] if None not in pairs else []


def _is_plain(edit: JSONValue) -> bool:
    return isinstance(edit, dict) and edit.keys() == {"oldText", "newText"}


def _arguments(arguments: JSONObject, width: int) -> Iterator[str]:
    for name, value in arguments.items():
        called = json.dumps(name, ensure_ascii=False)
        if isinstance(value, str) and "\n" in value:
            yield from _folded("= ", f"{called}:", width)
            for line in value.split("\n"):
                yield from _folded("  ", line, width)
        else:
            yield from _folded("= ", f"{called}: {json.dumps(value, ensure_ascii=False)}", width)


def _written(question: Question, content: str, width: int) -> Iterator[str]:
    yield from _changed(question.before or "", content, width)
    if question.before is None:
        yield from _ours(
            "The file does not exist yet." if question.creates else "What it replaces cannot be shown.", width
        )
    if not content:
        yield from _ours("The file is empty then.", width)
    elif not content.endswith("\n"):
        yield from _ours("Its last line has no line end.", width)


def _changed(before: str, after: str, width: int) -> Iterator[str]:
    script, more = changes(before, after) if before else ([], 1)
    if more:  # too much to be matched: what goes and what comes, whole
        script = [f"-{line}" for line in _lines(before)] + [f"+{line}" for line in _lines(after)]
    for line in script:
        yield from _folded(f"{line[0]} ", line[1:], width)
    staying = len(_lines(after)) - sum(line[0] != "-" for line in script)
    if staying > 0:
        yield from _ours(f"{staying} more line{' stays as it is.' if staying == 1 else 's stay as they are.'}", width)


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    return lines if lines[-1] else lines[:-1]


def _asked_because(question: Question, width: int) -> Iterator[str]:
    yield "Asked because of:"
    for reason in question.reasons:
        yield from _quoted(reason_text(reason), width)
    if question.number > 1:
        yield from _ours("Asked again: the arguments changed after they were approved.", width)


def reason_text(reason: Reason) -> str:
    """Return a reason as one line, with the literal piece of the call that gave it."""
    piece = whole_line(reason.text, width=_MOST_PIECE)
    rule = whole_line(reason.rule, width=_MOST_PIECE)
    return f"{rule}: {piece}" if piece else rule


def _said(question: Question, width: int) -> Iterator[str]:
    if question.intent is not None:
        yield from _ours("The agent says, unverified:", width)
        yield from _quoted(printable(question.intent, width=_MOST_SAID), width)
    elif question.shows_words:
        said = "does not say" if question.intent_asked else "was not asked"
        yield from _ours(f"The agent {said} what it is for.", width)
    if question.rationale is not None:
        yield "and points at:"
        yield from _quoted(printable(question.rationale, width=_MOST_SAID), width)


def _pack(question: Question, width: int) -> Iterator[str]:
    evidence = question.evidence
    if evidence is None:
        return
    asked = {reason.text for reason in question.reasons}  # what stands there already
    does = [f"{what}: {piece}" if piece else what for what, piece in evidence.does if not piece or piece not in asked]
    yield from _part(DOES if len(does) == len(evidence.does) else ALSO, does, width)
    yield from _part(READ, [f"{path}: {seen}" for path, seen in evidence.read], width)
    yield from _part(NAMED, [f"{place}: {found}" for place, found in evidence.pointers], width)
    yield from _part(DOUBTS, evidence.notes, width)
    led = [
        f"{f'{call.tool} {whole_line(call.action, width=_MOST_EARLIER)}'.rstrip()} ({call.status or 'running'})"
        + (f", for: {printable(call.intent, width=_MOST_EARLIER)}" if call.intent else "")
        for call in evidence.led
    ]
    yield from _part(EARLIER, led, width)


def _part(title: str, items: Iterable[str], width: int) -> Iterator[str]:
    for number, item in enumerate(items):
        if number == 0:
            yield from _ours(title, width)
        yield from _quoted(item, width)


def _ours(text: str, width: int) -> Iterator[str]:
    return iter(at_words(text, width))


def _quoted(text: str, width: int) -> Iterator[str]:
    for number, piece in enumerate(at_words(whole_line(text, width=_MOST_SAID), width - 2) or [""]):
        yield f"{_GOES_ON if number else '> '}{piece}"


def _folded(mark: str, line: str, width: int) -> Iterator[str]:
    """Draw one whole line, folded where it is too long for the screen."""
    for number, piece in enumerate(whole_pieces(line, width=width - 2)):
        yield f"{_GOES_ON if number else mark}{piece}"
