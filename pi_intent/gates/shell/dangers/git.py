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
_STAGED = re.compile(rf"(?:HEAD|@)(?:[~^]0)?|{_FILE.pattern}|.*\.[a-z]\w*")
"""What `git reset` takes out of the index alone."""
_SHOWS = re.compile(r"-[pucW]|-U\d*|--cc|--patch.*|--unified.*|--function-context")
"""Options with which `git log` shows what was written."""
_MOST_ALIASES = 20
"""How many aliases are followed, each of which may stand for the next."""
_COUNTS = re.compile(
    r"--(?:stat|numstat|shortstat|dirstat|summary|name-only|name-status|quiet)(?:=.*)?|-s|--no-patch"
)
"""Options with which names and numbers are shown in place of what was written."""
_VALUED_LETTERS = {
    "clean": "e",
    "clone": "bocju",
    "push": "o",
    "commit": "mFCct",
    "tag": "mFu",
    "checkout": "bB",
    "switch": "cC",
    "rebase": "xsX",
    "fetch": "jo",
    "pull": "jsX",
    "merge": "mFsX",
    "stash": "m",
    "worktree": "bB",
}
"""Letters of each subcommand that take a value, on them or behind them."""
_VALUED_NAMES = word_set(
    "--message --file --author --date --push-option --exclude --repo --receive-pack --exec --onto --strategy "
    "--strategy-option --template --trailer --depth --branch --origin --reference"
)
_SENDS = word_set("push send-pack send-email")
_FETCHES = word_set("fetch pull ls-remote")
_SENDS_BY_PART = {("subtree", "push"), ("lfs", "push"), ("svn", "dcommit"), ("p4", "submit")}
_TALKS_BY_PART = _SENDS_BY_PART | {
    ("remote", "update"),
    ("remote", "prune"),
    ("remote", "show"),
    ("submodule", "update"),
    ("submodule", "add"),
    *(("subtree", part) for part in ("add", "pull")),
    *(("lfs", part) for part in ("fetch", "pull")),
    *(("svn", part) for part in ("clone", "fetch", "rebase")),
}
_LOCAL = re.compile(r"(?:\.{1,2}|~\w*)?/.*|\.{1,2}|file://.*")
"""A path, and so no other machine."""
_ONTO_A_BRANCH = re.compile(r"[^:]*:(?!refs/remotes/).")
"""What is fetched to a branch of one's own; a copy of another's branches may be overwritten."""
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
    flags = tuple(_without_values(name, rest))
    dry = "--dry-run" in flags or _short(flags, "n")
    if _rewrites(name, flags):
        yield "git_history"
    if _sends(name, flags) and not dry:
        yield "publishes"
    if _talks(name, flags):
        yield "network"
    if name in ("clean", "rm") and "--cached" not in flags and not dry:
        yield "deletes"
    if _shows(name, flags) or name == "credential" or (name == "config" and _asks_credentials(rest)):
        yield "secrets"


def _without_values(name: str, rest: tuple[str, ...]) -> Iterator[str]:
    """The arguments of a subcommand without what is the value of an option: `-enode_modules` is `-e`."""
    letters = _VALUED_LETTERS.get(name, "")
    left = iter(rest)
    for text in left:
        if text == "--":
            yield from (text, *left)
            return
        found = re.match(f"-[^-{letters}]*[{letters}]", text) if letters else None
        yield found[0] if found else text
        if text in _VALUED_NAMES or (found and found.end() == len(text)):
            next(left, None)


def _sends(name: str, flags: tuple[str, ...]) -> bool:
    return name in _SENDS or (name, *_words(flags)[:1]) in _SENDS_BY_PART


def _talks(name: str, flags: tuple[str, ...]) -> bool:
    """Whether git talks to another machine. What is cloned from a path is on this one."""
    words = _words(flags)
    if name == "clone":
        return not any(map(_LOCAL.fullmatch, words[:1]))
    return (
        name in _SENDS | _FETCHES
        or (name, *words[:1]) in _TALKS_BY_PART
        or (name == "archive" and _long(flags, "--remote"))
    )


def _shows(name: str, flags: tuple[str, ...]) -> bool:
    """Whether it shows what is in a file of secrets; names of files and counts of lines are not that."""
    words = _words(flags)
    patch = any(map(_SHOWS.fullmatch, flags))
    shows = name in ("show", "cat-file", "diff", "blame", "grep") or (name == "log" and patch)
    shows = shows or (name == "stash" and words[:1] == ["show"])
    named = flags if name != "grep" else words[1:]
    counts = name in ("show", "diff") and not patch and any(map(_COUNTS.fullmatch, flags))
    return shows and not counts and any(is_secret_path(text.rpartition(":")[2]) for text in named)


def _asks_credentials(rest: tuple[str, ...]) -> bool:
    return "--get" in rest and any("credential" in text for text in rest)


def _words(flags: tuple[str, ...]) -> list[str]:
    return [text for text in flags if not text.startswith("-")]


def _short(rest: tuple[str, ...], letter: str) -> bool:
    return any(text.startswith("-") and not text.startswith("--") and letter in text[1:] for text in rest)


def _long(rest: tuple[str, ...], *names: str) -> bool:
    """Git takes any beginning of a long option that only one has."""
    given = [text.partition("=")[0] for text in rest if text.startswith("--") and len(text) > 3]
    return any(name.startswith(text) for text in given for name in names)


def _rewrites(name: str, rest: tuple[str, ...]) -> bool:
    words = _words(rest)
    match name:
        case "push":
            forced = (
                _short(rest, "f") or _short(rest, "d") or _long(rest, "--force", "--force-with-lease", "--mirror")
            )
            return forced or _long(rest, "--delete", "--prune") or any(word.startswith(("+", ":")) for word in words)
        case "fetch" | "pull":
            forced = _short(rest, "f") or _long(rest, "--force")
            onto = [word for word in words[1:] if _ONTO_A_BRANCH.match(word)]
            tags = _short(rest, "t") or _long(rest, "--tags")
            return any(forced or word.startswith("+") for word in onto) or (forced and tags)
        case "reset":
            back = any(re.search(r"[~^](?!0$)", word) for word in words) or (
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
            made = _short(rest, "b") or _short(rest, "B") or "--orphan" in rest
            overwrites = "--" in rest[:-1] or (not made and (len(words) > 1 or any(map(_FILE.fullmatch, words))))
            overwrites = overwrites or _long(rest, "--ours", "--theirs", "--pathspec-from-file")
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
