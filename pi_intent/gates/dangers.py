"""Name what a command puts at risk, from what it would run and never from the words in its text."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pi_intent.gates.git_dangers import git_dangers
from pi_intent.gates.kinds import DANGER_KINDS, DangerKind
from pi_intent.gates.own_commands import VARIABLES, is_harmless
from pi_intent.gates.paths import word_outside
from pi_intent.gates.programs import program_dangers
from pi_intent.gates.script import Command, Script
from pi_intent.gates.written import written_words
from pi_intent.word_sets import word_set


@dataclass(frozen=True, slots=True)
class Danger:
    """One thing at risk, and the literal piece of the command that tells."""

    kind: DangerKind
    text: str


_RUN_OTHERS = word_set(
    "unshare chrt setpriv prlimit systemd-run runuser tmux screen xvfb-run dbus-run-session ssh-agent firejail bwrap "
    "fakeroot numactl hyperfine watchexec nix-shell pwsh powershell gdb lldb script"
)
"""Programs that run what they are given, in forms that are not taken apart here."""

_LOADED = word_set("LD_PRELOAD BASH_ENV PROMPT_COMMAND PYTHONSTARTUP")
"""Variables that have other programs load code, whatever their value."""

_UNSURE = ("condition", "loop", "function", "alternative")
_MOST_FOLDERS = 8
Folders = tuple[str | None, ...]


def dangers_of(
    script: Script, *, cwd: str, project: str | None = None, also: Iterable[str] = ()
) -> tuple[Danger, ...]:
    """Return what the commands of a script put at risk, each kind once per command.

    A command that only reads gives none.

    `cwd` is the absolute folder it starts in; a `cd` within the text is followed. `also` are further folders that
    count as the project. What could not be read is in `script.unclear`, and is the caller's to ask about.
    """
    also = tuple(also)
    folders: dict[tuple[int, ...], Folders] = {(): (cwd,)}
    found: dict[Danger, None] = {}
    for command in script.commands:
        here = _here(folders, command.scope)
        remote = "remote" in command.place
        for kind in _kinds(command):
            found[Danger(kind, command.source)] = None
        if not remote:
            for word in written_words(command):
                if word_outside(word, here, cwd, project, also):
                    found[Danger("outside_project", command.source)] = None
        if command.program in ("cd", "pushd", "popd", "chdir"):
            folders[command.scope] = _moved(command, here)
    return tuple(found)


def _here(folders: dict[tuple[int, ...], Folders], scope: tuple[int, ...]) -> Folders:
    while scope not in folders:
        scope = scope[:-1]
    return folders[scope]


def _moved(command: Command, here: Folders) -> Folders:
    arguments = [word for word in command.arguments if not word.start.startswith("-") or word.text == "-"]
    target = arguments[0] if arguments else None
    moved: Folders
    if target is None or target.text is None or target.text == "-":
        moved = (None,)
    else:
        text = target.text
        moved = tuple(
            posixpath.normpath(posixpath.join(folder or "", text)) if folder or text.startswith("/") else None
            for folder in here
        )
        if "loop" in command.place and not text.startswith("/"):
            moved = (*moved, None)
    if set(_UNSURE) & set(command.place):
        moved = (*here, *moved)
    moved = tuple(dict.fromkeys(moved))
    return moved if len(moved) <= _MOST_FOLDERS else (None,)


def _kinds(command: Command) -> Iterator[DangerKind]:
    match command.hidden:
        case "fetched":
            yield "runs_fetched"
        case "recipe":
            yield "recipe"
        case "input" | "code" | "script":
            yield "opaque"
        case None:
            pass
    if command.name is None:
        if _empties(command):
            yield "deletes"
        return
    named: Iterable[str] = git_dangers(command.texts) if command.program == "git" else program_dangers(command)
    for kind in named:
        yield from (known for known in DANGER_KINDS if known == kind)
    if command.program in _RUN_OTHERS and command.arguments:
        yield "opaque"
    if command.program in (":", "true") and _empties(command):
        yield "deletes"
    if any(_runs_code(assigned.name, assigned.value.text) for assigned in command.assignments) or (
        command.program in ("env", "sudo", "doas", "export")
        and any(_runs_code(*word.start.split("=", 1)) for word in command.arguments if "=" in word.start)
    ):
        yield "opaque"


def _runs_code(variable: str, value: str | None) -> bool:
    return variable in _LOADED or (variable in VARIABLES and (value is None or not is_harmless(value)))


def _empties(command: Command) -> bool:
    """`> file` alone leaves nothing of the file; behind a command it is how files are written."""
    return (
        not set(command.place) & {"loop", "pipe", "condition", "subshell"}
        and any(
            redirect.operator in (">", ">|") and redirect.target.text not in ("/dev/null", None)
            for redirect in command.redirects
        )
        and (command.name is not None or command.source.lstrip().startswith(">"))
    )
