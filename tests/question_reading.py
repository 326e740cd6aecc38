"""Read a question back from its lines alone, and hold it to all that holds of every question."""

from __future__ import annotations

import json
import re
from typing import Any

from rich.cells import cell_len

from pi_intent.characters import UNSEEN
from pi_intent.gates.question import Question
from pi_intent.labels.literal import spelled
from pi_intent.render.check_in import MARKS, action_length, is_ours, question_lines

WIDTHS = (40, 60, 80, 100, 120)

_STAYS = r"\d+ more lines? stays? as (?:it is|they are)\."
_OURS = [
    r"Wants to run .*",
    r"The tool may refuse it:",
    r"It has no arguments\.",
    r"It is given the credentials? .*\.",
    r"Change \d+ of \d+:",
    r"The file does not exist yet\.",
    r"What it replaces cannot be shown\.",
    r"The file is empty then\.",
    r"Its last line has no line end\.",
    _STAYS,
    r"Asked because of:",
    r"Asked again: the arguments changed after they were approved\.",
    r"The agent says, unverified:",
    r"The agent (?:does not say|was not asked) what it is for\.",
    r"and points at:",
    r"What it would do:",
    r"Read before:",
    r"The evidence it names:",
    r"Doubts about its words:",
    r"Earlier in this session:",
    r"It would also:",
]
_NAME = r'(?:[\w@:./~+-]+|"(?:[^"\\]|\\.)*")'
_HEADER = re.compile(rf"Wants to run {_NAME}(?: of {_NAME})? in {_NAME}")


def unfolded(lines: list[str]) -> str:
    """Return lines of a question as one text, those that go on put together."""
    whole: list[str] = []
    for line in lines:
        if line.startswith("| ") and whole:
            whole[-1] += line.removeprefix("| ")
        else:
            whole.append(line)
    return "\n".join(whole)


def assert_safe(question: Question, width: int) -> list[str]:
    """Every line fits and moves nothing, the action comes first and whole, and what has no mark is ours."""
    lines = question_lines(question, width=width)
    whole = unfolded(lines).split("\n")
    for line in lines:
        assert cell_len(line) <= width
        assert not any(char.isspace() and char != " " for char in line)
        assert "\x1b" not in line
    for line in whole:
        # Of the agent's words, joiners and selectors within an emoji stay.
        assert line.startswith("> ") or not re.search(f"[{UNSEEN}\ud800-\udfff]", line)
    assert [line for line in _ours(lines) if not re.fullmatch("|".join(_OURS), line)] == []
    assert _HEADER.match(whole[0])
    action = unfolded(lines[: action_length(question, width=width)]).split("\n")
    assert whole.index("Asked because of:") == len(action)
    _assert_all_there(question, action)
    return lines


def _ours(lines: list[str]) -> list[str]:
    """The lines of ours, each put together where the screen was too narrow for it."""
    found: list[str] = []
    goes_on = False
    for line in lines:
        if is_ours(line):
            # Only a line of ours ever comes without a mark: the next one goes on where it did not end.
            if goes_on and not re.fullmatch("|".join(_OURS), found[-1].strip()):
                found[-1] += line
            else:
                found.append(line)
        goes_on = is_ours(line)
    return [line.strip() for line in found]


def _assert_all_there(question: Question, action: list[str]) -> None:
    arguments = dict(question.arguments)
    tool = "" if question.situation.host == "mcp" else question.situation.tool_name
    lines = [line for line in action if line.startswith(MARKS) and not line.startswith("> ")]
    if tool == "bash" and isinstance(arguments.get("command"), str):
        _assert_same(arguments.pop("command").split("\n"), _after(lines, "$ "))
    edits = arguments.get("edits")
    is_edit = tool == "edit" and isinstance(edits, list) and bool(edits) and all(map(_is_plain_edit, edits))
    is_write = tool == "write" and isinstance(arguments.get("content"), str)
    if isinstance(path := arguments.get("path"), str) and (is_write or is_edit or tool == "read"):
        assert lines[0].startswith("= ")
        assert is_whole(path, lines.pop(0)[2:])
        del arguments["path"]
    if is_write:
        _assert_same(_lines(arguments.pop("content")), _after(lines, "+ "))
        lines = [line for line in lines if not line.startswith("+ ")]
    if is_edit:
        del arguments["edits"]
        stays = sum(int(line.split()[0]) for line in action if re.fullmatch(_STAYS, line))
        for side, marks in (("oldText", ("- ", "  ")), ("newText", ("+ ", "  "))):
            wanted = [line for edit in edits for line in edit[side].split("\n")]
            drawn = _after(lines, *marks)
            ends = 2 * len(edits)  # the line end of the last line, on either side
            assert len(wanted) - ends <= len(drawn) + stays <= len(wanted) + ends
            left = iter(wanted)
            assert all(any(is_whole(each, line) for each in left) for line in drawn)
        lines = [line for line in lines if line.startswith("= ")]
    _assert_arguments(arguments, lines)


def _assert_arguments(arguments: dict[str, Any], lines: list[str]) -> None:
    lines = [line for line in lines if not line.startswith("$ ")]
    for name, value in arguments.items():
        called = json.dumps(name, ensure_ascii=False)
        first = lines.pop(0)
        assert first.startswith("= ")
        if isinstance(value, str) and "\n" in value:
            assert is_whole(f"{called}:", first[2:])
            wanted = value.split("\n")
            _assert_same(wanted, _after(lines[: len(wanted)], "  "))
            lines = lines[len(wanted) :]
        else:
            assert is_whole(f"{called}: {json.dumps(value, ensure_ascii=False)}", first[2:])
    assert lines == []


def _assert_same(wanted: list[str], drawn: list[str]) -> None:
    assert len(drawn) == len(wanted)
    assert all(map(is_whole, wanted, drawn))


def _after(lines: list[str], *marks: str) -> list[str]:
    return [line[2:] for line in lines if line.startswith(marks)]


def _lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n") if text else []


def _is_plain_edit(edit: Any) -> bool:
    is_pair = isinstance(edit, dict) and edit.keys() == {"oldText", "newText"}
    return is_pair and all(isinstance(text, str) for text in edit.values())


def is_whole(text: str, drawn: str) -> bool:
    """Say whether every character of a line stands in what is drawn of it, in order: as it is, or spelled out."""
    text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    at = 0
    for character in text:
        forms = [character, spelled(character)]
        forms += {" ": [spelled(" ")], "\t": ["    "]}.get(character, [])
        form = next((form for form in forms if drawn.startswith(form, at)), None)
        if form is None:
            return False
        at += len(form)
    return at == len(drawn)
