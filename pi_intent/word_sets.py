"""Write a set of words as one text, which reads better than fifty quoted ones."""

from __future__ import annotations


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text, each once."""
    return frozenset(text.split())
