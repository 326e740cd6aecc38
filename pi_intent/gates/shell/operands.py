"""Which words of a command are its operands: neither options nor the values of options."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from pi_intent.gates.shell.script import Word


def operands(words: tuple[Word, ...], letters: str = "", names: Collection[str] = ()) -> Iterator[Word]:
    """Yield the operands, where options of these letters and names take a value behind a blank."""
    value = plain = False
    for word in words:
        text = word.start
        if plain or not (value or text.startswith("-")) or (text == "-" and not value):
            yield word
        plain = plain or (text == "--" and not value)
        value = not value and (text in names or bool(letters and re.fullmatch(f"-[^-{letters}]*[{letters}]", text)))
