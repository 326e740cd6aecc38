"""Name what a command puts at risk, from what it would run and never from the words in its text."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase

from pi_intent.gates.kinds import DANGER_KINDS, DangerKind
from pi_intent.gates.paths import outside_project
from pi_intent.gates.shell.dangers.git import git_dangers
from pi_intent.gates.shell.dangers.hosts import leaves_by
from pi_intent.gates.shell.dangers.loaded import loads_code
from pi_intent.gates.shell.dangers.programs import program_dangers
from pi_intent.gates.shell.dangers.secret_reads import reads_secrets
from pi_intent.gates.shell.dangers.written import written_words
from pi_intent.gates.shell.inputs import says_nothing
from pi_intent.gates.shell.paths import paths_of, word_outside
from pi_intent.gates.shell.running.inner import TELLS_ITSELF
from pi_intent.gates.shell.script import Command, Script, Unknown, Word
from pi_intent.word_sets import word_set


@dataclass(frozen=True, slots=True)
class Danger:
    """One thing at risk, and the literal piece of the command that tells."""

    kind: DangerKind
    text: str


_RUN_OTHERS = word_set(
    "unshare chrt setpriv prlimit systemd-run runuser tmux screen xvfb-run dbus-run-session ssh-agent firejail bwrap "
    "fakeroot numactl hyperfine watchexec nix-shell pwsh powershell gdb lldb script run0 sg capsh setarch linux32 "
    "linux64 i386 x86_64 faketime systemd-inhibit start-stop-daemon valgrind "
    "catchsegv arch nocache eatmydata trickle torsocks wsl cmd.exe chronic chpst softlimit cgexec dbus-launch "
    "coreutils"
)
"""Programs that run what they are given, in forms that are not taken apart here."""

_LOADER = re.compile(r"ld-(?:linux|musl)[\w.-]*")
_LISTS: tuple[tuple[str, ...], ...] = ((), ("ls",), ("-ls",), ("-list",), ("list-sessions",), *TELLS_ITSELF)
"""Arguments with which the others list what runs, or tell what they are."""

_KEPT = ("refs", "objects", "logs", "HEAD", "ORIG_HEAD", "packed-refs", "index")
_GIT_KEEPS = re.compile(rf"(?:.*/)?\.git(?:/(?:{'|'.join(_KEPT)})(?:/.*)?)?")
_GIT_RUNS = re.compile(r"(?:.*/)?\.git/(?:hooks|config|modules)(?:[./].*)?")

_REDIRECTS_ALONE = re.compile(r"\s*(?:\d*|\{\w+\}|&)(?:>|<(?!\())")
"""How a text begins that is a redirection and no command."""
_OVERWRITES = (">", ">|", "&>", ">&")
_NO_FILE = re.compile(r"/dev/|\d+$|-$")
"""What is no file that could be emptied: a device, or another stream."""

_UNSURE = ("condition", "loop", "function", "alternative")
_MOST_FOLDERS = 8
Folders = tuple[str | None, ...]

_TOP = re.compile(r"(?:\$\(|`) *git rev-parse --show-toplevel(?: 2> ?/dev/null)? *[)`]")
"""What prints the top of the work tree: of the project, for who is in it."""
_GIT_ELSEWHERE = re.compile(r"GIT_|\balias\b")
"""What may have git, or another program of its name, print another folder."""


def dangers_of(
    script: Script, *, cwd: str, project: str | None = None, also: Iterable[str] = (), starts: Folders = ()
) -> tuple[Danger, ...]:
    """Return what the commands of a script put at risk, each kind once per command.

    A command that only reads gives none.

    `cwd` is the absolute folder of the session, in which it starts unless `starts` names others (None: one that is
    not known); a `cd` within the text is followed. `also` are further folders that count as the project. What could
    not be read is in `script.unclear`, and is the caller's to ask about.
    """
    also = tuple(also)
    folders: dict[tuple[int, ...], Folders] = {(): starts or (cwd,)}
    found: dict[Danger, None] = {}
    sources = {command.source for command in script.commands}  # of a long one there may be thousands of commands
    is_elsewhere = any(map(_GIT_ELSEWHERE.search, sources)) or any(
        "function" in command.place for command in script.commands
    )
    for command in script.commands:
        here = _here(folders, command.scope)
        remote = "remote" in command.place
        for kind in _kinds(command):
            found[Danger(kind, command.source)] = None
        if loads_code(command, (cwd, *filter(None, (project,)), *also)):
            found[Danger("opaque", command.source)] = None
        if not remote:
            for word in dict.fromkeys(written_words(command)):
                if word_outside(word, here, cwd, project, also):
                    found[Danger("outside_project", command.source)] = None
                for kind in _of_git(word, here):
                    found[Danger(kind, command.source)] = None
        if command.program in ("cd", "pushd", "popd", "chdir"):
            folders[command.scope] = _moved(command, here, None if is_elsewhere else project)
    return tuple(found)


def _of_git(word: Word, here: Folders) -> Iterator[DangerKind]:
    """What is written into git's own folder: its history, or what it runs."""
    for folder in here:
        if ".g" not in word.shown and ".git" not in (folder or ""):
            continue
        path = _fitting(posixpath.normpath(posixpath.join(folder or "", word.shown)))
        if _GIT_KEEPS.fullmatch(path) and not path.endswith(".lock"):
            yield "git_history"
        elif _GIT_RUNS.fullmatch(path):
            yield "opaque"


