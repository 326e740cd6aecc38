"""Read a text as a shell would, and say what it would run. Nothing is ever run, and no text makes it raise.

The parser is an extra (`pi-intent[shell]`) and loaded with the first command. Where it is missing, nothing is clear.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from pi_intent.gates.databases import reads_statements
from pi_intent.gates.inputs import reads_code, said_by, says_nothing
from pi_intent.gates.listed import handed, listed_by, takes_a_file
from pi_intent.gates.paths import MOST_PATHS, path_of
from pi_intent.gates.running.inner import FETCHERS, INPUT, Inside
from pi_intent.gates.running.inside import inside
from pi_intent.gates.running.shells import SHELLS
from pi_intent.gates.script import (
    Assignment,
    Command,
    Hidden,
    Place,
    Reason,
    Redirect,
    Script,
    Unclear,
    Unknown,
    Word,
)
from pi_intent.gates.variables import (
    assignment_counts,
    backticked,
    changes_variables,
    first_error,
    home_kept,
    unescaped,
)
from pi_intent.gates.words import Cell, cells_of, decoded, words_of

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

_LONGEST = 64 * 1024
_MOST_SIGNS = 3000
"""How many signs that mean something to a shell. The parser's time grows with the square of wrong ones."""
_SIGNS = "|<>`$()&;!{}[]*=@?:~+"
_MOST_COMMANDS = 5000
_MOST_STEPS = 20
"""Wrappers around one command."""
_MOST_WORDS = 20_000
"""Words that are read anew behind each wrapper, together."""
_MOST_BACKTICKED = 64
_DEEPEST = 60
_DEEPEST_SHELL = 6
_LONGEST_QUOTE = 200
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
_REDIRECTS = ("file_redirect", "heredoc_redirect", "herestring_redirect")


@functools.cache
def shell_parser() -> Parser | None:
    """The parser, or None where it is not installed."""
    try:
        import tree_sitter_bash
        from tree_sitter import Language, Parser
    except ImportError:
        return None
    return Parser(Language(tree_sitter_bash.language()))


def read_command(text: str) -> Script:
    """Return what a command line would run, looked through its wrappers, and what of it could not be read."""
    parser = shell_parser()
    if parser is None:
        return Script(unclear=(Unclear("no_parser", _cut(text)),))
    reading = _Reading(parser)
    reading.read(text, Command(name=None), 0)
    return Script(tuple(reading.commands), tuple(dict.fromkeys(reading.unclear)))


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_QUOTE else text[:_LONGEST_QUOTE] + "…"


