"""Check the rules by which a person wants to be asked: one that can never take effect is refused when it is read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from pi_intent.contract.rows import PATHS, ROWS
from pi_intent.gates.kinds import ABOUT_COMMANDS, RULE_WORDS, Match, Rule
from pi_intent.settings.wording import nearest, shown, shown_table

MOST_RULES = 256
"""Of one list; a project chooses how many there are."""

_MAX_TEXT = 500
_MATCH_KEYS = ("tool", "runs", "path", "reason")
_SHELL_SYNTAX = re.compile(r"""[|;<>"'`\\\n]|&&|\$[({]|(^|\s)&|&(\s|$)""")
_VARIABLE = re.compile(r"(?:^|/)\$(?:[A-Z_][A-Z0-9_]*|\{[A-Za-z_][A-Za-z0-9_]*\})(?:/|$)")
_BRACES = re.compile(r"\{[^{}]*,[^{}]*\}")
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")
_ONLY_READS = 'which finds nothing in a tool that only reads; "outside" asks about what is read outside the project.'
_EXPECTED = "a rule by name, or a table of tool, runs, path and reason"


def check_ins(value: object, where: str, tool: str | None, warnings: list[str]) -> tuple[Rule, ...] | None:
    """Return the rules of a setting, and say what is wrong with those that do not count.

    `value` is a list, or names with commas between them, or "none"; `tool` is the tool that they are for, None for
    all tools.
    """
    if isinstance(value, str):
        value = "" if value.strip() == "none" else value
        value = [word for part in value.split(",") if (word := part.strip())]
    if not isinstance(value, list):
        warnings.append(f'{where} is {shown(value)}, but must be a list, such as ["dangers"]; each is {_EXPECTED}.')
        return None
    if len(value) > MOST_RULES:
        warnings.append(f"{where} has more than {MOST_RULES} rules; the others do not count.")
    found: dict[Rule, None] = {}
    for number, item in enumerate(value[:MOST_RULES], start=1):
        fault = _fault(item, tool)
        if fault is not None and isinstance(item, Mapping):
            warnings.append(f"{where}[{number}] is {shown_table(item)}, {fault}")
        elif fault is not None:
            warnings.append(f"{where} holds {shown(item)}, {fault}")
        elif isinstance(item, str):
            if tool == "read" and item in ("dangers", "outside_project"):  # that of a server may do more
                warnings.append(f"{where} holds {shown(item)}, {_ONLY_READS}")
            found[item] = None  # type: ignore[index]  # it is one of the words
        else:
            if (doubt := _taken_literally(item)) is not None:
                warnings.append(f"{where}[{number}] is {shown_table(item)}, {doubt}")
            found[Match(**{key: item.get(key) for key in _MATCH_KEYS})] = None
    return tuple(found)


def _fault(item: object, tool: str | None) -> str | None:
    if isinstance(item, str):
        if item not in RULE_WORDS:
            guess = nearest(item, RULE_WORDS)
            return "which is no rule; " + (
                f'did you mean "{guess}"?' if guess else f"the rules are {', '.join(RULE_WORDS)}."
            )
        if tool is not None and item in ABOUT_COMMANDS and "command" not in _arguments(tool):
            return f"which can find nothing: {tool} runs no command."
        return None
    if not isinstance(item, Mapping):
        return f"but each must be {_EXPECTED}."
    return next(_faults_of_match(item, tool), None)


def _taken_literally(item: Mapping[str, object]) -> str | None:
    """Say of a path what in it a shell would expand; a file may be called so, and the rule counts."""
    path = str(item.get("path") or "")
    if _VARIABLE.search(path):
        return "whose path is taken as it stands: no variable is put in; write ~/ for your home folder."
    if _BRACES.search(path):
        return "whose path is taken as it stands: braces do not stand for alternatives; write a rule for each."
    return None


def _faults_of_match(item: Mapping[str, object], tool: str | None) -> Iterator[str]:
    for key, value in item.items():
        if key not in _MATCH_KEYS:
            yield f"whose {shown(key)} is not known; there are tool, runs, path and reason."
        elif not isinstance(value, str):
            yield f"whose {key} must be a text."
        elif not value.strip():
            yield f"whose {key} is empty: say what is meant, or leave it out."
        elif len(value) > _MAX_TEXT:
            yield f"whose {key} is longer than {_MAX_TEXT} characters."
    if not any(key in item for key in ("tool", "runs", "path")):
        yield "which says of no call that it is meant: give it a tool, runs or path."
    if tool is not None and "tool" in item:
        yield "whose tool is said by the table that it stands in: leave it out."
    named = tool if tool is not None else item.get("tool")
    if isinstance(named, str) and named in ROWS:
        if "runs" in item and "command" not in _arguments(named):
            yield f"which can find nothing: {named} runs no command."
        if "path" in item and not _arguments(named) & set(PATHS):
            yield f"which can find nothing: {named} names no file."
    if "runs" in item and "path" in item and named in (None, "*"):
        yield (
            "which can find nothing: what runs a command names no file. Make two rules of it, or name the tool of a "
            "server that has both."
        )
    if isinstance(runs := item.get("runs"), str):
        yield from _faults_of_runs(runs)
    if isinstance(path := item.get("path"), str) and "\0" in path:
        yield "which can find nothing: no path has a NUL."


def _faults_of_runs(runs: str) -> Iterator[str]:
    program = runs.split()[0]  # it is not empty
    if _SHELL_SYNTAX.search(runs):
        yield (
            "which can find nothing: runs is a program and words among its arguments, not a whole command line; "
            "leave out quotes and what joins commands."
        )
    elif _ASSIGNMENT.match(program):
        yield f"which can find nothing: {shown(program)} is no program but sets a variable; leave it out."
    elif program.endswith("/"):
        yield f"which can find nothing: {shown(program)} is a folder; name a program in it, or write {program}*."


def _arguments(tool: str) -> set[str]:
    """What a tool of ours takes; of another one nothing is known, so it may take anything."""
    row = ROWS.get(tool)
    return {"command", *PATHS} if row is None else {*row.required, *row.optional}