def _fitting(path: str) -> str:
    """A path whose last part is a pattern, with what git keeps and it fits in its place."""
    folder, _, pattern = path.rpartition("/")
    kept = _KEPT if folder.rpartition("/")[2] == ".git" else (".git",) if pattern.startswith(".") else ()
    fits = next((name for name in kept if fnmatchcase(name, pattern)), pattern)
    return f"{folder}/{fits}"


def _here(folders: dict[tuple[int, ...], Folders], scope: tuple[int, ...]) -> Folders:
    while scope not in folders:
        scope = scope[:-1]
    return folders[scope]


def _moved(command: Command, here: Folders, project: str | None) -> Folders:
    """Return where a `cd` leads; `project` is what git names as the top within it, None where it may name another."""
    arguments = [word for word in command.arguments if not word.start.startswith("-") or word.text == "-"]
    target = arguments[0] if arguments else None
    paths = paths_of(target) if target is not None and target.text != "-" else None
    moved: Folders = (None,)
    if project is not None and target is not None and _is_top(target):
        moved = tuple(None if outside_project(folder or "~", project) else project for folder in here)
    elif paths is not None:
        moved = tuple(
            posixpath.normpath(posixpath.join(folder or "", path)) if folder or path.startswith("/") else None
            for folder in here
            for path in paths
        )
        repeated = {"loop", "function"} & set(command.place)
        if repeated and any(".." in path and not path.startswith("/") for path in paths):
            moved = (*moved, None)
    if set(_UNSURE) & set(command.place):
        moved = (*here, *moved)
    moved = tuple(dict.fromkeys(moved))
    return moved if len(moved) <= _MOST_FOLDERS else (None,)


def _is_top(word: Word) -> bool:
    (part, *others) = word.parts or ("",)
    return not others and isinstance(part, Unknown) and bool(_TOP.fullmatch(part.source))


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
    if any(isinstance(part, Unknown) and "@P}" in part.source for part in _parts(command)):
        yield "opaque"
    if any(map(leaves_by, command.redirects)):
        yield "network"
    if command.name is None:
        if _empties(command):
            yield "deletes"
        if reads_secrets(command):
            yield "secrets"
        return
    named: Iterable[str] = git_dangers(_patterned(command)) if command.program == "git" else program_dangers(command)
    for kind in named:
        yield from (known for known in DANGER_KINDS if known == kind)
    runs_others = command.program in _RUN_OTHERS and command.texts not in _LISTS
    if runs_others or command.program == "ed" or _LOADER.fullmatch(command.program or ""):
        yield "opaque"
    if says_nothing(command) and _empties(command):
        yield "deletes"


def _parts(command: Command) -> Iterator[str | Unknown]:
    """The parts of all of a command's words, of which `${x@P}` runs what is in the variable."""
    words = (command.name, *command.arguments, *(assigned.value for assigned in command.assignments))
    for word in (*words, *(redirect.target for redirect in command.redirects)):
        yield from word.parts if word else ()


def _patterned(command: Command) -> tuple[str, ...]:
    """The arguments with their patterns as written: git is given the files that fit."""
    return tuple(
        word.shown if all(isinstance(part, str) or part.gap == "glob" for part in word.parts) else word.start
        for word in command.arguments
    )


def _empties(command: Command) -> bool:
    """`> file` alone leaves nothing of the file; behind a command it is how files are written.

    The redirections of a loop or a group come as a command without a name too, whose text begins with the loop.
    """
    return (command.name is not None or bool(_REDIRECTS_ALONE.match(command.source))) and any(
        redirect.operator in _OVERWRITES and not _NO_FILE.match(redirect.target.start)
        for redirect in command.redirects
    )
