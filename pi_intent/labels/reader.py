"""Read the stated intent out of a call's arguments while the model is still writing them.

The text is read once, from left to right, by two tables: what may stand between the parts of the object, and what
follows a quoted text. Of a value that is skipped only quotes, escapes and brackets count: nothing is shown of it.
Line breaks that a model left unescaped are taken as they are, since a label is drawn on one line anyway. Anything
else that is no JSON object ends the reading: what was shown stays, and nothing more comes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Literal

from pi_intent.characters import pair_surrogates

SHOWN_WHILE_GROWING = 4096
"""Characters reported of an intent before it ends: each report is a new text, and no line of a screen is longer."""

_KEY = "intent"
_LONGEST_SPELLING = len(r"\u0069") * len(_KEY)

type _State = Literal[
    "start",
    "first key",
    "next key",
    "key",
    "colon",
    "intent colon",
    "value",
    "intent value",
    "intent",
    "text",
    "scalar",
    "nested",
    "nested text",
    "comma",
    "complete",
    "silent",
]

_SPACE = re.compile(r"[ \t\n\r]*+")
_SCALAR = re.compile(r"[-+.\w \t\n\r]*+", re.ASCII)
_NO_MARK = re.compile(r'[^"\[\]{}]*+')
_WHOLE_CHARACTERS = re.compile(r'(?:[^"\\]++|\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4}))*+')
_CUT_OFF_ESCAPE = re.compile(r"\\(?:u[0-9A-Fa-f]{0,3})?")

_SKIPPED: dict[str, _State] = {**dict.fromkeys("{[", "nested"), **dict.fromkeys("-0123456789tfn", "scalar")}
# What is passed over in a state, and where the mark after it leads; a mark that is not named leads to "silent".
_MARKS: dict[_State, tuple[re.Pattern[str], dict[str, _State]]] = {
    "start": (_SPACE, {"{": "first key"}),
    "first key": (_SPACE, {'"': "key"}),
    "next key": (_SPACE, {'"': "key"}),
    "colon": (_SPACE, {":": "value"}),
    "intent colon": (_SPACE, {":": "intent value"}),
    "value": (_SPACE, {'"': "text", **_SKIPPED}),
    "intent value": (_SPACE, {'"': "intent", **_SKIPPED}),
    "scalar": (_SCALAR, {",": "next key"}),
    "nested": (_NO_MARK, {'"': "nested text", **dict.fromkeys("{[]}", "nested")}),
    "comma": (_SPACE, {",": "next key"}),
}
_AFTER_TEXT: dict[_State, _State] = {
    "key": "colon",
    "text": "comma",
    "nested text": "nested",
    "intent": "complete",
}
_CLOSING = {"{": "}", "[": "]"}
_DECODER = json.JSONDecoder(strict=False)


def read_arguments(arguments: object) -> str | None:
    """Return the intent of complete arguments, the same text as a reader ends with that was fed with their JSON."""
    intent = arguments.get(_KEY) if isinstance(arguments, Mapping) else None
    return pair_surrogates(intent) if isinstance(intent, str) else None


class IntentReader:
    """Reads the arguments of one call, fed as raw JSON text in pieces of any size; never raises.

    The first `intent` of the object itself whose value is a text ends the reading. `intent` is that text as far as
    whole characters of it came, unstripped, with U+FFFD for lone surrogates: at most its first 4,096 characters while
    it grows, all of it once `complete`. It is None as long as there is nothing to show.
    """

    __slots__ = ("_half", "_held", "_key", "_open", "_parts", "_state", "intent")

    def __init__(self) -> None:
        self.intent: str | None = None
        self._state: _State = "start"
        self._held = ""  # an escape that was cut off, until the rest of it comes
        self._half = ""  # a high surrogate, until it is known whether its low one follows
        self._key = ""  # the key being read, as it is spelled, as far as it can be ours
        self._open: list[str] = []  # what will close the brackets that are open, innermost last
        self._parts: list[str] = []

    @property
    def complete(self) -> bool:
        """Tell whether the intent was read to its end; nothing changes after that."""
        return self._state == "complete"

    def feed(self, text: str) -> str | None:
        """Read the next piece; return the intent so far, never an empty one, if this piece changed it, else None."""
        before, at = self.intent, 0
        text, self._held = self._held + text, ""
        while at < len(text) and self._state not in ("complete", "silent"):
            at = self._read_text(text, at) if self._state in _AFTER_TEXT else self._read_mark(text, at)
        return self.intent if self.intent and self.intent != before else None

    def _read_mark(self, text: str, at: int) -> int:
        """Read up to the next mark and past it; return where to go on."""
        passed_over, leads_to = _MARKS[self._state]
        at = _end(passed_over, text, at)
        if at < len(text):
            self._state = leads_to.get(text[at], "silent")
            if self._state == "nested":
                self._read_bracket(text[at])
        return at + 1

    def _read_bracket(self, mark: str) -> None:
        if mark in _CLOSING:
            self._open.append(_CLOSING[mark])
        elif self._open.pop() != mark:
            self._state = "silent"
        elif not self._open:
            self._state = "comma"

    def _read_text(self, text: str, at: int) -> int:
        """Read as many whole characters of a quoted text as there are; return where to go on."""
        end = _end(_WHOLE_CHARACTERS, text, at)
        ended = text.startswith('"', end)
        if self._state == "key":
            self._key = (self._key + text[at:end])[: _LONGEST_SPELLING + 1]
        elif self._state == "intent":
            self._grow(text[at:end], ended)
        if ended:
            ours = self._state == "key" and self._ends_our_key()
            self._state = "intent colon" if ours else _AFTER_TEXT[self._state]
        elif _CUT_OFF_ESCAPE.fullmatch(text, end):
            self._held = text[end:]
            end = len(text)
        elif end < len(text):
            self._state = "silent"
        return end + 1

    def _ends_our_key(self) -> bool:
        spelled, self._key = self._key, ""
        return len(spelled) <= _LONGEST_SPELLING and _unescaped(spelled) == _KEY

    def _grow(self, spelled: str, ended: bool) -> None:
        text = self._half + _unescaped(spelled)
        self._half = text[-1:] if not ended and "\ud800" <= text[-1:] <= "\udbff" else ""
        text = pair_surrogates(text.removesuffix(self._half))
        self._parts.append(text)
        if ended:
            self.intent = "".join(self._parts)
        elif text:
            self.intent = ((self.intent or "") + text)[:SHOWN_WHILE_GROWING]


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    """Return where the match ends of a pattern that also matches nothing."""
    found = pattern.match(text, at)
    return found.end() if found is not None else at


def _unescaped(spelled: str) -> str:
    text: str = _DECODER.decode(f'"{spelled}"')
    return text
