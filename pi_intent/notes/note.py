"""What a note is: one doubt about the words of one call, and the sentence that explains it."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from pi_intent.characters import SEQUENCE, UNSEEN
from pi_intent.labels.literal import whole_line

NoteKind = Literal["vague", "echo", "duplicate", "loop", "drift", "unfulfilled", "copied", "unseen-evidence"]
"""`vague`: general words only · `echo`: the command or path over again · `duplicate`: an earlier call over again,
with nothing changed in between · `loop`: three times in a row · `drift`: the words say one thing, the call does
another · `unfulfilled`: says test or run, and nothing of the kind follows · `copied`: a text of ours or of the
user's · `unseen-evidence`: the rationale names a file that no earlier call could have shown."""

KINDS: tuple[NoteKind, ...] = (
    "drift",
    "unseen-evidence",
    "unfulfilled",
    "loop",
    "duplicate",
    "copied",
    "echo",
    "vague",
)
"""All kinds, in the order in which a call's notes are given: the gravest first."""

_QUOTED = 60
_HIDDEN = re.compile(f"[{UNSEEN}\ud800-\udfff]")


class Note(NamedTuple):
    """One doubt. `text` is a sentence for a person, without its end; it quotes what others wrote."""

    kind: NoteKind
    text: str


def seen_of(text: str) -> str:
    """Return a text on one line, without escape sequences and what cannot be seen."""
    if text.isascii() and text.isprintable():
        return " ".join(text.split())
    text = re.sub(SEQUENCE, "", text)
    return "".join(filter(str.isprintable, " ".join(_HIDDEN.sub("", text).split())))


def quoted_deed(text: str) -> str:
    """Return the beginning of what a call does in quotation marks, with what cannot be seen spelled out."""
    return f'"{whole_line(text, width=_QUOTED)}"'


def quoted(text: str) -> str:
    """Return the beginning of a text in quotation marks, as `seen_of` has it."""
    seen = seen_of(text[: 8 * _QUOTED]).replace('"', "'")
    return f'"{seen}"' if len(seen) <= _QUOTED and len(text) <= 8 * _QUOTED else f'"{seen[: _QUOTED - 1]}…"'
