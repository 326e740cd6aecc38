"""Which characters nobody can see, one set for "an intent must say something" and for text drawn on a screen.

The ranges are written out because a scan of all code points costs a tenth of a second at import; a test holds them
to `unicodedata`. White space is not in them: what becomes a space and what disappears are two things.
"""

from __future__ import annotations

import re
import unicodedata

UNSEEN_RANGES: tuple[tuple[int, int], ...] = (
    # Controls: C0 without TAB to CR, DEL and C1 without NEL, which are white space.
    (0x0000, 0x0008),
    (0x000E, 0x001F),
    (0x007F, 0x0084),
    (0x0086, 0x009F),
    # Format and default-ignorable code points.
    (0x00AD, 0x00AD),  # soft hyphen
    (0x034F, 0x034F),  # combining grapheme joiner
    (0x0600, 0x0605),  # Arabic number signs
    (0x061C, 0x061C),  # Arabic letter mark
    (0x06DD, 0x06DD),  # end of ayah
    (0x070F, 0x070F),  # Syriac abbreviation mark
    (0x0890, 0x0891),  # Arabic currency marks above
    (0x08E2, 0x08E2),  # disputed end of ayah
    (0x115F, 0x1160),  # Hangul fillers
    (0x17B4, 0x17B5),  # Khmer inherent vowels
    (0x180B, 0x180F),  # Mongolian selectors and vowel separator
    (0x200B, 0x200F),  # zero-width space, joiners, direction marks
    (0x202A, 0x202E),  # direction embeddings and overrides
    (0x2060, 0x206F),  # word joiner, invisible operators, direction isolates, deprecated formats
    (0x2800, 0x2800),  # Braille pattern without dots
    (0x3164, 0x3164),  # Hangul filler
    (0xFE00, 0xFE0F),  # variation selectors
    (0xFEFF, 0xFEFF),  # byte order mark
    (0xFFA0, 0xFFA0),  # halfwidth Hangul filler
    (0xFFF0, 0xFFFB),  # reserved ignorables, interlinear annotation
    (0x110BD, 0x110BD),  # Kaithi number signs
    (0x110CD, 0x110CD),
    (0x13430, 0x1343F),  # Egyptian hieroglyph format controls
    (0x13441, 0x13442),  # Egyptian hieroglyph blanks
    (0x16FE4, 0x16FE4),  # Khitan filler
    (0x1BCA0, 0x1BCA3),  # shorthand format controls
    (0x1D159, 0x1D159),  # musical null notehead
    (0x1D173, 0x1D17A),  # musical format controls
    (0xE0000, 0xE0FFF),  # tags, more variation selectors, reserved ignorables
)
"""First and last code point of each range of characters without a shape of their own."""

UNSEEN = "".join(f"{re.escape(chr(first))}-{re.escape(chr(last))}" for first, last in UNSEEN_RANGES)
"""The same as the inside of a regular expression's character class."""

# What a terminal takes as a command rather than as text. A string sequence (OSC; DCS, APC, PM, SOS, and the title
# string of screen and tmux) ends at ST, CAN or SUB, an OSC also at BEL, and at nothing else: without an end it
# swallows the rest, because a title still being streamed must not show in parts. A CSI ends at its final character.
SEQUENCE = (
    r"(?:\x1b(?=\x1b))++"
    r"|(?:\x1b\]|\x9d)[^\x07\x18\x1a\x1b\x9c]*+(?:\x1b(?!\\)[^\x07\x18\x1a\x1b\x9c]*+)*+(?:\x1b\\|[\x07\x18\x1a\x9c])?"
    r"|(?:\x1b[PX^_k]|[\x90\x98\x9e\x9f])[^\x18\x1a\x1b\x9c]*+(?:\x1b(?!\\)[^\x18\x1a\x1b\x9c]*+)*+(?:\x1b\\|[\x18\x1a\x9c])?"
    r"|(?:\x1b\[|\x9b)[\x00-\x08\x0e-\x17\x19\x1c-\x1f\x20-\x3f]*+[\x40-\x7e]?"
    r"|\x1b[\x20-\x2f]*+[\x30-\x7e]?"
)
"""A regular expression for one escape sequence, 7-bit or 8-bit, whole or cut off; it takes linear time."""

_UNSEEN_RUN = rf"(?:{SEQUENCE}|[\s{UNSEEN}]++)*+"
_SURROGATE = "[\ud800-\udfff]"

_LOOKED_AT = 4096
"""How far into a text the first visible character is looked for: nobody writes a word behind that much of nothing."""


def has_visible(text: str) -> bool:
    """Tell whether a text holds a character somebody can see, within its first 4,096 characters.

    White space, escape sequences and the characters of `UNSEEN_RANGES` are not seen; combining marks only on a
    character that carries them. A lone surrogate is: it is drawn as U+FFFD.
    """
    return first_visible(text) is not None


def first_visible(text: str) -> int | None:
    """Return the position of the first character somebody can see, or None as `has_visible` has it."""
    if text[:1].isascii() and text[:1].isalnum():
        return 0  # the ordinary text
    unseen_run = re.compile(_UNSEEN_RUN)  # kept by `re`; costs milliseconds that the ordinary text need not wait for
    at = 0
    while (run := unseen_run.match(text, at, _LOOKED_AT)) and run.end() < min(len(text), _LOOKED_AT):
        at = run.end()
        character = pair_surrogates(text[at : at + 2]) if "\ud800" <= text[at] <= "\udfff" else text[at]
        if len(character) == 1 and unseen_run.fullmatch(character):
            at += 2  # a pair of surrogates that stands for an invisible character
        elif unicodedata.category(character[0]).startswith("M"):
            at += 1 if character[0] == text[at] else 2
        else:
            return at
    return None


def pair_surrogates(text: str) -> str:
    """Return a text in which pairs of surrogates are the character they stand for and single ones are U+FFFD."""
    if text.isascii() or re.search(_SURROGATE, text) is None:
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
