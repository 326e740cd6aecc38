"""Whether a sentence tells what the agent itself does, or what the program that it edits shall do.

`Read src/pay.py` is the agent's own doing; `Read the port from the environment` may well be what an edit is for. A
sentence counts as the agent's own only where something shows it: it says so (`Only looking`), it has no object, its
object is a file or a piece of code, or it is a question that only a reader of code has.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import NamedTuple

from pi_intent.notes.actions import Action
from pi_intent.notes.note import seen_of
from pi_intent.notes.programs import CHECKERS, MANAGERS, RUNNERS
from pi_intent.notes.words import Words, base, is_file, last_part, leaning_of, same_file
from pi_intent.word_sets import word_set

_MOST = 48  # words of a text that are looked at: what comes later changes no verdict
_EDGES = "\"'`“”‘’«»()[]{}*"
_STOPS = ".,;:!?—–"
_ENDS = frozenset(".;:!?—–")

_PARTICLES = word_set("at into through over around in inside for out up on with")
_FORE = word_set(
    """
    a all an any both code complete current currently each entire exact existing few full its just latest line lines
    local more my new next old only original other our own raw relevant same some surrounding that the their these
    this those very whole
    """
)
_QUESTIONS = word_set("how if what when where whether which who why")
_BREAKS = _QUESTIONS | word_set(
    """
    about after again also always and are around as at because before behind but by carefully closely during first
    for from in inside instead into is like never now of on once only or over per so than then to too twice under
    unless until via was whenever while with within without
    """
)
_MARKS = word_set(
    """
    after also always before by default each every if instead never on once only or per too twice unless until well
    when whenever while with without
    """
)
"""Words that say when or how a program does something; who only wants to look has little use for them."""

_ADDED = word_set("again carefully closely first here now once locally quickly together")
_FOR_A_LOOK = word_set(
    "check compare confirm debug decide determine diagnose find get know learn locate see understand verify"
)

_STRONG = word_set(
    "analyse analyze audit diagnose examine inspect investigate look peek read review study understand"
)
"""Verbs of somebody who reads code; a program seldom does any of them to code."""

_OPENING = word_set("display examine inspect look open peek print read review show study view")
_SEEKING = word_set("determine find grep identify locate search see trace")
_ASKING = _STRONG | _SEEKING | word_set("check confirm explore learn verify view")

_CODE = word_set(
    """
    assertion behaviour behavior bug call-sites callers class classes code codebase component components crash
    definition definitions function functions handler handlers handling helper helpers hook hooks implementation
    implementations imports leak logic manifest method methods module modules package problem project regression repo
    repository routine script scripts sites source sources structure suite test tests traceback wiring workflow
    """
)
_PLAIN_CODE = word_set(
    """
    call-sites callers code codebase file files function implementation implementations manifest module repo
    repository sites structure
    """
)
_READABLE = _PLAIN_CODE | word_set("class definition definitions functions handler helper logic method modules tests")
_SOUGHT = word_set(
    """
    bug bugs call-sites callers cause crash culprit definition definitions entry-point leak point problem references
    regression sites usage usages uses
    """
)
_PARTS = word_set("beginning body code content contents end lines part parts rest section source text top")
_FILES = word_set("file files it them these this that those everything")
_SETTINGS = word_set("config configuration file manifest options schema settings setup values")
_CODED = word_set(
    """
    applied assigned built called computed calculated configured created declared defined enforced handled
    implemented imported initialised initialized instantiated invoked raised referenced registered thrown used wired
    """
)
_MEASURES = word_set("big deep far few fast large late long many much often old small tall wide")
_DATA = re.compile(
    r"\.(?:toml|ya?ml|json[5cl]?|ini|cfg|conf|env|lock|md|mdx|rst|txt|csv|xml|sql)$|^\.[a-z]+$|^readme$|^changelog$"
)
_RECIPES = re.compile(
    r"\.(?:toml|ya?ml|json[5c]?|ini|cfg|conf|sh|bash|mk|gradle|cmake|groovy|bat|ps1)$"
    r"|(?:make|docker|just|rake|jenkins|proc|vagrant)file|conftest|noxfile|\.config\.|(?:^|/)\.",
    re.IGNORECASE,
)
"""Files that say what is run, so that `Run the tests` is what they shall do."""

_RUNNABLE = (
    word_set(
        """
        all benchmark benchmarks build check checker checks code command commands examples everything formatter it
        lint linter linters pytest script scripts spec specs suite test tests that them these this type-checker
        typechecker
        """
    )
    | RUNNERS
    | CHECKERS
    | MANAGERS
)
_NOTHING = re.compile(
    r"\b(?:(?:chang|edit|touch|modify|writ)(?:e|es|ing|ying)? (?:nothing|anything)|no (?:changes?|edits?)\b"
    r"|nothing (?:is|will be|gets?) (?:changed|edited|touched|written))",
    re.IGNORECASE,
)
_OF_TESTS = word_set("assert check confirm ensure examine exercise inspect prove test verify")
_TESTS = re.compile(r"(?:^|[/_.-])(?:tests?|specs?)(?:[/_.-]|$)|conftest", re.IGNORECASE)
_WHOSE = word_set("chosen given passed provided requested selected specified supplied user's user’s script's users'")
"""What only somebody who uses the program has or says."""

_DENIALS = word_set("anything no nothing")
_ONLY = word_set("just only merely simply")
_GIVEN_LOOK = re.compile(
    r"\b(?:(?:take|taking|have|having) (?:a|another) (?:\w{1,12} )?look|(?:get|getting) an? (?:overview|idea))\b",
    re.IGNORECASE,
)
_LOOKS = word_set("idea look overview")
_WHEN = word_set("also always default each every instead never too unless well when whenever while")


def is_own_doing(words: Words, action: Action) -> bool:
    """Say whether the words on a call that writes tell of the agent itself: that it looks, or runs something."""
    if says_only_looking(words) or takes_a_look(words):
        return True
    if words.leaning == "look":
        return _looks_itself(words, action)
    return words.leaning == "test" and words.verb != "test" and _runs_itself(words, action)


def says_only_looking(words: Words) -> bool:
    """Say whether a text says in so many words that nothing is changed: `Only inspecting`, `No changes, just …`."""
    start = words.all[:3]
    for word, following in pairwise(start):
        if word in _ONLY and following.endswith("ing") and leaning_of(base(following)) == "look":
            return True
    if words.leaning != "look" and ("no" not in start or all(leaning_of(plain) != "look" for plain in words.bases)):
        return False
    return not _DENIALS.isdisjoint(words.all) and _NOTHING.search(words.text[:400]) is not None


def takes_a_look(words: Words) -> bool:
    """Say whether a text says `take a look` or the like, which no program does."""
    return not _LOOKS.isdisjoint(words.all) and _GIVEN_LOOK.search(words.text[:400]) is not None


def tells_when(words: Words) -> bool:
    """Say whether a text tells when something is to be shown or checked: `Print the usage when no name is given`."""
    return words.verb not in _STRONG and not _WHEN.isdisjoint(words.all)


def _looks_itself(words: Words, action: Action) -> bool:
    """Say whether a text that begins with a look tells of the agent, and not of what the program shall show."""
    verb, rest = _after_verb(words)
    if verb in _OF_TESTS and any(_TESTS.search(path) for path in action.paths):
        return False  # what the test that is written does
    phrase, head, tail = _object(rest)
    if not _WHOSE.isdisjoint(word.lower() for word in phrase) or _is_of_many(rest):
        return False
    if not phrase:
        if tail and tail[0].lower() in _QUESTIONS:
            return _asks(verb, tail)
        return verb in _STRONG | {"check", "explore", "search"} and _ends(tail)
    if head in _PARTS and len(tail) > 1 and tail[0] in ("of", "in", "from"):
        _, inner, after = _object(tail[1:])
        if is_file(inner):
            head, tail = inner, after
    if is_file(head):
        return _looks_at_file(verb, head, tail, action)
    head = head.lower()
    if head in _FILES:
        return (verb in _STRONG or (verb in _OPENING and head in ("file", "files"))) and _ends(tail)
    if verb == "investigate":
        return _MARKS.isdisjoint(word.lower() for word in tail)
    if not (_ends(tail) or _goes_on(tail)):
        return False
    if verb in _STRONG:
        return head in (_READABLE if verb == "read" else _CODE) or _names(head, action, verb)
    if verb in _SEEKING and head in _SOUGHT:
        return True
    return head in _PLAIN_CODE or (_ends(tail) and head in _SETTINGS and _names(head, action, verb))


def _runs_itself(words: Words, action: Action) -> bool:
    """Say whether a text that begins with a run tells of the agent, and not of what the program shall run."""
    if any(_RECIPES.search(path) for path in action.paths):
        return False
    _, rest = _after_verb(words)
    phrase, head, tail = _object(rest)
    if not phrase:
        return _ends(tail)
    if not _WHOSE.isdisjoint(word.lower() for word in phrase) or (tail and tail[0].lower() == "in"):
        return False  # what the program runs for somebody, and where
    runnable = head.lower() in _RUNNABLE or is_file(head) or phrase[0].lower() in _RUNNABLE
    return runnable and (_ends(tail) or _goes_on(tail))


def _is_of_many(rest: list[str]) -> bool:
    """Say whether something is looked for in all there are, as a program does: `every module for plugins`."""
    lower = [word.lower() for word in rest[:12]]
    return not {"all", "every", "each"}.isdisjoint(lower[:4]) and "for" in lower


def _after_verb(words: Words) -> tuple[str, list[str]]:
    """Return the leading verb in its plain form, and the words and stops after it."""
    verb = words.verb or ""
    found: list[str] = []
    begun = False
    for raw in seen_of(words.text[:600]).split():
        word = raw.strip(_EDGES).rstrip(_STOPS + _EDGES)
        if begun:
            found.append(_without_line(word))
            last = raw.rstrip(_EDGES)[-1:]
            if last and last in _STOPS:
                found.append(last)
        elif base(word.lower().replace("’", "'")) == verb:
            begun = True
            if raw[-1] in _STOPS:
                found.append(raw[-1])
        if len(found) > _MOST:
            break
    return verb, [word for word in found if word]


def _without_line(word: str) -> str:
    if ":" not in word and "#" not in word:
        return word
    path = word.partition(":")[0].partition("#")[0]
    return path if is_file(path) else word


class _Object(NamedTuple):
    """What a verb is done to: its words, the last of them, and what comes after."""

    phrase: list[str]
    head: str
    tail: list[str]


def _object(rest: list[str]) -> _Object:
    at = 0
    while at < len(rest) and rest[at].lower() in _PARTICLES:
        at += 1
    while at < len(rest) and rest[at].lower() in _FORE and at + 1 < len(rest) and not _breaks(rest[at + 1]):
        at += 1
    begin = at
    while at < len(rest) and not _breaks(rest[at]):
        at += 1
    phrase = rest[begin:at]
    return _Object(phrase, phrase[-1] if phrase else "", rest[at:])


def _breaks(word: str) -> bool:
    return word in _STOPS or word.lower() in _BREAKS


def _ends(tail: list[str]) -> bool:
    """Say whether nothing follows but why or how somebody looks: `again`, `to see …`, `, and check …`."""
    at = 0
    while at < len(tail) and tail[at].lower() in _ADDED:
        at += 1
    if at == len(tail) or tail[at] in _ENDS:
        return True
    if tail[at] == ",":
        at += 1
    if at + 1 >= len(tail):
        return at == len(tail)
    word, following = tail[at].lower(), base(tail[at + 1].lower())
    return word in ("to", "and", "so", "then") and following in _FOR_A_LOOK


def _goes_on(tail: list[str]) -> bool:
    """Say whether more of the same object follows, and not when or how it is done: `of the parser`, `in a.py`."""
    if not tail or tail[0].lower() not in ("of", "for", "in", "behind", "around", "that", "which"):
        return False
    return _MARKS.isdisjoint(word.lower() for word in tail)


def _looks_at_file(verb: str, name: str, tail: list[str], action: Action) -> bool:
    if not (_ends(tail) or (tail and tail[0].lower() in ("for", "before") and verb in _STRONG)):
        return False
    if any(same_file(last_part(name), own) for own in action.names):
        return True
    # A program reads and shows files of data; of a file of code nobody says that.
    return verb in _OPENING and (verb in _STRONG - {"read"} or _DATA.search(last_part(name)) is None)


def _asks(verb: str, tail: list[str]) -> bool:
    """Say whether a question is one that a reader of code has: `why …`, `where the total is computed`."""
    if verb not in _ASKING:
        return False
    asked, rest = tail[0].lower(), [word.lower() for word in tail[1:]]
    if asked == "why":
        return True
    if asked == "how":
        own = not rest or rest[0] not in _MEASURES
        return own and (verb in ("understand", "learn", "study", "investigate") or _MARKS.isdisjoint(rest))
    if verb in ("understand", "learn", "study", "investigate") and asked in ("what", "where", "which"):
        return True
    if not _MARKS.isdisjoint(rest):
        return False
    if asked in ("where", "who"):
        return not _CODED.isdisjoint(rest)
    if asked in ("whether", "if"):
        return not _CODED.isdisjoint(rest) and not {"anywhere", "elsewhere", "still"}.isdisjoint(rest)
    return asked in ("what", "which") and not _PLAIN_CODE.isdisjoint(rest)


def _names(head: str, action: Action, verb: str) -> bool:
    """Say whether a noun is the call's target: `the config` is config.toml, and `the settings` are, too."""
    for path in action.paths:
        name = last_part(path)
        stem = name.partition(".")[0]
        same = len(stem) > 2 and head.rstrip("s") == stem.rstrip("s")
        if _DATA.search(name) is not None:
            if same or head in _SETTINGS:
                return True
        elif same and verb != "read":  # code reads `the clock`, and a file of settings reads nothing
            return True
    return False
