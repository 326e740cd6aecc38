"""What stands in backticks: the grammar gives no node for them in here-documents and in default values."""

from __future__ import annotations

import re


def backticked(text: str) -> list[str] | None:
    """What stands in backticks that are not escaped, or None where one has no second."""
    marks = [found.start() for found in re.finditer(r"\\.|`", text, flags=re.S) if found[0] == "`"]
    if len(marks) % 2:
        return None
    pairs = zip(marks[::2], marks[1::2], strict=True)
    return [unescaped(text[start + 1 : end]) for start, end in pairs]


def unescaped(text: str) -> str:
    """The text between backticks as the shell that it is for gets it."""
    return re.sub(r"\\([\\`$])", r"\1", text)
