"""What one simple command does that its words ought to say: it removes, sends, installs, overwrites …

Conservative on purpose: what is not known is not told.
"""

from __future__ import annotations

import re
from typing import Literal

from pi_intent.notes.commands import Simple
from pi_intent.notes.programs import (
    DATA,
    DISK,
    HARMLESS,
    INFRASTRUCTURE,
    INSTALLERS,
    LIGHT,
    LOCAL,
    PERSISTENT,
    PUBLISHERS,
    RAZED,
    REMOTE_PATH,
    RIGHTS,
    SCRATCH,
    SECRET,
    SHELLS,
    STOPPERS,
)

Effect = Literal[
    "raze",
    "remove-tree",
    "remove",
    "write",
    "commit",
    "push",
    "force",
    "rewrite",
    "upload",
    "pipe-to-shell",
    "hidden-code",
    "install",
    "rights",
    "stop",
    "persist",
    "secrets",
    "disk",
    "drop-data",
    "infrastructure",
]
"""What a command does; `sayings.py` tells what each is."""

_NONE: frozenset[str] = frozenset()
_PYTHONS = frozenset({"python", "python3", "uv"})
_TASKS = frozenset({"npm", "yarn", "pnpm", "bun", "make", "just", "mise"})
_COPIERS = frozenset({"tee", "cp", "mv", "ln"})
_QUOTERS = frozenset({"echo", "printf", "git", "ls", "grep", "rg"})
_PUBLISHES = re.compile(r"publish|deploy")
_FLAGS_OF_RM = re.compile(r"-[a-zA-Z]{0,8}[rR]")
_PLAIN_MODE = re.compile(r"[ugoa]*\+x|[67][45][45]|600|644")


def in_place(words: tuple[str, ...]) -> bool:
    """Say whether `sed` and its like change the file itself."""
    return any(word.startswith("-i") or word == "--in-place" or re.match(r"-[nEr]+i", word) for word in words[1:])


def git_verb(words: tuple[str, ...]) -> str:
    """Return what git is asked to do, such as `push`."""
    skip = False
    for word in words[1:]:
        if skip:
            skip = False
        elif word in ("-C", "-c", "--git-dir", "--work-tree"):
            skip = True
        elif not word.startswith("-"):
            return word
    return ""


def deeds(simple: Simple, *, moved: bool, downloads: bool) -> list[Effect]:
    """Return what one simple command does; `moved` and `downloads` say what the ones before it did."""
    program, arguments = simple.program, simple.words[1:]
    found = _by_program(simple, moved=moved, downloads=downloads)
    first = set(arguments[:4])
    if first & INSTALLERS.get(program, _NONE) or (program in _PYTHONS and {"pip", "install"} <= first):
        found.append("install")
    if first & PUBLISHERS.get(program, _NONE) or (program in _TASKS and any(_PUBLISHES.search(w) for w in first)):
        found.append("push")
    if first & INFRASTRUCTURE.get(program, _NONE):
        found.append("infrastructure")
    if program not in _QUOTERS:
        # Whether a file is there says nothing of what stands in it.
        if program not in ("test", "[", "[[") and any(
            len(word) >= len(".env") and SECRET.search(word) for word in arguments
        ):
            found.append("secrets")
        if any(len(word) >= len("flushdb") and DATA.search(word) for word in arguments):
            found.append("drop-data")
    written = (*simple.writes, *(arguments if program in _COPIERS else ()))
    if any(PERSISTENT.search(path) for path in written):
        found.append("persist")
    if any(path.startswith(("/dev/tcp/", "/dev/udp/")) for path in simple.writes):
        found.append("upload")
    if any(path and not SCRATCH.search(path) for path in simple.writes):
        found.append("write")
    if not found and {"sudo", "doas"} & set(simple.wrapped) and program not in HARMLESS:
        found.append("rights")
    return found


