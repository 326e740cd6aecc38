"""The texts of a result as whoever reads it has them, one after the other: a credential may come in pieces."""

from __future__ import annotations


def joined(value: object, blocks: frozenset[str] = frozenset({"text"})) -> tuple[str, str]:
    """Return all the texts of a value that was read from JSON, and once more those alone that stand under `blocks`.

    A model reads the blocks of a result one after the other, without what else is said of each.
    """
    texts: list[str] = []
    read: list[str] = []
    left: list[tuple[object, object]] = [("", value)]
    while left:
        name, part = left.pop()
        match part:
            case str():
                texts.append(part)
                if name in blocks:
                    read.append(part)
            case dict():
                texts += part
                left += reversed(part.items())
            case list():
                left += [(name, item) for item in reversed(part)]
            case _:
                pass
    return "\n".join(texts), "\n".join(read)
