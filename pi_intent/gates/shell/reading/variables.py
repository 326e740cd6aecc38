"""What is known of the variables of a text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from pi_intent.gates.shell.reading.nodes import source_of
from pi_intent.gates.shell.reading.words import Cell
from pi_intent.gates.shell.running.inner import INPUT
from pi_intent.gates.shell.script import Command, Unknown
from pi_intent.word_sets import word_set

if TYPE_CHECKING:
    from tree_sitter import Node

_CHANGES_VARIABLES = word_set(
    "read unset mapfile readarray getopts let eval source . printf local trap alias declare typeset export readonly"
)
_CHANGES_WITH_OPTIONS = word_set("exec wait")
_SEEN_THROUGH = word_set("command builtin time noglob nocorrect")
_SET_BY_THE_SHELL = word_set(
    "_ PWD OLDPWD LINENO RANDOM SRANDOM SECONDS REPLY OPTARG EPOCHSECONDS BASHPID PPID UID EUID"
)
_PLAIN_DECLARING = re.compile(r"-[gxrpaAfF]+|[^-=$`'\"]*")
_COMPARES = ("==", "!=", "<=", ">=")
_LONGEST_NAME = 200
_MOST_PUT_IN = 16 * 1024
"""Characters and pieces that variables stand for in one text, together: each may be two of the one before."""


class Variables:
    """What is known of them at one place in a text, whose tree is walked in the order in which it runs."""

    def __init__(self, root: Node) -> None:
        self.loops: dict[str, tuple[str, ...]] = {}
        """The words that the variable of each loop around the place is one of."""
        self._cells: dict[str, list[Cell]] = {INPUT: [Unknown("input", "{}")]}
        self._settled = _assignment_counts(root)
        self._left = _MOST_PUT_IN

    def value(self, name: str, quoted: bool) -> list[Cell] | None:
        """What one holds, or None where that is not known."""
        cells = self._put_in(name)
        if cells is None and self._settled is not None and self._settled[name] == 2:
            values = ("./",) if name == "PWD" else self.loops.get(name, ())
            return [Unknown("variable", f"${name}", values)] if values else None
        if cells is None or not quoted:
            # Outside quotes a value splits at its blanks, but the quotes in it are only letters.
            return None if cells is None else [c if isinstance(c, Unknown) else (c[0], "{" in c[0]) for c in cells]
        return [cell if isinstance(cell, Unknown) else (cell[0], True) for cell in cells]

    def _put_in(self, name: str) -> list[Cell] | None:
        cells = self._cells.get(name)
        for cell in cells or ():
            self._left -= 1 if isinstance(cell, Unknown) else 1 + len(cell[0])
        return cells if self._left >= 0 else None

    def keep(self, name: str, cells: list[Cell]) -> None:
        """Note what is assigned to one, where nothing else ever is."""
        if self._settled is not None and self._settled[name] == 1:
            self._cells[name] = _home_kept(cells)

    def lost_to(self, command: Command) -> bool:
        """Whether a command may have set some unseen: then nothing is known of any from here on."""
        if self._settled is None or not _changes_variables(command):
            return False
        self._cells, self._settled = {}, None
        return True


def _assignment_counts(root: Node) -> Counter[str] | None:
    """How often each variable is assigned in a text, or None where something may change one unseen."""
    counts = Counter(dict.fromkeys(_SET_BY_THE_SHELL, 2))
    cursor = root.walk()
    while True:
        node = cursor.node
        if node is not None:
            if _changes_unseen(node):
                return None
            counts.update(_assigned(node))
        if cursor.goto_first_child() or cursor.goto_next_sibling():
            continue
        while cursor.goto_parent():
            if cursor.goto_next_sibling():
                break
        else:
            return None if counts["IFS"] else counts


def _assigned(node: Node) -> dict[str, int]:
    """The variables that a node assigns; two stands for more than once."""
    match node.type:
        case "variable_assignment" if first := node.child(0):
            name, bracket, _ = source_of(first).partition("[")
            return {name: 2 if bracket or any(child.type == "+=" for child in node.children) else 1}
        case "expansion" | "binary_expression":
            operators = [child.type for child in node.children if not child.is_named]
            if not any(sign.endswith("=") and sign not in _COMPARES for sign in operators):
                return {}
        case "for_statement":
            return {source_of(child): 2 for child in node.children if child.type == "variable_name"}
        case "postfix_expression" | "unary_expression":
            pass
        case _:
            return {}
    return {source_of(child): 2 for child in node.children if child.type in ("variable_name", "word")}


def _changes_unseen(node: Node) -> bool:
    match node.type:
        case "command":
            return _changes_by_name(_unquoted(child) for child in node.children)
        case "declaration_command":
            return any(
                child.type != "variable_assignment" and not _PLAIN_DECLARING.fullmatch(source_of(child))
                for child in node.children[1:]
            )
        case _:
            return node.type == "unset_command"


def _changes_by_name(words: Iterator[str]) -> bool:
    name = next((word for word in words if word and word not in _SEEN_THROUGH and not word.startswith("-")), "")
    return name in _CHANGES_VARIABLES or (
        name in _CHANGES_WITH_OPTIONS and any(word.startswith(("-p", "{")) for word in words)
    )


def _unquoted(node: Node) -> str:
    """A word without its quotes: enough to know a name, and nothing for what is no word."""
    if node.type == "variable_assignment" or node.type.endswith("_redirect"):
        return ""
    long = node.end_byte - node.start_byte > _LONGEST_NAME
    return "…" if long else re.sub(r"[\\'\"]", "", source_of(node))


def _changes_variables(command: Command) -> bool:
    """Whether a command, by the name that it turns out to have, may set a variable of this shell."""
    return (
        command.name is not None
        and command.name.text in _CHANGES_VARIABLES
        and command.name.source != command.name.text
        and set(command.through) <= _SEEN_THROUGH
    )


def _home_kept(cells: list[Cell]) -> list[Cell]:
    """A value as it is later put in: its tilde has become the home folder."""
    first = cells[0] if cells else None
    if first is None or isinstance(first, Unknown) or first[1] or not (first[0] == "~" or first[0].startswith("~/")):
        return cells
    return [Unknown("home", "~"), (first[0][1:], False), *cells[1:]]
