"""One node of the tree of a text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_intent.gates.shell.reading.words import decoded

if TYPE_CHECKING:
    from tree_sitter import Node


def source_of(node: Node) -> str:
    return decoded(node.text or b"")


def first_error(root: Node) -> str | None:
    """The text at which the tree is torn."""
    node = root
    while not (node.is_error or node.is_missing):
        following = next((child for child in node.children if child.has_error or child.is_missing), None)
        if following is None:
            break
        node = following
    return source_of(node)
