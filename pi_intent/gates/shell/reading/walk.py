"""A walk down the tree of a text to its simple commands, which notes on the way where they stand."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pi_intent.gates.shell.paths import MOST_PATHS, path_of
from pi_intent.gates.shell.reading.backticks import backticked, unescaped
from pi_intent.gates.shell.reading.nodes import source_of
from pi_intent.gates.shell.reading.pipes import fed
from pi_intent.gates.shell.reading.redirections import REDIRECTS, Given, redirection, visit_behind
from pi_intent.gates.shell.reading.words import Cell, cells_of, words_of
from pi_intent.gates.shell.script import Assignment, Command, Place, Redirect, Unknown, Word

if TYPE_CHECKING:
    from tree_sitter import Node

    from pi_intent.gates.shell.reading.text import Text

_MOST_BACKTICKED = 64
_DEEPEST = 60
_PLACES: dict[str, Place] = {
    "subshell": "subshell",
    "command_substitution": "substitution",
    "process_substitution": "substitution",
    "function_definition": "function",
    "if_statement": "condition",
    "case_item": "condition",
    "for_statement": "loop",
    "c_style_for_statement": "loop",
    "while_statement": "loop",
    "heredoc_body": "heredoc",
}
_SHELLS_OF_THEIR_OWN = ("subshell", "command_substitution", "process_substitution")
_SUBSTITUTIONS = ("command_substitution", "process_substitution")
_JOINED = re.compile(rb"(?:\\\r?\n)+")
"""What stands between two pieces of one word that goes on in the next line."""
_DESCRIPTOR = re.compile(r"\{\w+\}")
"""What stands directly before a redirection, and is given the number of its file."""


class Walk:
    """The walk through one text. Each step is given what stands around, as a command without a name."""

    def __init__(self, text: Text) -> None:
        self.text = text
        self.found = text.found
        self.variables = text.variables

    def words(self, node: Node) -> list[Word]:
        return words_of(source_of(node), list(cells_of(node, self.variables.value)))

    def visit(self, node: Node, around: Command, level: int, redirects: Sequence[Node] = ()) -> None:
        """Walk down to the commands, and note on the way where they stand.

        The grammar hangs the redirections behind `a && b` or `a | b` above both; they are those of the last command.
        """
        if level > _DEEPEST or self.found.full:
            return self.found.give_up("deep", source_of(node))
        kind = node.type
        if place := _PLACES.get(kind):
            around = self.found.inner(around, place, own=kind in _SHELLS_OF_THEIR_OWN)
        if kind == "expansion":
            self.backticks(source_of(node), around)
        if kind == "command_substitution" and (node.text or b"").startswith(b"`") and b"\\" in (node.text or b""):
            return self.text.read(unescaped(source_of(node)[1:-1]), around)
        if kind in ("command", "declaration_command", "unset_command"):
            self.simple(node, around, redirects, level)
        elif kind in ("variable_assignment", "variable_assignments"):
            self.assigned(node, around, level)
        elif kind == "redirected_statement":
            self.redirected(node, around, level, redirects)
        elif kind == "pipeline":
            stages = [child for child in node.children if child.is_named and child.type != "comment"]
            self.pipeline(stages, around, level, redirects=redirects)
        elif kind == "list":
            self.alternatives(node, around, level, redirects)
        elif kind in REDIRECTS:
            self.redirects([node], around, level)
        elif kind == "for_statement":
            self.loop(node, around, level)
        else:
            self.children(node, around, level)
        return None

    def loop(self, node: Node, around: Command, level: int) -> None:
        """Visit a loop, in whose body its variable is one of its words."""
        variable, *others = [child for child in node.children if child.is_named] or [node]
        name = source_of(variable)
        outer = self.variables.loops
        if len(others) <= MOST_PATHS:
            words = [word for child in others if child.type != "do_group" for word in self.words(child)]
            values = [path for word in words for path in [path_of(word)] if path is not None]
            self.variables.loops = {**outer, name: tuple(values) if len(values) == len(words) else ()}
        self.children(node, around, level)
        self.variables.loops = outer

    def children(self, node: Node, around: Command, level: int) -> None:
        children = node.children
        for child, after in zip(children, [*children[1:], None], strict=False):
            background = after is not None and after.type == "&"
            self.visit(child, self.found.inner(around, "background", own=True) if background else around, level + 1)

    def alternatives(self, node: Node, around: Command, level: int, redirects: Sequence[Node]) -> None:
        left, *rest = node.children
        # A long chain leans to the left: walked in a loop, it is not deep.
        chain: list[tuple[Node, bool]] = []
        while left.type == "list":
            chain += [(child, rest[0].type == "||") for child in rest[1:]]
            left, *rest = left.children
        chain += [(child, bool(rest) and rest[0].type == "||") for child in rest[1:]]
        chain.append((left, False))
        ordered = [(child, other) for child, other in reversed(chain) if child.is_named]
        for number, (child, other) in enumerate(ordered, 1):
            within = self.found.inner(around, "alternative", own=False) if other else around
            self.visit(child, within, level + 1, redirects if number == len(ordered) else ())

    def pipeline(
        self,
        stages: list[Node],
        around: Command,
        level: int,
        before: int | None = None,
        redirects: Sequence[Node] = (),
    ) -> None:
        """Visit the stages; `before` is where the commands begin that a first stage reads from."""
        for number, stage in enumerate(stages, 1):
            first = len(self.found.commands)
            within = self.found.inner(around, "pipe", own=True)
            self.visit(stage, within, level + 1, redirects if number == len(stages) else ())
            if before is not None:
                self.fed(before, first, around)
            before = first if before is None else before

    def fed(self, source: int, first: int, around: Command) -> None:
        """A stage reads what those before it print: a shell among its commands runs that."""
        commands = self.found.commands
        said = self.found.said(source) if first - source == 1 else None
        commands[first:], runs = fed(commands[source:first], commands[first:], said)
        for _ in range(runs):
            self.text.read(said or "", self.found.inner(around, "nested", own=True))

    def assigned(self, node: Node, around: Command, level: int) -> None:
        nodes = [node] if node.type == "variable_assignment" else node.children
        made = tuple(self.assignment(child, around, level) for child in nodes if child.type == "variable_assignment")
        self.text.add(replace(around, assignments=made, source=source_of(node)))

    def assignment(self, node: Node, around: Command, level: int, *, keep: bool = True) -> Assignment:
        name = source_of(node.children[0]) if node.children else ""
        value = node.child_by_field_name("value")
        self.substitutions(node, around, level)
        cells: list[Cell] = list(cells_of(value, self.variables.value)) if value is not None else [("", True)]
        if value is not None and value.type == "array":
            cells = [Unknown("variable", source_of(value))]
        certain = not {"condition", "loop", "function", "alternative", "subshell", "pipe", "background"} & set(
            around.place
        )
        if keep and certain:
            self.variables.keep(name, cells)
        words = words_of(source_of(value) if value else "", cells)
        return Assignment(name, words[0] if len(words) == 1 else Word("", (Unknown("variable", ""),)))

    def substitutions(self, node: Node, around: Command, level: int, *, own: bool = False) -> None:
        """Visit the commands within the words below a node, or the node itself."""
        if level > _DEEPEST:
            return self.found.give_up("deep", source_of(node))
        if node.type == "expansion":
            self.backticks(source_of(node), around)
        for child in [node] if own and node.type in _SUBSTITUTIONS else node.children:
            if child.type in (*_SUBSTITUTIONS, "subshell"):
                self.visit(child, around, level + 1)
            elif child.child_count:
                self.substitutions(child, around, level + 1)
        return None

    def backticks(self, text: str, around: Command) -> None:
        """Read what stands in backticks in a text where the grammar does not see them."""
        pieces = backticked(text) if "`" in text else []
        if pieces is None or len(pieces) > _MOST_BACKTICKED:
            return self.found.give_up("syntax", text)
        for piece in pieces:
            self.text.read(piece, self.found.inner(around, "substitution", own=True))
        return None

    def redirected(self, node: Node, around: Command, level: int, more: Sequence[Node] = ()) -> None:
        redirects = [*(child for child in node.children if child.type in REDIRECTS), *more]
        bodies = [child for child in node.children if child.type not in REDIRECTS]
        for body in bodies[:1]:
            if body.type in ("command", "declaration_command", "unset_command", "list", "pipeline"):
                return self.visit(body, around, level + 1, redirects)
        first = len(self.found.commands)
        for body in bodies:
            self.visit(body, around, level + 1)
        whole = source_of(node) if bodies else ""
        self.redirects(redirects, around, level, first, whole)
        return None

    def redirects(
        self, nodes: list[Node], around: Command, level: int, first: int | None = None, of: str = ""
    ) -> None:
        """Redirections of no simple command: of a loop, a group, or of nothing."""
        found: list[Redirect] = []
        first = len(self.found.commands) if first is None else first
        words: list[Word] = []
        given: Given | None = None
        source = of or " ".join(source_of(node) for node in nodes)
        for node in nodes:
            more, arguments, body = redirection(self, node, around, level)
            found += more
            words += arguments
            given = body or given
        if words:  # `2>&1 <<E rm x`: a command after all
            self.found.give_up("syntax", source)
        self.text.add(
            replace(
                around,
                name=words[0] if words else None,
                arguments=tuple(words[1:]),
                redirects=tuple(found),
                source=source,
            ),
            given if words else None,
        )
        for node in nodes:
            visit_behind(self, node, around, level, first)

    def simple(self, node: Node, around: Command, redirects: Sequence[Node], level: int) -> None:
        words: list[Word] = []
        assignments: list[Assignment] = []
        found: list[Redirect] = []
        given: Given | None = None
        groups: list[Node] = []
        first = len(self.found.commands)
        declares = node.type == "declaration_command"
        ended = assigned = -1
        raw = node.text or b""
        for child in [*node.children, *redirects]:
            if child.type == "variable_assignment":
                made = self.assignment(child, around, level, keep=declares)
                if declares:
                    words.append(Word(source_of(child), (f"{made.name}=", *made.value.parts)))
                else:
                    assignments.append(made)
                assigned = child.end_byte
            elif child.type in REDIRECTS:
                if words and child.start_byte == ended and _DESCRIPTOR.fullmatch(words[-1].source):
                    words.pop()
                more, arguments, body = redirection(self, child, around, level)
                if arguments and not words:
                    self.found.give_up("syntax", source_of(child))
                found += more
                words += arguments
                given = body or given
            elif child.type == "subshell":
                groups.append(child)
            else:
                if child.type in _SUBSTITUTIONS:
                    self.visit(child, around, level + 1)
                elif child.child_count:
                    self.substitutions(child, around, level)
                if child.start_byte == assigned:  # the grammar ends `a=$b/$1` and `a=()x` before the last sign
                    glued = Unknown("variable", source_of(child))
                    if declares:
                        words[-1] = _with(words[-1], glued)
                        self.variables.keep(words[-1].start.partition("=")[0], [glued])
                    else:
                        assignments[-1] = replace(assignments[-1], value=_with(assignments[-1].value, glued))
                    assigned = ended = child.end_byte
                    continue
                more_words = self.words(child)
                gap = raw[ended - node.start_byte : child.start_byte - node.start_byte] if ended >= 0 else b" "
                if words and more_words and _JOINED.fullmatch(gap):
                    last = words.pop()
                    more_words[0] = Word(last.source + more_words[0].source, (*last.parts, *more_words[0].parts))
                words += more_words
            ended = child.end_byte
        command = replace(
            around,
            name=words[0] if words else None,
            arguments=tuple(words[1:]),
            assignments=tuple(assignments),
            redirects=tuple(found),
            source=source_of(node),
        )
        self.text.add(command, given)
        for group in groups:
            self.visit(group, around, level + 1)
        for redirect in redirects:
            visit_behind(self, redirect, around, level, first)


def _with(word: Word, more: Unknown) -> Word:
    return Word(word.source + more.source, (*word.parts, more))
