"""The words of a command that name what it writes or deletes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from pi_intent.gates.shell.command import read_command
from pi_intent.gates.shell.dangers.finders import roots
from pi_intent.gates.shell.git_options import subcommand_at
from pi_intent.gates.shell.operands import operands
from pi_intent.gates.shell.own_commands import sed_scripts
from pi_intent.gates.shell.running.given import given_to
from pi_intent.gates.shell.running.handed import FINDERS, HAND_IN, of_finder
from pi_intent.gates.shell.running.inner import NOTHING
from pi_intent.gates.shell.running.inside import inside
from pi_intent.gates.shell.running.subcommands import CONTAINERS, from_subcommand, subcommand
from pi_intent.gates.shell.script import Command, Unknown, Word
from pi_intent.word_sets import word_set

_WRITES = (">", ">>", ">|", "&>", "&>>", ">&", "<>")
_CONNECTIONS = ("/dev/tcp/", "/dev/udp/")
_LAST_IS_WRITTEN = word_set("cp mv ln install rsync scp")
_ALL_WRITTEN = word_set("rm rmdir unlink shred truncate touch mkdir tee chmod chown chgrp mkfifo trash sponge")


class _Options(NamedTuple):
    """The options of a program whose value it writes to; `clusters` says whether `-so x` is `-s -o x`."""

    letters: str = ""
    names: tuple[str, ...] = ()
    clusters: bool = True


_WRITTEN_OPTIONS = {
    "curl": _Options(
        "oDc", ("--output", "--output-dir", "--dump-header", "--cookie-jar", "--trace", "--trace-ascii", "--stderr")
    ),
    "wget": _Options("OPoa", ("--output-document", "--directory-prefix", "--output-file", "--append-output")),
    **dict.fromkeys(("sort", "shuf"), _Options("o", ("--output",))),
    "find": _Options("", ("-fprint", "-fprint0", "-fprintf", "-fls")),
    "csplit": _Options("f", ("--prefix",)),
    "7z": _Options("o", clusters=False),
    "pi-intent": _Options("o", ("--output",)),
    "go": _Options("o", clusters=False),
    **dict.fromkeys(("zipfile", "tarfile"), _Options("", ("-c", "--create"))),
    "unzip": _Options("d"),
    "cp": _Options("t", ("--target-directory",)),
    "mv": _Options("t", ("--target-directory",)),
    "ln": _Options("t", ("--target-directory",)),
    "install": _Options("t", ("--target-directory",)),
    "patch": _Options("od", ("--output", "--directory")),
    "gpg": _Options("o", ("--output",)),
    "openssl": _Options("", ("-out", "-keyout")),
    "pandoc": _Options("o", ("--output",)),
    **dict.fromkeys(("cc", "gcc", "g++", "clang", "clang++", "ld", "rustc"), _Options("o", clusters=False)),
}
_ONLY_READS = word_set(
    "grep egrep fgrep rg ag cat zcat bat head tail wc ls stat file echo printf test [ basename dirname readlink "
    "realpath md5sum sha1sum sha256sum sha512sum b2sum cksum sum du df diff cmp comm cut tr nl less more strings nm "
    "objdump readelf ldd od hexdump jq column fold tree true false : tac base64 zgrep zless xmllint shellcheck cloc "
    "tokei javap otool identify ffprobe mypy"
)
"""Programs that change no file that they are handed."""
_KNOWN = _ALL_WRITTEN | _LAST_IS_WRITTEN | word_set("sed awk gawk mawk sort uniq xxd tar zip git dd")
"""Programs of which it is known which files they change."""
_MOST_WRAPPERS = 4
_HERE = Word(".", (".",))
"""Stands for the folder in which a program runs."""


class _IntoFolder(NamedTuple):
    """A program that writes into the folder it runs in: the options with which it does not, or writes elsewhere."""

    elsewhere: _Options
    unless: re.Pattern[str]
    only: re.Pattern[str] = re.compile("")


_INTO_FOLDER = {
    "unzip": _IntoFolder(_Options("d"), re.compile("-[a-zA-Z]*[lptvZzc]")),
    "wget": _IntoFolder(
        _Options("OP", ("--output-document", "--directory-prefix")), re.compile("--spider|--version|--help|-[Vh]$")
    ),
    "curl": _IntoFolder(
        _Options("", ("--output-dir",)), re.compile("--version"), re.compile("-[a-zA-Z]*O|--remote-name")
    ),
    "patch": _IntoFolder(_Options("do", ("--directory", "--output")), re.compile("--dry-run")),
}
_PACKERS = word_set("gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd lz4 lzma compress uncompress")
_PACKS_ELSEWHERE = re.compile("-[a-zA-Z0-9]*[clt]|--(?:stdout|to-stdout|list|test)")
_TAR_PRINTS = re.compile(r"-[^-fCTX]*O|--to-stdout$")
_TAR_PACKS = re.compile(r"-[^-fCTX]*[cruA]|--(?:create|append|update|delete|concatenate)$")
_TAR_UNPACKS = re.compile(r"-[^-fCTX]*x|--(?:extract|get)$")
_TAR_FILE = _Options("fg", ("--file", "--listed-incremental"))
_TAR_FOLDER = _Options("C", ("--directory", "--one-top-level"))
_TAR_ANYWHERE = re.compile(r"-[^-fCTX]*P|--absolute-names$")
_SECOND_IS_WRITTEN = {"split": "abClnt", "uniq": "fsw", "xxd": "clogsn"}
"""Programs whose second operand is written, with their options that take a value."""
_INTO_TARGET = re.compile("-[a-zA-Z]*t|--target-directory")
_KEY_IS_READ = re.compile(r"-[a-zA-Z]*[lyeBDFiL]")
_ANYWHERE = Word("/", ("/",))
_SED_IN_PLACE = re.compile(r"-[nErsuzb]*i|--in-place")
_SED_SCRIPTED = re.compile(r"-[nErsuzb]*[ef]|--(?:expression|file)")
_SED_WRITES = re.compile(r"^(?:[wW]|s/x/x/[^w\n]*w)[ \t]*(?P<file>[^\s;}]+)", re.M)
"""As `sed_scripts` gives them."""
_AWK_WRITES = re.compile(r'>\s*"([^"]+)"')
_OF_THE_USER = Word("~", (Unknown("home", "~"),))
"""Stands for the settings that a user has for all projects."""
_SETTINGS = word_set("npm pnpm pip pip3")
_GIT_WRITTEN = _Options("", ("--output", "--output-directory"))
_GIT_WRITTEN_BY = {name: _Options("o", _GIT_WRITTEN.names) for name in ("archive", "format-patch", "bugreport")}
_GIT_CONFIG_FILE = _Options("f", ("--file",))
_GIT_PLACES = _Options("C", ("--git-dir", "--work-tree"))
_GIT_WRITES = word_set(
    "add am apply bisect branch bundle checkout checkout-index cherry-pick citool clean clone commit commit-tree "
    "config fast-import fetch filter-branch filter-repo format-patch gc gui init lfs maintenance merge mergetool mv "
    "notes pack-refs prune pull read-tree rebase reflog remote repack replace rerere reset restore revert rm "
    "sparse-checkout stash submodule subtree svn switch symbolic-ref tag update-index update-ref worktree write-tree"
)
_GIT_LOOKS = {
    # What these subcommands are given where they only look.
    "submodule": word_set("status summary"),
    "bisect": word_set("log view visualize"),
    "bundle": word_set("verify list-heads"),
    "lfs": word_set("ls-files env status logs"),
    "sparse-checkout": word_set("list check-rules"),
    "rerere": word_set("status diff remaining"),
}
_GIT_DRY = re.compile("--dry-run|--help|-h")
_GIT_DRY_BY = {
    **dict.fromkeys(("add", "clean", "rm", "mv"), re.compile("-[a-zA-Z]*n[a-zA-Z]*")),
    "apply": re.compile("--(?:check|stat|numstat|summary)"),
    "format-patch": re.compile("--stdout"),
}
"""Options with which nothing is written."""
_GIT_LISTS = word_set("branch tag remote config worktree stash reflog notes")
_GIT_EDITS = re.compile(r"--(?:unset|edit|remove|rename)|-e$")
_GIT_LISTING = word_set(
    "list show get get-url --get --get-all --get-regexp --list -l --contains --merged --no-merged --points-at"
)


def written_words(command: Command) -> Iterator[Word]:
    """Yield the words of a command that name what it writes or deletes, but for what find itself hands in."""
    by = next((name for name in reversed(command.through) if name in HAND_IN), "")
    return (word for word in _written(command) if by not in FINDERS or not _is_input(word))


def _written(command: Command) -> Iterator[Word]:
    for redirect in command.redirects:
        start = redirect.target.start
        if redirect.operator in _WRITES and not (redirect.operator == ">&" and start.isdigit()):
            yield from () if start.startswith(_CONNECTIONS) else (redirect.target,)
    program, words = command.program or "", command.arguments
    plain = [word for word in words if not word.start.startswith("-") or word.start == "-"]
    if program in _ALL_WRITTEN:
        yield from plain[1:] if program in ("chmod", "chown", "chgrp") else plain
    elif program in FINDERS:
        yield from roots(command) if _finder_changes(command) else ()
    elif program == "install" and any(re.match("-[a-zA-Z]*d|--directory", text) for text in command.texts):
        yield from plain
    elif program in _LAST_IS_WRITTEN and len(plain) > 1 and not any(map(_INTO_TARGET.match, command.texts)):
        yield from plain if program == "mv" else plain[-1:] if ":" not in plain[-1].start else []
    elif program == "dd":
        yield from (word.after(3) for word in words if word.start.startswith("of="))
    elif program == "sed":
        yield from _written_by_sed(words, command.texts)
    elif program in ("awk", "gawk", "mawk"):
        yield from (Word(text, (file,)) for text in command.texts for file in _AWK_WRITES.findall(text))
    elif program in ("tar", "bsdtar", "gtar"):
        yield from _written_by_tar(words)
    elif program == "zip" or (program == "7z" and plain and plain[0].text in ("a", "u", "d", "rn")):
        yield from plain[:1] if program == "zip" else plain[1:2]
    elif program in _SECOND_IS_WRITTEN:
        yield from list(operands(words, _SECOND_IS_WRITTEN[program]))[1:2]
    elif program == "ssh-keygen" and not any(map(_KEY_IS_READ.match, command.texts)):
        yield from _values(words, _Options("f"))
    elif program in ("zipfile", "tarfile") and {"-e", "--extract"} & set(command.texts):
        yield from plain[1:2]
    elif program == "git":
        yield from _written_by_git(words, command.texts)
    elif program in _SETTINGS and subcommand(program, words)[:2] in (["config", "set"], ["config", "delete"]):
        yield _OF_THE_USER
    elif program in _PACKERS and not any(map(_PACKS_ELSEWHERE.match, command.texts)):
        yield from plain
    elif program == "patch":
        yield from list(operands(words, "pidoFDBzVrY", ("--input", "--directory", "--output", "--strip")))[:1]
    elif program in ("venv", "virtualenv"):
        yield from operands(words, "p", ("--prompt", "--python"))
    elif program == "uv" and subcommand(program, words)[:1] == ["venv"]:
        yield from from_subcommand(program, words)[1:]
    elif program in CONTAINERS and {*subcommand(program, words)[:2]} & {"save", "export"}:
        yield from _values(words, _Options("o", ("--output",)))
    if (into := _INTO_FOLDER.get(program)) is not None and _into_folder(words, command.texts, into):
        yield _HERE
    if (options := _WRITTEN_OPTIONS.get(program)) is not None:
        yield from _values(words, options)


def _written_by_sed(words: tuple[Word, ...], texts: tuple[str, ...]) -> Iterator[Word]:
    if any(_SED_IN_PLACE.match(text) for text in texts):
        named = list(operands(words, "ef", ("--expression", "--file")))
        named = named[1:] if named and named[0].text == "" else named  # `-i ''` of another sed
        yield from named if any(_SED_SCRIPTED.match(text) for text in texts) else named[1:]
    for script in sed_scripts(texts):
        yield from (Word(script, (found["file"],)) for found in _SED_WRITES.finditer(script))


def _written_by_tar(words: tuple[Word, ...]) -> Iterator[Word]:
    words = _spread(words)
    texts = [word.start for word in words]
    if any(_TAR_PACKS.match(text) for text in texts):
        yield from _values(words, _TAR_FILE)
    if any(_TAR_UNPACKS.match(text) for text in texts):
        prints = any(map(_TAR_PRINTS.match, texts))
        yield from list(_values(words, _TAR_FOLDER)) or ([] if prints else [_HERE])
        yield from [_ANYWHERE] if any(map(_TAR_ANYWHERE.match, texts)) else []


def _into_folder(words: tuple[Word, ...], texts: tuple[str, ...], into: _IntoFolder) -> bool:
    """Whether a program writes into the folder it runs in."""
    elsewhere = any(_values(words, into.elsewhere)) or any(map(into.unless.match, texts))
    return not elsewhere and any(map(into.only.match, texts))


def _spread(words: tuple[Word, ...]) -> tuple[Word, ...]:
    """Take the letters of tar that have no dash apart, each before its value."""
    if not words or words[0].start.startswith("-"):
        return words
    left = iter(words[1:])
    spread: list[Word] = []
    for letter in words[0].start:
        spread.append(Word(letter, (f"-{letter}",)))
        if letter in "fCTXgbKNV":
            spread += [word for word in (next(left, None),) if word is not None]
    return (*spread, *left)


def _written_by_git(words: tuple[Word, ...], texts: tuple[str, ...]) -> Iterator[Word]:
    at = subcommand_at(texts)
    name, rest = "".join(texts[at : at + 1]), words[at + 1 :]
    plain = list(operands(rest, "f" if name == "config" else "bB", ("--file",)))
    few = len(plain) < (2 if name == "config" else 1) and not any(map(_GIT_EDITS.match, texts)) and name != "stash"
    lists = name in _GIT_LISTS and (few or bool(_GIT_LISTING & set(texts)))
    if name in _GIT_WRITES and not lists and not _git_looks(name, rest, plain):
        elsewhere = name in ("clone", "init") and plain[name == "clone" :]
        yield from list(_values(words[:at], _GIT_PLACES)) or ([] if elsewhere else [_HERE])
        if name == "config" and {"--global", "--system"} & set(texts):
            yield _OF_THE_USER
        yield from _values(rest, _GIT_CONFIG_FILE) if name == "config" else ()
    yield from _values(rest, _GIT_WRITTEN_BY.get(name, _GIT_WRITTEN))
    if name == "clone":
        yield from plain[1:][-1:]
    elif name == "init" or [word.text for word in plain[:1]] in (["create"], ["add"]):
        yield from {"init": plain[-1:], "bundle": plain[1:2], "worktree": plain[1:2]}.get(name, [])


def _git_looks(name: str, rest: tuple[Word, ...], plain: list[Word]) -> bool:
    """Whether a subcommand that can write only looks this time, or says what it would do."""
    dry = _GIT_DRY_BY.get(name)
    if any(_GIT_DRY.fullmatch(word.start) or (dry and dry.fullmatch(word.start)) for word in rest):
        return True
    if name == "symbolic-ref":
        return len(plain) == 1 and not any(word.start == "-d" for word in rest)
    return name in _GIT_LOOKS and (plain[0].text in _GIT_LOOKS[name] if plain else name == "submodule")


def _values(words: tuple[Word, ...], options: _Options) -> Iterator[Word]:
    """Yield the values of options, but for `-`, which is the output."""
    values = given_to(words, options.letters, options.names, clusters=options.clusters)
    return (value for value in values if value.text != "-")


def _finder_changes(command: Command) -> bool:
    """Whether find or fd deletes what they find, or hand it to a program that may change it."""
    handing = of_finder(command) or NOTHING
    return "-delete" in command.texts or any(_changes_input(_with_input(inner)) for inner in handing.commands)


def _with_input(inner: Command) -> Command:
    """A command with what is found as its last word, as fd puts it where no word stands for it."""
    found = Word("{}", (Unknown("input", "{}"),))
    return inner if any(map(_is_input, inner.arguments)) else replace(inner, arguments=(*inner.arguments, found))


def _changes_input(command: Command, depth: int = 0) -> bool:
    """Whether a program may change the files that it is handed: all do that are not known to leave them."""
    if command.program in _ONLY_READS:
        return False
    if command.program in _KNOWN:
        return any(map(_is_input, _written(command)))
    within = inside(command) if depth < _MOST_WRAPPERS else NOTHING
    if within.texts and within.hidden is None:
        return any(_text_changes_input(text) for text, _ in within.texts)
    return not within.commands or any(_changes_input(inner, depth + 1) for inner in within.commands)


def _text_changes_input(text: str) -> bool:
    """Whether the text of a shell may change what it is handed, as which each variable of it counts."""
    script = read_command(text)
    return bool(script.unclear) or any(
        command.hidden is not None
        or any(not isinstance(part, str) for word in _written(command) for part in word.parts)
        or not (command.program in _ONLY_READS | _KNOWN or command.name is None or inside(command).commands)
        for command in script.commands
    )


def _is_input(word: Word) -> bool:
    """What find hands in: what it looks through is judged where it is."""
    return any(isinstance(part, Unknown) and part.gap == "input" for part in word.parts[:1])
