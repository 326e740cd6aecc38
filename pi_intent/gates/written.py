"""The words of a command that name what it writes or deletes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import dropwhile, pairwise
from typing import NamedTuple

from pi_intent.gates.script import Command, Unknown, Word
from pi_intent.word_sets import word_set

_WRITES = (">", ">>", ">|", "&>", "&>>", ">&", "<>")
_LAST_IS_WRITTEN = word_set("cp mv ln install rsync scp")
_ALL_WRITTEN = word_set("rm rmdir unlink shred truncate touch mkdir tee chmod chown chgrp mkfifo trash")


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
    "sort": _Options("o", ("--output",)),
    "tar": _Options("C", ("--directory",)),
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
_GIT_WRITTEN = _Options("", ("--output", "--output-directory"))
_GIT_WRITTEN_BY = {name: _Options("o", _GIT_WRITTEN.names) for name in ("archive", "format-patch", "bugreport")}


def written_words(command: Command) -> Iterator[Word]:
    """Yield the words of a command that name what it writes or deletes."""
    for redirect in command.redirects:
        if redirect.operator in _WRITES and not (redirect.operator == ">&" and redirect.target.start.isdigit()):
            yield redirect.target
    program, words = command.program or "", command.arguments
    plain = [word for word in words if not word.start.startswith("-") or word.start == "-"]
    if program in _ALL_WRITTEN:
        yield from (
            plain[1:] if program in ("chmod", "chown", "chgrp") else [w for w in plain if _is_input(w) is False]
        )
    elif program == "find" and _find_writes(command.texts):
        yield from _roots(words)
    elif program in _LAST_IS_WRITTEN and len(plain) > 1:
        yield from plain if program == "mv" else plain[-1:] if ":" not in plain[-1].start else []
    elif program == "dd":
        yield from (_after(word, 3) for word in words if word.start.startswith("of="))
    elif program == "sed" and any(
        text.startswith(("-i", "--in-place")) or text in ("-Ei", "-ni", "-ri") for text in command.texts
    ):
        scripted = any(text in ("-e", "-f", "--expression") for text in command.texts)
        named = plain[1:] if plain and plain[0].text == "" else plain  # `-i ''` of another sed
        yield from named if scripted else named[1:]
    elif program == "git":
        yield from _written_by_git(command, plain)
    if (options := _WRITTEN_OPTIONS.get(program)) is not None:
        yield from _values(words, options)


def _written_by_git(command: Command, plain: list[Word]) -> Iterator[Word]:
    words, texts = command.arguments, command.texts
    if "-C" in texts[:-1] and {"clean", "reset", "checkout", "rm", "restore"} & set(texts):
        yield words[texts.index("-C") + 1]
    elif texts[:1] == ("clone",) and len(plain) > 2:
        yield plain[-1]
    else:
        subcommand = next((text for text in texts if text in _GIT_WRITTEN_BY), "")
        yield from _values(words, _GIT_WRITTEN_BY.get(subcommand, _GIT_WRITTEN))


def _values(words: tuple[Word, ...], options: _Options) -> Iterator[Word]:
    """Yield the values of options, in each way in which they are given: `-o x`, `-ox`, `-so x`, `--output=x`."""
    for word, following in pairwise((*words, Word("", ("-",)))):
        name, equals, _ = word.start.partition("=")
        if name in options.names:
            value = _after(word, len(name) + 1) if equals else following
        elif end := _letter_end(word.start, options):
            value = following if word.text is not None and end == len(word.start) else _after(word, end)
        else:
            continue
        if value.text != "-":
            yield value


def _letter_end(start: str, options: _Options) -> int:
    """Return where a letter of these ends in `-o`, `-ox` or `-so`; 0 where there is none."""
    if not start.startswith("-") or start.startswith("--"):
        return 0
    for at, letter in enumerate(start[1:] if options.clusters else start[1:2], start=1):
        if letter in options.letters:
            return at + 1
        if not letter.isalpha():
            break
    return 0


def _after(word: Word, count: int) -> Word:
    """Return a word without its first characters, which are literal."""
    unknown = dropwhile(lambda part: isinstance(part, str), word.parts)
    return Word(word.source, (word.start[count:], *unknown))


def _find_writes(texts: tuple[str, ...]) -> bool:
    runs = [after for text, after in pairwise(texts) if text in ("-exec", "-execdir", "-ok", "-okdir")]
    return "-delete" in texts or any(name.rsplit("/", 1)[-1] in _ALL_WRITTEN | {"mv", "sed"} for name in runs)


def _is_input(word: Word) -> bool:
    """What find and xargs hand in: what they look through is judged where they are."""
    return any(isinstance(part, Unknown) and part.gap == "input" for part in word.parts)


def _roots(words: tuple[Word, ...]) -> Iterator[Word]:
    for word in words:
        if word.start.startswith(("-", "(", "!")):
            return
        yield word
