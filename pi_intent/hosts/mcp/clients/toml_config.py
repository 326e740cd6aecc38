"""Find the servers in a config that is TOML."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence

from pi_intent.hosts.mcp.clients.text import Arguments, Malformed, Server, Span, line_of
from pi_intent.hosts.mcp.clients.toml_spans import Assigned, assignments, last_part

_LINE_END = re.compile(r"\r?\n|\Z")
_AT_LINE = re.compile(r"at line (\d+)")
_BLANK = re.compile(r"[ \t]*+")
_MAX_DOTS = 64
"""In one line. The parser of the standard library takes quadratic time over a dotted key."""


def toml_servers(text: str, keys: Sequence[str]) -> list[Server]:
    """Return the servers of the table that lies under the keys. Raises `Malformed`."""
    table: object = toml_meaning(text)
    for key in keys:
        if not isinstance(table, dict):
            raise Malformed(None, f"has no table as {' → '.join(keys)}")
        if key not in table:
            return []
        table = table[key]
    if not isinstance(table, dict):
        raise Malformed(None, f"has no table as {' → '.join(keys)}")
    try:
        found = {assigned.path: assigned for assigned in assignments(text)}
    except RecursionError as error:
        raise Malformed(None, "is nested too deeply") from error
    return [_server(text, name, entry, (*keys, name), found) for name, entry in table.items()]


def toml_meaning(text: str) -> dict[str, object]:
    """Return what a document says. Raises `Malformed`."""
    for number, line in enumerate(text.split("\n"), start=1):
        if line.count(".") > _MAX_DOTS and not line.lstrip().startswith("#") and not _quoted(line):
            raise Malformed(number, f"has more than {_MAX_DOTS} dots in a key")
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except RecursionError as error:
        raise Malformed(None, "is nested too deeply") from error
    except ValueError as error:  # also Python's limit of some thousand digits
        at = _AT_LINE.search(str(error))
        what = str(error).partition(" (at ")[0]
        raise Malformed(int(at[1]) if at is not None else None, f"is not valid TOML: {what}") from error


def _quoted(line: str) -> bool:
    # Dots inside a text or after the sign of an assignment cost nothing.
    return line.partition("=")[0].count(".") <= _MAX_DOTS


def _server(
    text: str, name: str, entry: object, path: tuple[str, ...], found: dict[tuple[str, ...], Assigned]
) -> Server:
    command, listed = found.get((*path, "command")), found.get((*path, "args"))
    nowhere = Span(0, 0)
    if not isinstance(entry, dict):
        return Server(
            name=name, span=None, fields={}, command=None, command_at=nowhere, arguments=None, place=0,
            before_arguments="", problem="its entry is not a table",
        )  # fmt: skip
    value = entry.get("command")
    problem = None
    if "command" in entry and (not isinstance(value, str) or command is None):
        problem = "its command is not a text"
    arguments = None
    if "args" in entry:
        arguments = _arguments(text, entry["args"], listed)
        if arguments is None:
            problem = problem or "its args are not a list of texts"
    return Server(
        name=name,
        span=None,
        fields={key: field if isinstance(field, str | bool) else None for key, field in entry.items()},
        environ=_environ(entry.get("env")),
        command=value if isinstance(value, str) else None,
        command_at=command.value if command is not None else nowhere,
        arguments=arguments,
        place=_place(text, command) if command is not None else 0,
        before_arguments=_before_arguments(text, command) if command is not None else "",
        problem=problem,
    )


def _environ(entry: object) -> dict[str, str]:
    pairs = entry.items() if isinstance(entry, dict) else ()
    return {key: value for key, value in pairs if isinstance(value, str)}


def _arguments(text: str, values: object, listed: Assigned | None) -> Arguments | None:
    if not isinstance(values, list) or listed is None or listed.items is None:
        return None
    texts = tuple(value for value in values if isinstance(value, str))
    if len(texts) != len(values) or len(values) != len(listed.items):
        return None
    start = listed.value.start
    return Arguments(values=texts, items=listed.items, opening=Span(start, start + 1), removal=_removal(text, listed))


def _line_end(text: str, position: int) -> re.Match[str]:
    found = _LINE_END.search(text, position)
    if found is None:
        raise Malformed(line_of(text, position), "has a line without an end")
    return found


def _place(text: str, command: Assigned) -> int:
    """Return where a list of arguments goes: on a line of its own, after any comment on that of the command."""
    return command.value.end if command.inline is not None else _line_end(text, command.value.end).start()


def _before_arguments(text: str, command: Assigned) -> str:
    key = text[command.key.start : command.key.end]
    sign = text[command.key.end : command.value.start]
    name = f"{key[: last_part(key)]}args{sign}"
    if command.inline is not None:
        return f", {name}"
    start = text.rfind("\n", 0, command.key.start) + 1
    indent = text[start : command.key.start].removeprefix("\ufeff")
    return f"{_line_end(text, command.value.end)[0] or _usual_line_end(text)}{indent}{name}"


def _usual_line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _removal(text: str, listed: Assigned) -> tuple[Span, ...]:
    """Return what to cut so that the list is gone with its line or its comma, and no comment with it."""
    itself = Span(listed.key.start, listed.value.end)
    if listed.inline is not None:
        index = listed.inline.index(itself)
        if index > 0:
            return (Span(listed.inline[index - 1].end, itself.end),)
        return (Span(itself.start, listed.inline[1].start),) if len(listed.inline) > 1 else (itself,)
    line = text.rfind("\n", 0, itself.start) + 1
    end = _line_end(text, itself.end)
    blank = _BLANK.match(text, itself.end)
    if text[line : itself.start].strip(" \t") or blank is None or blank.end() != end.start():
        return (itself,)  # something else stands on the line
    if line == 0:
        return (Span(0, end.end()),)
    return (Span(line - (2 if text.startswith("\r\n", line - 2) else 1), end.start()),)
