"""What is known of the variables of a text, and where its tree is torn."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from pi_intent.gates.script import Unknown
from pi_intent.gates.words import Cell, decoded
from pi_intent.word_sets import word_set

if TYPE_CHECKING:
    from tree_sitter import Node

_CHANGES_VARIABLES = word_set("read unset mapfile readarray getopts let eval source . printf local trap")


def assignment_counts(root: Node) -> Counter[str] | None:
    """How often each variable is assigned in a text, or None where something may change one unseen."""
    counts: Counter[str] = Counter()
    cursor = root.walk()
    while True:
        node = cursor.node
        if node is not None and node.type == "variable_assignment" and node.children:
            appended = any(child.type == "+=" for child in node.children)
            counts[decoded(node.children[0].text or b"")] += 2 if appended else 1
        elif node is not None and node.type == "for_statement":
            counts.update({decoded(child.text or b""): 2 for child in node.children if child.type == "variable_name"})
        elif node is not None and node.type == "command_name" and decoded(node.text or b"") in _CHANGES_VARIABLES:
            return None
        if cursor.goto_first_child() or cursor.goto_next_sibling():
            continue
        while cursor.goto_parent():
            if cursor.goto_next_sibling():
                break
        else:
            return None if counts["IFS"] else counts


def home_kept(cells: list[Cell]) -> list[Cell]:
    """A value as it is later put in: its tilde has become the home folder."""
    first = cells[0] if cells else None
    if first is None or isinstance(first, Unknown) or first[1] or not (first[0] == "~" or first[0].startswith("~/")):
        return cells
    return [Unknown("home", "~"), (first[0][1:], False), *cells[1:]]


def first_error(root: Node) -> str | None:
    node = root
    while True:
        if node.is_error or node.is_missing:
            return decoded(node.text or b"")
        following = next((child for child in node.children if child.has_error or child.is_missing), None)
        if following is None:
            return decoded(node.text or b"")
        node = following