def _by_program(simple: Simple, *, moved: bool, downloads: bool) -> list[Effect]:
    program, words = simple.program, simple.words
    arguments = words[1:]
    plain = [word for word in arguments if not word.startswith("-")]
    match program:
        case "rm" | "rmdir" | "unlink" | "shred" | "trash" | "del":
            tree = any(word in ("--recursive", "-r", "-R") or _FLAGS_OF_RM.match(word) for word in arguments)
            return _removed(plain, moved, tree=tree)
        case "find" if _find_removes(arguments):
            return [] if any(LIGHT.search(word.rstrip("*")) for word in arguments) else _removed(plain[:1], True)
        case "git":
            return _git(words)
        case "systemctl" | "launchctl" | "crontab" | "at":
            listed = not arguments or bool({"-l", "status", "list", "list-units"} & set(arguments))
            return ["stop"] if "stop" in arguments else [] if listed else ["persist"]
        case "curl" | "wget" | "http" | "nc" | "ncat" | "netcat" | "scp" | "rsync" | "sftp" | "ftp":
            return _sent(program, arguments, simple.fed)
        case "sed" | "perl" | "ruby" if in_place(words):
            return ["write"]
        case "tee":
            return ["write"] if any(not SCRATCH.search(word) for word in plain) else []
        case "cp" | "mv" | "ln" | "truncate":
            return ["write"]
        case "chmod" if plain and _PLAIN_MODE.fullmatch(plain[0]):
            return []
        case "dd":
            return ["disk"] if any(word.startswith("of=/dev/") for word in arguments) else ["write"]
    if program in STOPPERS:
        return ["stop"]
    if program in DISK or program.startswith("mkfs"):
        return ["disk"]
    if program in RIGHTS:
        return ["rights"]
    if program not in SHELLS and program != "eval":
        return []
    if downloads and (simple.fed or any(word in ("<(", "$()") for word in arguments)):
        return ["pipe-to-shell"]
    hidden = any("base64" in word and ("exec(" in word or "eval(" in word) for word in arguments)
    return ["hidden-code"] if hidden else []


def _removed(targets: list[str], moved: bool, *, tree: bool = False) -> list[Effect]:
    if any(target in RAZED and not (moved and target.strip("./") in ("", "*")) for target in targets):
        return ["raze"]
    return (
        [] if targets and all(LIGHT.search(target) for target in targets) else ["remove-tree" if tree else "remove"]
    )


def _find_removes(arguments: tuple[str, ...]) -> bool:
    return "-delete" in arguments or any(
        word in ("-exec", "-execdir", "-ok") and "rm" in arguments[place + 1 : place + 2]
        for place, word in enumerate(arguments)
    )


def _git(words: tuple[str, ...]) -> list[Effect]:
    verb, given = git_verb(words), set(words[1:])
    match verb:
        case "push":
            forced = {"-f", "--force", "--mirror"} & given or any(word.startswith("+") for word in given)
            return ["push", "force"] if forced else ["push"]
        case "reset" if "--hard" in given:
            return ["rewrite"]
        case "clean" if any(word.startswith("-") and "f" in word for word in given):
            return ["rewrite"]
        case "checkout" | "restore" if {".", "--", "-f"} & given and not ({"--staged", "-b"} & given):
            return ["rewrite"]
        case "stash" if {"drop", "clear"} & given:
            return ["rewrite"]
        case "branch" if {"-D", "-d", "--delete"} & given:
            return ["rewrite"]
        case "rebase" | "filter-branch" | "filter-repo" | "update-ref":
            return ["rewrite"]
        case "commit":
            return ["commit"]
        case "add" | "stage":
            return ["commit"]
        case "rm":
            return ["remove"]
        case _:
            return []


_SENDING = (
    "-d",
    "-F",
    "-T",
    "--data",
    "--data-binary",
    "--data-raw",
    "--form",
    "--upload-file",
    "--json",
    "--post-data",
    "--post-file",
    "--body-data",
)


def _sent(program: str, arguments: tuple[str, ...], fed: bool) -> list[Effect]:
    if any(LOCAL.search(word) for word in arguments):
        return []
    if program in ("scp", "rsync", "sftp"):
        plain = [word for word in arguments if not word.startswith("-")]
        return ["upload"] if plain and REMOTE_PATH.match(plain[-1]) else []
    if program in ("nc", "ncat", "netcat"):
        return ["upload"] if fed or "-e" in arguments else []
    for word in arguments:
        if word.startswith(_SENDING) and not word.startswith("-f"):
            return ["upload"]
        if "/dev/tcp/" in word:
            return ["upload"]
    upper = {word.upper() for word in arguments}
    return ["upload"] if upper & {"POST", "PUT", "DELETE", "-XPOST", "-XPUT", "-XDELETE", "PATCH"} else []
