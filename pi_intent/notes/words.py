"""What an intent says, as far as it is English: its words, its leading verb, the files it names.

Every pattern here is one class of characters or a plain alternative, so that a text takes time in proportion to its
length, whoever wrote it.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal, NamedTuple

from pi_intent.word_sets import word_set

Leaning = Literal["look", "test", "change", "other"]
"""What a verb promises: only to look · to run something · to change something · none of these."""

_TOKEN = re.compile(r"[^\s\"'`“”‘’«»()\[\]{}<>,;|*]+")
_WORD = re.compile(r"[A-Za-z][A-Za-z'’-]*")
_LINE = re.compile(r"(?::\d{1,7}|#L\d{1,7})")
_ENDS = ".,;:!?"
_INNER_DOT = re.compile(r"\.\S")

_LOOK = word_set(
    """
    analyse analyze audit browse check compare confirm count determine diagnose diff display examine explore find
    grep identify inspect investigate learn list locate look monitor observe open peek preview print query
    read review scan search see show study survey trace understand validate verify view watch
    """
)
_TEST = word_set("benchmark compile execute exercise lint profile rerun re-run run test typecheck")
_CHANGE = word_set(
    """
    add adjust alter append apply bump change clean clear comment
    commit configure convert copy correct create
    delete deploy disable document drop edit enable erase expand extend extract
    fix flush free format generate implement
    improve initialise initialize insert install integrate introduce log make merge migrate modify move
    overwrite patch port publish prune purge push record refactor register remove rename reorganise reorganize repair
    replace reset resolve restore restructure revert rewrite save set simplify stage store strip swap tidy
    tweak undo uninstall update upgrade wipe wire wrap write
    """
)
_OTHER = word_set(
    """
    archive ask backup begin build call cancel clone continue debug download draft enumerate ensure fetch
    finish follow gather get handle kill launch load measure pack parse ping prepare prove pull rebuild
    release report reproduce restart rollback send serve set-up setup start stop submit summarise summarize
    switch sync tag try upload use wait
    """
)
_LEANINGS: dict[str, Leaning] = {
    **dict.fromkeys(_OTHER, "other"),
    **dict.fromkeys(_CHANGE, "change"),
    **dict.fromkeys(_TEST, "test"),
    **dict.fromkeys(_LOOK, "look"),
}

_OPENERS = word_set(
    """
    a actually again ahead all also alright am and another be before begin but by can carefully could directly
    double finally first gonna go going good great hmm i i'll i'm i've immediately just lastly let let's lets
    me more must myself need next nice now ok okay once out perfect please proceed properly quick quickly
    really right should simply so start still sure systematically then there time to trying us wait want we
    we'll we're well will yes you you're
    """
)

# Words that English shares with none of these languages; the second set is shared, and two of them are needed.
_FOREIGN = word_set(
    """
    att auf avec aus bei dans das dei della der des deze een eine einen est et het ist jest les los las
    nicht och ou para pour por que qui sich sie una une uma und von zu zum zur nie oder ve ile di el le
    archivo archivos fichier fichiers datei dateien arquivo arquivos bestand bestanden fil filer
    """
)
_SHARED = word_set("au da mit de del den die do du ein em en il im la lo o os se su un y") - {"do"}

_ENDING = re.compile(r"\.([A-Za-z][A-Za-z0-9]{0,7})$")
_ENDINGS = word_set(
    """
    astro bash bat bib c cc cfg clj cmake cmd conf cpp cs css csv cts dart db diff dockerfile ejs el env erl
    ex exs fish go gradle graphql groovy h hpp hrl hs htm html hbs ini ino ipynb java jinja jl js json json5
    jsonc jsonl jsx kt kts less lock log lua m md mdx mjs mk ml mod mts nim nix patch php pl pm png po proto
    ps1 py pyi pyx r rake rb rmd rs rst sass scala scss sed service sh sol spec sql sqlite sum svelte svg
    swift tex tf tfvars toml ts tsv tsx txt vb vim vue wasm xml yaml yml zig zsh
    """
)
_NAMES = word_set(
    """
    readme changelog license makefile dockerfile gemfile rakefile procfile jenkinsfile justfile vagrantfile
    codeowners .gitignore .gitattributes .env .npmrc .bashrc .zshrc .profile .editorconfig .dockerignore
    """
)
_MAY_NAME = re.compile(rf"\.[A-Za-z]|{'|'.join(sorted(name for name in _NAMES if name[0] != '.'))}", re.IGNORECASE)
"""What stands in every text that names a file."""

_NO_FILES = word_set(
    """
    node.js next.js vue.js react.js express.js three.js d3.js nuxt.js socket.io asp.net
    """
)


class Mention(NamedTuple):
    """A file that a text names: as it stands there, its last part in lower case, and whether a line was named."""

    text: str
    name: str
    line: bool
    place: int


class Words(NamedTuple):
    """The words of a text. `known` says whether it can be judged as English at all."""

    text: str
    all: tuple[str, ...]
    bases: tuple[str, ...]
    lead: int | None
    leaning: Leaning | None
    known: bool

    @property
    def verb(self) -> str | None:
        return None if self.lead is None else self.bases[self.lead]


@lru_cache(maxsize=4096)
def base(word: str) -> str:
    """Return the plain form of an English verb that is known here, or the word as it is."""
    if word in _LEANINGS:
        return word
    for ending in ("ing", "ied", "ies", "ed", "es", "s", "d"):
        if word.endswith(ending) and len(word) > len(ending) + 1:
            stem = word[: -len(ending)]
            tries = (f"{stem}y",) if ending in ("ied", "ies") else (stem, f"{stem}e", stem[:-1])
            for candidate in tries:
                if candidate in _LEANINGS and (candidate != stem[:-1] or stem[-1:] == stem[-2:-1]):
                    return candidate
    return _IRREGULAR.get(word, word)


_OPENED = frozenset({"pull", "pr", "issue", "ticket", "port", "connection"})
_IRREGULAR = {"wrote": "write", "written": "write", "ran": "run", "found": "find", "saw": "see", "sent": "send"}


def words_of(text: str) -> Words:
    """Return the words of a text in lower case, and what can be told of them; names of files are no words."""
    prose = _TOKEN.sub(_without_file, text) if _INNER_DOT.search(text) is not None else text
    if prose.isascii():  # one pass over the text, and not one for each word
        words = tuple(word.strip("-'") for word in _WORD.findall(prose.lower()))
    else:
        words = tuple(_plain(word) for word in _WORD.findall(prose))
    bases = tuple(map(base, words))
    lead = next((place for place, word in enumerate(words) if word not in _OPENERS), None)
    if lead is not None and bases[lead] in ("try", "continue", "begin", "proceed") and lead + 1 < len(bases):
        after = next((place for place in range(lead + 1, len(words)) if words[place] not in _OPENERS), None)
        lead = after if after is not None and bases[after] in _LEANINGS else lead
    leaning = None if lead is None else _LEANINGS.get(bases[lead])
    if lead is not None and bases[lead] == "open" and not _OPENED.isdisjoint(words):
        leaning = "other"
    return Words(text, words, bases, lead, leaning, _is_known(text, words))


def _without_file(token: re.Match[str]) -> str:
    word = token[0].rstrip(_ENDS)
    line = _LINE.search(word)
    path = word if line is None else word[: line.start()]
    return " " if "." in path and is_file(path) else token[0]


def _plain(word: str) -> str:
    return word.lower().replace("’", "'").strip("-'")


def leaning_of(word: str) -> Leaning | None:
    """Return what a plain verb promises, None for a word that is not known as a verb."""
    return _LEANINGS.get(word)


def is_opener(word: str) -> bool:
    """Say whether a word only leads up to what is said, such as `let` and `now`."""
    return word in _OPENERS


def _is_known(text: str, words: tuple[str, ...]) -> bool:
    if has_foreign_letter(text):
        return False
    if not _FOREIGN.isdisjoint(words):
        return False
    return _SHARED.isdisjoint(words) or sum(word in _SHARED for word in words) < 2


def has_foreign_letter(text: str) -> bool:
    """Say whether a letter of a text is none of English."""
    return not text.isascii() and any(sign.isalpha() and not sign.isascii() for sign in text)


def files_in(text: str) -> tuple[Mention, ...]:
    """Return the files that a text names, in order; at most 64 of them."""
    if _MAY_NAME.search(text) is None:
        return ()
    found: list[Mention] = []
    for match in _TOKEN.finditer(text):
        token = match[0]
        if "." not in token and token.lower() not in _NAMES and "/" not in token:
            continue
        token = token.rstrip(_ENDS)
        line = _LINE.search(token)
        path = (token[: line.start()] if line is not None else token).rstrip(_ENDS)
        if is_file(path):
            found.append(Mention(token, last_part(path), line is not None, match.start()))
            if len(found) == 64:
                break
    return tuple(found)


def is_file(path: str) -> bool:
    """Say whether a word is the name of a file by its looks: a known ending, or a name that only files have."""
    if "." not in path and path.islower():
        return False
    if len(path) > 1024 or "://" in path or path.startswith(("-", "@", "www.")):
        return False
    name = last_part(path)
    if not name or name in _NO_FILES:
        return False
    ending = _ENDING.search(name)
    if ending is not None and ending[1] in _ENDINGS and ending.start() > 0:
        # `theme.dim()` and `fs.rs` in prose are rare enough; `v1.r` and `e.g` are not files
        return len(ending[1]) > 1 or "/" in path or len(name) > 4
    return name in _NAMES and (name[0] == "." or path.rstrip("/")[-len(name)].isupper())


def is_known_name(name: str) -> bool:
    """Say whether a name without its ending is one that files of projects have, such as `makefile` and `readme`."""
    return name.partition(".")[0].lower() in _NAMES


def last_part(path: str) -> str:
    """Return the name of a file without its folders, in lower case."""
    return path.replace("\\", "/").rstrip("/").rpartition("/")[2].lower()


def same_file(one: str, other: str) -> bool:
    """Say whether two names may mean one file: `README` is `README.md`, too."""
    return one == other or one.partition(".")[0] == other.partition(".")[0] != ""
