"""Read facts off a past result, by what its tool does: agents call the same things by different names."""

from __future__ import annotations

import re
from typing import Literal

from pi_intent.facts import bash_facts, edit_facts, read_facts, write_facts
from pi_intent.types import JSONObject, Status

type Kind = Literal["shell", "read", "write", "edit"]

_KINDS: dict[str, Kind] = {
    "bash": "shell",
    "exec": "shell",
    "exec_command": "shell",
    "execute_bash": "shell",
    "local_shell": "shell",
    "shell": "shell",
    "shell_command": "shell",
    "terminal": "shell",
    "powershell": "shell",
    "read": "read",
    "write": "write",
    "edit": "edit",
    "multiedit": "edit",
}
_EDITOR_COMMANDS: dict[str, Kind] = {"view": "read", "create": "write", "str_replace": "edit", "insert": "edit"}
_EDITORS = frozenset({"file_editor", "str_replace_editor", "str_replace_based_edit_tool"})
_CONTENTS = ("content", "file_text")

# Each agent states it at one end of the text that the model gets; in the middle it is somebody's output.
_FIRST = re.compile(
    r"\s{0,8}(?:Error: )?(?:Process exited with code|Exit code:?|Command exited with code) (-?[0-9]{1,5})\b",
    re.IGNORECASE,
)
_BEFORE_OUTPUT = re.compile(r"^(?:Process exited with code|Exit code:) (-?[0-9]{1,5})$", re.MULTILINE)
_LAST = re.compile(
    r"(?:Command exited with code|\[(?:The )?Command (?:completed|finished) with exit code|\[exit code:?) "
    r"(-?[0-9]{1,5})\.?\]?\s{0,8}\Z",
    re.IGNORECASE,
)
_IN_JSON = re.compile(r'"metadata":\s?\{"exit_code":\s?(-?[0-9]{1,5})[,}]')
_HEADER_CHARACTERS = 400
_END_CHARACTERS = 200


def kind_of(tool: str, args: JSONObject) -> Kind | None:
    """Return what a tool does, as far as its name and its command tell; None for any other one."""
    if tool in _EDITORS:
        command = args.get("command")
        return _EDITOR_COMMANDS.get(command) if isinstance(command, str) else None
    return _KINDS.get(tool.lower())


def size_of_change(kind: Kind | None, args: JSONObject) -> str | None:
    """Say what a call that went well has written or replaced; None where it changes no file that way."""
    if kind == "write":
        content = next((args[name] for name in _CONTENTS if isinstance(args.get(name), str)), None)
        return write_facts(None, content) if isinstance(content, str) else None
    if kind == "edit":
        edits = args.get("edits")
        return edit_facts(len(edits) if isinstance(edits, list) and edits else 1)
    return None


def result_facts(
    kind: Kind | None, change: str | None, status: Status, text: str | None, exit_code: int | None
) -> str | None:
    """Say in a few words what can be read off a result; `change` is what `size_of_change` says of its call.

    An `exit_code` that the file states goes before one in the text, which can be the command's own words.
    """
    if (kind == "shell" or exit_code is not None) and status in ("ok", "error"):
        return bash_facts(_exit_code(text or "") if exit_code is None else exit_code, text or "")
    if status != "ok":
        return None
    if kind == "read" and text:
        return read_facts(text.count("\n") + (not text.endswith("\n")), None)
    return change


def _exit_code(text: str) -> int | None:
    """Return the exit code that an agent put at one end of the text; None where it put none."""
    header = text[:_HEADER_CHARACTERS].partition("\nOutput:\n")
    found = (
        _FIRST.match(text)
        or (_BEFORE_OUTPUT.search(header[0]) if header[1] else None)
        or _LAST.search(text[-_END_CHARACTERS:])
        or (_IN_JSON.search(text[-_END_CHARACTERS:]) if text.startswith('{"output"') else None)
    )
    return int(found[1]) if found else None
