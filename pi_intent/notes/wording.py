"""The notes on the words alone: they are general, or the command or path over again."""

from __future__ import annotations

import re

from pi_intent.notes.actions import Action
from pi_intent.notes.note import Note, quoted
from pi_intent.notes.words import Words, files_in, has_foreign_letter, is_opener, leaning_of
from pi_intent.word_sets import word_set

_GENERAL = word_set(
    """
    about actual actually additional again all another any anything appropriate are as ask at based be been
    behavior behaviour better change changes code codebase command content contents context continue correct
    correctly current details different do does doing done everything exact existing explore file files find
    fix fixed fixes following for from further get go handle happening has have help here how if
    implementation improve in info information input inspect into investigate is issue issues it its latest
    learn look looks made make modify more my necessary needed needs new next of old on one ones only open
    operation or other our output part place problem problems proceed process project relevant repo repository
    requested required result results same see set show situation some something specific state step steps
    stuff sure task tasks that the their them these they thing things this those try understand up update
    updated use user using various verify view was way were what when where which while with work working
    works would your read review check examine analyze analyse edit write accordingly manually systematically
    efficiently approach
    """
)
_FILLER = word_set(
    """
    a an the file files contents content of command run execute using with in on to for this that it its
    """
)
_SPECIFIC = re.compile(r"[0-9`_/\\#@$%]|[a-z][A-Z]|[A-Z]{2}|\w\.\w|\w\(\)|[\"“].|\s'\w")
_PART = re.compile(r"[\w]+")
_OWN_VERBS = {
    "read": word_set("read open view show display cat look"),
    "write": frozenset(["write", "create", "save"]),
    "edit": frozenset(["edit", "update", "modify", "change"]),
    "search": word_set("search find grep list look glob"),
    "fetch": frozenset(["fetch", "get", "search"]),
}
_RUN_VERBS = word_set("run execute call use check")
_MOST = 400


def note_vague(words: Words) -> Note | None:
    """Note an intent in which every word is general and nothing is named."""
    if not words.known or not words.all or len(words.all) > 24 or _SPECIFIC.search(words.text[:_MOST]):
        return None
    if len(words.text) > _MOST or has_foreign_letter(words.text):
        return None
    if not (words.all[0] in _GENERAL or words.bases[0] in _GENERAL or is_opener(words.all[0])):
        return None
    for word, base in zip(words.all, words.bases, strict=True):
        if word not in _GENERAL and base not in _GENERAL and not is_opener(word):
            return None
    if files_in(words.text):
        return None
    return Note("vague", f"{quoted(words.text)} names nothing: no file, no symbol, no number, and only general words")


def note_echo(words: Words, action: Action) -> Note | None:
    """Note an intent that says only what stands in the command or the path anyway."""
    if len(words.text) > _MOST:
        return None
    if action.command is not None:
        own, target = _RUN_VERBS, action.command
    elif action.paths and action.kind in _OWN_VERBS:
        own, target = _OWN_VERBS[action.kind], action.paths[0]
    else:
        return None
    if len(target) > _MOST:
        return None
    said = _parts(words.text)
    if not said or (said[-1] not in _FILLER and said[-1] not in target.lower()):
        return None
    literal = _parts(target)
    left = [part for part in said if not is_opener(part) and part not in _FILLER]
    verb = words.verb
    if (
        left
        and words.lead is not None
        and verb in own
        and left[0] == words.all[words.lead]
        and left[0] not in literal
    ):
        left = left[1:]
    there = set(literal)
    if not left or any(part not in there for part in left):
        return None
    if action.command is not None:
        covered = len(set(left)) >= 0.6 * len({part for part in literal if len(part) > 1})
    else:
        name = _parts(target.rpartition("/")[2])
        covered = set(name) <= set(left)
    if not covered or (
        len(left) < 2 and leaning_of(left[0]) is None and action.command is not None and literal[0] != left[0]
    ):
        return None
    what = "the command" if action.command is not None else "the path"
    return Note("echo", f"{quoted(words.text)} only repeats {what}, {quoted(target)}, and not what it is for")


def _parts(text: str) -> list[str]:
    if text.isascii():
        return _PART.findall(text.lower())
    return [part.lower() for part in _PART.findall(text)]
