"""The notes on words and deed: the call touches another file than it names, or does what its words do not say."""

from __future__ import annotations

from pi_intent.notes.actions import Action, changes_by_name
from pi_intent.notes.note import Note, quoted, quoted_deed
from pi_intent.notes.own_doing import is_own_doing, says_only_looking, takes_a_look, tells_when
from pi_intent.notes.sayings import SAYINGS
from pi_intent.notes.words import Mention, Words, files_in, leaning_of, same_file
from pi_intent.past import PastCall
from pi_intent.word_sets import word_set

_NOUNS_AFTER = word_set(
    """
    the a an this that my our your his their its recent last latest any for of pending previous these those
    every each no
    """
)
_STOPS = word_set(
    """
    from what how why whatever all with using like of by per for
    as than via after before because since so that which when where if
    against about between
    """
)
_PLACES = word_set("in into to inside within")
_PLACED = word_set(
    """
    defined used found seen shown declared imported reported described mentioned referenced caused documented
    as like
    """
)
_AFTER_READ = word_set(
    """
    to for and before so because in then first again now once more carefully from at
    """
)
_READ_VERBS = word_set("read open view show display print")
_LIGHT_VERBS = frozenset({"make", "set", "use"})
_BACK = 5


def note_drift(call: PastCall, words: Words, action: Action) -> Note | None:
    """Note a call that does not do what its words say; None where nothing can be told."""
    if not words.known:
        return None
    if says_only_looking(words):
        words = words._replace(leaning="look")
    return _undeclared(words, action) or _only_looks(call, words, action) or _other_file(words, action)


def _undeclared(words: Words, action: Action) -> Note | None:
    """A command has an effect that no word announces."""
    if not action.effects.done or words.leaning is None:
        return None
    said = _said(words)
    told = said if words.leaning != "look" else _said(words, verbs=True)
    shown = {done.effect: done.words for done in reversed(action.effects.done)}
    for effect, saying in SAYINGS.items():
        if effect not in shown or words.leaning not in saying.against or told & saying.verbs:
            continue
        if said & saying.subjects and (saying.seen or words.leaning != "look"):
            continue
        if effect in ("write", "commit") and _says_change(words):
            continue
        if effect == "write" and tells_when(words):
            continue
        # What feeds a shell stands before it: the whole command tells more.
        deed = quoted_deed(action.target if effect == "pipe-to-shell" else shown[effect])
        return Note("drift", f"{quoted(words.text)} does not say that the command {saying.told}: {deed}")
    return None


def _said(words: Words, *, verbs: bool = False) -> set[str]:
    """Return the words of a text and their plain forms; with `verbs` without those that stand as nouns."""
    places = [
        place
        for place in range(len(words.all))
        if not verbs or place == 0 or words.all[place - 1] not in _NOUNS_AFTER or words.all[place].endswith("ing")
    ]
    return {word for place in places for word in (words.all[place], words.bases[place])}


def _says_change(words: Words, *, passive: bool = True) -> bool:
    """Say whether a word of the text speaks of a change to be made: `fix it`, and not `the fix`, `change nothing`.

    Without `passive`, what `is applied` is none, either.
    """
    said = ("", *words.all, "")
    return any(
        leaning_of(base) == "change"
        and said[place + 1] not in ("nothing", "anything")
        and said[place - 1] not in _NOUNS_AFTER
        and (passive or said[place - 1] not in ("is", "are", "was", "were"))
        for place, base in enumerate(words.bases, 1)
    )


def _only_looks(call: PastCall, words: Words, action: Action) -> Note | None:
    """The agent says that it only looks, or only runs something, and the tool changes something."""
    if action.kind in ("run", "read", "search", "fetch"):
        return None
    by_name = action.kind not in ("write", "edit")
    looking = words.leaning == "look" or takes_a_look(words)
    if not looking and (words.leaning != "test" or words.verb == "test"):
        return None
    if _says_change(words, passive=by_name) or (action.kind == "other" and not changes_by_name(call)):
        return None
    if not _ANNOUNCES_CHANGE.isdisjoint(words.all) or not (by_name or is_own_doing(words, action)):
        return None
    deed = {"write": "writes", "edit": "edits", "remove": "removes"}.get(action.kind, "changes")
    target = f" {quoted(action.target)}" if action.target else " something"
    said = "looks" if looking else "runs something"
    return Note("drift", f"{quoted(words.text)} only {said}, and the call {deed}{target}")


_ANNOUNCES_CHANGE = word_set(
    """
    create build draft prepare script plan setup set define provide use ensure instead new
    """
)


def _other_file(words: Words, action: Action) -> Note | None:
    """The file that the words are about is not the one that the call touches."""
    if action.hidden or action.kind not in ("read", "write", "edit", "run"):
        return None
    touched = [name for name in action.names if name]
    mentions = files_in(words.text)
    if not mentions or not touched or words.leaning is None:
        return None
    if action.kind == "run" and (action.effects.wide or not action.effects.files):
        return None
    target = action.target.lower()
    for mention in mentions:
        stem = mention.name.partition(".")[0] or mention.name
        if any(same_file(mention.name, name) for name in touched) or stem in target:
            return None
    for mention in mentions:
        if _is_object(words, mention, action):
            what = {"read": "reads", "write": "writes", "edit": "edits", "run": "names"}[action.kind]
            other = next(iter((*action.effects.files, *action.paths)), "")
            return Note(
                "drift", f"{quoted(words.text)} is about {quoted(mention.text)}, and the call {what} {quoted(other)}"
            )
    return None


def _is_object(words: Words, mention: Mention, action: Action) -> bool:
    """Say whether a file is what the verb of the text is done to."""
    before = words.text[: mention.place].lower().split()[-_BACK:]
    place_word = False
    for back, raw in enumerate(reversed(before)):
        word = raw.strip(".,;:!?\"'`“”()*")
        previous = before[-back - 2].strip(".,;:!?\"'`") if back + 2 <= len(before) else ""
        if word in _STOPS or raw.endswith((".", ";", "?", "!")):
            return False
        if word in _PLACES:
            if (
                previous in _PLACED
                or previous.endswith("ed")
                or "test" in mention.name
                or mention.name.endswith(".log")
            ):
                return False
            place_word = True
            continue
        plain = _plain_verb(word, words)
        if action.kind == "read":
            if plain in _READ_VERBS or (plain == "look" and place_word):
                return _ends_there(words.text, mention)
            if leaning_of(plain) is not None:
                return False
        elif (leaning_of(plain) == "change" and plain not in _LIGHT_VERBS) or (
            action.kind == "run" and plain in (*_READ_VERBS, "run", "test", "execute", "lint", "check")
        ):
            return action.kind != "run" or not place_word
    return False


def _plain_verb(word: str, words: Words) -> str:
    for given, base in zip(words.all, words.bases, strict=True):
        if given == word:
            return base
    return word


def _ends_there(text: str, mention: Mention) -> bool:
    """Say whether the file is the end of its phrase: `Read a.py to …`, and not `Read a.py's callers`."""
    rest = text[mention.place + len(mention.text) :].lstrip("`\"'”)*")
    if not rest or rest[0] in ".,;:!?(—–-":
        return True
    following = rest.split(None, 1)[0].lower().strip(".,;:!?") if rest[0] == " " and rest.strip() else ""
    return not rest.strip() or following in _AFTER_READ


def touches(action: Action, name: str) -> bool:
    """Say whether a call touches a file of this name, or its command mentions it."""
    stem = name.partition(".")[0] or name
    return any(same_file(name, other) for other in action.names) or (bool(stem) and stem in action.target.lower())
