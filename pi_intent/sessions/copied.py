"""Tell intents that only repeat what the user asked for, or a text of ours."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

_LEAST_WORDS = 3
"""A text of one or two words is as easily said twice as copied."""

_LONGEST = 16_384
"""Characters of a text that is compared: no intent of that length states one goal."""


class Texts:
    """The texts that are no intent of the model's own, whatever their case and spaces; only digests are kept."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._digests = {digest for text in texts if (digest := _digest(text)) is not None}

    def add(self, text: str) -> None:
        """Take a text among them."""
        digest = _digest(text)
        if digest is not None:
            self._digests.add(digest)

    def __contains__(self, text: str) -> bool:
        return _digest(text) in self._digests


def _digest(text: str) -> bytes | None:
    if len(text) > _LONGEST:
        return None
    words = text.casefold().split()
    if len(words) < _LEAST_WORDS:
        return None
    return hashlib.sha256(" ".join(words).encode("utf-8", "surrogatepass")).digest()[:16]
