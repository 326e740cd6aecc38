"""Redirections: what they write or read, and the text of a here-document that they put on the input."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from pi_intent.gates.shell.reading.bodies import put_in
from pi_intent.gates.shell.reading.nodes import source_of
from pi_intent.gates.shell.script import Command, Redirect, Word

if TYPE_CHECKING:
    from tree_sitter import Node

    from pi_intent.gates.shell.reading.walk import Walk

REDIRECTS = ("file_redirect", "heredoc_redirect", "herestring_redirect")
_WORDS = (
    "word",
    "string",
    "raw_string",
    "concatenation",
    "simple_expansion",
    "expansion",
    "number",
    "ansi_c_string",
    "command_substitution",
)


class Given(NamedTuple):
    """A text on the input; not known where something in it is only put in when it runs."""

    text: str
    known: bool


class Redirection(NamedTuple):
    """Its targets, the arguments that the grammar counts to it, and what it puts on the input."""

    redirects: list[Redirect]
    arguments: list[Word]
    given: Given | None


def redirection(walk: Walk, node: Node, around: Command, level: int) -> Redirection:
    """Read a redirection, and visit the commands within it."""
    if node.type == "heredoc_redirect":
        return _here_document(walk, node, around, level)
    walk.substitutions(node, around, level)
    if node.type == "herestring_redirect":
        values = [word for child in node.children if child.is_named for word in walk.words(child)][:1]
        text = values[0].text if values else None
        given = Given("", False) if text is None else Given(text, True)
        return Redirection([Redirect("<<<", word) for word in values], [], given)
    operator = "".join(child.type for child in node.children if not child.is_named) or "<"
    targets = [
        word
        for child in node.children
        if child.is_named and child.type != "file_descriptor"
        for word in walk.words(child)
    ]
    closes = operator in (">&-", "<&-")
    return Redirection([Redirect(operator, word) for word in targets[:1] if not closes], targets[1:], None)


def _here_document(walk: Walk, node: Node, around: Command, level: int) -> Redirection:
    redirects: list[Redirect] = []
    arguments: list[Word] = []
    given: Given | None = None
    quoted = False
    for child in node.children:
        if child.type == "heredoc_start":
            quoted = bool(set(source_of(child)) & set("'\"\\"))
        elif child.type == "heredoc_body":
            text = source_of(child)
            if not quoted:
                within = walk.found.inner(around, "heredoc", own=False)
                walk.backticks(text, within)
                for part in put_in(walk.found.parser, child):
                    if part is None:
                        walk.found.give_up("syntax", text)
                    else:
                        walk.visit(part, within, level + 1)
            given = Given(text, quoted or not re.search(r"[$`]", text))
        elif child.type in REDIRECTS:
            further = redirection(walk, child, around, level)
            redirects += further.redirects
            arguments += further.arguments
        elif child.type in _WORDS:
            walk.substitutions(child, around, level + 1, own=True)
            arguments += walk.words(child)
    return Redirection(redirects, arguments, given)


def visit_behind(walk: Walk, node: Node, around: Command, level: int, first: int) -> None:
    """What stands behind a here-document's operator on its line: the grammar hangs it below the redirection."""
    if node.type != "heredoc_redirect":
        return
    children = node.children
    for child, before in zip(children, [None, *children], strict=False):
        if child.type == "pipeline":
            walk.pipeline([stage for stage in child.children if stage.is_named], around, level, first)
        elif before is not None and before.type in ("&&", "||", "|", "|&", ";"):
            walk.visit(child, around, level + 1)
