"""What a git command would lose or send away."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from pi_intent.gates.shell.dangers.secret_reads import is_secret_path
from pi_intent.gates.shell.git_options import subcommand_at
from pi_intent.word_sets import word_set

_REWRITES = word_set("filter-branch filter-repo rebase replace fast-import")
_FILE = re.compile(r"\.|\.{1,2}/.*|.*/|.*[*?\[].*|:.*|.*\.[a-z]{2,4}")
"""What is a file or a folder and hardly the name of a branch."""
_STAGED = re.compile(rf"HEAD|@|{_FILE.pattern}|.*\.[a-z]\w*")
"""What `git reset` takes out of the index alone."""
_SHOWS = word_set("-p -u --patch -c --cc")
"""Options with which `git log` shows what was written."""
_MOST_ALIASES = 20
"""How many aliases are followed, each of which may stand for the next."""
_MOVES_ON = word_set("--abort --continue --skip --quit --edit-todo --show-current-patch")


def git_dangers(
    texts: tuple[str, ...], aliases: dict[str, str] | None = None, left: int = _MOST_ALIASES
) -> Iterator[str]:
    """Yield the kinds of danger of git's arguments. Options before the subcommand are read over, aliases followed."""
    at = subcommand_at(texts)
    aliases = dict(aliases or {})
    for option, setting in pairwise(texts[:at]):
        name, _, value = setting.partition("=")
        if option == "-c" and name.lower().startswith("alias."):
            aliases[name[6:]] = value
    if at >= len(texts):
        return
    name, rest = texts[at], texts[at + 1 :]
    if name in aliases and not aliases[name].startswith("!"):
        aliased = aliases.pop(name).split()
        yield from git_dangers((*aliased, *rest), aliases, left - 1) if left else ("opaque",)
        return
    if rest[:1] == ("--help",) or rest == ("-h",):
        return
    if name == "config":
        for setting, value in pairwise(rest):
            if setting.lower().startswith("alias."):
                yield from git_dangers(tuple(value.split()), aliases)
    if _rewrites(name, rest):
        yield "git_history"
    if name in ("push", "send-pack", "send-email") and not {"-n", "--dry-run"} & set(rest):
        yield "publishes"
    if (
        name in ("clone", "fetch", "pull", "ls-remote", "push")
        or (name == "remote" and rest[:1] in (("update",), ("prune",), ("show",)))
        or (name == "submodule" and "update" in rest)
    ):
        yield "network"
    if name == "clean" and not {"-n", "--dry-run"} & set(rest) and not _short(rest, "n"):
        yield "deletes"
    if name == "rm" and "--cached" not in rest and not {"-n", "--dry-run"} & set(rest):
        yield "deletes"
    shows = name in ("show", "cat-file", "diff", "blame") or (name == "log" and _SHOWS & set(rest))
    if shows and any(is_secret_path(text.rpartition(":")[2]) for text in rest):
        yield "secrets"
    if name == "credential" or (name == "config" and any("credential" in text for text in rest) and "--get" in rest):
        yield "secrets"


def _short(rest: tuple[str, ...], letter: str) -> bool:
    return any(text.startswith("-") and not text.startswith("--") and letter in text[1:] for text in rest)


def _long(rest: tuple[str, ...], *names: str) -> bool:
    """Git takes any beginning of a long option that only one has."""
    given = [text.partition("=")[0] for text in rest if text.startswith("--") and len(text) > 3]
    return any(name.startswith(text) for text in given for name in names)


def _rewrites(name: str, rest: tuple[str, ...]) -> bool:
    words = [text for text in rest if not text.startswith("-")]
    match name:
        case "push":
            forced = (
                _short(rest, "f") or _short(rest, "d") or _long(rest, "--force", "--force-with-lease", "--mirror")
            )
            return forced or _long(rest, "--delete", "--prune") or any(word.startswith(("+", ":")) for word in words)
        case "reset":
            back = any("~" in word or "^" in word for word in words) or (
                len(words) == 1 and "--" not in rest and not _STAGED.fullmatch(words[0])
            )
            return back or _long(rest, "--hard", "--merge", "--keep")
        case "commit":
            return "--amend" in rest or _long(rest, "--amend")
        case "branch":
            lists = "--list" in rest or _short(rest, "l")
            return not lists and (
                any(_short(rest, letter) for letter in "DdfMC") or _long(rest, "--delete", "--force")
            )
        case "tag":
            return _short(rest, "d") or _short(rest, "f") or _long(rest, "--delete", "--force")
        case "checkout":
            made = _short(rest, "b") or "--orphan" in rest
            overwrites = "--" in rest[:-1] or any(map(_FILE.fullmatch, words)) or (len(words) > 1 and not made)
            overwrites = overwrites or _long(rest, "--ours", "--theirs")
            return overwrites or _short(rest, "f") or _short(rest, "B") or _long(rest, "--force")
        case "read-tree":
            return _short(rest, "u") or "--reset" in rest
        case "checkout-index":
            return _short(rest, "f") or "--force" in rest
        case "submodule":
            return words[:1] == ["deinit"]
        case "switch":
            return (
                _short(rest, "f")
                or _short(rest, "C")
                or _long(rest, "--force", "--discard-changes", "--force-create")
            )
        case "restore":
            return (
                (not _long(rest, "--staged") and not _short(rest, "S"))
                or _long(rest, "--worktree")
                or _short(rest, "W")
            )
        case "stash":
            return words[:1] in (["drop"], ["clear"])
        case "reflog":
            return words[:1] in (["expire"], ["delete"])
        case "gc" | "prune":
            return name == "prune" or any(text.startswith("--prune=") or text == "--aggressive" for text in rest)
        case "update-ref" | "symbolic-ref":
            return _short(rest, "d") or "--stdin" in rest or (name == "update-ref" and len(words) > 1)
        case "worktree":
            return words[:1] == ["remove"] and (_short(rest, "f") or _long(rest, "--force"))
        case "remote":
            return words[:1] in (["remove"], ["rm"])
        case "rebase" | "am" | "cherry-pick" | "revert":
            return name == "rebase" and not _MOVES_ON & set(rest)
        case _:
            return name in _REWRITES