class _Reading:
    """One text being read: what was found so far."""

    def __init__(self, parser: Parser) -> None:
        self.parser = parser
        self.commands: list[Command] = []
        self.unclear: list[Unclear] = []
        self.scopes = 0
        self.signs = 0
        self.aliases: dict[str, str] = {}
        self.variables: dict[str, list[Cell]] = {}
        self.loops: dict[str, tuple[str, ...]] = {}
        self.settled: Counter[str] | None = Counter()
        self.inputs: dict[int, str] = {}

    def give_up(self, why: Reason, text: str) -> None:
        self.unclear.append(Unclear(why, _cut(text)))

    def read(self, text: str, around: Command, depth: int) -> None:
        if depth > _DEEPEST_SHELL:
            return self.give_up("deep", text)
        self.signs += sum(map(text.count, _SIGNS)) + text.count("\n") // 8
        if len(text) > _LONGEST or self.signs > _MOST_SIGNS:
            return self.give_up("long", text)
        if "\0" in text:
            self.give_up("nul", text.replace("\0", "\\0"))
            text = text.replace("\0", "")
        raw = re.sub("[\ud800-\udfff]", "\ufffd", text).encode()
        root = self.parser.parse(raw).root_node
        kept = self.variables, self.loops, self.settled
        self.loops = {}
        self.variables, self.settled = {INPUT: [Unknown("input", "{}")]}, assignment_counts(root)
        if root.has_error:
            self.give_up("syntax", first_error(root) or text)
        self.visit(root, around, depth, 0)
        self.variables, self.loops, self.settled = kept
        return None

    def value(self, name: str, quoted: bool) -> list[Cell] | None:
        cells = self.variables.get(name)
        if cells is None and self.settled is not None and self.settled[name] == 2:
            values = ("./",) if name == "PWD" else self.loops.get(name, ())
            return [Unknown("variable", f"${name}", values)] if values else None
        if cells is None or not quoted:
            # Outside quotes a value splits at its blanks, but the quotes in it are only letters.
            return None if cells is None else [c if isinstance(c, Unknown) else (c[0], "{" in c[0]) for c in cells]
        return [cell if isinstance(cell, Unknown) else (cell[0], True) for cell in cells]

    def words(self, node: Node) -> list[Word]:
        source = decoded(node.text or b"")
        return words_of(source, list(cells_of(node, self.value)))

    def visit(
        self, node: Node, around: Command, depth: int, level: int, redirects: tuple[Node, ...] | list[Node] = ()
    ) -> None:
        """Walk down to the commands, and note on the way where they stand.

        The grammar hangs the redirections behind `a && b` or `a | b` above both; they are those of the last command.
        """
        if level > _DEEPEST or len(self.commands) > _MOST_COMMANDS:
            return self.give_up("deep", decoded(node.text or b""))
        kind = node.type
        if place := _PLACES.get(kind):
            around = self.inner(around, place, own=kind in _SHELLS_OF_THEIR_OWN)
        if kind == "expansion":
            self.backticks(decoded(node.text or b""), around, depth)
        if kind == "command_substitution" and (node.text or b"").startswith(b"`") and b"\\" in (node.text or b""):
            return self.escaped(decoded(node.text or b""), around, depth)
        if kind in ("command", "declaration_command", "unset_command"):
            self.simple(node, around, list(redirects), depth, level)
        elif kind in ("variable_assignment", "variable_assignments"):
            self.assigned(node, around, depth, level)
        elif kind == "redirected_statement":
            self.redirected(node, around, depth, level, redirects)
        elif kind == "pipeline":
            stages = [child for child in node.children if child.is_named and child.type != "comment"]
            self.pipeline(stages, around, depth, level, redirects=redirects)
        elif kind == "list":
            self.alternatives(node, around, depth, level, redirects)
        elif kind in _REDIRECTS:
            self.redirects([node], around, depth, level)
        elif kind == "for_statement":
            self.loop(node, around, depth, level)
        else:
            self.children(node, around, depth, level)
        return None

    def loop(self, node: Node, around: Command, depth: int, level: int) -> None:
        """Visit a loop, in whose body its variable is one of its words."""
        variable, *others = [child for child in node.children if child.is_named] or [node]
        name = decoded(variable.text or b"")
        outer = self.loops
        if len(others) <= MOST_PATHS:
            words = [word for child in others if child.type != "do_group" for word in self.words(child)]
            values = [path for word in words for path in [path_of(word)] if path is not None]
            self.loops = {**outer, name: tuple(values) if len(values) == len(words) else ()}
        self.children(node, around, depth, level)
        self.loops = outer

    def children(self, node: Node, around: Command, depth: int, level: int) -> None:
        children = node.children
        for child, after in zip(children, [*children[1:], None], strict=False):
            background = after is not None and after.type == "&"
            self.visit(child, self.inner(around, "background", own=True) if background else around, depth, level + 1)

    def inner(self, around: Command, place: Place, *, own: bool) -> Command:
        self.scopes += own
        return replace(
            around, place=(*around.place, place), scope=(*around.scope, self.scopes) if own else around.scope
        )

    def alternatives(
        self, node: Node, around: Command, depth: int, level: int, redirects: tuple[Node, ...] | list[Node]
    ) -> None:
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
            within = self.inner(around, "alternative", own=False) if other else around
            self.visit(child, within, depth, level + 1, redirects if number == len(ordered) else ())

    def pipeline(
        self,
        stages: list[Node],
        around: Command,
        depth: int,
        level: int,
        before: int | None = None,
        redirects: tuple[Node, ...] | list[Node] = (),
    ) -> None:
        """Visit the stages; `before` is where the commands begin that a first stage reads from."""
        for number, stage in enumerate(stages, 1):
            first = len(self.commands)
            within = self.inner(around, "pipe", own=True)
            self.visit(stage, within, depth, level + 1, redirects if number == len(stages) else ())
            if before is not None:
                self.fed(before, first, around, depth)
            before = first if before is None else before

    def fed(self, source: int, first: int, around: Command, depth: int) -> None:
        """A stage reads what those before it print: a shell among its commands runs that."""
        if source < first and all(says_nothing(giver) for giver in self.commands[source:first]):
            nothing = Redirect("<", Word("/dev/null", ("/dev/null",)))
            self.commands[first:] = [replace(c, redirects=(*c.redirects, nothing)) for c in self.commands[first:]]
        self.listed(source, first)
        self.asked(source, first)
        readers = [at for at in range(first, len(self.commands)) if reads_code(self.commands[at])]
        for at in readers:
            givers = self.commands[source:first]
            if any(giver.program in FETCHERS for giver in givers):
                self.commands[at] = replace(self.commands[at], hidden="fetched")
            elif len(givers) == 1 and (said := self.said(source)) is not None and self.commands[at].program in SHELLS:
                self.read(said, self.inner(around, "nested", own=True), depth + 1)
            else:
                self.commands[at] = replace(self.commands[at], hidden="input")

    def asked(self, source: int, first: int) -> None:
        """A client of a database that is given its statements on its input: as a text, or as nobody knows what."""
        said = self.said(source) if first - source == 1 else None
        for at in range(first, len(self.commands)):
            client = self.commands[at]
            if reads_statements(client) and said is not None:
                given = Redirect("<<<", Word(said, (said,)))
                self.commands[at] = replace(client, redirects=(*client.redirects, given))
            elif reads_statements(client) and source < first:
                self.commands[at] = replace(client, hidden="input")

    def listed(self, source: int, first: int) -> None:
        """A stage that hands on what the ones before it list: where those files are."""
        takers = [command for command in self.commands[first:] if command.program in ("xargs", "parallel")]
        if source < first and takers and not any(map(takes_a_file, takers)):
            paths = listed_by(self.commands[source:first])
            self.commands[first:] = [handed(command, paths) for command in self.commands[first:]]

    def said(self, at: int) -> str | None:
        """What a command prints, where its text tells."""
        command = self.commands[at]
        return self.inputs.get(at) if command.program == "cat" and not command.arguments else said_by(command)

    def assigned(self, node: Node, around: Command, depth: int, level: int) -> None:
        nodes = [node] if node.type == "variable_assignment" else node.children
        made = tuple(
            self.assignment(child, around, depth, level) for child in nodes if child.type == "variable_assignment"
        )
        self.add(replace(around, assignments=made, source=decoded(node.text or b"")))

    def assignment(self, node: Node, around: Command, depth: int, level: int, *, keep: bool = True) -> Assignment:
        name = decoded((node.children[0].text or b"") if node.children else b"")
        value = node.child_by_field_name("value")
        self.substitutions(node, around, depth, level)
        cells: list[Cell] = list(cells_of(value, self.value)) if value is not None else [("", True)]
        if value is not None and value.type == "array":
            cells = [Unknown("variable", decoded(value.text or b""))]
        certain = not {"condition", "loop", "function", "alternative", "subshell", "pipe", "background"} & set(
            around.place
        )
        if keep and certain and self.settled is not None and self.settled[name] == 1:
            self.variables[name] = home_kept(cells)
        words = words_of(decoded(value.text or b"") if value else "", cells)
        return Assignment(name, words[0] if len(words) == 1 else Word("", (Unknown("variable", ""),)))

    def substitutions(self, node: Node, around: Command, depth: int, level: int, *, own: bool = False) -> None:
        """Visit the commands within the words below a node, or the node itself."""
        if level > _DEEPEST:
            return self.give_up("deep", decoded(node.text or b""))
        if node.type == "expansion":
            self.backticks(decoded(node.text or b""), around, depth)
        for child in [node] if own and node.type in _SUBSTITUTIONS else node.children:
            if child.type in (*_SUBSTITUTIONS, "subshell"):
                self.visit(child, around, depth, level + 1)
            elif child.child_count:
                self.substitutions(child, around, depth, level + 1)
        return None

    def escaped(self, text: str, around: Command, depth: int) -> None:
        """Read what stands in backticks as its own shell does: a backslash there is taken away first."""
        return self.read(unescaped(text[1:-1]), around, depth + 1)

    def backticks(self, text: str, around: Command, depth: int) -> None:
        """Read what stands in backticks in a text where the grammar does not see them."""
        pieces = backticked(text) if "`" in text else []
        if pieces is None or len(pieces) > _MOST_BACKTICKED:
            return self.give_up("syntax", text)
        for piece in pieces:
            self.read(piece, self.inner(around, "substitution", own=True), depth + 1)
        return None

    def redirected(
        self, node: Node, around: Command, depth: int, level: int, more: tuple[Node, ...] | list[Node] = ()
    ) -> None:
        redirects = [*(child for child in node.children if child.type in _REDIRECTS), *more]
        bodies = [child for child in node.children if child.type not in _REDIRECTS]
        for body in bodies[:1]:
            if body.type in ("command", "declaration_command", "unset_command", "list", "pipeline"):
                return self.visit(body, around, depth, level + 1, redirects)
        first = len(self.commands)
        for body in bodies:
            self.visit(body, around, depth, level + 1)
        whole = decoded(node.text or b"") if bodies else ""
        self.redirects(redirects, around, depth, level, first, whole)
        return None

    def redirects(
        self, nodes: list[Node], around: Command, depth: int, level: int, first: int | None = None, of: str = ""
    ) -> None:
        """Redirections of no simple command: of a loop, a group, or of nothing."""
        found: list[Redirect] = []
        first = len(self.commands) if first is None else first
        for node in nodes:
            target, _, _ = self.redirect(node, around, depth, level)
            found += target
        self.add(
            replace(
                around, redirects=tuple(found), source=of or " ".join(decoded(node.text or b"") for node in nodes)
            )
        )
        for node in nodes:
            self.behind(node, around, depth, level, first)

    def redirect(
        self, node: Node, around: Command, depth: int, level: int
    ) -> tuple[list[Redirect], list[Word], tuple[str, bool] | None]:
        """Its targets, the arguments that the grammar counts to it, and the text it puts on the input."""
        if node.type != "heredoc_redirect":
            self.substitutions(node, around, depth, level)
        operator = "".join(child.type for child in node.children if not child.is_named) or "<"
        if node.type == "file_redirect":
            targets = [
                word
                for child in node.children
                if child.is_named and child.type != "file_descriptor"
                for word in self.words(child)
            ]
            found = [Redirect(operator, word) for word in targets[:1]] if operator not in (">&-", "<&-") else []
            return found, targets[1:], None
        if node.type == "herestring_redirect":
            values = [word for child in node.children if child.is_named for word in self.words(child)][:1]
            text = values[0].text if values else None
            return [Redirect("<<<", word) for word in values], [], (text, True) if text is not None else ("", False)
        more: list[Redirect] = []
        arguments: list[Word] = []
        body: tuple[str, bool] | None = None
        quoted = in_body = False
        for child in node.children:
            if child.type == "heredoc_start":
                quoted = bool(set(decoded(child.text or b"")) & set("'\"\\"))
            elif child.type == "heredoc_body":
                text = decoded(child.text or b"")
                if not quoted:
                    self.visit(child, around, depth, level + 1)
                    self.backticks(text, self.inner(around, "heredoc", own=False), depth)
                body = text, quoted or not re.search(r"[$`]", text)
            elif child.type in _REDIRECTS:
                further, words, _ = self.redirect(child, around, depth, level)
                more += further
                arguments += words
            elif child.type in (
                "word",
                "string",
                "raw_string",
                "concatenation",
                "simple_expansion",
                "expansion",
                "number",
                "ansi_c_string",
                "command_substitution",
            ):
                in_body = in_body or (child.text or b"").startswith(b"\n")  # so where the body begins with `\\`
                if not (quoted and in_body):
                    self.substitutions(child, around, depth, level + 1, own=True)
                arguments += [] if in_body else self.words(child)
        return more, arguments, body

    def behind(self, node: Node, around: Command, depth: int, level: int, first: int) -> None:
        """What stands behind a here-document's operator on its line: the grammar hangs it below the redirection."""
        if node.type != "heredoc_redirect":
            return
        children = node.children
        for child, before in zip(children, [None, *children], strict=False):
            if child.type == "pipeline":
                self.pipeline([stage for stage in child.children if stage.is_named], around, depth, level, first)
            elif before is not None and before.type in ("&&", "||", "|", "|&", ";"):
                self.visit(child, around, depth, level + 1)

    def simple(self, node: Node, around: Command, redirects: list[Node], depth: int, level: int) -> None:
        words: list[Word] = []
        assignments: list[Assignment] = []
        found: list[Redirect] = []
        given: tuple[str, bool] | None = None
        groups: list[Node] = []
        first = len(self.commands)
        declares = node.type == "declaration_command"
        ended = -1
        raw = node.text or b""
        for child in [*node.children, *redirects]:
            if child.type == "variable_assignment":
                made = self.assignment(child, around, depth, level, keep=declares)
                if declares:
                    words.append(Word(decoded(child.text or b""), (f"{made.name}=", *made.value.parts)))
                else:
                    assignments.append(made)
            elif child.type in _REDIRECTS:
                more, arguments, body = self.redirect(child, around, depth, level)
                found += more
                words += arguments
                given = body or given
            elif child.type == "subshell":
                groups.append(child)
            else:
                if child.type in _SUBSTITUTIONS:
                    self.visit(child, around, depth, level + 1)
                elif child.child_count:
                    self.substitutions(child, around, depth, level)
                more_words = self.words(child)
                gap = raw[ended - node.start_byte : child.start_byte - node.start_byte] if ended >= 0 else b" "
                if words and more_words and gap in (b"\\\n", b"\\\r\n"):
                    last = words.pop()
                    more_words[0] = Word(last.source + more_words[0].source, (*last.parts, *more_words[0].parts))
                words += more_words
            ended = child.end_byte
        source = decoded(raw)
        command = replace(
            around,
            name=words[0] if words else None,
            arguments=tuple(words[1:]),
            assignments=tuple(assignments),
            redirects=tuple(found),
            source=source,
        )
        self.add(command, given, depth)
        for group in groups:
            self.visit(group, around, depth, level + 1)
        for redirect in redirects:
            self.behind(redirect, around, depth, level, first)

    def add(self, command: Command, given: tuple[str, bool] | None = None, depth: int = 0, steps: int = 0) -> None:
        """Keep a command, and those that it runs in turn."""
        if len(self.commands) > _MOST_COMMANDS or steps > _MOST_STEPS or steps * len(command.arguments) > _MOST_WORDS:
            return self.give_up("deep", command.source)
        name = command.name
        if name is not None and name.text is None:
            self.give_up("name", command.source)
        if self.settled is not None and changes_variables(command):
            self.variables, self.settled = {}, None
            self.give_up("name", command.source)
        if command.program == "alias":
            for word in command.arguments:
                alias, equals, text = (word.text or "").partition("=")
                if equals:
                    self.aliases[alias] = text
                    self.read(text, self.inner(replace(command, name=None), "alias", own=False), depth + 1)
        elif name is not None and name.source in self.aliases and "alias" not in command.place:
            rest = " ".join(word.source for word in command.arguments)
            self.read(
                f"{self.aliases[name.source]} {rest}", self.inner(_bare(command), "alias", own=False), depth + 1
            )
        within = inside(command)
        hidden: Hidden | None = within.hidden
        fed = reads_code(command)
        if fed and given is not None and command.program not in (*SHELLS, "ssh"):
            hidden = "code"
        elif fed and given is not None and not given[1]:
            hidden = hidden or ("input" if not given[0] else None)
        elif fed and any(redirect.operator == "<" for redirect in command.redirects):
            hidden = "script"
        if given is not None and given[0] and given[1]:
            self.inputs[len(self.commands)] = given[0]
        self.commands.append(replace(command, hidden=hidden))
        if fed and given is not None and given[0] and command.program in (*SHELLS, "ssh"):
            place: Place = "remote" if command.program == "ssh" else "nested"
            self.read(given[0], self.inner(_bare(command), place, own=True), depth + 1)
        self.follow(within, command, given, depth, steps)
        return None

    def follow(
        self, within: Inside, command: Command, given: tuple[str, bool] | None, depth: int, steps: int
    ) -> None:
        for text, place in within.texts:
            own = command.program != "eval"
            nested = self.inner(_bare(command), place, own=own)
            self.read(text, replace(nested, through=(*command.through, command.program or "")), depth + 1)
        for inner in within.commands:
            self.add(inner, given, depth, steps + 1)


def _bare(command: Command) -> Command:
    return replace(command, name=None, arguments=(), assignments=(), redirects=(), hidden=None)
