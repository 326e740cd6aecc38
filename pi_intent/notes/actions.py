"""What a call did, or is about to do, as far as its tool and its arguments tell; whose tool it is does not matter."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal, NamedTuple

from pi_intent.notes.effects import Effects, effects_of
from pi_intent.notes.words import is_file, last_part
from pi_intent.past import PastCall
from pi_intent.types import JSONValue
from pi_intent.word_sets import word_set

Kind = Literal["read", "search", "write", "edit", "run", "remove", "fetch", "other"]
"""What kind of thing a tool does; `other` may be anything."""

_KINDS: dict[str, Kind] = {
    **dict.fromkeys(word_set(
    """
    read readfile read_file view open cat viewfile view_file notebookread readmanyfiles
    """
), "read"),
    **dict.fromkeys(word_set(
    """
    write writefile write_file create createfile create_file writetofile write_to_file
    """
), "write"),
    **dict.fromkeys(word_set(
    """
    edit multiedit editfile edit_file str_replace replace apply_patch applypatch notebookedit insert
    str_replace_editor search_replace replace_in_file
    """
), "edit",
    ),
    **dict.fromkeys(word_set(
    """
    bash shell terminal exec run execute_bash exec_command execcommand local_shell run_command runcommand
    run_terminal_cmd execute_command run_shell_command powershell
    """
), "run",
    ),
    **dict.fromkeys(word_set(
    """
    grep glob ls list find search list_directory listdir list_files search_files codebase_search rg
    file_search
    """
), "search"),
    **dict.fromkeys(word_set("webfetch web_fetch websearch web_search fetch"), "fetch"),
}  # fmt: skip

_LOOKING = word_set(
    """
    get list read search find query fetch view show describe lookup resolve count check status
    """
)
_CHANGING = word_set(
    """
    create update write set insert edit add put patch append replace move rename upsert
    """
)
_REMOVING = word_set("delete remove drop destroy purge truncate erase wipe")
_SUBCOMMANDS: dict[str, Kind] = {
    "view": "read", "create": "write", "str_replace": "edit", "insert": "edit", "undo_edit": "edit",
}  # fmt: skip
_NAME_PART = re.compile(r"[a-z]+|[A-Z][a-z]*")
_PATHS = ("path", "file_path", "filePath", "filename", "file", "notebook_path", "uri", "target_file", "absolute_path")
_LISTS = ("paths", "files")
_ALL_PATHS = frozenset((*_PATHS, *_LISTS))
_COMMANDS = ("command", "cmd", "script")
_PATCHED = re.compile(r"^\*\*\* (?:Update|Add|Delete) File: (.{1,1024})$", re.MULTILINE)
_MOST_PATHS = 64


class Action(NamedTuple):
    """What a call does.

    `paths` are the files that it touches or looks at, `command` the shell command where there is one and it is kept
    whole. `hidden` says that what would tell was not kept, so that nothing can be said.
    """

    kind: Kind
    paths: tuple[str, ...]
    names: tuple[str, ...]
    command: str | None
    effects: Effects
    hidden: bool

    @property
    def changes(self) -> bool:
        """Say whether something may be different afterwards."""
        return self.kind in ("write", "edit", "remove", "other") or (
            self.kind == "run" and (self.hidden or self.effects.changes)
        )

    @property
    def target(self) -> str:
        """Return what the call is aimed at, for a person."""
        return self.command if self.command is not None else self.paths[0] if self.paths else ""


_NOTHING = Effects()


def action_of(call: PastCall) -> Action:
    """Return what a call does."""
    args = call.args
    command = _command(args) if (kind := _kind(call)) in ("run", "other") else None
    if kind == "other" and command is not None:
        kind = "run"
    paths = _paths(args, call.files)
    effects = effects_of(command) if command is not None else _NOTHING
    hidden = kind == "run" and command is None and bool(args)
    if kind in ("edit", "write") and not paths:
        hidden = True
    names = tuple(last_part(path) for path in (*paths, *effects.files))
    return Action(kind, paths, names, command, effects, hidden)


def _kind(call: PastCall) -> Kind:
    kind = _kind_of(call.tool)
    if kind is None:
        sub = call.args.get("command")
        return _SUBCOMMANDS.get(sub, "other") if isinstance(sub, str) else "other"
    return kind


@lru_cache(maxsize=512)
def _kind_of(tool: str) -> Kind | None:
    """Return what kind of thing a tool does, None where its argument `command` tells."""
    name = _own_name(tool)
    if name == "file_editor" or name == "str_replace_editor":
        return None
    kind = _KINDS.get(name.lower())
    if kind is not None:
        return kind
    parts = _parts(name)
    if parts & _REMOVING:
        return "remove"
    if parts & _CHANGING:
        return "other"
    return "fetch" if parts & _LOOKING else "other"


def changes_by_name(call: PastCall) -> bool:
    """Say whether the name of a tool says that it changes something, such as `create_issue`."""
    parts = _parts(_own_name(call.tool))
    return bool(parts & (_CHANGING | _REMOVING)) and not parts & _LOOKING


def _own_name(tool: str) -> str:
    """Return the name of the tool without the server before it."""
    return tool.rpartition("/")[2].rpartition("__")[2]


def _parts(name: str) -> set[str]:
    return {part.lower() for part in _NAME_PART.findall(name[:256])}


def _command(args: dict[str, JSONValue]) -> str | None:
    for key in _COMMANDS:
        match args.get(key):
            case str(text):
                return text
            case [*words] if words and all(isinstance(word, str) for word in words):
                texts = [str(word) for word in words]
                return (
                    texts[-1] if len(texts) > 2 and texts[1].startswith("-") and "c" in texts[1] else " ".join(texts)
                )
    return None


def _paths(args: dict[str, JSONValue], files: tuple[str, ...]) -> tuple[str, ...]:
    found: list[str] = []
    if not _ALL_PATHS.isdisjoint(args):
        for key in _PATHS:
            value = args.get(key)
            if isinstance(value, str) and value:
                found.append(value[:4096].removeprefix("file://"))
        for key in _LISTS:
            value = args.get(key)
            if isinstance(value, list):
                found += [item for item in value[:_MOST_PATHS] if isinstance(item, str) and is_file(item)]
    patch = args.get("input", args.get("patch"))
    if isinstance(patch, str):
        found += _PATCHED.findall(patch[:16_384])
    return tuple(dict.fromkeys((*found, *files[:_MOST_PATHS])))[:_MOST_PATHS]
